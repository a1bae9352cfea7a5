/* random: an MPI program generated from a seed, which checks the results of MPI itself.
 *
 * Usage: random SEED [STEPS | FIRST-LAST]      steps count from 0; 40 without the second argument
 *
 * Every rank generates the same schedule from the seed, step by step, and executes its own part. A
 * step's schedule depends on the seed and the step's number only, so a shorter program is a prefix
 * of a longer one. Local decisions (how to wait, where to compute) come from the seed, too.
 *
 * No schedule can deadlock, whatever the sizes of messages. In each step either
 *   - all ranks post all receives before they block (FAMILY_POSTED), or
 *   - all ranks start all sends before they block (FAMILY_STARTED), or
 *   - all ranks follow one order of all transfers and name their sources (FAMILY_ORDERED), or
 *   - it is a collective, a shift by Sendrecv, or masters that answer workers.
 *
 * A wildcard receive must not take a message of another step. There are three cases. If only the
 * source is ANY, the tags of the messages belong to this step alone. If only the tag is ANY, all
 * messages from that source are received with tag ANY, in the order of sending. If both are ANY,
 * the step has a communicator of its own, or ends in a barrier. With seeds that are 0 modulo 4 it
 * has a communicator: a barrier separates steps only while all ranks advance together. A rank that
 * repeats steps alone finds the messages of the others from all these steps at once.
 *
 * Checks. Each rank has a 64-bit state. A message's content is derived from its sender's
 * state, and every content received changes the receiver's state. So any message that is wrong,
 * lost, duplicated or stale changes the final states.
 *   - With even seeds the order of arrival does not enter the state. So the final states are the
 *     same in every run, with failures and without. Rank 0 prints them, so that two runs can be
 *     compared.
 *   - With odd seeds the order of arrival enters the state, and so do the outcomes of tests, probes
 *     and wait-anys. So no other run has the same states, and the program can only check itself. It
 *     also does so for even seeds: it compares each flow's order and lengths with the schedule. At
 *     the end it compares, for each pair of ranks, a digest of all messages that one has sent with
 *     a digest of all messages that the other was given. The digests differ if there is an orphan
 *     whose sender has later sent other content.
 *
 * Some steps begin an iteration, and all ranks begin it in the same step. With seeds that are 0 or
 * 1 modulo 4 all requests are completed ahead of an iteration, so a message is received in the
 * iteration in which it is sent. With seeds that are 2 modulo 4 they are not, and with seeds that
 * are 3 modulo 4 there are no iterations.
 *
 * State is in static memory, on the stack (the recursion over steps) and on the heap, and each kind
 * is checked.
 *
 * Rank 0 prints "state: HEX" for even seeds and "verification: PASS" or "verification: FAIL" with
 * the first error. The exit code is the same on all ranks: 0 passed, 1 failed, 64 usage.
 */
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- communicators ---- */

static void check_group(const struct group *group)
{
  int size = -1, rank = -1;
  MPI_Comm_size(group->comm, &size);
  MPI_Comm_rank(group->comm, &rank);
  if (size != group->size || rank != group->rank)
    found(SHAPE, me.rank);
}

/* Fills in the members of the parent with this rank's colour, by key and then by their old rank. */
static void members_of(struct group *made, const struct group *parent, const int *colour,
                       const int *key)
{
  int own = parent->member[parent->rank];
  made->size = 0;
  for (int wanted = 0; wanted < parent->size; wanted++)
    for (int i = 0; i < parent->size; i++) {
      int world = parent->member[i];
      if (key[world] != wanted || colour[world] != colour[own])
        continue;
      if (world == own)
        made->rank = made->size;
      made->member[made->size++] = world;
    }
}

static void make_group(struct group *made, const struct group *parent, struct rng *rng)
{
  int colour[RANKS_MAX], key[RANKS_MAX], colours = 1 + below(rng, 3);
  bool dup = one_in(rng, 3);
  for (int i = 0; i < me.ranks; i++) { /* every rank draws the same number of times */
    colour[i] = one_in(rng, 8) ? MPI_UNDEFINED : below(rng, colours);
    key[i] = below(rng, me.ranks);
  }
  *made = (struct group){.live = true, .comm = MPI_COMM_NULL};
  if (parent->comm == MPI_COMM_NULL)
    return;
  for (int i = 0; i < me.ranks; i++)
    key[i] %= parent->size;
  if (dup) {
    *made = *parent;
    MPI_Comm_dup(parent->comm, &made->comm);
  } else {
    MPI_Comm_split(parent->comm, colour[me.rank], key[me.rank], &made->comm);
    if (colour[me.rank] != MPI_UNDEFINED)
      members_of(made, parent, colour, key);
  }
  if (made->comm != MPI_COMM_NULL)
    check_group(made);
}

/* Returns one of the live communicators. It is the same at every rank. */
static struct group *some_group(struct rng *rng)
{
  struct group *group = &me.group[below(rng, SLOTS)];
  return group->live ? group : &me.group[0];
}

static void communicators(int step)
{
  struct rng rng = rng_for(step, 3);
  struct group *slot = &me.group[1 + below(&rng, SLOTS - 1)];
  if (!slot->live) {
    make_group(slot, some_group(&rng), &rng);
    return;
  }
  close_open(0); /* pending requests may use the communicator */
  end_begun(0);
  if (slot->comm != MPI_COMM_NULL)
    MPI_Comm_free(&slot->comm);
  *slot = (struct group){.live = false, .comm = MPI_COMM_NULL};
}

/* ---- the heap ---- */

static void check_block(const struct block *block)
{
  if (block->hash != hash_words(block->word, block->words))
    found(HEAP, me.rank);
}

static struct block *resize(struct block *block, size_t words)
{
  size_t kept = block ? (block->words < words ? block->words : words) : 0;
  block = realloc(block, sizeof *block + 8 * words);
  if (block == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (size_t i = kept; i < words; i++)
    block->word[i] = mix(me.state, i);
  block->words = words;
  block->hash = hash_words(block->word, words);
  return block;
}

static void churn(void)
{
  for (int n = below(&me.own, 6); n > 0; n--) {
    struct block **block = &me.block[below(&me.own, BLOCKS_MAX)];
    if (*block)
      check_block(*block);
    if (*block && one_in(&me.own, 2)) {
      fold((*block)->hash);
      free(*block);
      *block = NULL;
    } else {
      *block = resize(*block, (size_t)below(&me.own, one_in(&me.own, 8) ? 4000 : 60));
    }
  }
}

static void check_heap(bool and_free)
{
  for (int i = 0; i < BLOCKS_MAX; i++) {
    if (me.block[i] == NULL)
      continue;
    check_block(me.block[i]);
    fold(me.block[i]->hash);
    if (and_free)
      free(me.block[i]);
  }
}

/* ---- steps ---- */

static void rest(void)
{
  if (one_in(&me.own, 3))
    compute(1e-6 * below(&me.own, one_in(&me.own, 10) ? 20000 : 3000));
  if (one_in(&me.own, 20))
    smpi_usleep((useconds_t)below(&me.own, 2000));
  if (one_in(&me.own, 3) && recline_potential_checkpoint)
    recline_potential_checkpoint();
}

static void step_on(int step, const struct group *group, int kind)
{
  if (group->comm == MPI_COMM_NULL)
    return;
  if (kind < 9)
    messages(step, group);
  else if (kind < 11)
    shift(step, group);
  else if (kind < 12 && group->size > 1)
    farm(step, group);
  else
    collective(step, group);
}

/* Announces an iteration in one step of three. */
static void begin_iteration(int step)
{
  struct rng rng = rng_for(step, 4);
  if (me.seed % 4 == 3 || !one_in(&rng, 3))
    return;
  if (me.seed % 4 < 2) {
    close_open(0);
    end_begun(0);
  }
  me.iteration++;
  if (recline_iteration)
    recline_iteration(me.iteration);
}

static void one_step(int step)
{
  struct rng rng = rng_for(step, 0);
  int kind = below(&rng, 18);
  me.step = step;
  me.own = rng_for(step, 100 + (uint64_t)me.rank);
  begin_iteration(step);
  rest();
  if (kind == 17)
    communicators(step);
  else
    step_on(step, some_group(&rng), kind);
  churn();
  close_open(one_in(&me.own, 2) ? OPEN_MAX : below(&me.own, OPEN_MAX));
  end_begun(one_in(&me.own, 2) ? OPEN_MAX : below(&me.own, OPEN_MAX));
}

/* Runs the steps recursively, so that the stack is deep and holds state of its own. */
static void run(int first, int last, uint64_t outer)
{
  uint64_t local[4];
  for (int i = 0; i < 4; i++)
    local[i] = mix(outer, (uint64_t)(4 * first + i));
  uint64_t hash = hash_words(local, 4);
  if (last - first == 1) {
    one_step(first);
  } else if (last > first) {
    int middle = first + (last - first) / 2;
    run(first, middle, local[1]);
    run(middle, last, local[2]);
  }
  if (hash != hash_words(local, 4))
    found(STACK, me.rank);
  fold(local[3]);
}

/* ---- the verdict ---- */

static void cross_check(void)
{
  uint64_t told[RANKS_MAX], left = 0;
  MPI_Alltoall(me.sent, 1, MPI_UINT64_T, told, 1, MPI_UINT64_T, MPI_COMM_WORLD);
  for (int i = 0; i < me.ranks; i++)
    if (told[i] != me.got[i])
      found(FLOW, i);
  MPI_Allreduce(&me.balance, &left, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (left != 0)
    found(SUM, me.rank);
}

/* Prints the verdict. Returns the exit code, which is the same at all ranks. */
static int judge(void)
{
  struct finding all[RANKS_MAX];
  uint64_t state[RANKS_MAX];
  int code = 0;
  MPI_Gather(&me.finding, 3, MPI_INT, all, 3, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gather(&me.state, 1, MPI_UINT64_T, state, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (me.rank == 0) {
    int first = -1;
    for (int i = 0; i < me.ranks; i++)
      if (all[i].problem != FINE && (first < 0 || all[i].step < all[first].step))
        first = i;
    if (!me.ordered)
      printf("state: %016llx\n", (unsigned long long)hash_words(state, (size_t)me.ranks));
    if (first < 0)
      printf("verification: PASS\n");
    else
      printf("verification: FAIL rank %d, step %d: %s rank %d\n", first, all[first].step,
             problem_text[all[first].problem], all[first].peer);
    code = first >= 0;
  }
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return code;
}

static bool parse(int argc, char **argv, int *first, int *last)
{
  char rest = 0;
  unsigned long long seed = 0;
  *first = 0;
  *last = STEPS;
  if (argc < 2 || argc > 3 || sscanf(argv[1], "%llu%c", &seed, &rest) != 1)
    return false;
  me.seed = seed;
  if (argc == 2)
    return true;
  if (sscanf(argv[2], "%d-%d%c", first, last, &rest) == 2)
    ++*last;
  else if (sscanf(argv[2], "%d%c", last, &rest) != 1)
    return false;
  return *first >= 0 && *last >= *first && *last <= 10000;
}

static void begin(void)
{
  me.ordered = me.seed % 2 == 1;
  me.state = mix(me.seed, (uint64_t)me.rank);
  me.group[0] =
      (struct group){.live = true, .comm = MPI_COMM_WORLD, .size = me.ranks, .rank = me.rank};
  for (int i = 0; i < me.ranks; i++)
    me.group[0].member[i] = i;
  for (int i = 1; i < SLOTS; i++)
    me.group[i].comm = MPI_COMM_NULL;
  collectives_begin();
}

static void end(void)
{
  close_open(0);
  end_begun(0);
  check_heap(true);
  for (int i = 1; i < SLOTS; i++)
    if (me.group[i].comm != MPI_COMM_NULL)
      MPI_Comm_free(&me.group[i].comm);
  collectives_end();
}

int main(int argc, char **argv)
{
  int first, last, code = EXIT_USAGE;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &me.ranks);
  if (!parse(argc, argv, &first, &last) || me.ranks > RANKS_MAX) {
    if (me.rank == 0)
      fprintf(stderr, "usage: random SEED [STEPS | FIRST-LAST], on up to %d ranks\n", RANKS_MAX);
  } else {
    begin();
    run(first, last, me.seed);
    end();
    cross_check();
    code = judge();
  }
  MPI_Finalize();
  return code;
}
