/* This part of the program `random` makes shifts, exchanges of a master with workers, and
 * collectives. */
#include "random.h"

#include <stdlib.h>
#include <string.h>

/* ---- a shift ---- */

static uint64_t part_id(int step, const struct group *group, int part, int from)
{
  return mix(mix((uint64_t)step, group_hash(group)), (uint64_t)(10000 + 100 * part + from));
}

static int partner(const struct group *group, int distance, bool open)
{
  int rank = group->rank + distance;
  if (rank >= 0 && rank < group->size)
    return rank;
  return open ? MPI_PROC_NULL : (rank + group->size) % group->size;
}

static void shift_once(int step, const struct group *group, int round, struct rng *rng)
{
  int distance = below(rng, group->size), bytes[RANKS_MAX], got = 0;
  bool open = one_in(rng, 3), replace = one_in(rng, 3);
  for (int i = 0; i < group->size; i++)
    bytes[i] = replace && i > 0 ? bytes[0] : random_bytes(rng, i < 2);
  int to = partner(group, distance, open), from = partner(group, -distance, open);
  uint64_t *out = receive_room((size_t)bytes[group->rank]);
  uint64_t *in = receive_room(from < 0 ? 0 : (size_t)bytes[from]);
  if (to >= 0)
    write_message(out, (size_t)bytes[group->rank], part_id(step, group, round, group->rank),
                  group->member[to]);
  MPI_Status status;
  int room_bytes = from < 0 ? 0 : bytes[from];
  if (replace && is_plain())
    replace = false;
  if (replace)
    MPI_Sendrecv_replace(out, bytes[group->rank], MPI_BYTE, to, 1, from, 1, group->comm, &status);
  else
    MPI_Sendrecv(out, bytes[group->rank], MPI_BYTE, to, 1, in, room_bytes, MPI_BYTE, from, 1,
                 group->comm, &status);
  if (from >= 0) {
    MPI_Get_count(&status, MPI_BYTE, &got);
    bool named = status.MPI_SOURCE == from || (is_plain() && from == group->rank);
    if (got != room_bytes || !named || status.MPI_TAG != 1)
      found(LENGTH, group->member[from]);
    check_room(replace ? out : in, (size_t)room_bytes, group->member[from]);
    fold(read_message(replace ? out : in, (size_t)room_bytes, part_id(step, group, round, from),
                      group->member[from]));
  }
  free(in);
  free(out);
}

void shift(int step, const struct group *group)
{
  struct rng rng = group_rng(step, group);
  int rounds = 1 + below(&rng, 4);
  for (int round = 0; round < rounds; round++)
    shift_once(step, group, round, &rng);
}

/* ---- a master and workers ---- */

/* Workers ask, and the master answers the question that comes first. With an even seed each worker
 * asks as often as the schedule says. With an odd seed it asks until it is told to stop; all
 * workers together ask as often as the schedule says. */
struct farm {
  int step;
  const struct group *group;
  int master, total;
  int asks[RANKS_MAX];        /* number of questions of each worker */
  int bytes;                  /* number of bytes of an answer */
  int question, answer, stop; /* tags of the messages */
};

static struct farm farm_new(int step, const struct group *group)
{
  struct rng rng = group_rng(step, group);
  int base = NAMED_TAGS + step * (STEP_TAGS + TRANSFERS_MAX);
  struct farm farm = {.step = step, .group = group, .question = base, .answer = 1, .stop = 2};
  farm.master = below(&rng, group->size);
  farm.bytes = 40 + (one_in(&rng, 4) ? 70000 + below(&rng, 20000) : below(&rng, 3000));
  for (int i = 0; i < group->size; i++) {
    farm.asks[i] = i == farm.master ? 0 : 1 + below(&rng, 4);
    farm.total += farm.asks[i];
  }
  return farm;
}

static uint64_t farm_id(const struct farm *farm, int worker, int number, bool answer)
{
  return mix(part_id(farm->step, farm->group, 2 * number + answer, worker), 77);
}

static int hear_question(const struct farm *farm, int *heard, uint64_t *sum)
{
  uint64_t question[8];
  MPI_Status status;
  int source = MPI_ANY_SOURCE;
  if (one_in(&me.own, 3)) {
    MPI_Probe(MPI_ANY_SOURCE, farm->question, farm->group->comm, &status);
    source = status.MPI_SOURCE;
  }
  MPI_Recv(question, sizeof question, MPI_BYTE, source, farm->question, farm->group->comm, &status);
  int worker = status.MPI_SOURCE;
  uint64_t digest =
      read_message(question, sizeof question, farm_id(farm, worker, heard[worker]++, false),
                   farm->group->member[worker]);
  *sum += digest;
  fold_outcome(digest);
  return worker;
}

/* With an even seed no answer may depend on an earlier one, so the history stays as it is. */
static void be_master(const struct farm *farm)
{
  int heard[RANKS_MAX] = {0}, stopped = 0, answered = 0, workers = farm->group->size - 1;
  uint64_t sum = 0, history = me.history, *answer = room((size_t)farm->bytes + 8);
  while (me.ordered ? stopped < workers : answered < farm->total) {
    int worker = hear_question(farm, heard, &sum);
    bool stop = me.ordered && answered >= farm->total;
    if (one_in(&me.own, 3))
      compute(1e-6 * below(&me.own, 500));
    write_message(answer, (size_t)farm->bytes, farm_id(farm, worker, heard[worker] - 1, true),
                  farm->group->member[worker]);
    MPI_Send(answer, farm->bytes, MPI_BYTE, worker, stop ? farm->stop : farm->answer,
             farm->group->comm);
    if (!me.ordered)
      me.history = history;
    stopped += stop;
    answered++;
  }
  free(answer);
  fold(sum);
}

static void be_worker(const struct farm *farm)
{
  const struct group *group = farm->group;
  uint64_t question[8], *answer = receive_room((size_t)farm->bytes);
  MPI_Status status = {0};
  bool going = true;
  for (int i = 0; going; i++) {
    compute(1e-6 * below(&me.own, 2000));
    write_message(question, sizeof question, farm_id(farm, group->rank, i, false),
                  group->member[farm->master]);
    MPI_Send(question, sizeof question, MPI_BYTE, farm->master, farm->question, group->comm);
    MPI_Recv(answer, farm->bytes, MPI_BYTE, farm->master, MPI_ANY_TAG, group->comm, &status);
    check_room(answer, (size_t)farm->bytes, group->member[farm->master]);
    fold(read_message(answer, (size_t)farm->bytes, farm_id(farm, group->rank, i, true),
                      group->member[farm->master]));
    going = me.ordered ? status.MPI_TAG != farm->stop : i + 1 < farm->asks[group->rank];
  }
  free(answer);
}

void farm(int step, const struct group *group)
{
  struct farm farm = farm_new(step, group);
  if (group->rank == farm.master)
    be_master(&farm);
  else
    be_worker(&farm);
}

/* ---- collectives ---- */

enum collective {
  BARRIER,
  BCAST,
  REDUCE,
  ALLREDUCE,
  SCAN,
  EXSCAN,
  GATHER,
  SCATTER,
  ALLGATHER,
  ALLTOALL,
  REDUCE_SCATTER,
  COLLECTIVES
};

/* Describes one collective as this rank sees it. Blocks have different lengths if the call allows
 * that. */
struct collect {
  struct collect *next;
  MPI_Request request; /* request of a nonblocking collective */
  bool nonblocking;
  bool sum, in_place; /* for reductions: the operation is a sum; the call works in place */
  int step;
  const struct group *group;
  enum collective kind;
  int root;
  bool unequal;
  int count[RANKS_MAX],
      start[RANKS_MAX]; /* words of the blocks, by rank; in Alltoall blocks to and from that rank */
  int back[RANKS_MAX], back_start[RANKS_MAX]; /* for Alltoallv: words received, by rank */
  int out_words, in_words;
  uint64_t *out, *in;
};

static MPI_Op chain; /* operation that does not commute, see compose() */

/* A pair (a, b) stands for x -> a x + b; `into` becomes the composition of `before` and then
 * `into`. */
static void compose(void *before, void *into, int *length, MPI_Datatype *type)
{
  const uint64_t *first = before;
  uint64_t *then = into;
  (void)type;
  for (int i = 0; i + 1 < 2 * *length; i += 2) {
    then[i + 1] += then[i] * first[i + 1];
    then[i] *= first[i];
  }
}

static MPI_Datatype pair; /* datatype of two words, for compose() */

void collectives_begin(void)
{
  MPI_Type_contiguous(2, MPI_UINT64_T, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(compose, 0, &chain);
}

void collectives_end(void)
{
  MPI_Op_free(&chain);
  MPI_Type_free(&pair);
}

static void tell_sent(const struct collect *c, int to, const uint64_t *word, int count)
{
  uint64_t digest = mix((uint64_t)c->step, hash_words(word, (size_t)count));
  me.sent[c->group->member[to]] += digest;
  me.history = mix(me.history, digest);
}

static void tell_got(const struct collect *c, int from, const uint64_t *word, int count)
{
  me.got[c->group->member[from]] += mix((uint64_t)c->step, hash_words(word, (size_t)count));
}

/* Notes that the words were sent to each member and received from it, as all members must have the
 * same words. */
static void tell_same(const struct collect *c, const uint64_t *word, int count)
{
  for (int i = 0; i < c->group->size; i++) {
    tell_sent(c, i, word, count);
    tell_got(c, i, word, count);
  }
}

static uint64_t sum_of(const uint64_t *word, int count)
{
  uint64_t sum = 0;
  for (int i = 0; i < count; i++)
    sum += word[i];
  return sum;
}

/* Adds the values that go into sums, and subtracts those that come out. Over all ranks the balance
 * must be 0, as sums are linear. */
static void balance(const struct collect *c, const uint64_t *word, int count, bool comes_out)
{
  uint64_t share = mix((uint64_t)c->step, 5) * sum_of(word, count);
  me.balance += comes_out ? 0 - share : share;
}

static int block_words(struct rng *rng, int size)
{
  int kind = below(rng, 10);
  if (kind == 0)
    return 0;
  if (kind < 6)
    return 1 + below(rng, 8);
  return kind < 9 ? below(rng, 400) : below(rng, 40000 / size);
}

/* Returns the length of the block that one rank sends to another. Both ranks compute the same
 * length. */
static int cross_words(const struct collect *c, int from, int to)
{
  struct rng rng = rng_for(c->step, mix((uint64_t)(1000 * from + to), group_hash(c->group)));
  return below(&rng, 60);
}

static void place_blocks(struct collect *c, struct rng *rng)
{
  int size = c->group->size, equal = block_words(rng, size), me_here = c->group->rank;
  for (int i = 0; i < size; i++) {
    bool crossing = c->kind == ALLTOALL && c->unequal;
    int drawn = block_words(rng, size);
    c->count[i] = crossing ? cross_words(c, me_here, i) : c->unequal ? drawn : equal;
    c->back[i] = crossing ? cross_words(c, i, me_here) : c->count[i];
    c->start[i] = c->out_words;
    c->back_start[i] = c->in_words;
    c->out_words += c->count[i];
    c->in_words += c->back[i];
  }
}

/* Without the layer, a nonblocking collective becomes a blocking one. */
static struct collect *collect_new(int step, const struct group *group)
{
  struct rng rng = group_rng(step, group);
  struct collect *c = room(sizeof *c);
  *c = (struct collect){.step = step, .group = group};
  c->kind = (enum collective)below(&rng, COLLECTIVES);
  c->root = below(&rng, group->size);
  c->unequal = one_in(&rng, 2);
  place_blocks(c, &rng);
  c->nonblocking = one_in(&rng, 2) && !is_plain();
  c->sum = one_in(&rng, 2);
  c->in_place = one_in(&rng, 3);
  c->out = room(8 * (size_t)(c->out_words + 2));
  c->in = room(8 * (size_t)(c->in_words + 2));
  for (int i = 0; i < c->out_words; i++)
    c->out[i] = filler(mix(me.state, (uint64_t)step), (size_t)i);
  memset(c->in, 0x5a, 8 * (size_t)(c->in_words + 2));
  return c;
}

#define CALL(C, BLOCKING, NONBLOCKING, ...)                                                        \
  ((C)->nonblocking ? MPI_##NONBLOCKING(__VA_ARGS__, &(C)->request) : MPI_##BLOCKING(__VA_ARGS__))

/* ---- their beginnings: what this rank gives ---- */

static void broadcast(struct collect *c)
{
  if (c->group->rank == c->root)
    for (int i = 0; i < c->group->size; i++)
      tell_sent(c, i, c->out, c->out_words);
  CALL(c, Bcast, Ibcast, c->out, c->out_words, MPI_UINT64_T, c->root, c->group->comm);
}

/* Reduces complete vectors, by a sum (whose balance is checked) or by composition. */
static int reduced(const struct collect *c)
{
  return c->sum ? c->out_words : c->out_words / 2;
}

static void reduce(struct collect *c)
{
  MPI_Datatype type = c->sum ? MPI_UINT64_T : pair;
  MPI_Op op = c->sum ? MPI_SUM : chain;
  int count = reduced(c);
  if (c->sum)
    balance(c, c->out, count, false);
  if (c->kind == REDUCE) {
    CALL(c, Reduce, Ireduce, c->out, c->in, count, type, op, c->root, c->group->comm);
  } else if (c->in_place) {
    memcpy(c->in, c->out, 8 * (size_t)c->out_words);
    CALL(c, Allreduce, Iallreduce, MPI_IN_PLACE, c->in, count, type, op, c->group->comm);
  } else {
    CALL(c, Allreduce, Iallreduce, c->out, c->in, count, type, op, c->group->comm);
  }
}

static void scan(struct collect *c)
{
  if (c->kind == EXSCAN)
    CALL(c, Exscan, Iexscan, c->out, c->in, c->out_words, MPI_UINT64_T, MPI_SUM, c->group->comm);
  else
    CALL(c, Scan, Iscan, c->out, c->in, c->out_words, MPI_UINT64_T, MPI_SUM, c->group->comm);
}

static void gather(struct collect *c)
{
  int own = c->count[c->group->rank];
  tell_sent(c, c->root, c->out, own);
  if (c->unequal)
    CALL(c, Gatherv, Igatherv, c->out, own, MPI_UINT64_T, c->in, c->count, c->start, MPI_UINT64_T,
         c->root, c->group->comm);
  else
    CALL(c, Gather, Igather, c->out, own, MPI_UINT64_T, c->in, own, MPI_UINT64_T, c->root,
         c->group->comm);
}

static void scatter(struct collect *c)
{
  int own = c->count[c->group->rank];
  if (c->group->rank == c->root)
    for (int i = 0; i < c->group->size; i++)
      tell_sent(c, i, c->out + c->start[i], c->count[i]);
  if (c->unequal)
    CALL(c, Scatterv, Iscatterv, c->out, c->count, c->start, MPI_UINT64_T, c->in, own, MPI_UINT64_T,
         c->root, c->group->comm);
  else
    CALL(c, Scatter, Iscatter, c->out, own, MPI_UINT64_T, c->in, own, MPI_UINT64_T, c->root,
         c->group->comm);
}

static void all_gather(struct collect *c)
{
  int own = c->count[c->group->rank];
  for (int i = 0; i < c->group->size; i++)
    tell_sent(c, i, c->out, own);
  if (c->unequal)
    CALL(c, Allgatherv, Iallgatherv, c->out, own, MPI_UINT64_T, c->in, c->count, c->start,
         MPI_UINT64_T, c->group->comm);
  else
    CALL(c, Allgather, Iallgather, c->out, own, MPI_UINT64_T, c->in, own, MPI_UINT64_T,
         c->group->comm);
}

static void all_to_all(struct collect *c)
{
  for (int i = 0; i < c->group->size; i++)
    tell_sent(c, i, c->out + c->start[i], c->count[i]);
  if (c->unequal)
    CALL(c, Alltoallv, Ialltoallv, c->out, c->count, c->start, MPI_UINT64_T, c->in, c->back,
         c->back_start, MPI_UINT64_T, c->group->comm);
  else
    CALL(c, Alltoall, Ialltoall, c->out, c->count[0], MPI_UINT64_T, c->in, c->count[0],
         MPI_UINT64_T, c->group->comm);
}

static void reduce_scatter(struct collect *c)
{
  balance(c, c->out, c->out_words, false);
  if (c->unequal)
    CALL(c, Reduce_scatter, Ireduce_scatter, c->out, c->in, c->count, MPI_UINT64_T, MPI_SUM,
         c->group->comm);
  else
    CALL(c, Reduce_scatter_block, Ireduce_scatter_block, c->out, c->in, c->count[c->group->rank],
         MPI_UINT64_T, MPI_SUM, c->group->comm);
}

static void collect_begin(struct collect *c)
{
  static void (*const begin[COLLECTIVES])(struct collect *) = {
      [BCAST] = broadcast,     [REDUCE] = reduce,
      [ALLREDUCE] = reduce,    [SCAN] = scan,
      [EXSCAN] = scan,         [GATHER] = gather,
      [SCATTER] = scatter,     [ALLGATHER] = all_gather,
      [ALLTOALL] = all_to_all, [REDUCE_SCATTER] = reduce_scatter};
  if (c->kind == BARRIER)
    CALL(c, Barrier, Ibarrier, c->group->comm);
  else
    begin[c->kind](c);
}

/* ---- their ends: what it gets ---- */

/* Checks a scan: the result of a rank less its own share is the result of the rank before it. */
static void check_scan(const struct collect *c)
{
  int last = c->group->size - 1, me_here = c->group->rank, words = c->out_words;
  bool exclusive = c->kind == EXSCAN;
  if (exclusive && me_here == 0)
    memset(c->in, 0, 8 * (size_t)words); /* MPI leaves this result undefined */
  uint64_t *other = room(8 * (size_t)words);
  for (int i = 0; i < words; i++)
    other[i] = exclusive ? c->in[i] + c->out[i] : c->in[i] - c->out[i];
  if (me_here < last)
    tell_sent(c, me_here + 1, exclusive ? other : c->in, words);
  if (me_here > 0)
    tell_got(c, me_here - 1, exclusive ? c->in : other, words);
  free(other);
}

/* Notes the blocks that this rank has got from all ranks. */
static void tell_got_all(const struct collect *c, const int *count, const int *start)
{
  for (int i = 0; i < c->group->size; i++)
    tell_got(c, i, c->in + start[i], count[i]);
}

static void tell_result(const struct collect *c)
{
  int me_here = c->group->rank, own = c->count[me_here];
  switch (c->kind) {
  case BCAST:
    tell_got(c, c->root, c->out, c->out_words);
    memcpy(c->in, c->out, 8 * (size_t)c->out_words);
    break;
  case ALLREDUCE:
    tell_same(c, c->in, c->sum ? c->out_words : c->out_words / 2 * 2);
    /* fall through */
  case REDUCE:
    if (c->sum && me_here == c->root)
      balance(c, c->in, reduced(c), true);
    break;
  case SCAN:
  case EXSCAN:
    check_scan(c);
    break;
  case SCATTER:
    tell_got(c, c->root, c->in, own);
    break;
  case GATHER:
    if (me_here == c->root)
      tell_got_all(c, c->count, c->start);
    break;
  case ALLGATHER:
    tell_got_all(c, c->count, c->start);
    break;
  case ALLTOALL:
    tell_got_all(c, c->back, c->back_start);
    break;
  case REDUCE_SCATTER:
    balance(c, c->in, own, true);
    break;
  default:
    break;
  }
}

static void collect_end(struct collect *c)
{
  int flag = 0, polls = below(&me.own, POLLS_MAX);
  for (int i = 0; c->nonblocking && !flag && i < polls; i++) {
    MPI_Test(&c->request, &flag, MPI_STATUS_IGNORE);
    fold_outcome((uint64_t)flag);
  }
  if (c->nonblocking)
    MPI_Wait(&c->request, MPI_STATUS_IGNORE);
  tell_result(c);
  fold(hash_words(c->in,
                  (size_t)c->in_words)); /* words that were not written are the same in every run */
  free(c->in);
  free(c->out);
  free(c);
}

/* Ends nonblocking collectives, the oldest first, until at most `left` are under way. */
void end_begun(int left)
{
  int count = 0;
  for (struct collect *c = me.begun; c; c = c->next)
    count++;
  for (; count > left; count--) {
    struct collect *c = me.begun;
    me.begun = c->next;
    collect_end(c);
  }
}

void collective(int step, const struct group *group)
{
  struct collect *c = collect_new(step, group), **end = &me.begun;
  collect_begin(c);
  while (*end)
    end = &(*end)->next;
  *end = c;
}
