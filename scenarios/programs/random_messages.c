/* This part of the program `random` exchanges the messages of a step, by all of MPI's calls. */
#include "random.h"

#include <stdlib.h>
#include <string.h>

/* ---- transfers of a step ---- */

enum family { FAMILY_POSTED, FAMILY_STARTED, FAMILY_ORDERED, FAMILIES };
enum naming { NAMED, ANY_SENDER, ANY_LABEL, ANY_BOTH, NAMINGS };

struct transfer {
  int from, to; /* sender and receiver, as ranks of the group */
  int tag;
  int bytes;
  bool taken; /* the transfer was received */
};

struct plan {
  int step;
  enum family family;
  bool fenced;   /* no message of another step can match a receive of this one */
  bool own_comm; /* `fenced` because the step has a communicator of its own */
  struct group group;
  enum naming naming[RANKS_MAX]; /* by rank: how its receives name source and tag */
  int count, largest; /* number of transfers, and size of the largest that this rank receives */
  struct transfer transfer[TRANSFERS_MAX];
  uint64_t sum; /* sum of what was received, which does not depend on the order */
};

int random_bytes(struct rng *rng, bool may_be_large)
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

uint64_t group_hash(const struct group *group)
{
  uint64_t hash = (uint64_t)group->size;
  for (int i = 0; i < group->size; i++)
    hash = mix(hash, (uint64_t)group->member[i]);
  return hash;
}

struct rng group_rng(int step, const struct group *group)
{
  return rng_for(step, mix(1, group_hash(group)));
}

static bool is_step_tagged(enum naming naming)
{
  return naming == ANY_SENDER || naming == ANY_BOTH;
}

/* In FAMILY_ORDERED a receive from ANY must match the transfer that the order says, so no two
 * transfers have the same tag. */
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

/* Judges a received message and folds it in. It is called in the order in which receives were
 * posted, so the next message of a flow is the next in the schedule. */
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

/* Lists the ways in which a rank waits for the requests of a batch. */
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

/* Does what completed() does, for calls whose choice of a request depends on time. */
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

/* Completes every request, in an order that begins at a random one. Tests a request `polls` times
 * before it waits for it. */
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

/* Completes all requests of the batch, which ends the step for this rank. */
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

void close_open(int left)
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

/* Draws whether a request is persistent; such a request is started once. Without the layer none is
 * persistent. */
static bool is_persistent(struct item *item)
{
  item->persistent = !is_plain() && mix(me.own.at, 1) % 4 == 0;
  return item->persistent;
}

/* Starts a receive with room for the largest message. The k-th receive of a flow gets the k-th
 * message of the flow; a wildcard receive may get any message. */
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

/* Looks for a message that a receive can take, and writes its source and tag to `source` and `tag`.
 * Does so by a probe, by polls and then a probe, or not at all. */
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

/* Puts each receive of this rank into the batch. Without a batch, blocks in each receive. Receives
 * are in the order of sending; if they name their messages, they may begin with any of them. */
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

void messages(int step, const struct group *group)
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
