/* Judges property `line-invariant`, the clauses that a protocol states about the whole.
 *
 * A state of the world is shown as protocols/line.h describes it: each rank and its standing
 * towards the last recovery, the messages under way between such ranks, the counts of their
 * programs, the barriers that they are in, and stored states. It does not show messages that a
 * recovery has made obsolete, or the contents of images from which no rank will start (settled). */
#include <stdio.h>
#include <stdlib.h>

#include "base/confine.h"
#include "base/memory.h"
#include "protocols/line.h"
#include "world/rules/properties.h"
#include "world/rules/world_step.h"

/* Holds a view of the whole, with the memory for its tables. */
struct view {
  const struct world *w;
  struct rcl_whole whole;
  unsigned char *memory; /* the memory that holds all that follows */
  struct rcl_whole_rank *rank;
  struct rcl_whole_channel *channel;
  struct rcl_whole_control *control;
  uint32_t kinds;        /* kinds of control messages */
  unsigned char *states; /* stored states of `stride` bytes, STORED for each rank; then zeroes */
  size_t stride;
  struct verdict *verdict;
  const struct rcl_clause *asked; /* the clause that is being asked; NULL: none */
};

/* Numbers the stored states of a rank: with the committed checkpoint, with the image of the next
 * one, and with the log of the next one. */
enum { AT_COMMITTED, AT_NEWER, AT_LOG, STORED };

/* ---- what programs count ---- */

/* Names the programs whose messages are counted: the present one, or one in an image. */
enum count_of { OF_NOW, OF_COMMITTED, OF_NEWER };

static struct rcl_whole_count *count_in(struct rcl_whole_channel *channel, enum count_of of)
{
  return of == OF_NOW ? &channel->now : of == OF_COMMITTED ? &channel->committed : &channel->newer;
}

/* Shows the counts of the program of `rank`, over all communicators and tags. */
static void show_flows(struct view *v, int rank, enum count_of of, const void *flows, uint32_t size)
{
  struct world_flow flow;
  for (uint32_t i = 0; i < size / sizeof flow; i++) {
    memcpy(&flow, (const unsigned char *)flows + i * sizeof flow, sizeof flow);
    if (flow.peer < 0)
      continue;
    count_in(&v->channel[rank * v->w->ranks + flow.peer], of)->sent += flow.sent;
    count_in(&v->channel[flow.peer * v->w->ranks + rank], of)->given += flow.delivered;
  }
}

/* Counts the messages that were delivered to the program of `rank` and match no receive yet. */
static void show_unexpected(struct view *v, int rank, enum count_of of, const void *slots,
                            uint32_t size)
{
  struct world_slot slot;
  for (uint32_t i = 0; i < size / sizeof slot; i++) {
    memcpy(&slot, (const unsigned char *)slots + i * sizeof slot, sizeof slot);
    count_in(&v->channel[slot.peer * v->w->ranks + rank], of)->given++;
  }
}

static void show_counts(struct view *v, int rank, enum count_of of)
{
  uint32_t size;
  const void *part = world_read(v->w, WORLD_FLOWS, rank, 0, &size);
  show_flows(v, rank, of, part, size);
  part = world_read(v->w, WORLD_UNEXPECTED, rank, 0, &size);
  show_unexpected(v, rank, of, part, size);
}

static void show_counts_of_image(struct view *v, int rank, enum count_of of, uint32_t image)
{
  uint32_t size;
  const void *part = world_part_of_image(v->w, image, WORLD_FLOWS, &size);
  show_flows(v, rank, of, part, size);
  part = world_part_of_image(v->w, image, WORLD_UNEXPECTED, &size);
  show_unexpected(v, rank, of, part, size);
}

/* ---- ranks ---- */

static enum rcl_standing standing_of(const struct world *w, int rank)
{
  const struct world_rank *me = read_rank(w, rank);
  bool runs = me->phase == RANK_RUNNING || me->phase == RANK_CAPTURING;
  if (me->phase == RANK_DEAD)
    return RCL_STANDS_DEAD;
  return runs && !me->declared && me->incarnation == read_global(w)->incarnation
             ? RCL_STANDS_UP
             : RCL_STANDS_BEHIND;
}

/* Writes the state that was kept as `number`; returns false if its contents were left out. */
static bool read_kept(const struct world *w, int rank, uint32_t number, unsigned char *state)
{
  struct rcl_piece piece[RCL_PIECES];
  uint32_t size, pieces = world_in_use(w, rank, read_rank(w, rank) + 1, piece);
  const unsigned char *at = w->memory.kept(w->memory.ctx, number, &size);
  for (uint32_t k = 0; k < pieces && size; k++) {
    uint32_t length;
    memcpy(&length, at, sizeof length);
    memcpy(state + piece[k].offset, at + sizeof length, length);
    at += sizeof length + length;
  }
  return size;
}

/* Shows the state that is stored with a part of the committed checkpoint or of the next one. The
 * committed checkpoint's log comes behind its image, and a START begins with the log's state. */
static bool show_state(struct view *v, int rank, const struct world_record *part)
{
  struct rcl_whole_rank *shown = &v->rank[rank];
  bool newer = part->checkpoint > v->whole.committed, log = part->part == RCL_PART_LOG;
  int at = !newer ? AT_COMMITTED : log ? AT_LOG : AT_NEWER;
  unsigned char *state = memset(v->states + (size_t)(rank * STORED + at) * v->stride, 0, v->stride);
  if ((!newer && v->whole.committed == RCL_FRESH) || !read_kept(v->w, rank, part->state, state))
    return false;
  *(!newer ? &shown->committed : log ? &shown->log : &shown->newer) = state;
  return true;
}

/* Shows the counts of the program in an image. */
static void show_image(struct view *v, int rank, const struct world_record *image)
{
  bool newer = image->checkpoint > v->whole.committed;
  if (!show_state(v, rank, image))
    return;
  show_counts_of_image(v, rank, newer ? OF_NEWER : OF_COMMITTED, image->image);
  if (!newer && v->rank[rank].standing == RCL_STANDS_BEHIND)
    show_counts_of_image(v, rank, OF_NOW, image->image);
}

static void show_image_record(struct view *v, int rank, const struct world_record *image)
{
  struct rcl_whole_rank *shown = &v->rank[rank];
  if (image->checkpoint < v->whole.committed) {
    shown->older += !v->w->levels;
    return;
  }
  if (!image->durable)
    shown->storing = image->checkpoint;
  else if (image->checkpoint > v->whole.committed)
    shown->durable = image->checkpoint;
  else
    shown->restorable = 1;
  show_image(v, rank, image);
}

/* Shows the state stored with a log. If the write of the committed checkpoint's log was cut, the
 * log is never read, and so not shown. */
static void show_log_record(struct view *v, int rank, const struct world_record *log)
{
  struct rcl_whole_rank *shown = &v->rank[rank];
  bool newer = log->checkpoint > v->whole.committed;
  if (log->checkpoint < v->whole.committed || (!newer && !log->durable))
    return;
  if (!log->durable)
    shown->storing_log = log->checkpoint;
  else if (newer)
    shown->durable_log = log->checkpoint;
  else
    shown->logged = 1;
  show_state(v, rank, log);
}

/* Shows what is stored of a rank; `zeroes` is a state of zeroes. */
static void show_stored(struct view *v, int rank, const unsigned char *zeroes)
{
  uint32_t count, committed = v->whole.committed;
  const struct world_record *stored =
      READ_LIST(struct world_record, v->w, WORLD_STORED, rank, 0, &count);
  v->rank[rank].committed = committed == RCL_FRESH ? zeroes : NULL;
  v->rank[rank].restorable = committed == RCL_FRESH;
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].part == RCL_PART_IMAGE)
      show_image_record(v, rank, &stored[i]);
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].part == RCL_PART_LOG)
      show_log_record(v, rank, &stored[i]);
}

/* Returns whether the program is in a barrier of all ranks and has not left it. */
static bool is_in_barrier(const struct world *w, int rank, const struct world_call *call)
{
  bool is = read_rank(w, rank)->phase == RANK_RUNNING && call->state == CALL_JOINED &&
            call->flow == RCL_FLOW_BARRIER;
  for (int each = 0; each < w->ranks && is; each++)
    is = world_is_member(w, call->comm, each);
  return is;
}

static void show_program(struct view *v, int rank)
{
  const struct world_program *program = read_program(v->w, rank);
  struct rcl_whole_rank *shown = &v->rank[rank];
  show_counts(v, rank, OF_NOW);
  shown->joined = is_in_barrier(v->w, rank, &program->call);
  if (shown->joined)
    memcpy(shown->words, program->call.words, sizeof shown->words);
}

static void show_rank(struct view *v, int rank)
{
  const struct world *w = v->w;
  const struct world_rank *me = read_rank(w, rank);
  struct rcl_whole_rank *shown = &v->rank[rank];
  *shown = (struct rcl_whole_rank){.config = &w->config[rank], .standing = standing_of(w, rank)};
  show_stored(v, rank, v->states + (size_t)STORED * (size_t)w->ranks * v->stride);
  if (shown->standing != RCL_STANDS_UP) {
    shown->storing = shown->storing_log = 0; /* no write is under way */
    shown->state = me->phase == RANK_NEW ? (const void *)(me + 1) : shown->committed;
    if (shown->standing == RCL_STANDS_DEAD || !shown->state)
      *shown = (struct rcl_whole_rank){.config = shown->config,
                                       .committed = shown->committed,
                                       .standing = RCL_STANDS_DEAD,
                                       .restorable = shown->restorable,
                                       .logged = shown->logged};
    return;
  }
  shown->state = me + 1;
  shown->held = me->held;
  shown->timer = me->timer;
  shown->capturing = me->phase == RANK_CAPTURING ? me->capturing : 0;
  show_program(v, rank);
}

/* ---- channels ---- */

/* Shows a control message behind `place` others and `ahead` messages of the program. */
static void show_control(const struct view *v, struct rcl_whole_control *control,
                         const struct world_message *message, uint32_t place, uint32_t ahead)
{
  uint32_t kind = message->words[0];
  if (kind >= v->kinds || control[kind].count++)
    return;
  control[kind].place = place;
  control[kind].about = message->words[1];
  control[kind].value = message->words[2];
  control[kind].ahead = ahead;
}

static void show_message(const struct view *v, struct rcl_whole_channel *channel,
                         const struct world_message *message)
{
  bool is_red = (message->words[0] ^ v->whole.committed) & 1;
  struct rcl_whole_colour *colour = is_red ? &channel->red : &channel->white;
  channel->messages++;
  if (!colour->count++)
    colour->word = message->words[0];
}

/* Returns whether control messages share the channel with messages, and the protocol relies on
 * their order. */
static bool is_ordered(const struct view *v, enum part_kind kind)
{
  const struct rcl_place *place = v->w->protocol->place;
  return kind == WORLD_CHANNEL && place && place->assumes & RCL_ASSUMES_FIFO;
}

static void show_messages(struct view *v, enum part_kind kind, int from, int to)
{
  uint32_t count, place = 0, n = (uint32_t)(from * v->w->ranks + to);
  const struct world_message *list = READ_LIST(struct world_message, v->w, kind, from, to, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (list[i].incarnation != read_global(v->w)->incarnation)
      continue;
    if (is_control(&list[i]))
      show_control(v, v->control + (size_t)n * v->kinds, &list[i], place++,
                   is_ordered(v, kind) ? v->channel[n].messages : 0);
    else
      show_message(v, &v->channel[n], &list[i]);
  }
}

/* Returns whether the contribution is to a barrier of all ranks. One of its two ranks is then in
 * the barrier, as no rank leaves before all have come. */
static bool is_of_barrier(const struct view *v, const struct world_message *share, int rank)
{
  const struct world_call *call = &read_program(v->w, rank)->call;
  return v->rank[rank].joined && call->comm == share->comm && call->number == share->tag;
}

static void show_shares(struct view *v, int from, int to)
{
  struct rcl_whole_channel *channel = &v->channel[from * v->w->ranks + to];
  uint32_t count;
  const struct world_message *list =
      READ_LIST(struct world_message, v->w, WORLD_SHARE, from, to, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (list[i].incarnation != read_global(v->w)->incarnation ||
        (!is_of_barrier(v, &list[i], from) && !is_of_barrier(v, &list[i], to)))
      continue;
    if (channel->shares < RCL_WHOLE_SHARES)
      memcpy(channel->share[channel->shares], list[i].words, sizeof list[i].words);
    channel->shares++;
  }
}

static void show_channel(struct view *v, int from, int to)
{
  uint32_t n = (uint32_t)(from * v->w->ranks + to);
  v->channel[n].control = v->control + (size_t)n * v->kinds;
  show_shares(v, from, to);
  show_messages(v, WORLD_CHANNEL, from, to);
  if (control_part(v->w) != WORLD_CHANNEL)
    show_messages(v, WORLD_CONTROL, from, to);
}

/* ---- the whole ---- */

static uint32_t control_kinds(const struct rcl_protocol *protocol)
{
  uint32_t kinds = 0;
  while (protocol->controls && protocol->controls[kinds])
    kinds++;
  return kinds;
}

static void show_whole(struct view *v)
{
  const struct world *w = v->w;
  size_t ranks = (size_t)w->ranks, pairs = ranks * ranks;
  v->kinds = control_kinds(w->protocol);
  size_t rank = ranks * sizeof *v->rank, channel = pairs * sizeof *v->channel,
         states = (STORED * ranks + 1) * v->stride, control = pairs * v->kinds * sizeof *v->control,
         bytes = rank + channel + states + control;
  v->memory = memset(memory_grow(NULL, bytes), 0, bytes);
  v->rank = (struct rcl_whole_rank *)(void *)v->memory;
  v->channel = (struct rcl_whole_channel *)(void *)(v->memory + rank);
  v->states = v->memory + rank + channel;
  v->control = (struct rcl_whole_control *)(void *)(v->states + states);
  v->whole = (struct rcl_whole){.ranks = w->ranks,
                                .committed = read_global(w)->committed,
                                .committing = read_global(w)->committing,
                                .rank = v->rank,
                                .channel = v->channel};
  for (int i = 0; i < w->ranks; i++)
    show_rank(v, i);
  for (int i = 0; i < w->ranks; i++)
    for (int j = 0; j < w->ranks; j++)
      show_channel(v, i, j);
}

/* ---- clauses ---- */

static void violate(const struct view *v, int i, int j, const char *why)
{
  const struct rcl_clause *clause = v->asked;
  char who[48] = "";
  if (clause->scope == RCL_OF_PAIR)
    snprintf(who, sizeof who, ", from rank %d to rank %d", i, j);
  *v->verdict =
      (struct verdict){.kind = VERDICT_VIOLATION, .property = "line-invariant", .rank = i};
  snprintf(v->verdict->text, sizeof v->verdict->text, "clause %d (%s)%s %s: %s",
           (int)(clause - v->w->protocol->line) + 1, clause->name, who, why, clause->text);
}

static bool is_asked(const struct view *v, const struct rcl_clause *clause, int rank)
{
  return clause->stored || v->rank[rank].standing != RCL_STANDS_DEAD;
}

/* Asks a clause about one or two ranks. Returns whether it holds. */
static bool ask(const struct view *v, int i)
{
  int pairs = v->asked->scope == RCL_OF_PAIR ? v->w->ranks : 1;
  for (int j = 0; j < pairs; j++) {
    if (v->asked->scope == RCL_OF_PAIR && !is_asked(v, v->asked, j))
      continue;
    if (!v->asked->holds(&v->whole, i, j)) {
      violate(v, i, j, "does not hold");
      return false;
    }
  }
  return true;
}

static void ask_all(void *data)
{
  struct view *v = data;
  bool dead = false;
  for (int i = 0; i < v->w->ranks; i++)
    dead |= v->rank[i].standing == RCL_STANDS_DEAD;
  for (v->asked = v->w->protocol->line; v->asked->name; v->asked++) {
    int ranks = v->asked->scope == RCL_OF_ALL ? !dead : v->w->ranks;
    for (int i = 0; i < ranks; i++)
      if (is_asked(v, v->asked, i) && !ask(v, i))
        return;
  }
}

void world_judge_line(const struct world *w, struct verdict *verdict)
{
  struct confine_end end;
  struct view view = {.w = w, .verdict = verdict, .stride = w->state_bytes};
  *verdict = (struct verdict){.kind = VERDICT_FINE};
  if (!w->protocol->line)
    return;
  show_whole(&view);
  if (!confine_run(ask_all, &view, &end))
    violate(&view, 0, 0, end.late ? "does not end" : "touches what is not shown to it");
  reached_judge(&verdict->reached, PROPERTY_LINE_INVARIANT);
  free(view.memory);
}
