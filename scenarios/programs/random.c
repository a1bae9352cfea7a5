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
 * A wildcard receive must not take a message of another step. So where the source is ANY, tags are
 * of this step only; where the tag is ANY, everything from that source is received so, in the
 * order of sending; and where both are, the step has its own communicator or ends in a barrier.
 * With seeds that are 0 modulo 4 it has a communicator: a barrier separates steps while all ranks
 * advance together, but a rank that repeats steps of the others finds all their messages at once.
 *
 * Checks. Each rank has a 64-bit state. A message's content is derived from its sender's
 * state, and every content received changes the receiver's state. So any message that is wrong,
 * lost, duplicated or stale changes the final states.
 *   - Seeds that are even: where the order of arrival is open, it does not enter the state. Then
 *     the final states are unique, rank 0 prints them, and they can be compared with those of a
 *     run without failures.
 *   - Seeds that are odd: it does, with the outcome of every test, probe and wait-any. There is no
 *     reference run, so the program checks itself, as it does for even seeds: each flow's order and
 *     lengths against the schedule, and at the end, for each pair of ranks, a digest of all that
 * one has sent against a digest of all that the other was given. That finds orphans whose sender
 *     has since sent other content.
 * Some steps begin an iteration, at all ranks alike. With seeds that are 0 or 1 modulo 4 all
 * requests are completed before, so that a message is received in the iteration in which it is
 * sent; with seeds that are 2 they are not; the others have no iterations.
 *
 * State is in static memory, on the stack (the recursion over steps) and on the heap, and each kind
 * is checked.
 *
 * Rank 0 prints "state: HEX" for even seeds and "verification: PASS" or "verification: FAIL" with
 * the first error. Exit code, the same on all ranks: 0 passed, 1 failed, 64 usage.
 */
#include <mpi.h>
#include <simgrid/host.h>
#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  EXIT_USAGE = 64,
  STEPS = 40, /* if the second argument does not say */
  RANKS_MAX = 64,
  SLOTS = 4,          /* communicators at a time; the first is the world */
  TRANSFERS_MAX = 48, /* in one step of one communicator */
  OPEN_MAX = 3,       /* batches, and collectives, that wait for a later step to complete them */
  POLLS_MAX = 24,     /* before a loop of tests becomes a wait: protocols log each outcome */
  BLOCKS_MAX = 24,    /* on the heap */
  STACK_BYTES = 512,  /* messages up to here lie on the stack */
  HEADER_WORDS = 4,
  NAMED_TAGS = 4, /* tags below are used in all steps */
  STEP_TAGS = 4   /* tags of one step only */
};

/* From recline's MPI layer; without it the program still runs, as it does under plain smpirun. */
extern void recline_potential_checkpoint(void) __attribute__((weak));
extern void recline_iteration(unsigned iteration) __attribute__((weak));

/* SMPI 3.32 gets some calls wrong (docs/random.md). Without the layer others take their place; as
 * the order of arrival does not enter the state of even seeds, the result is the same. */
static bool is_plain(void)
{
  return recline_potential_checkpoint == NULL;
}

/* ---- numbers ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
  uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

struct rng {
  uint64_t at;
};

static uint64_t draw(struct rng *rng)
{
  rng->at += 0x9e3779b97f4a7c15u;
  return mix(rng->at, 0);
}

static int below(struct rng *rng, int limit)
{
  return (int)(draw(rng) % (uint64_t)limit);
}

static bool one_in(struct rng *rng, int n)
{
  return below(rng, n) == 0;
}

static uint64_t hash_words(const uint64_t *word, size_t count)
{
  uint64_t hash = count;
  for (size_t i = 0; i < count; i++)
    hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15u + (hash >> 29);
  return mix(hash, count);
}

static uint64_t hash_bytes(const void *data, size_t bytes)
{
  uint64_t tail = 0;
  size_t words = bytes / 8;
  if (bytes % 8)
    memcpy(&tail, (const char *)data + 8 * words, bytes % 8);
  return mix(hash_words(data, words), mix(tail, bytes));
}

/* ---- a rank ---- */

struct group {
  bool live; /* made, if not for this rank then for others */
  MPI_Comm comm;
  int size, rank;
  int member[RANKS_MAX]; /* ranks of the world */
};

struct block {
  size_t words;
  uint64_t hash; /* of what follows */
  uint64_t word[];
};

enum problem {
  FINE,
  UNEXPECTED,
  LENGTH,
  HEADER,
  CONTENT,
  OVERRUN,
  FOREIGN,
  STATUS,
  SHAPE,
  STACK,
  HEAP,
  UNDONE,
  FLOW,
  SUM,
  PROBLEMS
};

static const char *const problem_text[PROBLEMS] = {
    [FINE] = "nothing",
    [UNEXPECTED] = "a message that the schedule does not have, from",
    [LENGTH] = "a message of the wrong length from",
    [HEADER] = "another message than expected from",
    [CONTENT] = "a message with damaged content from",
    [OVERRUN] = "a receive buffer was overrun by a message from",
    [FOREIGN] = "MPI said something other than the schedule about",
    [STATUS] = "a completion without a request at",
    [SHAPE] = "a communicator has other members than it should, at",
    [STACK] = "the stack has changed at",
    [HEAP] = "the heap has changed at",
    [UNDONE] = "a request was not completed at",
    [FLOW] = "what was received is not what was sent, from",
    [SUM] = "reductions do not add up, found by"};

struct finding {
  int problem, step, peer;
};

static struct {
  int rank, ranks, step;
  unsigned iteration;
  bool ordered; /* the order of arrival enters the state: odd seeds */
  uint64_t seed;
  uint64_t state;
  uint64_t history; /* of all that this rank has sent */
  uint64_t balance; /* of sums: what was put in less what came out */
  uint64_t sent[RANKS_MAX], got[RANKS_MAX];
  struct rng own;         /* for what this rank decides alone */
  struct finding finding; /* the first */
  struct group group[SLOTS];
  struct batch *open;
  struct collect *begun; /* nonblocking collectives, in the order of their beginning */
  struct block *block[BLOCKS_MAX];
} me;

static uint64_t area[40000]; /* static room for messages: 320 kB */

static void found(enum problem problem, int peer)
{
  if (me.finding.problem == FINE)
    me.finding = (struct finding){.problem = problem, .step = me.step, .peer = peer};
}

static void fold(uint64_t what)
{
  me.state = mix(me.state, what);
}

/* What depends on time. */
static void fold_outcome(uint64_t what)
{
  if (me.ordered)
    fold(what);
}

static void *room(size_t bytes)
{
  void *memory = malloc(bytes ? bytes : 1);
  if (memory == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

static struct rng rng_for(int step, uint64_t what)
{
  return (struct rng){mix(mix(me.seed, (uint64_t)step + 1), what)};
}

static void compute(double seconds)
{
  smpi_execute_flops(seconds * sg_host_get_speed(sg_host_self()));
}

/* ---- contents ---- */

static size_t words_of(size_t bytes)
{
  return (bytes + 7) / 8;
}

static uint64_t filler(uint64_t key, size_t i)
{
  return (key + i) * 0xd6e8feb86659fd93u;
}

/* Fills a buffer with the message `id` of this rank to `dest`, a rank of the world. */
static void write_message(uint64_t *word, size_t bytes, uint64_t id, int dest)
{
  uint64_t key = mix(me.state, id);
  size_t words = words_of(bytes);
  uint64_t header[HEADER_WORDS] = {key, me.history, id, bytes};
  for (size_t i = 0; i < words; i++)
    word[i] = i < HEADER_WORDS ? header[i] : filler(key, i);
  uint64_t digest = mix(id, hash_bytes(word, bytes));
  me.history = mix(me.history, digest);
  me.sent[dest] += digest;
}

/* Judges what was received as message `id` from `source`, a rank of the world. Returns what is to
 * be folded in. */
static uint64_t read_message(const uint64_t *word, size_t bytes, uint64_t id, int source)
{
  size_t words = bytes / 8;
  if (words >= HEADER_WORDS && (word[2] != id || word[3] != bytes))
    found(HEADER, source);
  for (size_t i = HEADER_WORDS; i < words; i++)
    if (word[i] != filler(word[0], i)) {
      found(CONTENT, source);
      break;
    }
  uint64_t digest = mix(id, hash_bytes(word, bytes));
  me.got[source] += digest;
  return digest;
}

/* A buffer to receive into ends with a word that no message may touch. */
static uint64_t *receive_room(size_t bytes)
{
  size_t words = words_of(bytes);
  uint64_t *word = room(8 * (words + 1));
  memset(word, 0x5a, 8 * (words + 1));
  word[words] = me.seed;
  return word;
}

static void check_room(const uint64_t *word, size_t bytes, int source)
{
  if (word[words_of(bytes)] != me.seed)
    found(OVERRUN, source);
}

/* ---- transfers of a step ---- */

enum family { FAMILY_POSTED, FAMILY_STARTED, FAMILY_ORDERED, FAMILIES };
enum naming { NAMED, ANY_SENDER, ANY_LABEL, ANY_BOTH, NAMINGS };

struct transfer {
  int from, to; /* ranks of the group */
  int tag;
  int bytes;
  bool taken; /* it was received */
};

struct plan {
  int step;
  enum family family;
  bool fenced;   /* no message of another step can be taken for one of this */
  bool own_comm; /* it is so because the communicator is the step's own */
  struct group group;
  enum naming naming[RANKS_MAX]; /* how a rank names what it receives */
  int count, largest;            /* largest that this rank receives */
  struct transfer transfer[TRANSFERS_MAX];
  uint64_t sum; /* of what was received, in any order */
};

static int random_bytes(struct rng *rng, bool may_be_large)
{
  switch (below(rng, 8)) {
  case 0:
    return 0;
  case 1:
    return 1 + below(rng, 31);
  case 2:
  case 3:
    return 32 + below(rng, 200);
  case 4:
  case 5:
    return below(rng, 4000);
  case 6:
    return below(rng, 20000);
  default:
    return may_be_large ? 60000 + below(rng, 140000) : below(rng, 600);
  }
}

static uint64_t group_hash(const struct group *group)
{
  uint64_t hash = (uint64_t)group->size;
  for (int i = 0; i < group->size; i++)
    hash = mix(hash, (uint64_t)group->member[i]);
  return hash;
}

static struct rng group_rng(int step, const struct group *group)
{
  return rng_for(step, mix(1, group_hash(group)));
}

static bool is_step_tagged(enum naming naming)
{
  return naming == ANY_SENDER || naming == ANY_BOTH;
}

/* In FAMILY_ORDERED a receive from ANY must be sure to get what the order says, so no two
 * transfers have one tag. */
static int random_tag(struct rng *rng, const struct plan *plan, int i, enum naming naming)
{
  int base = NAMED_TAGS + plan->step * (STEP_TAGS + TRANSFERS_MAX);
  if (!is_step_tagged(naming))
    return below(rng, NAMED_TAGS);
  return plan->family == FAMILY_ORDERED ? base + STEP_TAGS + i : base + below(rng, STEP_TAGS);
}

static void draw_transfers(struct plan *plan, struct rng *rng)
{
  int size = plan->group.size, large = 0;
  plan->count = 1 + below(rng, size * 3 < TRANSFERS_MAX ? size * 3 : TRANSFERS_MAX);
  for (int i = 0; i < plan->count; i++) {
    struct transfer *transfer = &plan->transfer[i];
    transfer->from = below(rng, size);
    transfer->to = below(rng, size);
    transfer->tag = random_tag(rng, plan, i, plan->naming[transfer->to]);
    transfer->bytes = random_bytes(rng, large < 3);
    large += transfer->bytes > 20000;
    if (transfer->to == plan->group.rank && transfer->bytes > plan->largest)
      plan->largest = transfer->bytes;
  }
}

static struct plan *plan_new(int step, const struct group *group)
{
  struct plan *plan = room(sizeof *plan);
  struct rng rng = group_rng(step, group);
  *plan =
      (struct plan){.step = step, .group = *group, .family = (enum family)below(&rng, FAMILIES)};
  plan->fenced = plan->family != FAMILY_ORDERED && one_in(&rng, 4);
  plan->own_comm = plan->fenced && (one_in(&rng, 2) || me.seed % 4 == 0);
  for (int i = 0; i < group->size; i++)
    plan->naming[i] = (enum naming)below(&rng, plan->fenced ? NAMINGS : ANY_BOTH);
  draw_transfers(plan, &rng);
  if (plan->own_comm)
    MPI_Comm_dup(group->comm, &plan->group.comm);
  return plan;
}

static void plan_free(struct plan *plan)
{
  if (plan->own_comm)
    MPI_Comm_free(&plan->group.comm);
  else if (plan->fenced)
    MPI_Barrier(plan->group.comm);
  free(plan);
}

static uint64_t transfer_id(const struct plan *plan, const struct transfer *transfer)
{
  return mix(mix((uint64_t)plan->step, group_hash(&plan->group)),
             (uint64_t)(transfer - plan->transfer));
}

static int named_source(const struct plan *plan, const struct transfer *transfer)
{
  return is_step_tagged(plan->naming[transfer->to]) ? MPI_ANY_SOURCE : transfer->from;
}

static int named_tag(const struct plan *plan, const struct transfer *transfer)
{
  enum naming naming = plan->naming[transfer->to];
  return naming == ANY_LABEL || naming == ANY_BOTH ? MPI_ANY_TAG : transfer->tag;
}

static void write_transfer(const struct plan *plan, const struct transfer *transfer,
                           uint64_t *buffer)
{
  write_message(buffer, (size_t)transfer->bytes, transfer_id(plan, transfer),
                plan->group.member[transfer->to]);
}

/* Takes in what was received. Called in the order in which receives were posted: then the next
 * message of a flow is the next that the schedule has of it. */
static void take(struct plan *plan, const uint64_t *buffer, size_t size, const MPI_Status *status)
{
  int bytes = 0, source = status->MPI_SOURCE;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  if (source < 0 || source >= plan->group.size) {
    found(FOREIGN, source);
    return;
  }
  int world = plan->group.member[source];
  check_room(buffer, size, world);
  for (int i = 0; i < plan->count; i++) {
    struct transfer *transfer = &plan->transfer[i];
    if (transfer->taken || transfer->from != source || transfer->to != plan->group.rank ||
        transfer->tag != status->MPI_TAG)
      continue;
    transfer->taken = true;
    if (transfer->bytes != bytes)
      found(LENGTH, world);
    uint64_t digest = read_message(buffer, (size_t)bytes, transfer_id(plan, transfer), world);
    plan->sum += digest;
    if (plan->family == FAMILY_ORDERED)
      fold(digest);
    else
      fold_outcome(digest);
    return;
  }
  found(UNEXPECTED, world);
}

/* ---- requests that are under way ---- */

struct item {
  const struct transfer *transfer;
  bool receives, done, persistent;
  uint64_t *buffer;
  size_t bytes;
  MPI_Status status;
};

struct batch {
  struct plan *plan;
  struct batch *next;
  int count;
  struct item item[2 * TRANSFERS_MAX];
  MPI_Request request[2 * TRANSFERS_MAX];
};

/* How a rank waits for the requests of a batch. */
enum style { WAITALL, WAIT_EACH, WAITANY, WAITSOME, TEST_EACH, TESTALL, TESTANY, TESTSOME, STYLES };

static void completed(struct batch *batch, int i, const MPI_Status *status)
{
  if (i < 0 || i >= batch->count || batch->item[i].done) {
    found(STATUS, me.rank);
    return;
  }
  batch->item[i].status = *status;
  batch->item[i].done = true;
}

/* As completed(), for calls whose choice depends on time. */
static void chosen(struct batch *batch, int i, const MPI_Status *status)
{
  fold_outcome((uint64_t)i);
  completed(batch, i, status);
}

static void wait_all(struct batch *batch)
{
  MPI_Status status[2 * TRANSFERS_MAX];
  MPI_Waitall(batch->count, batch->request, status);
  for (int i = 0; i < batch->count; i++)
    if (!batch->item[i].done)
      completed(batch, i, &status[i]);
}

/* Every request, beginning anywhere; by tests first, if there are polls. */
static void each(struct batch *batch, int polls)
{
  int start = below(&me.own, batch->count);
  for (int k = 0; k < batch->count; k++) {
    int i = (start + k) % batch->count, flag = 0;
    MPI_Status status;
    while (!flag && polls-- > 0) {
      MPI_Test(&batch->request[i], &flag, &status);
      fold_outcome((uint64_t)flag);
    }
    if (!flag)
      MPI_Wait(&batch->request[i], &status);
    completed(batch, i, &status);
  }
}

static void wait_any(struct batch *batch)
{
  for (int k = 0; k < batch->count; k++) {
    int i = -1;
    MPI_Status status;
    MPI_Waitany(batch->count, batch->request, &i, &status);
    chosen(batch, i, &status);
  }
}

static void some(struct batch *batch, int polls)
{
  int left = batch->count;
  while (left > 0) {
    int count = 0, index[2 * TRANSFERS_MAX];
    MPI_Status status[2 * TRANSFERS_MAX];
    if (polls-- > 0)
      MPI_Testsome(batch->count, batch->request, &count, index, status);
    else
      MPI_Waitsome(batch->count, batch->request, &count, index, status);
    if (count == MPI_UNDEFINED || count < 0) {
      found(UNDONE, me.rank);
      return;
    }
    fold_outcome((uint64_t)count);
    for (int k = 0; k < count; k++)
      chosen(batch, index[k], &status[k]);
    left -= count;
  }
}

static void test_all(struct batch *batch, int polls)
{
  int flag = 0;
  MPI_Status status[2 * TRANSFERS_MAX];
  while (!flag && polls-- > 0) {
    MPI_Testall(batch->count, batch->request, &flag, status);
    fold_outcome((uint64_t)flag);
  }
  if (!flag) {
    wait_all(batch);
    return;
  }
  for (int i = 0; i < batch->count; i++)
    completed(batch, i, &status[i]);
}

static void test_any(struct batch *batch, int polls)
{
  int left = batch->count;
  while (left > 0 && polls-- > 0) {
    int i = -1, flag = 0;
    MPI_Status status;
    MPI_Testany(batch->count, batch->request, &i, &flag, &status);
    fold_outcome((uint64_t)flag);
    if (!flag)
      continue;
    chosen(batch, i, &status);
    left--;
  }
  wait_all(batch);
}

static void complete(struct batch *batch)
{
  int polls = 1 + below(&me.own, POLLS_MAX);
  switch ((enum style)below(&me.own, STYLES)) {
  case WAITALL:
    wait_all(batch);
    break;
  case WAIT_EACH:
    each(batch, 0);
    break;
  case TEST_EACH:
    each(batch, polls);
    break;
  case WAITANY:
    wait_any(batch);
    break;
  case WAITSOME:
    some(batch, 0);
    break;
  case TESTSOME:
    some(batch, polls);
    break;
  case TESTALL:
    test_all(batch, is_plain() ? 0 : polls);
    break;
  default:
    test_any(batch, is_plain() ? 0 : polls);
    break;
  }
}

static struct batch *batch_new(struct plan *plan)
{
  struct batch *batch = room(sizeof *batch);
  memset(batch, 0, sizeof *batch);
  batch->plan = plan;
  return batch;
}

/* Everything of the step is over for this rank once its batch is closed. */
static void batch_close(struct batch *batch)
{
  if (batch->count > 0)
    complete(batch);
  for (int i = 0; i < batch->count; i++) {
    struct item *item = &batch->item[i];
    if (item->persistent)
      MPI_Request_free(&batch->request[i]);
    if (!item->done || batch->request[i] != MPI_REQUEST_NULL)
      found(UNDONE, me.rank);
    if (item->receives)
      take(batch->plan, item->buffer, item->bytes, &item->status);
    free(item->buffer);
  }
  fold(batch->plan->sum);
  plan_free(batch->plan);
  free(batch);
}

static void close_open(int left)
{
  int count = 0;
  for (struct batch *batch = me.open; batch; batch = batch->next)
    count++;
  for (; count > left; count--) {
    struct batch *batch = me.open;
    me.open = batch->next;
    batch_close(batch);
  }
}

static void leave_open(struct batch *batch)
{
  struct batch **end = &me.open;
  while (*end)
    end = &(*end)->next;
  *end = batch;
  batch->next = NULL;
}

/* ---- starting and blocking ---- */

static struct item *add_item(struct batch *batch, const struct transfer *transfer, bool receives,
                             size_t bytes)
{
  struct item *item = &batch->item[batch->count];
  *item = (struct item){.transfer = transfer, .receives = receives, .bytes = bytes};
  item->buffer = receives ? receive_room(bytes) : room(8 * words_of(bytes));
  return item;
}

/* Some requests are persistent ones, started once; plain SMPI gets none of them. */
static bool is_persistent(struct item *item)
{
  item->persistent = !is_plain() && mix(me.own.at, 1) % 4 == 0;
  return item->persistent;
}

/* The k-th receive of a flow gets its k-th message, and a wildcard any: there must be room. */
static void start_receive(struct batch *batch, const struct transfer *transfer)
{
  const struct plan *plan = batch->plan;
  struct item *item = add_item(batch, transfer, true, (size_t)plan->largest);
  MPI_Request *request = &batch->request[batch->count++];
  int source = named_source(plan, transfer), tag = named_tag(plan, transfer);
  bool persistent = is_persistent(item);
  int (*call)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
      persistent ? MPI_Recv_init : MPI_Irecv;
  call(item->buffer, (int)item->bytes, MPI_BYTE, source, tag, plan->group.comm, request);
  if (persistent)
    MPI_Start(request);
}

static void start_send(struct batch *batch, const struct transfer *transfer)
{
  const struct plan *plan = batch->plan;
  struct item *item = add_item(batch, transfer, false, (size_t)transfer->bytes);
  MPI_Request *request = &batch->request[batch->count++];
  write_transfer(plan, transfer, item->buffer);
  bool synchronous = one_in(&me.own, 3), persistent = is_persistent(item);
  int (*call)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
      synchronous ? MPI_Issend : MPI_Isend;
  if (persistent)
    call = synchronous ? MPI_Ssend_init : MPI_Send_init;
  call(item->buffer, transfer->bytes, MPI_BYTE, transfer->to, transfer->tag, plan->group.comm,
       request);
  if (persistent)
    MPI_Start(request);
}

static void blocking_send(const struct plan *plan, const struct transfer *transfer)
{
  uint64_t small[STACK_BYTES / 8];
  uint64_t *buffer = area;
  bool heap = transfer->bytes > STACK_BYTES && one_in(&me.own, 2);
  if (transfer->bytes <= STACK_BYTES)
    buffer = small;
  else if (heap)
    buffer = room(8 * words_of((size_t)transfer->bytes));
  write_transfer(plan, transfer, buffer);
  int (*call)(const void *, int, MPI_Datatype, int, int, MPI_Comm) =
      one_in(&me.own, 3) ? MPI_Ssend : MPI_Send;
  call(buffer, transfer->bytes, MPI_BYTE, transfer->to, transfer->tag, plan->group.comm);
  if (heap)
    free(buffer);
}

/* Waits for a message that a receive can take and says which it is: by a probe, by polls and then
 * a probe, or not at all. */
static void look_ahead(const struct plan *plan, int *source, int *tag)
{
  MPI_Status status;
  int polls = below(&me.own, POLLS_MAX), flag = 0, way = below(&me.own, 3);
  if (way == 0)
    return;
  while (way == 1 && !flag && polls-- > 0) {
    MPI_Iprobe(*source, *tag, plan->group.comm, &flag, &status);
    fold_outcome((uint64_t)flag);
  }
  if (!flag)
    MPI_Probe(*source, *tag, plan->group.comm, &status);
  *source = status.MPI_SOURCE;
  *tag = status.MPI_TAG;
}

static void blocking_receive(struct plan *plan, const struct transfer *transfer)
{
  int source = named_source(plan, transfer), tag = named_tag(plan, transfer);
  size_t bytes = (size_t)plan->largest;
  uint64_t small[STACK_BYTES / 8 + 1], *buffer = small;
  MPI_Status status;
  look_ahead(plan, &source, &tag);
  if (bytes > STACK_BYTES)
    buffer = receive_room(bytes);
  else
    small[words_of(bytes)] = me.seed;
  MPI_Recv(buffer, (int)bytes, MPI_BYTE, source, tag, plan->group.comm, &status);
  take(plan, buffer, bytes, &status);
  if (buffer != small)
    free(buffer);
}

static void to_itself(struct plan *plan, const struct transfer *transfer)
{
  struct batch *batch = batch_new(plan);
  start_receive(batch, transfer);
  blocking_send(plan, transfer);
  MPI_Status status;
  MPI_Wait(&batch->request[0], &status);
  if (batch->item[0].persistent)
    MPI_Request_free(&batch->request[0]);
  take(plan, batch->item[0].buffer, batch->item[0].bytes, &status);
  free(batch->item[0].buffer);
  free(batch);
}

static void in_order(struct plan *plan)
{
  for (int i = 0; i < plan->count; i++) {
    const struct transfer *transfer = &plan->transfer[i];
    bool sends = transfer->from == plan->group.rank, receives = transfer->to == plan->group.rank;
    if (sends && receives)
      to_itself(plan, transfer);
    else if (sends)
      blocking_send(plan, transfer);
    else if (receives)
      blocking_receive(plan, transfer);
  }
  plan_free(plan);
}

/* Calls one of the two for each transfer of this rank, in the order of sending; receives begin
 * anywhere if they name what they want. */
static void for_receives(struct plan *plan, struct batch *batch)
{
  int start = plan->naming[plan->group.rank] == NAMED ? below(&me.own, plan->count) : 0;
  for (int k = 0; k < plan->count; k++) {
    const struct transfer *transfer = &plan->transfer[(start + k) % plan->count];
    if (transfer->to == plan->group.rank && batch)
      start_receive(batch, transfer);
    else if (transfer->to == plan->group.rank)
      blocking_receive(plan, transfer);
  }
}

static void for_sends(struct plan *plan, struct batch *batch)
{
  for (int i = 0; i < plan->count; i++) {
    const struct transfer *transfer = &plan->transfer[i];
    if (transfer->from == plan->group.rank && batch)
      start_send(batch, transfer);
    else if (transfer->from == plan->group.rank)
      blocking_send(plan, transfer);
  }
}

static void messages(int step, const struct group *group)
{
  struct plan *plan = plan_new(step, group);
  if (plan->family == FAMILY_ORDERED) {
    in_order(plan);
    return;
  }
  bool all_started = one_in(&me.own, 2), stays_open = all_started && !plan->fenced;
  struct batch *batch = batch_new(plan);
  if (plan->family == FAMILY_POSTED) {
    for_receives(plan, batch);
    for_sends(plan, all_started ? batch : NULL);
  } else {
    for_sends(plan, batch);
    for_receives(plan, all_started ? batch : NULL);
  }
  if (one_in(&me.own, 2))
    compute(1e-6 * below(&me.own, 3000));
  if (stays_open && !one_in(&me.own, 3))
    leave_open(batch);
  else
    batch_close(batch);
}

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

static void shift(int step, const struct group *group)
{
  struct rng rng = group_rng(step, group);
  int rounds = 1 + below(&rng, 4);
  for (int round = 0; round < rounds; round++)
    shift_once(step, group, round, &rng);
}

/* ---- a master and workers ---- */

/* Workers ask, the master answers whoever comes first. For even seeds each worker asks as often as
 * the schedule says; for odd ones until it is told to stop, after that many questions of all. */
struct farm {
  int step;
  const struct group *group;
  int master, total;
  int asks[RANKS_MAX];        /* of each worker */
  int bytes;                  /* of an answer */
  int question, answer, stop; /* tags */
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

/* For even seeds no answer may depend on those before it, so the history stands still. */
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

static void farm(int step, const struct group *group)
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

/* One collective as this rank sees it. Blocks differ in length where the call allows it. */
struct collect {
  struct collect *next;
  MPI_Request request; /* nonblocking ones */
  bool nonblocking;
  bool sum, in_place; /* reductions */
  int step;
  const struct group *group;
  enum collective kind;
  int root;
  bool unequal;
  int count[RANKS_MAX], start[RANKS_MAX];     /* words of the blocks, by rank; Alltoall: to and from
                                                 that rank */
  int back[RANKS_MAX], back_start[RANKS_MAX]; /* Alltoallv: what comes in */
  int out_words, in_words;
  uint64_t *out, *in;
};

static MPI_Op chain; /* not commutative: see compose() */

/* Pairs (a, b) stand for x -> a x + b; `into` becomes first `before`, then `into`. */
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

static MPI_Datatype pair; /* two words, for compose() */

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

/* All have the same: each tells each. */
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

/* Sums are linear, so that over all ranks what goes into them is what comes out. */
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

/* The block from one rank to another; both must come to the same length. */
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

/* Nonblocking ones are left to plain SMPI as blocking ones. */
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

/* Whole vectors, by a sum (checked for its own sake) or by composition. */
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

/* A rank's result less its own share is the result of the rank before it. */
static void check_scan(const struct collect *c)
{
  int last = c->group->size - 1, me_here = c->group->rank, words = c->out_words;
  bool exclusive = c->kind == EXSCAN;
  if (exclusive && me_here == 0)
    memset(c->in, 0, 8 * (size_t)words); /* MPI leaves it undefined */
  uint64_t *other = room(8 * (size_t)words);
  for (int i = 0; i < words; i++)
    other[i] = exclusive ? c->in[i] + c->out[i] : c->in[i] - c->out[i];
  if (me_here < last)
    tell_sent(c, me_here + 1, exclusive ? other : c->in, words);
  if (me_here > 0)
    tell_got(c, me_here - 1, exclusive ? c->in : other, words);
  free(other);
}

/* Blocks of all ranks. */
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
  fold(hash_words(c->in, (size_t)c->in_words)); /* what was not written is the same in every run */
  free(c->in);
  free(c->out);
  free(c);
}

/* The oldest end first, until no more are left than that. */
static void end_begun(int left)
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

static void collective(int step, const struct group *group)
{
  struct collect *c = collect_new(step, group), **end = &me.begun;
  collect_begin(c);
  while (*end)
    end = &(*end)->next;
  *end = c;
}

/* ---- communicators ---- */

static void check_group(const struct group *group)
{
  int size = -1, rank = -1;
  MPI_Comm_size(group->comm, &size);
  MPI_Comm_rank(group->comm, &rank);
  if (size != group->size || rank != group->rank)
    found(SHAPE, me.rank);
}

/* The members of the parent with this rank's colour, by key and then by their old rank. */
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
  for (int i = 0; i < me.ranks; i++) { /* as many draws everywhere */
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

/* One of those there are, the same one everywhere. */
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
  close_open(0); /* requests may name it */
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

/* One step in three. */
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

/* A recursion, so that the stack is deep and holds state of its own. */
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

/* Prints the verdict; returns the exit code, the same everywhere. */
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
  MPI_Type_contiguous(2, MPI_UINT64_T, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(compose, 0, &chain);
}

static void end(void)
{
  close_open(0);
  end_begun(0);
  check_heap(true);
  for (int i = 1; i < SLOTS; i++)
    if (me.group[i].comm != MPI_COMM_NULL)
      MPI_Comm_free(&me.group[i].comm);
  MPI_Op_free(&chain);
  MPI_Type_free(&pair);
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
