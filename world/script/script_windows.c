/* Replaces calls of windows by the messages of which they consist, in the order in which the layer
 * sends and awaits them (sim/mpi/calls/wrap_window.c, window_passive.c). The accesses of an epoch
 * are known beforehand, so the messages and collectives that announce them carry no numbers. */
#include "world/script/script_parts.h"

#include "protocols/protocol.h"
#include "world/script/window_rules.h"

/* Holds the rank whose operations are being made. */
struct maker {
  const struct script *script;
  int self;
  struct list list;
  bool serves; /* the rank has a window that ranks may lock */
  /* By rank, for locks on other ranks: the kind of the lock, whether the rank has requested it, and
   * its accesses so far. */
  int lock[SCRIPT_WINDOW_RANKS];
  bool asked[SCRIPT_WINDOW_RANKS];
  unsigned from[SCRIPT_WINDOW_RANKS];
};

static const struct operation *written(const struct maker *m, int rank)
{
  return m->script->ops[rank];
}

/* ---- epochs ---- */

/* Holds indexes of operations of one rank: the first, and the one after the last. */
struct range {
  unsigned from, to;
};

static bool accesses(const struct operation *op, int target)
{
  return op->kind == SCRIPT_ACCESS && op->peer == target;
}

static bool has_accesses(const struct maker *m, int rank, struct range range, int target)
{
  for (unsigned i = range.from; i < range.to; i++)
    if (accesses(&written(m, rank)[i], target))
      return true;
  return false;
}

static bool fetches(const struct maker *m, int rank, struct range range, int target)
{
  for (unsigned i = range.from; i < range.to; i++) {
    const struct operation *op = &written(m, rank)[i];
    if (accesses(op, target) && access_fetches(op))
      return true;
  }
  return false;
}

/* Returns the epoch of `rank` that ends with operation number `number`, from 0, of that kind and
 * peer. RCL_ANY stands for any peer. */
static struct range epoch(const struct maker *m, int rank, enum script_kind kind, int peer,
                          unsigned number)
{
  const struct operation *ops = written(m, rank);
  struct range range = {0, 0};
  for (; ops[range.to].kind != SCRIPT_END; range.to++) {
    const struct operation *op = &ops[range.to];
    if (op->kind == kind && (peer == RCL_ANY || op->peer == peer) && !number--)
      return range;
    if (op->kind == SCRIPT_FENCE || op->kind == SCRIPT_COMPLETE)
      range.from = range.to + 1;
  }
  return (struct range){range.to, range.to};
}

/* Returns the number of operations of that kind and peer before the operation at `at`. */
static unsigned number_of(const struct maker *m, unsigned at, enum script_kind kind, int peer)
{
  unsigned number = 0;
  for (unsigned i = 0; i < at; i++) {
    const struct operation *op = &written(m, m->self)[i];
    number += op->kind == kind && (peer == RCL_ANY || op->peer == peer);
  }
  return number;
}

/* ---- messages ---- */

/* Numbers the names of receives (name_of()): two for each rank or, with locks, one for each rank
 * and two more. */
enum { NAME_PLAIN = SCRIPT_WINDOW_RANKS, NAME_MEET };

static int name_of(int peer, enum window_tag tag)
{
  return tag == TAG_REPLY ? peer : tag == TAG_MEET ? NAME_MEET : 2 * peer + (tag == TAG_ANSWER);
}

static void message(struct maker *m, enum script_kind kind, int peer, enum window_tag tag,
                    struct range range)
{
  append(&m->list,
         &(struct operation){.kind = kind,
                             .peer = peer,
                             .tag = (int)tag,
                             .comm = SCRIPT_WINDOW_COMM,
                             .name = kind == SCRIPT_RECV ? SCRIPT_NAMES : name_of(peer, tag),
                             .from = range.from,
                             .to = range.to,
                             .unseen = true});
}

static void step(struct maker *m, enum script_kind kind, int peer, struct range range)
{
  append(&m->list,
         &(struct operation){.kind = kind, .peer = peer, .from = range.from, .to = range.to});
}

/* Adds the origin's part: the origin sends its accesses to the target, and later awaits the fetched
 * values. */
static void begin_origin(struct maker *m, int target, struct range range)
{
  if (fetches(m, m->self, range, target))
    message(m, SCRIPT_IRECV, target, TAG_ANSWER, range);
  if (has_accesses(m, m->self, range, target))
    message(m, SCRIPT_SEND, target, TAG_ACCESSES, range);
}

static void end_origin(struct maker *m, int target, struct range range)
{
  if (fetches(m, m->self, range, target))
    message(m, SCRIPT_WAIT, target, TAG_ANSWER, range);
}

/* Adds the target's part: the target carries out the accesses that it gets, and answers. */
static void begin_target(struct maker *m, int origin, struct range range)
{
  if (has_accesses(m, origin, range, m->self))
    message(m, SCRIPT_IRECV, origin, TAG_ACCESSES, range);
}

static void answer(struct maker *m, int origin, struct range range)
{
  if (has_accesses(m, origin, range, m->self))
    message(m, SCRIPT_WAIT, origin, TAG_ACCESSES, range);
  if (fetches(m, origin, range, m->self))
    message(m, SCRIPT_SEND, origin, TAG_ANSWER, range);
}

/* ---- locks ---- */

static void serve(struct maker *m, int name)
{
  append(&m->list, &(struct operation){.kind = SCRIPT_SERVE, .name = name, .unseen = true});
}

/* Adds an operation as the script has it. */
static void add(struct maker *m, const struct operation *op)
{
  append(&m->list, op);
  m->list.item[m->list.count - 1].place = (unsigned)(op - written(m, m->self)) + 1;
}

/* Adds a message that the program itself sends or receives. The rank serves its window until the
 * message is complete. */
static void send(struct maker *m, const struct operation *op)
{
  add(m, op);
  serve(m, SCRIPT_NOTHING);
}

static void receive(struct maker *m, const struct operation *op)
{
  struct operation part = *op;
  part.kind = SCRIPT_IRECV;
  part.name = NAME_PLAIN;
  append(&m->list, &part);
  serve(m, NAME_PLAIN);
  part.kind = SCRIPT_WAIT;
  append(&m->list, &part);
}

/* Adds a barrier by dissemination. */
static void meet(struct maker *m)
{
  const struct range none = {0, 0};
  int ranks = m->script->ranks;
  for (int distance = 1; distance < ranks; distance *= 2) {
    int from = (m->self - distance + ranks) % ranks;
    message(m, SCRIPT_SEND, (m->self + distance) % ranks, TAG_MEET, none);
    message(m, SCRIPT_IRECV, from, TAG_MEET, none);
    serve(m, NAME_MEET);
    message(m, SCRIPT_WAIT, from, TAG_MEET, none);
  }
}

static void lock(struct maker *m, const struct operation *op)
{
  int kind = op->count ? LOCK_SHARED : LOCK_EXCLUSIVE;
  m->lock[op->peer] = kind;
  m->asked[op->peer] = false;
  if (op->peer != m->self)
    return;
  append(&m->list, &(struct operation){.kind = SCRIPT_LOCK_OWN, .lock = kind});
  serve(m, SCRIPT_GRANT);
}

/* Sends the accesses to that target. The message also requests the target's lock, unless an earlier
 * message has requested it. */
static void send_off(struct maker *m, int target, struct range range, bool unlocks)
{
  message(m, SCRIPT_IRECV, target, TAG_REPLY, range);
  message(m, SCRIPT_SEND, target, TAG_PASSIVE, range);
  m->list.item[m->list.count - 1].lock = m->asked[target] ? LOCK_NONE : m->lock[target];
  m->list.item[m->list.count - 1].unlocks = unlocks;
  m->asked[target] = true;
  serve(m, name_of(target, TAG_REPLY));
  message(m, SCRIPT_WAIT, target, TAG_REPLY, range);
}

/* Adds the end of accesses: flush or unlock. */
static void end_accesses(struct maker *m, unsigned at, bool unlocks)
{
  int target = written(m, m->self)[at].peer;
  struct range range = {m->from[target], at};
  bool any = has_accesses(m, m->self, range, target);
  if (target == m->self && any)
    step(m, SCRIPT_OWN, target, range);
  if (target != m->self && (any || (unlocks && m->asked[target])))
    send_off(m, target, range, unlocks);
  else
    serve(m, SCRIPT_NOTHING);
  if (target == m->self && unlocks)
    append(&m->list, &(struct operation){.kind = SCRIPT_UNLOCK_OWN, .unseen = true});
  step(m, SCRIPT_SEE, target, range);
  m->from[target] = at + 1;
}

/* ---- calls ---- */

static void make(struct maker *m)
{
  append(&m->list,
         &(struct operation){.kind = SCRIPT_COLLECTIVE, .flow = (int)RCL_FLOW_ALL, .unseen = true});
  append(&m->list, &(struct operation){.kind = SCRIPT_MEMBER, .comm = SCRIPT_WINDOW_COMM});
}

static void fence(struct maker *m, unsigned at)
{
  unsigned number = number_of(m, at, SCRIPT_FENCE, RCL_ANY);
  struct range own = epoch(m, m->self, SCRIPT_FENCE, RCL_ANY, number);
  int ranks = m->script->ranks, self = m->self;
  append(&m->list, &(struct operation){.kind = SCRIPT_COLLECTIVE,
                                       .flow = (int)RCL_FLOW_ALL,
                                       .comm = SCRIPT_WINDOW_COMM,
                                       .unseen = true});
  for (int i = 0; i < ranks; i++)
    if (i != self) {
      begin_target(m, i, epoch(m, i, SCRIPT_FENCE, RCL_ANY, number));
      begin_origin(m, i, own);
    }
  for (int i = 0; i < ranks; i++)
    if (i == self)
      step(m, SCRIPT_OWN, self, own);
    else
      answer(m, i, epoch(m, i, SCRIPT_FENCE, RCL_ANY, number));
  for (int i = 0; i < ranks; i++)
    if (i != self)
      end_origin(m, i, own);
  step(m, SCRIPT_SEE, RCL_ANY, own);
}

static void complete(struct maker *m, unsigned at)
{
  int target = written(m, m->self)[at].peer;
  struct range range = {at, at};
  while (written(m, m->self)[range.from].kind != SCRIPT_START)
    range.from--;
  message(m, SCRIPT_RECV, target, TAG_POSTED, range);
  begin_origin(m, target, range);
  message(m, SCRIPT_SEND, target, TAG_BYTES, range);
  end_origin(m, target, range);
  step(m, SCRIPT_SEE, target, range);
}

static void wait(struct maker *m, unsigned at)
{
  int origin = written(m, m->self)[at].peer;
  struct range range =
      epoch(m, origin, SCRIPT_COMPLETE, m->self, number_of(m, at, SCRIPT_WAIT_WINDOW, origin));
  message(m, SCRIPT_RECV, origin, TAG_BYTES, range);
  begin_target(m, origin, range);
  answer(m, origin, range);
}

static void add_operation(struct maker *m, unsigned at)
{
  const struct operation *op = &written(m, m->self)[at];
  switch (op->kind) {
  case SCRIPT_WINDOW:
    make(m);
    m->serves = m->script->locks;
    break;
  case SCRIPT_LOCK:
    m->from[op->peer] = at + 1;
    lock(m, op);
    break;
  case SCRIPT_FLUSH:
  case SCRIPT_UNLOCK:
    end_accesses(m, at, op->kind == SCRIPT_UNLOCK);
    break;
  case SCRIPT_FENCE:
    fence(m, at);
    break;
  case SCRIPT_POST:
    message(m, SCRIPT_SEND, op->peer, TAG_POSTED, (struct range){0, 0});
    break;
  case SCRIPT_START:
    break;
  case SCRIPT_COMPLETE:
    complete(m, at);
    break;
  case SCRIPT_WAIT_WINDOW:
    wait(m, at);
    break;
  case SCRIPT_SEND:
    (m->serves ? send : add)(m, op);
    break;
  case SCRIPT_RECV:
    (m->serves ? receive : add)(m, op);
    break;
  case SCRIPT_COLLECTIVE:
    if (m->serves)
      meet(m);
    add(m, op);
    break;
  default:
    add(m, op);
  }
}

/* ---- what is refused ---- */

/* Holds what is known of a rank while its operations are judged. */
struct reader {
  const struct script *script;
  int self;
  bool made;
  int access, exposure; /* target of each open epoch, or RCL_ANY if there is none */
  unsigned fences;
  /* target of each access that is not complete, or RCL_ANY if there is none */
  int target[SCRIPT_PENDING];
  bool locked[SCRIPT_WINDOW_RANKS];
};

static bool is_pending(const struct reader *r)
{
  for (int i = 0; i < SCRIPT_PENDING; i++)
    if (r->target[i] != RCL_ANY)
      return true;
  return false;
}

/* Completes the accesses to `target`, or all accesses if that is RCL_ANY. */
static void complete_all(struct reader *r, int target)
{
  for (int i = 0; i < SCRIPT_PENDING; i++)
    if (target == RCL_ANY || r->target[i] == target)
      r->target[i] = RCL_ANY;
}

static const char *add_access(struct reader *r, struct operation *op)
{
  if (r->access != RCL_ANY && op->peer != r->access)
    return "an access to another rank than that of 'start', expected the same";
  if (r->script->locks && !r->locked[op->peer])
    return "an access to a rank that is not locked, expected 'lock' before it";
  op->name = 0;
  while (op->name < SCRIPT_PENDING && r->target[op->name] != RCL_ANY)
    op->name++;
  if (op->name == SCRIPT_PENDING)
    return "more than 4 accesses that are not complete, expected 'fence', 'complete' or 'flush'";
  r->target[op->name] = op->peer;
  return NULL;
}

static const char *read_lock(struct reader *r, const struct operation *op)
{
  bool locks = op->kind == SCRIPT_LOCK;
  if (r->locked[op->peer] == locks)
    return locks ? "lock of a rank that is locked, expected 'unlock' before it"
                 : "flush or unlock of a rank that is not locked, expected 'lock' before it";
  if (!locks)
    complete_all(r, op->peer);
  r->locked[op->peer] = op->kind != SCRIPT_UNLOCK;
  return NULL;
}

static bool is_of_epoch(const struct operation *op)
{
  return op->kind == SCRIPT_FENCE || op->kind == SCRIPT_POST || op->kind == SCRIPT_START;
}

static const char *begin_epoch(int *epoch, const struct operation *op, int self)
{
  if (op->peer == self)
    return "post or start of the rank itself, expected another rank";
  if (*epoch != RCL_ANY)
    return "post or start within another, expected 'wait window' or 'complete' before it";
  *epoch = op->peer;
  return NULL;
}

static const char *end_epoch(int *epoch, struct operation *op)
{
  if (*epoch == RCL_ANY)
    return "wait window or complete without its epoch, expected 'post' or 'start' before it";
  op->peer = *epoch;
  *epoch = RCL_ANY;
  return NULL;
}

static bool is_of_window(const struct operation *op)
{
  return op->kind >= SCRIPT_WINDOW;
}

static const char *read_operation(struct reader *r, struct operation *op)
{
  if (op->kind == SCRIPT_IRECV || (op->kind == SCRIPT_SEND && op->count))
    return "irecv or ssend beside windows, expected recv or send";
  if (op->comm == SCRIPT_WINDOW_COMM)
    return "communicator 3 beside windows, which are made with it, expected 1 or 2";
  if (r->script->locks && is_of_epoch(op))
    return "fence, post or start beside locks, expected either";
  if (r->script->locks && (op->comm || op->kind == SCRIPT_MEMBER))
    return "communicators beside locks, expected none";
  if (is_of_window(op) && r->made == (op->kind == SCRIPT_WINDOW))
    return r->made ? "a second window, expected one" : "a window is used, expected 'window' before";
  switch (op->kind) {
  case SCRIPT_WINDOW:
    r->made = true;
    return NULL;
  case SCRIPT_ACCESS:
    return add_access(r, op);
  case SCRIPT_POST:
    return begin_epoch(&r->exposure, op, r->self);
  case SCRIPT_START:
    return is_pending(r) ? "start while accesses are not complete, expected 'fence' before it"
                         : begin_epoch(&r->access, op, r->self);
  case SCRIPT_WAIT_WINDOW:
    return end_epoch(&r->exposure, op);
  case SCRIPT_LOCK:
  case SCRIPT_FLUSH:
  case SCRIPT_UNLOCK:
    return read_lock(r, op);
  case SCRIPT_COMPLETE:
    complete_all(r, RCL_ANY);
    return end_epoch(&r->access, op);
  case SCRIPT_FENCE:
    complete_all(r, RCL_ANY);
    r->fences++;
    return r->access != RCL_ANY || r->exposure != RCL_ANY
               ? "fence within an epoch, expected 'complete' or 'wait window' before it"
               : NULL;
  default:
    return NULL;
  }
}

static const char *read_operations(struct reader *r)
{
  const char *wrong = NULL;
  for (struct operation *op = r->script->ops[r->self]; op->kind != SCRIPT_END && !wrong; op++)
    wrong = read_operation(r, op);
  if (wrong)
    return wrong;
  if (!r->made)
    return "a rank without a window, expected 'window' on all ranks";
  bool open = is_pending(r) || r->access != RCL_ANY || r->exposure != RCL_ANY;
  for (int i = 0; i < SCRIPT_WINDOW_RANKS; i++)
    open |= r->locked[i];
  return open ? "an epoch is never ended, expected 'fence', 'complete', 'wait window' or 'unlock'"
              : NULL;
}

static const char *check(const struct script *script)
{
  unsigned fences = 0;
  if (script->ranks > SCRIPT_WINDOW_RANKS)
    return "windows of more than 4 ranks, expected fewer";
  for (int rank = 0; rank < script->ranks; rank++) {
    struct reader reader = {.script = script, .self = rank, .access = RCL_ANY, .exposure = RCL_ANY};
    complete_all(&reader, RCL_ANY);
    const char *wrong = read_operations(&reader);
    if (wrong)
      return wrong;
    if (rank && reader.fences != fences)
      return "ranks with different numbers of fences, expected the same";
    fences = reader.fences;
  }
  return NULL;
}

/* Returns whether the target waits for the origin's epochs as often as the origin completes one. */
static bool is_paired(const struct script *script, int target, int origin)
{
  const struct maker m = {.script = script, .self = target},
                     other = {.script = script, .self = origin};
  return number_of(&m, epoch(&m, target, SCRIPT_END, 0, 0).to, SCRIPT_WAIT_WINDOW, origin) ==
         number_of(&other, epoch(&m, origin, SCRIPT_END, 0, 0).to, SCRIPT_COMPLETE, target);
}

static const char *check_pairs(const struct script *script)
{
  for (int target = 0; target < script->ranks; target++)
    for (int origin = 0; origin < script->ranks; origin++)
      if (!is_paired(script, target, origin))
        return "post without the start for it, expected as many of one as of the other";
  return NULL;
}

static const char *check_none(const struct script *script)
{
  for (int rank = 0; rank < script->ranks; rank++)
    for (const struct operation *op = script->ops[rank]; op->kind != SCRIPT_END; op++)
      if (is_of_window(op))
        return "a window is used, expected 'window' before";
  return NULL;
}

static struct operation *made(const struct script *script, int self)
{
  struct maker maker = {.script = script, .self = self};
  for (unsigned i = 0; script->ops[self][i].kind != SCRIPT_END; i++)
    add_operation(&maker, i);
  if (maker.serves)
    meet(&maker); /* in MPI_Finalize all ranks meet */
  append(&maker.list, &(struct operation){.kind = SCRIPT_END});
  return maker.list.item;
}

const char *script_make_windows(struct script *script)
{
  if (!script->windows)
    return check_none(script);
  for (int rank = 0; rank < script->ranks; rank++)
    for (const struct operation *op = script->ops[rank]; op->kind != SCRIPT_END; op++)
      script->locks |= op->kind == SCRIPT_LOCK;
  const char *wrong = check(script);
  if (!wrong)
    wrong = check_pairs(script);
  if (wrong)
    return wrong;
  struct operation **ops = checked(calloc(SCRIPT_WINDOW_RANKS, sizeof *ops));
  for (int rank = 0; rank < script->ranks; rank++) {
    ops[rank] = made(script, rank);
    script->members[rank * SCRIPT_COMMS + SCRIPT_WINDOW_COMM] = true;
  }
  script->written = script->ops;
  script->ops = ops;
  return NULL;
}
