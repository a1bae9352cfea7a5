/* The world: taking a move. The rules of what can happen are in world_rules.c. */
#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "world_parts.h"

/* ---- parts ---- */

uint32_t world_part(const struct world *w, enum part_kind kind, int a, int b)
{
  uint32_t n = (uint32_t)w->ranks;
  uint32_t pair = (uint32_t)a * n + (uint32_t)b;
  switch (kind) {
  case WORLD_CHANNEL:
    return n * WORLD_RANK_PARTS + pair;
  case WORLD_CONTROL:
    return n * WORLD_RANK_PARTS + n * n + pair;
  case WORLD_SHARE:
    return n * WORLD_RANK_PARTS + 2 * n * n + pair;
  case WORLD_GLOBAL:
    return n * WORLD_RANK_PARTS + 3 * n * n;
  default:
    return (uint32_t)a * WORLD_RANK_PARTS + (uint32_t)kind;
  }
}

uint32_t world_parts(const struct world *w)
{
  return world_part(w, WORLD_GLOBAL, 0, 0) + 1;
}

void world_init(struct world *w, const struct protocol *protocol, int ranks, uint32_t capacity)
{
  *w = (struct world){.protocol = protocol, .ranks = ranks, .places_anywhere = true};
  w->config = calloc((size_t)ranks, sizeof *w->config);
  if (!w->config)
    abort();
  for (int rank = 0; rank < ranks; rank++)
    w->config[rank] =
        (struct config){.self = (int16_t)rank, .ranks = (int16_t)ranks, .capacity = capacity};
  w->state_bytes = (uint32_t)protocol->bytes(&w->config[0]);
}

void world_clear(struct world *w)
{
  free(w->config);
  w->config = NULL;
}

static void begin_program(const struct world *w, int rank)
{
  edit_program(w, rank)->history = script_begin(rank);
  world_script_advance(w, rank);
}

void world_begin(struct world *w, unsigned crashes, unsigned timers)
{
  for (int rank = 0; rank < w->ranks; rank++) {
    edit_rank(w, rank)->phase = RANK_NEW;
    begin_program(w, rank);
  }
  struct world_global *global = edit_global(w);
  global->crashes = (uint16_t)crashes;
  global->timers = (uint16_t)timers;
  global->down = -1;
}

bool world_finished(const struct world *w)
{
  for (int rank = 0; rank < w->ranks; rank++) {
    const struct world_rank *me = read_rank(w, rank);
    bool current = me->phase == RANK_RUNNING || me->phase == RANK_CAPTURING;
    if (!current || me->incarnation != read_global(w)->incarnation ||
        !read_program(w, rank)->finished)
      return false;
  }
  return true;
}

/* ---- one step, while it is being taken ---- */

struct taking {
  const struct world *w;
  struct move *move;
  struct actions *actions;
  struct verdict *verdict;
  int rank;
  struct event event;           /* complete, as the protocol sees it */
  struct world_message message; /* OFFER: being sent; ARRIVED: just arrived */
  uint32_t result;              /* COLLECTED: digest of what came together */
  uint32_t newest_stop;         /* COLLECTED: highest stop-log line of a contribution, and whose */
  int newest_peer;
  bool answered; /* OFFER, RECEIVE, ARRIVED got the answer that they need */
};

static bool judged(const struct world *w, const char *property)
{
  if (!w->properties)
    return true;
  for (const char *const *name = w->properties; *name; name++)
    if (!strcmp(*name, property))
      return true;
  return false;
}

/* Notes a violation of a property that is judged; the first one of a step stands. */
__attribute__((format(printf, 3, 4))) static void violate(struct taking *t, const char *property,
                                                          const char *format, ...)
{
  if (t->verdict->kind == VERDICT_VIOLATION || !judged(t->w, property))
    return;
  t->verdict->kind = VERDICT_VIOLATION;
  t->verdict->property = property;
  t->verdict->rank = t->rank;
  va_list args;
  va_start(args, format);
  vsnprintf(t->verdict->text, sizeof t->verdict->text, format, args);
  va_end(args);
}

/* ---- history: what the program sent and was given ---- */

static int compare_flows(const struct world_flow *a, int peer, int comm, int tag)
{
  if (a->peer != peer)
    return a->peer < peer ? -1 : 1;
  if (a->comm != comm)
    return a->comm < comm ? -1 : 1;
  return a->tag == tag ? 0 : a->tag < tag ? -1 : 1;
}

/* The flow of rank to and from peer with that envelope; NULL when there is none. `place` gets where
 * it stands, or would stand, among `count`. */
static const struct world_flow *find_flow(const struct world *w, int rank, int peer, int comm,
                                          int tag, uint32_t *place, uint32_t *count)
{
  const struct world_flow *flows = READ_LIST(struct world_flow, w, WORLD_FLOWS, rank, 0, count);
  uint32_t low = 0, high = *count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (compare_flows(&flows[middle], peer, comm, tag) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  *place = low;
  return low < *count && !compare_flows(&flows[low], peer, comm, tag) ? &flows[low] : NULL;
}

/* The same to write to, made when there is none. */
static struct world_flow *flow(const struct world *w, int rank, int peer, int comm, int tag)
{
  uint32_t low, count;
  if (!find_flow(w, rank, peer, comm, tag, &low, &count)) {
    struct world_flow fresh = {.peer = (int16_t)peer, .comm = (int16_t)comm, .tag = tag};
    list_insert(w, WORLD_FLOWS, rank, 0, low, &fresh, sizeof fresh);
    count++;
  }
  struct world_flow *edited =
      world_edit(w, WORLD_FLOWS, rank, 0, count * (uint32_t)sizeof(struct world_flow));
  return &edited[low];
}

/* A message has come to the program: it must be the next of its flow. */
static void check_sequence(struct taking *t, int peer, const struct world_message *message)
{
  struct world_flow *f = flow(t->w, t->rank, peer, message->comm, message->tag);
  uint32_t expected = f->delivered + 1;
  if (message->sequence > expected)
    violate(t, "no-loss", "message %u from rank %d (tag %d) was given before message %u",
            message->sequence, peer, message->tag, expected);
  else if (message->sequence < expected)
    violate(t, "no-duplicate", "message %u from rank %d (tag %d) was given twice",
            message->sequence, peer, message->tag);
  f->delivered++;
  f->delivered_digest = script_fold(f->delivered_digest, message->content);
}

static bool fits(const struct world_receive *posted, int peer, const struct world_message *message)
{
  return posted->comm == message->comm && (posted->peer == ANY || posted->peer == peer) &&
         (posted->tag == ANY || posted->tag == message->tag);
}

/* Gives `message` to receive `request` of the program. */
static void give(struct taking *t, uint32_t request, int peer, const struct world_message *message)
{
  uint32_t count, i;
  const struct world_receive *posted =
      READ_LIST(struct world_receive, t->w, WORLD_POSTED, t->rank, 0, &count);
  for (i = 0; i < count && posted[i].request != request; i++)
    continue;
  if (i == count) {
    violate(t, "legal", "receive %u is not posted", request);
    return;
  }
  if (!fits(&posted[i], peer, message))
    violate(t, "legal", "receive %u was given a message with another envelope", request);
  list_remove(t->w, WORLD_POSTED, t->rank, 0, i, sizeof *posted);
  check_sequence(t, peer, message);
  if (!t->w->script)
    return;
  struct world_program *program = edit_program(t->w, t->rank);
  for (unsigned name = 0; name <= SCRIPT_NAMES; name++)
    if (program->request[name] == request) {
      program->content[name] = message->content;
      program->given |= 1u << name;
    }
}

/* ---- claims about lines, seen from outside (design section 3) ---- */

/* Claim 1.2 and 1.3 of C3, at a delivery: `stopped` is the receiver's stop-log line before the
 * step. */
static void check_lines(struct taking *t, uint32_t stopped)
{
  const struct world_rank *me = read_rank(t->w, t->rank);
  if (!t->w->line_stamps)
    return;
  if (t->message.stopped > me->stopped)
    violate(t, "c3-1.2", "rank %d beyond stop-log line %u sent to rank %d behind it", t->event.peer,
            t->message.stopped, t->rank);
  if (stopped > t->message.line)
    violate(t, "c3-1.3", "rank %d beyond stop-log line %u received from rank %d behind line %u",
            t->rank, stopped, t->event.peer, stopped);
}

/* Claims 2.2 and 2.3, where data come together: the same for each contribution. */
static void check_share_lines(struct taking *t, int peer, const struct world_message *share)
{
  if (!t->w->line_stamps || t->event.flow == FLOW_BARRIER) /* no data */
    return;
  if (share->stopped > t->newest_stop) {
    t->newest_stop = share->stopped;
    t->newest_peer = peer;
  }
  if (read_rank(t->w, t->rank)->stopped > share->line)
    violate(t, "c3-2.3", "data flowed from rank %d behind line %u to rank %d beyond stop-log line",
            peer, share->line + 1, t->rank);
}

static void check_collected_lines(struct taking *t)
{
  if (t->newest_stop > read_rank(t->w, t->rank)->stopped)
    violate(t, "c3-2.2", "data flowed from rank %d beyond stop-log line %u to rank %d behind it",
            t->newest_peer, t->newest_stop, t->rank);
}

/* Ranks that have crashed, or gone back already, are beyond nothing: the claim is not about them.
 */
static bool same_life(const struct taking *t, int rank)
{
  const struct world_rank *other = read_rank(t->w, rank);
  return other->phase <= RANK_CAPTURING &&
         other->incarnation == read_rank(t->w, t->rank)->incarnation;
}

static void check_all_beyond(struct taking *t, uint32_t checkpoint)
{
  if (!judged(t->w, "c3-1.1"))
    return; /* looks at all ranks */
  for (int rank = 0; rank < t->w->ranks; rank++)
    if (same_life(t, rank) && read_rank(t->w, rank)->line < checkpoint)
      violate(t, "c3-1.1", "rank %d stopped logging before rank %d was beyond line %u", t->rank,
              rank, checkpoint);
}

static uint32_t under_way(const struct taking *t, int from, int to)
{
  uint32_t count, found = 0;
  const struct world_message *channel =
      READ_LIST(struct world_message, t->w, WORLD_CHANNEL, from, to, &count);
  for (uint32_t i = 0; i < count; i++)
    found += channel[i].incarnation == read_rank(t->w, t->rank)->incarnation;
  return found;
}

/* Bookmarks: no message comes from, or goes to, a rank when it is captured. */
static void check_quiet(struct taking *t)
{
  if (!judged(t->w, "quiet-channels"))
    return; /* looks at all channels, which would tie every capture to them */
  for (int peer = 0; peer < t->w->ranks; peer++) {
    uint32_t in = under_way(t, peer, t->rank), out = under_way(t, t->rank, peer);
    if (in || out)
      violate(t, "quiet-channels", "captured with %u messages %s rank %d under way", in ? in : out,
              in ? "from" : "to", peer);
  }
}

/* ---- stable storage ---- */

/* Bytes kept for an image: the three parts of the program, each behind its size. */
static uint32_t keep_parts(const struct world *w, int rank, const enum part_kind *kinds, int count)
{
  uint32_t size, total = 0;
  for (int i = 0; i < count; i++) {
    world_read(w, kinds[i], rank, 0, &size);
    total += size + (uint32_t)sizeof size;
  }
  unsigned char *bytes = malloc(total), *at = bytes;
  if (!bytes)
    abort();
  for (int i = 0; i < count; i++) {
    const unsigned char *part = world_read(w, kinds[i], rank, 0, &size);
    uint32_t skip = kinds[i] == WORLD_RANK ? (uint32_t)sizeof(struct world_rank) : 0;
    uint32_t length = size - skip;
    memcpy(at, &length, sizeof length);
    if (length)
      memcpy(at + sizeof length, part + skip, length);
    at += sizeof length + length;
  }
  uint32_t number = w->memory.keep(w->memory.ctx, bytes, (uint32_t)(at - bytes));
  free(bytes);
  return number;
}

static void restore_parts(const struct world *w, int rank, const enum part_kind *kinds, int count,
                          uint32_t number)
{
  uint32_t size, length;
  const unsigned char *at = w->memory.kept(w->memory.ctx, number, &size);
  for (int i = 0; i < count; i++) {
    memcpy(&length, at, sizeof length);
    uint32_t skip = kinds[i] == WORLD_RANK ? (uint32_t)sizeof(struct world_rank) : 0;
    unsigned char *part = world_edit(w, kinds[i], rank, 0, length + skip);
    if (length)
      memcpy(part + skip, at + sizeof length, length);
    at += sizeof length + length;
  }
}

static const enum part_kind image_parts[] = {WORLD_PROGRAM, WORLD_POSTED, WORLD_FLOWS};
static const enum part_kind state_parts[] = {WORLD_RANK, WORLD_SLOTS};

static void forget(const struct world *w, const struct world_record *record)
{
  if (!w->memory.forget)
    return;
  if (record->image)
    w->memory.forget(w->memory.ctx, record->image);
  if (record->state)
    w->memory.forget(w->memory.ctx, record->state);
}

/* Removes the records of `rank` for which `gone` says so. */
static void remove_records(const struct world *w, int rank,
                           bool (*gone)(const struct world_record *, uint32_t), uint32_t with)
{
  uint32_t count;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = count; i-- > 0;)
    if (gone(&stored[i], with)) {
      forget(w, &stored[i]);
      list_remove(w, WORLD_STORED, rank, 0, i, sizeof *stored);
      stored = READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
    }
}

static bool is_of(const struct world_record *record, uint32_t checkpoint)
{
  return record->checkpoint == checkpoint;
}

static bool is_image_of(const struct world_record *record, uint32_t checkpoint)
{
  return record->checkpoint == checkpoint && record->part == PART_IMAGE;
}

static bool is_log_of(const struct world_record *record, uint32_t checkpoint)
{
  return record->checkpoint == checkpoint && record->part == PART_LOG;
}

static bool is_cut(const struct world_record *record, uint32_t ignored)
{
  (void)ignored;
  return !record->durable;
}

static bool is_after(const struct world_record *record, uint32_t checkpoint)
{
  return record->checkpoint > checkpoint;
}

/* Storage takes nothing from ranks that have not noticed a recovery yet: it is fenced. */
static bool fenced(const struct taking *t)
{
  return read_rank(t->w, t->rank)->incarnation < read_global(t->w)->incarnation;
}

static void store(struct taking *t, const struct action *action)
{
  const struct world_rank *me = read_rank(t->w, t->rank);
  struct world_record record = {.checkpoint = action->checkpoint, .part = action->part};
  if (fenced(t))
    return;
  if (action->part == PART_IMAGE) {
    if (!me->image || me->line != action->checkpoint) {
      violate(t, "legal", "no image of checkpoint %u to store", action->checkpoint);
      return;
    }
    record.image = me->image;
    edit_rank(t->w, t->rank)->image = 0;
  }
  remove_records(t->w, t->rank, action->part == PART_IMAGE ? is_image_of : is_log_of,
                 action->checkpoint);
  record.state = keep_parts(t->w, t->rank, state_parts, 2);
  uint32_t count;
  READ_LIST(struct world_record, t->w, WORLD_STORED, t->rank, 0, &count);
  list_insert(t->w, WORLD_STORED, t->rank, 0, count, &record, sizeof record);
}

static void report(struct taking *t)
{
  uint32_t count, i = 0;
  READ_LIST(struct world_record, t->w, WORLD_STORED, t->rank, 0, &count);
  struct world_record *stored =
      world_edit(t->w, WORLD_STORED, t->rank, 0, count * (uint32_t)sizeof *stored);
  while (stored[i].reported)
    i++;
  stored[i].reported = true;
  stored[i].durable = !t->move->lie;
  if (t->move->lie)
    edit_global(t->w)->lied = true;
}

/* ---- crash, detection, restart ---- */

static void drop_stale(const struct world *w, enum part_kind kind, int peer, int rank,
                       uint16_t incarnation)
{
  uint32_t count;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, kind, peer, rank, &count);
  for (uint32_t i = count; i-- > 0;)
    if (channel[i].incarnation < incarnation) {
      list_remove(w, kind, peer, rank, i, sizeof *channel);
      channel = READ_LIST(struct world_message, w, kind, peer, rank, &count);
    }
}

/* Whatever the rank held in memory is gone; what was sent to it in earlier incarnations too. */
static void wipe(const struct world *w, int rank, enum rank_phase phase, uint16_t incarnation)
{
  struct world_rank *me = edit_rank(w, rank);
  if (me->image && w->memory.forget)
    w->memory.forget(w->memory.ctx, me->image);
  uint16_t noticed = me->noticed;
  memset(me, 0, sizeof *me + w->state_bytes);
  me->phase = (uint8_t)phase;
  me->noticed = noticed;
  memset(edit_program(w, rank), 0, sizeof(struct world_program));
  list_clear(w, WORLD_POSTED, rank, 0);
  list_clear(w, WORLD_SLOTS, rank, 0);
  list_clear(w, WORLD_FLOWS, rank, 0);
  list_clear(w, WORLD_REJOINED, rank, 0);
  for (int peer = 0; peer < w->ranks; peer++) {
    drop_stale(w, WORLD_CHANNEL, peer, rank, incarnation);
    drop_stale(w, WORLD_CONTROL, peer, rank, incarnation);
    drop_stale(w, WORLD_SHARE, peer, rank, incarnation);
  }
}

static void crash(struct taking *t)
{
  wipe(t->w, t->rank, RANK_DEAD, UINT16_MAX);
  edit_rank(t->w, t->rank)->noticed = 0;
  remove_records(t->w, t->rank, is_cut, 0);
  struct world_global *global = edit_global(t->w);
  if (t->w->bounded)
    global->crashes--;
  if (t->rank == COORDINATOR_RANK)
    global->committing = global->requested = 0;
}

/* The dispatcher fences storage first, so that what it then reads as committed stays so. */
static void detect(struct taking *t)
{
  struct world_global *global = edit_global(t->w);
  global->committing = global->requested = 0;
  global->incarnation++;
  global->target = global->committed;
  global->down = -1;
  for (int rank = 0; rank < t->w->ranks; rank++) {
    remove_records(t->w, rank, is_cut, 0);
    if (read_rank(t->w, rank)->phase != RANK_DEAD)
      continue;
    edit_rank(t->w, rank)->phase = RANK_RESTARTING;
    if (edit_global(t->w)->down < 0)
      edit_global(t->w)->down = (int16_t)rank;
  }
}

static const struct world_record *durable_record(const struct world *w, int rank,
                                                 uint32_t checkpoint, enum part part)
{
  uint32_t count;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].checkpoint == checkpoint && stored[i].part == part && stored[i].durable)
      return &stored[i];
  return NULL;
}

/* Receives that were posted when the image was taken, and the collective that the program was in,
 * are to be announced again. */
static void withdraw_announcements(const struct world *w, int rank)
{
  uint32_t count;
  if (read_program(w, rank)->call.state != CALL_NONE)
    edit_program(w, rank)->call.state = CALL_ANNOUNCED;
  READ_LIST(struct world_receive, w, WORLD_POSTED, rank, 0, &count);
  if (!count)
    return;
  struct world_receive *posted =
      world_edit(w, WORLD_POSTED, rank, 0, count * (uint32_t)sizeof *posted);
  for (uint32_t i = 0; i < count; i++) {
    posted[i].announced = false;
    posted[i].from = posted[i].peer;
    posted[i].from_tag = posted[i].tag;
  }
}

static void restore(struct taking *t)
{
  const struct world *w = t->w;
  uint32_t checkpoint = t->event.checkpoint;
  uint16_t incarnation = read_global(w)->incarnation;
  wipe(w, t->rank, RANK_RUNNING, incarnation);
  remove_records(w, t->rank, is_after, checkpoint);
  if (checkpoint != FRESH) {
    const struct world_record *image = durable_record(w, t->rank, checkpoint, PART_IMAGE);
    const struct world_record *log = durable_record(w, t->rank, checkpoint, PART_LOG);
    if (!image) {
      violate(t, "restorable", "checkpoint %u of rank %d is not on stable storage", checkpoint,
              t->rank);
      edit_rank(w, t->rank)->phase = RANK_DEAD;
      return;
    }
    restore_parts(w, t->rank, image_parts, 3, image->image);
    restore_parts(w, t->rank, state_parts, 2, log ? log->state : image->state);
    withdraw_announcements(w, t->rank);
  } else {
    begin_program(w, t->rank);
  }
  struct world_rank *me = edit_rank(w, t->rank);
  me->incarnation = me->noticed = incarnation;
  me->line = me->stopped = checkpoint;
}

/* ---- before the step: the event takes place ---- */

static void post(struct taking *t)
{
  struct world_program *program = edit_program(t->w, t->rank);
  if (t->event.request <= program->receives)
    return; /* announced again after a restart */
  program->receives = t->event.request;
  struct world_receive receive = {.request = t->event.request,
                                  .peer = t->event.peer,
                                  .from = t->event.peer,
                                  .comm = t->event.comm,
                                  .tag = t->event.tag,
                                  .from_tag = t->event.tag};
  uint32_t count;
  READ_LIST(struct world_receive, t->w, WORLD_POSTED, t->rank, 0, &count);
  list_insert(t->w, WORLD_POSTED, t->rank, 0, count, &receive, sizeof receive);
  if (!t->w->script)
    return;
  const struct operation *op = &t->w->script->ops[t->rank][program->next];
  unsigned name = op->kind == SCRIPT_RECV ? SCRIPT_NAMES : (unsigned)op->name;
  program->request[name] = t->event.request;
  if (op->kind == SCRIPT_RECV)
    program->waiting = SCRIPT_NAMES + 1;
  else
    program->next++;
}

static void send(struct taking *t)
{
  const struct world *w = t->w;
  const struct world_rank *me = read_rank(w, t->rank);
  uint32_t content = w->script ? read_program(w, t->rank)->history : t->move->content;
  struct world_flow *f = flow(w, t->rank, t->event.peer, t->event.comm, t->event.tag);
  f->sent++;
  f->sent_digest = script_fold(f->sent_digest, content);
  t->message = (struct world_message){.tag = t->event.tag,
                                      .comm = t->event.comm,
                                      .incarnation = me->incarnation,
                                      .bytes = t->event.bytes,
                                      .sequence = f->sent,
                                      .content = content,
                                      .line = w->line_stamps ? me->line : 0,
                                      .stopped = w->line_stamps ? me->stopped : 0};
  if (w->script)
    edit_program(w, t->rank)->next++;
}

static void arrive(struct taking *t)
{
  const struct world *w = t->w;
  uint32_t count;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, WORLD_CHANNEL, t->event.peer, t->rank, &count);
  t->message = channel[t->move->index];
  list_remove(w, WORLD_CHANNEL, t->event.peer, t->rank, t->move->index, sizeof *channel);
  if (t->move->content && t->move->content != t->message.content)
    violate(t, "no-corruption", "message %u from rank %d (tag %d) changed on the way",
            t->message.sequence, t->event.peer, t->event.tag);
  t->event.bytes = t->message.bytes;
  const struct world_receive *posted =
      READ_LIST(struct world_receive, w, WORLD_POSTED, t->rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (posted[i].request == t->event.request)
      t->event.wildcard = posted[i].peer == ANY || posted[i].tag == ANY;
}

static void call(struct taking *t)
{
  struct world_program *program = edit_program(t->w, t->rank);
  if (program->call.state == CALL_NONE && t->w->script)
    program->calls++;
  program->call = (struct world_call){.state = CALL_ANNOUNCED,
                                      .flow = t->event.flow,
                                      .comm = t->event.comm,
                                      .root = t->event.peer,
                                      .number = t->event.tag};
}

/* Takes the contributions of all peers, in the order of ranks, and its own in its place. */
static void collect(struct taking *t)
{
  const struct world *w = t->w;
  const struct world_call joined = read_program(w, t->rank)->call;
  uint32_t index, count;
  for (int peer = 0; peer < w->ranks; peer++) {
    if (peer == t->rank && joined.flow != FLOW_FROM_ROOT)
      t->result = script_fold(t->result, read_program(w, t->rank)->history);
    if (!world_flows(w, &joined, peer, t->rank) || !world_find_share(w, peer, t->rank, &index))
      continue;
    const struct world_message *shares =
        READ_LIST(struct world_message, w, WORLD_SHARE, peer, t->rank, &count);
    t->result = script_fold(t->result, shares[index].content);
    check_share_lines(t, peer, &shares[index]);
    list_remove(w, WORLD_SHARE, peer, t->rank, index, sizeof *shares);
  }
  t->message = (struct world_message){.tag = joined.number,
                                      .comm = joined.comm,
                                      .content = joined.flow == FLOW_BARRIER ? 0 : t->result};
}

static void capture(struct taking *t)
{
  check_quiet(t);
  uint32_t image = keep_parts(t->w, t->rank, image_parts, 3);
  struct world_rank *me = edit_rank(t->w, t->rank);
  me->phase = RANK_RUNNING;
  me->capturing = 0;
  me->image = image;
  me->line = t->event.checkpoint;
}

static void notice(struct taking *t)
{
  struct world_rank *me = edit_rank(t->w, t->rank);
  me->phase = RANK_RUNNING;
  me->capturing = 0;
  me->noticed = read_global(t->w)->incarnation;
}

static void commit(struct taking *t)
{
  struct world_global *global = edit_global(t->w);
  global->committed = t->event.checkpoint;
  global->committing = global->requested = 0;
}

static void before_step(struct taking *t)
{
  switch ((enum event_kind)t->event.kind) {
  case EVENT_START:
    restore(t);
    break;
  case EVENT_DOWN:
    notice(t);
    break;
  case EVENT_TIMER:
    edit_rank(t->w, t->rank)->timer = false;
    if (t->w->bounded)
      edit_global(t->w)->timers--;
    break;
  case EVENT_OFFER:
    send(t);
    break;
  case EVENT_RECEIVE:
    post(t);
    break;
  case EVENT_ARRIVED:
    arrive(t);
    break;
  case EVENT_CONTROL:
    list_remove(t->w, WORLD_CONTROL, t->event.peer, t->rank, t->move->index,
                sizeof(struct world_message));
    break;
  case EVENT_COLLECTIVE:
    call(t);
    break;
  case EVENT_COLLECTED:
    collect(t);
    break;
  case EVENT_CAPTURED:
    capture(t);
    break;
  case EVENT_DURABLE:
    report(t);
    break;
  case EVENT_COMMITTED:
    commit(t);
    break;
  default:
    break;
  }
}

/* ---- after the step: its actions take effect ---- */

/* A message for a rank that is dead, or beyond the sender's incarnation, never existed. */
static bool reachable(const struct world *w, int rank, uint16_t incarnation)
{
  const struct world_rank *to = read_rank(w, rank);
  if (to->phase == RANK_DEAD)
    return false;
  bool restarts = to->phase == RANK_RESTARTING || to->phase == RANK_RESTORING;
  return incarnation >= (restarts ? read_global(w)->incarnation : to->incarnation);
}

static void put_on(struct taking *t, enum part_kind kind, int peer,
                   const struct world_message *message)
{
  uint32_t count;
  if (!reachable(t->w, peer, message->incarnation))
    return;
  READ_LIST(struct world_message, t->w, kind, t->rank, peer, &count);
  list_insert(t->w, kind, t->rank, peer, count, message, sizeof *message);
}

static void transmit(struct taking *t, const struct action *action)
{
  memcpy(t->message.words, action->words, sizeof t->message.words);
  put_on(t, WORLD_CHANNEL, t->event.peer, &t->message);
}

/* The program's call is over; `content` is what it was given, where it was given something. */
static void end_call(struct taking *t, bool given, uint32_t content)
{
  struct world_program *program = edit_program(t->w, t->rank);
  if (given && t->w->script)
    program->history = script_fold(program->history, content);
  program->call = (struct world_call){.state = CALL_NONE};
  if (t->w->script)
    program->next++;
}

/* A contribution that its receiver takes only for the sender's sake is gone at once. */
static bool taken_by_rejoin(const struct world *w, int from, int to,
                            const struct world_message *share)
{
  uint32_t count;
  const struct world_share *rejoined =
      READ_LIST(struct world_share, w, WORLD_REJOINED, to, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (rejoined[i].comm == share->comm && rejoined[i].number == share->tag &&
        rejoined[i].root == from && read_rank(w, to)->incarnation == share->incarnation) {
      list_remove(w, WORLD_REJOINED, to, 0, i, sizeof *rejoined);
      return true;
    }
  return false;
}

static void join(struct taking *t, const struct action *action)
{
  const struct world *w = t->w;
  const struct world_rank *me = read_rank(w, t->rank);
  struct world_program *program = edit_program(w, t->rank);
  struct world_message share = {.tag = program->call.number,
                                .comm = program->call.comm,
                                .incarnation = me->incarnation,
                                .content = program->history,
                                .line = w->line_stamps ? me->line : 0,
                                .stopped = w->line_stamps ? me->stopped : 0};
  memcpy(share.words, action->words, sizeof share.words);
  memcpy(program->call.words, action->words, sizeof program->call.words);
  program->call.state = CALL_JOINED;
  struct world_call joined = program->call;
  for (int peer = 0; peer < w->ranks; peer++)
    if (world_flows(w, &joined, t->rank, peer) && !taken_by_rejoin(w, t->rank, peer, &share))
      put_on(t, WORLD_SHARE, peer, &share);
  if (!world_flows_to(&joined, t->rank))
    end_call(t, false, 0);
}

static void rejoin(struct taking *t, const struct action *action)
{
  struct world_share entry = {.comm = action->comm, .root = action->peer, .number = action->tag};
  uint32_t count;
  const struct world_message *shares =
      READ_LIST(struct world_message, t->w, WORLD_SHARE, action->peer, t->rank, &count);
  for (uint32_t i = 0; i < count; i++)
    if (shares[i].comm == action->comm && shares[i].tag == action->tag) {
      list_remove(t->w, WORLD_SHARE, action->peer, t->rank, i, sizeof *shares);
      return;
    }
  READ_LIST(struct world_share, t->w, WORLD_REJOINED, t->rank, 0, &count);
  list_insert(t->w, WORLD_REJOINED, t->rank, 0, count, &entry, sizeof entry);
}

static void send_control(struct taking *t, const struct action *action)
{
  if (action->peer < 0 || action->peer >= t->w->ranks || action->peer == t->rank) {
    violate(t, "legal", "control message to rank %d", action->peer);
    return;
  }
  struct world_message message = {.incarnation = read_rank(t->w, t->rank)->incarnation};
  memcpy(message.words, action->words, sizeof message.words);
  put_on(t, WORLD_CONTROL, action->peer, &message);
}

static void match(struct taking *t, const struct action *action)
{
  uint32_t count;
  READ_LIST(struct world_receive, t->w, WORLD_POSTED, t->rank, 0, &count);
  struct world_receive *posted =
      world_edit(t->w, WORLD_POSTED, t->rank, 0, count * (uint32_t)sizeof *posted);
  for (uint32_t i = 0; i < count; i++) {
    struct world_receive *receive = &posted[i];
    if (receive->request != action->request)
      continue;
    if ((receive->peer != ANY && receive->peer != action->peer) ||
        (receive->tag != ANY && receive->tag != action->tag))
      violate(t, "legal", "receive %u may not match rank %d, tag %d", action->request, action->peer,
              action->tag);
    receive->announced = true;
    receive->from = action->peer;
    receive->from_tag = action->tag;
    return;
  }
  violate(t, "legal", "receive %u is not posted", action->request);
}

/* Index of `slot` among the sorted slots, or where it would stand. */
static uint32_t find_slot(const struct taking *t, uint32_t slot, bool *full)
{
  uint32_t count, i = 0;
  const struct world_slot *slots =
      READ_LIST(struct world_slot, t->w, WORLD_SLOTS, t->rank, 0, &count);
  while (i < count && slots[i].slot < slot)
    i++;
  *full = i < count && slots[i].slot == slot;
  return i;
}

static void keep(struct taking *t, const struct action *action)
{
  bool full;
  uint32_t i = find_slot(t, action->slot, &full);
  if (full || !action->slot) {
    violate(t, "legal", "slot %u is in use", action->slot);
    return;
  }
  struct world_slot slot = {.slot = action->slot, .peer = t->event.peer, .message = t->message};
  slot.message.incarnation = 0;
  list_insert(t->w, WORLD_SLOTS, t->rank, 0, i, &slot, sizeof slot);
}

static void empty_slot(struct taking *t, const struct action *action)
{
  bool full;
  uint32_t i = find_slot(t, action->slot, &full);
  if (full)
    list_remove(t->w, WORLD_SLOTS, t->rank, 0, i, sizeof(struct world_slot));
  else
    violate(t, "legal", "slot %u is empty", action->slot);
}

static void deliver(struct taking *t, const struct action *action)
{
  bool full;
  uint32_t count;
  bool in_call = read_program(t->w, t->rank)->call.state != CALL_NONE;
  if (action->slot == NO_SLOT) {
    if (in_call && t->event.kind != EVENT_ARRIVED)
      end_call(t, t->message.content != 0, t->message.content);
    else
      give(t, action->request, t->event.peer, &t->message);
    return;
  }
  uint32_t i = find_slot(t, action->slot, &full);
  if (!full) {
    violate(t, "legal", "slot %u is empty", action->slot);
    return;
  }
  struct world_slot slot = READ_LIST(struct world_slot, t->w, WORLD_SLOTS, t->rank, 0, &count)[i];
  if (t->event.kind == EVENT_COLLECTIVE)
    end_call(t, true, slot.message.content);
  else
    give(t, action->request, slot.peer, &slot.message);
}

/* Only in a state that is at a place, or held, is the program's image worth anything. */
static void begin_capture(struct taking *t, const struct action *action)
{
  struct world_rank *me = edit_rank(t->w, t->rank);
  bool barrier = t->event.kind == EVENT_COLLECTED && t->event.flow == FLOW_BARRIER;
  if (t->event.kind != EVENT_PLACE && !barrier && !me->held) {
    violate(t, "legal", "capture outside a place while the program runs");
    return;
  }
  me->phase = RANK_CAPTURING;
  me->capturing = action->checkpoint;
}

static void ask_commit(struct taking *t, const struct action *action)
{
  if (t->rank != COORDINATOR_RANK)
    violate(t, "legal", "only rank %d may commit", COORDINATOR_RANK);
  else if (!fenced(t))
    edit_global(t->w)->committing = action->checkpoint;
}

static void roll_back(struct taking *t, const struct action *action)
{
  if (t->event.kind != EVENT_DOWN || action->checkpoint != read_global(t->w)->target) {
    violate(t, "legal", "roll back to %u, which is not the target", action->checkpoint);
    return;
  }
  wipe(t->w, t->rank, RANK_RESTORING, read_global(t->w)->incarnation);
}

static void give_up(struct taking *t, const struct action *action)
{
  edit_rank(t->w, t->rank)->gave_up = action->reason;
  if (t->verdict->kind != VERDICT_FINE)
    return;
  t->verdict->kind = VERDICT_GAVE_UP;
  t->verdict->rank = t->rank;
  t->verdict->reason = action->reason;
}

/* An outcome repeats one from before a crash; where there was none, the program must be free. */
static void force(struct taking *t, const struct action *action)
{
  if (read_rank(t->w, t->rank)->incarnation == 0)
    violate(t, "legal", "outcome %u is forced before any crash", action->outcome);
  t->event.outcome = action->outcome;
}

/* Whether the action is an answer to the event that the event may have. */
static bool answers(const struct taking *t, enum action_kind kind)
{
  switch (kind) {
  case ACTION_TRANSMIT:
    return t->event.kind == EVENT_OFFER && !t->answered;
  case ACTION_SUPPRESS:
    return (t->event.kind == EVENT_OFFER || t->event.kind == EVENT_COLLECTIVE) && !t->answered;
  case ACTION_JOIN:
    return t->event.kind == EVENT_COLLECTIVE && !t->answered;
  case ACTION_MATCH:
    return t->event.kind == EVENT_RECEIVE && !t->answered;
  case ACTION_KEEP:
    return t->event.kind == EVENT_ARRIVED || t->event.kind == EVENT_COLLECTED;
  case ACTION_DISCARD:
    return t->event.kind == EVENT_ARRIVED;
  case ACTION_FORCE:
    return t->event.kind == EVENT_CHOOSE;
  case ACTION_DELIVER:
    return t->event.kind == EVENT_ARRIVED || t->event.kind == EVENT_RECEIVE ||
           read_program(t->w, t->rank)->call.state != CALL_NONE;
  default:
    return true;
  }
}

static void carry_out(struct taking *t, const struct action *action)
{
  enum action_kind kind = action->kind;
  if (!answers(t, kind)) {
    violate(t, "legal", "an action that the event does not allow");
    return;
  }
  switch (kind) {
  case ACTION_TRANSMIT:
    transmit(t, action);
    break;
  case ACTION_SUPPRESS:
    if (t->event.kind == EVENT_COLLECTIVE)
      end_call(t, false, 0);
    break;
  case ACTION_JOIN:
    join(t, action);
    break;
  case ACTION_REJOIN:
    rejoin(t, action);
    break;
  case ACTION_MATCH:
    match(t, action);
    break;
  case ACTION_DELIVER:
    deliver(t, action);
    break;
  case ACTION_KEEP:
    keep(t, action);
    break;
  case ACTION_FORGET:
    empty_slot(t, action);
    break;
  case ACTION_FORCE:
    force(t, action);
    break;
  case ACTION_CONTROL:
    send_control(t, action);
    break;
  case ACTION_HOLD:
    edit_rank(t->w, t->rank)->held = true;
    break;
  case ACTION_RELEASE:
    edit_rank(t->w, t->rank)->held = false;
    edit_rank(t->w, t->rank)->draining = 0;
    break;
  case ACTION_DRAIN:
    edit_rank(t->w, t->rank)->draining = (uint16_t)(action->peer + 2);
    break;
  case ACTION_CAPTURE:
    begin_capture(t, action);
    break;
  case ACTION_COMMIT:
    ask_commit(t, action);
    break;
  case ACTION_ERASE:
    if (!fenced(t))
      remove_records(t->w, t->rank, is_of, action->checkpoint);
    break;
  case ACTION_ROLL_BACK:
    roll_back(t, action);
    break;
  case ACTION_SET_TIMER:
    edit_rank(t->w, t->rank)->timer = true;
    break;
  case ACTION_STOPPED_LOGGING:
    edit_rank(t->w, t->rank)->stopped = action->checkpoint;
    check_all_beyond(t, action->checkpoint);
    break;
  case ACTION_GIVE_UP:
    give_up(t, action);
    break;
  default:
    break;
  }
  t->answered |= kind == ACTION_TRANSMIT || kind == ACTION_SUPPRESS || kind == ACTION_MATCH ||
                 kind == ACTION_DELIVER || kind == ACTION_DISCARD || kind == ACTION_KEEP ||
                 kind == ACTION_JOIN || kind == ACTION_CAPTURE || kind == ACTION_GIVE_UP;
}

static bool needs_answer(enum event_kind kind)
{
  return kind == EVENT_OFFER || kind == EVENT_RECEIVE || kind == EVENT_ARRIVED ||
         kind == EVENT_COLLECTIVE || kind == EVENT_COLLECTED;
}

/* A TIMER to which the protocol does not just wind up the timer again asks for a checkpoint. */
static void note_request(struct taking *t)
{
  bool later = false;
  for (uint32_t i = 0; i < t->actions->count; i++)
    later |= t->actions->item[i].kind == ACTION_SET_TIMER;
  if (!later && t->actions->count && !fenced(t))
    edit_global(t->w)->requested = true;
}

static void after_step(struct taking *t)
{
  uint32_t stopped = read_rank(t->w, t->rank)->stopped;
  for (uint32_t i = 0; i < t->actions->count; i++)
    if (t->actions->item[i].kind != ACTION_STORE)
      carry_out(t, &t->actions->item[i]);
  for (uint32_t i = 0; i < t->actions->count; i++)
    if (t->actions->item[i].kind == ACTION_STORE)
      store(t, &t->actions->item[i]);
  if (needs_answer(t->event.kind) && !t->answered)
    violate(t, "legal", "the event was not answered");
  if (t->event.kind == EVENT_ARRIVED)
    check_lines(t, stopped);
  if (t->event.kind == EVENT_COLLECTED)
    check_collected_lines(t);
  if (t->event.kind == EVENT_TIMER)
    note_request(t);
  if (t->event.kind == EVENT_CHOOSE && t->w->script) {
    struct world_program *program = edit_program(t->w, t->rank);
    program->history = script_fold(program->history, t->event.outcome);
    program->next++;
  }
  if (t->event.kind == EVENT_PLACE && t->w->script && !t->w->places_anywhere &&
      !read_program(t->w, t->rank)->finished)
    edit_program(t->w, t->rank)->next++;
}

/* ---- the move ---- */

static void take_event(struct taking *t)
{
  const struct world *w = t->w;
  before_step(t);
  if (read_rank(w, t->rank)->phase != RANK_RUNNING)
    return; /* nothing to start from */
  struct world_rank *me = edit_rank(w, t->rank);
  int broken =
      protocol_step(w->protocol, &w->config[t->rank], me + 1, &t->event, t->actions, w->check);
  if (broken)
    violate(t, "invariant", "invariant %d: %s", broken, w->protocol->invariants[broken - 1]);
  after_step(t);
  if (read_rank(w, t->rank)->phase == RANK_RUNNING)
    world_script_advance(w, t->rank);
}

static void lie(struct taking *t)
{
  const struct world *w = t->w;
  uint32_t count;
  struct world_message message = READ_LIST(struct world_message, w, WORLD_CHANNEL,
                                           t->move->event.peer, t->rank, &count)[t->move->index];
  if (t->move->lie == LIE_DROP)
    list_remove(w, WORLD_CHANNEL, t->move->event.peer, t->rank, t->move->index, sizeof message);
  else
    list_insert(w, WORLD_CHANNEL, t->move->event.peer, t->rank, t->move->index, &message,
                sizeof message);
  edit_global(w)->lied = true;
}

/* Where a host does not know places in channels: the first message that fits. */
static void find_index(const struct world *w, struct move *move)
{
  bool control = move->event.kind == EVENT_CONTROL;
  uint32_t count;
  if (move->event.peer < 0 || move->event.peer >= w->ranks)
    return;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, control ? WORLD_CONTROL : WORLD_CHANNEL, move->event.peer,
                move->rank, &count);
  uint16_t incarnation = read_rank(w, move->rank)->incarnation;
  for (uint32_t i = 0; i < count; i++)
    if (channel[i].incarnation == incarnation &&
        (control || (channel[i].tag == move->event.tag && channel[i].comm == move->event.comm))) {
      move->index = i;
      return;
    }
}

void world_step(struct world *w, struct move *move, struct actions *actions,
                struct verdict *verdict)
{
  actions->count = 0;
  *verdict = (struct verdict){.kind = VERDICT_FINE, .rank = move->rank};
  if (move->kind == MOVE_EVENT && move->index == WORLD_FIND)
    find_index(w, move);
  const char *why = world_refuses(w, move);
  if (why) {
    verdict->kind = VERDICT_IMPOSSIBLE;
    snprintf(verdict->text, sizeof verdict->text, "%s", why);
    return;
  }
  struct taking t = {.w = w,
                     .move = move,
                     .actions = actions,
                     .verdict = verdict,
                     .rank = move->rank,
                     .event = move->event};
  switch ((enum move_kind)move->kind) {
  case MOVE_EVENT:
    take_event(&t);
    break;
  case MOVE_CRASH:
    crash(&t);
    break;
  case MOVE_DETECT:
    detect(&t);
    break;
  case MOVE_FINISH:
    edit_program(w, move->rank)->finished = true;
    break;
  case MOVE_LIE:
    lie(&t);
    break;
  }
  move->event = t.event;
}

/* ---- the end ---- */

void world_at_rest(const struct world *w, struct verdict *verdict)
{
  struct taking t = {.w = w, .verdict = verdict};
  *verdict = (struct verdict){.kind = VERDICT_FINE};
  for (int rank = 0; rank < w->ranks; rank++)
    if (!read_program(w, rank)->finished) {
      t.rank = rank;
      violate(&t, "deadlock", "the program of rank %d never ends", rank);
    }
  if (read_global(w)->requested)
    violate(&t, "commits", "a checkpoint was asked for and never committed");
}

/* What `rank` was given is what its peers, as they ended up, have sent. */
static void check_agreement(struct taking *t)
{
  uint32_t count, place, their_count;
  const struct world_flow *flows =
      READ_LIST(struct world_flow, t->w, WORLD_FLOWS, t->rank, 0, &count);
  for (uint32_t i = 0; i < count; i++) {
    const struct world_flow *mine = &flows[i], *theirs;
    if (!mine->delivered)
      continue;
    theirs = find_flow(t->w, mine->peer, t->rank, mine->comm, mine->tag, &place, &their_count);
    if (theirs && theirs->sent == mine->delivered && theirs->sent_digest != mine->delivered_digest)
      violate(t, "agreement", "rank %d was given other contents than rank %d has sent", t->rank,
              mine->peer);
  }
}

/* Nothing that `rank` was given is still on its way to it. */
static void check_leftovers(struct taking *t, int peer)
{
  uint32_t count, place, flows;
  const struct world_message *channel =
      READ_LIST(struct world_message, t->w, WORLD_CHANNEL, peer, t->rank, &count);
  for (uint32_t i = 0; i < count; i++) {
    const struct world_flow *mine =
        find_flow(t->w, t->rank, peer, channel[i].comm, channel[i].tag, &place, &flows);
    if (channel[i].incarnation == read_rank(t->w, t->rank)->incarnation && mine &&
        channel[i].sequence <= mine->delivered)
      violate(t, "no-duplicate", "message %u from rank %d (tag %d) was given, and sent once more",
              channel[i].sequence, peer, channel[i].tag);
  }
}

/* Data sent in a collective are taken by all to whom they flow. */
static void check_shares(struct taking *t, int peer)
{
  uint32_t count;
  const struct world_message *shares =
      READ_LIST(struct world_message, t->w, WORLD_SHARE, peer, t->rank, &count);
  for (uint32_t i = 0; i < count; i++)
    if (shares[i].incarnation == read_rank(t->w, t->rank)->incarnation)
      violate(t, "no-orphan", "rank %d never takes part in call %d of rank %d", t->rank,
              shares[i].tag, peer);
}

void world_at_end(const struct world *w, struct verdict *verdict)
{
  struct taking t = {.w = w, .verdict = verdict};
  *verdict = (struct verdict){.kind = VERDICT_FINE};
  for (t.rank = 0; t.rank < w->ranks; t.rank++) {
    check_agreement(&t);
    for (int peer = 0; peer < w->ranks; peer++)
      check_leftovers(&t, peer);
    for (int peer = 0; peer < w->ranks; peer++)
      check_shares(&t, peer);
  }
}
