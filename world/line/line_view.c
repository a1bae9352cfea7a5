/* Shows ranks and channels from the parts of a world, and puts what was shown into a whole. */
#include "world/line/line_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "world/rules/world_step.h"

/* Numbers the states of a rank: the present state, and the states stored with the committed
 * checkpoint, with the next checkpoint's image, and with the next checkpoint's log. */
enum { AT_NOW, AT_COMMITTED, AT_NEWER, AT_LOG, STATES };

/* Names the programs whose messages are counted: the present one, or one in an image. */
enum count_of { OF_NOW, OF_COMMITTED, OF_NEWER, PROGRAMS };

/* Holds what is shown of a rank. Behind it come the counts of each program with each peer, as
 * `sent` to the peer and `given` from it, and the states. */
struct shown_rank {
  struct rcl_whole_rank rank;
  int comm; /* joined: the communicator of the barrier, and the number of the call */
  int32_t number;
  struct rcl_whole_count count[];
};

/* Holds what is shown of a channel, except for the counts of programs. */
struct shown_channel {
  struct rcl_whole_channel channel;
  struct rcl_whole_control control[];
};

/* ---- what programs count ---- */

static struct rcl_whole_count *counts_of(const struct line_view *v, struct shown_rank *shown,
                                         enum count_of of)
{
  return shown->count + (size_t)of * (size_t)v->w->ranks;
}

/* Shows the counts of a program, over all communicators and tags. */
static void show_flows(struct rcl_whole_count *count, const void *flows, uint32_t size)
{
  struct world_flow flow;
  for (uint32_t i = 0; i < size / sizeof flow; i++) {
    memcpy(&flow, (const unsigned char *)flows + i * sizeof flow, sizeof flow);
    if (flow.peer < 0)
      continue;
    count[flow.peer].sent += flow.sent;
    count[flow.peer].given += flow.delivered;
  }
}

/* Counts the messages that were delivered to a program and match no receive yet. */
static void show_unexpected(struct rcl_whole_count *count, const void *slots, uint32_t size)
{
  struct world_slot slot;
  for (uint32_t i = 0; i < size / sizeof slot; i++) {
    memcpy(&slot, (const unsigned char *)slots + i * sizeof slot, sizeof slot);
    count[slot.peer].given++;
  }
}

static void show_counts(const struct world *w, int rank, struct rcl_whole_count *count)
{
  uint32_t size;
  const void *part = world_read(w, WORLD_FLOWS, rank, 0, &size);
  show_flows(count, part, size);
  part = world_read(w, WORLD_UNEXPECTED, rank, 0, &size);
  show_unexpected(count, part, size);
}

static void show_counts_of_image(const struct world *w, uint32_t image,
                                 struct rcl_whole_count *count)
{
  uint32_t size;
  const void *part = world_part_of_image(w, image, WORLD_FLOWS, &size);
  show_flows(count, part, size);
  part = world_part_of_image(w, image, WORLD_UNEXPECTED, &size);
  show_unexpected(count, part, size);
}

/* ---- ranks ---- */

static enum rcl_standing standing_of(const struct line_view *v, const struct world_rank *me)
{
  bool runs = me->phase == RANK_RUNNING || me->phase == RANK_CAPTURING;
  if (me->phase == RANK_DEAD)
    return RCL_STANDS_DEAD;
  return runs && !me->declared && me->incarnation == v->incarnation ? RCL_STANDS_UP
                                                                    : RCL_STANDS_BEHIND;
}

static unsigned char *state_at(const struct line_view *v, struct shown_rank *shown, int at)
{
  return (unsigned char *)counts_of(v, shown, PROGRAMS) + (size_t)at * v->w->state_bytes;
}

/* Writes the state that was kept under `number`. Returns false if its contents were left out. */
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
 * committed checkpoint's log comes after its image, and a START begins with the state that was
 * stored with the log. */
static bool show_state(const struct line_view *v, int rank, struct shown_rank *shown,
                       const struct world_record *part)
{
  bool newer = part->checkpoint > v->whole.committed, log = part->part == RCL_PART_LOG;
  int at = !newer ? AT_COMMITTED : log ? AT_LOG : AT_NEWER;
  unsigned char *state = memset(state_at(v, shown, at), 0, v->w->state_bytes);
  if ((!newer && v->whole.committed == RCL_FRESH) || !read_kept(v->w, rank, part->state, state))
    return false;
  *(!newer ? &shown->rank.committed : log ? &shown->rank.log : &shown->rank.newer) = state;
  return true;
}

/* Shows the counts of the program in an image. */
static void show_image(const struct line_view *v, int rank, struct shown_rank *shown,
                       const struct world_record *image)
{
  bool newer = image->checkpoint > v->whole.committed;
  if (!show_state(v, rank, shown, image))
    return;
  show_counts_of_image(v->w, image->image, counts_of(v, shown, newer ? OF_NEWER : OF_COMMITTED));
  if (!newer && shown->rank.standing == RCL_STANDS_BEHIND)
    show_counts_of_image(v->w, image->image, counts_of(v, shown, OF_NOW));
}

static void show_image_record(const struct line_view *v, int rank, struct shown_rank *shown,
                              const struct world_record *image)
{
  if (image->checkpoint < v->whole.committed) {
    shown->rank.older += !v->w->levels;
    return;
  }
  if (!image->durable)
    shown->rank.storing = image->checkpoint;
  else if (image->checkpoint > v->whole.committed)
    shown->rank.durable = image->checkpoint;
  else
    shown->rank.restorable = 1;
  show_image(v, rank, shown, image);
}

/* Shows the state stored with a log. If a crash has cut the write of the committed checkpoint's
 * log, the log is never read, so it is not shown. */
static void show_log_record(const struct line_view *v, int rank, struct shown_rank *shown,
                            const struct world_record *log)
{
  bool newer = log->checkpoint > v->whole.committed;
  if (log->checkpoint < v->whole.committed || (!newer && !log->durable))
    return;
  if (!log->durable)
    shown->rank.storing_log = log->checkpoint;
  else if (newer)
    shown->rank.durable_log = log->checkpoint;
  else
    shown->rank.logged = 1;
  show_state(v, rank, shown, log);
}

static void show_stored(const struct line_view *v, int rank, struct shown_rank *shown)
{
  uint32_t count, committed = v->whole.committed;
  const struct world_record *stored =
      READ_LIST(struct world_record, v->w, WORLD_STORED, rank, 0, &count);
  shown->rank.committed = committed == RCL_FRESH ? v->zeroes : NULL;
  shown->rank.restorable = committed == RCL_FRESH;
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].part == RCL_PART_IMAGE)
      show_image_record(v, rank, shown, &stored[i]);
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].part == RCL_PART_LOG)
      show_log_record(v, rank, shown, &stored[i]);
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

static void show_program(const struct line_view *v, int rank, struct shown_rank *shown)
{
  const struct world_call *call = &read_program(v->w, rank)->call;
  show_counts(v->w, rank, counts_of(v, shown, OF_NOW));
  shown->rank.joined = is_in_barrier(v->w, rank, call);
  if (!shown->rank.joined)
    return;
  memcpy(shown->rank.words, call->words, sizeof shown->rank.words);
  shown->comm = call->comm;
  shown->number = call->number;
}

/* Copies the present state of a rank, because the world may move the original. */
static const void *show_present(const struct line_view *v, struct shown_rank *shown,
                                const struct world_rank *me)
{
  return memcpy(state_at(v, shown, AT_NOW), me + 1, v->w->state_bytes);
}

void line_view_show_rank(const struct line_view *v, int rank, void *memory)
{
  const struct world *w = v->w;
  const struct world_rank *me = read_rank(w, rank);
  struct shown_rank *shown = memset(memory, 0, line_view_rank_bytes(v));
  struct rcl_whole_rank *to = &shown->rank;
  *to = (struct rcl_whole_rank){.config = &w->config[rank], .standing = standing_of(v, me)};
  show_stored(v, rank, shown);
  if (to->standing != RCL_STANDS_UP) {
    to->storing = to->storing_log = 0; /* no write is under way */
    to->state = me->phase == RANK_NEW ? show_present(v, shown, me) : to->committed;
    if (to->standing == RCL_STANDS_DEAD || !to->state)
      *to = (struct rcl_whole_rank){.config = to->config,
                                    .committed = to->committed,
                                    .standing = RCL_STANDS_DEAD,
                                    .restorable = to->restorable,
                                    .logged = to->logged};
    return;
  }
  to->state = show_present(v, shown, me);
  to->held = me->held;
  to->timer = me->timer;
  to->capturing = me->phase == RANK_CAPTURING ? me->capturing : 0;
  show_program(v, rank, shown);
}

/* ---- channels ---- */

/* Shows a control message that comes behind `place` other control messages and `ahead` messages of
 * the program. */
static void show_control(const struct line_view *v, struct rcl_whole_control *control,
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

static void show_message(const struct line_view *v, struct rcl_whole_channel *channel,
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
static bool is_ordered(const struct line_view *v, enum part_kind kind)
{
  const struct rcl_place *place = v->w->protocol->place;
  return kind == WORLD_CHANNEL && place && place->assumes & RCL_ASSUMES_FIFO;
}

static void show_messages(const struct line_view *v, enum part_kind kind, int from, int to,
                          struct shown_channel *shown)
{
  uint32_t count, place = 0;
  const struct world_message *list = READ_LIST(struct world_message, v->w, kind, from, to, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (list[i].incarnation != v->incarnation)
      continue;
    if (is_control(&list[i]))
      show_control(v, shown->control, &list[i], place++,
                   is_ordered(v, kind) ? shown->channel.messages : 0);
    else
      show_message(v, &shown->channel, &list[i]);
  }
}

/* Returns whether the contribution is to a barrier of all ranks. One of its two ranks is then in
 * the barrier, because no rank leaves before all have come. */
static bool is_of_barrier(const struct line_view *v, const struct world_message *share, int rank)
{
  const struct shown_rank *shown = v->shown[rank];
  return v->rank[rank].joined && shown->comm == share->comm && shown->number == share->tag;
}

/* Shows contributions to barriers. Returns whether there are contributions to any call. */
static bool show_shares(const struct line_view *v, int from, int to,
                        struct rcl_whole_channel *channel)
{
  uint32_t count;
  bool any = false;
  const struct world_message *list =
      READ_LIST(struct world_message, v->w, WORLD_SHARE, from, to, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (list[i].incarnation != v->incarnation)
      continue;
    any = true;
    if (!is_of_barrier(v, &list[i], from) && !is_of_barrier(v, &list[i], to))
      continue;
    if (channel->shares < RCL_WHOLE_SHARES)
      memcpy(channel->share[channel->shares], list[i].words, sizeof list[i].words);
    channel->shares++;
  }
  return any;
}

bool line_view_show_channel(const struct line_view *v, int from, int to, void *memory)
{
  struct shown_channel *shown = memset(memory, 0, line_view_channel_bytes(v));
  shown->channel.control = shown->control;
  bool shares = show_shares(v, from, to, &shown->channel);
  show_messages(v, WORLD_CHANNEL, from, to, shown);
  if (control_part(v->w) != WORLD_CHANNEL)
    show_messages(v, WORLD_CONTROL, from, to, shown);
  return !shares;
}

/* ---- the whole ---- */

static const void *plain(const void *pointer)
{
  return (const void *)(uintptr_t)(pointer != NULL);
}

/* If the present state is that of the committed checkpoint, copies it, so that the bytes have it at
 * both places. The state of checkpoint RCL_FRESH is all zeroes. */
void line_view_plain_rank(const struct line_view *v, void *memory)
{
  struct shown_rank *shown = memory;
  struct rcl_whole_rank *rank = &shown->rank;
  if (rank->state && rank->state == rank->committed)
    memcpy(state_at(v, shown, AT_NOW), state_at(v, shown, AT_COMMITTED), v->w->state_bytes);
  rank->config = NULL;
  rank->state = plain(rank->state);
  rank->committed = plain(rank->committed);
  rank->newer = plain(rank->newer);
  rank->log = plain(rank->log);
}

void line_view_plain_channel(void *memory)
{
  struct shown_channel *shown = memory;
  shown->channel.control = NULL;
}

static uint32_t control_kinds(const struct rcl_protocol *protocol)
{
  uint32_t kinds = 0;
  while (protocol->controls && protocol->controls[kinds])
    kinds++;
  return kinds;
}

static size_t aligned(size_t bytes)
{
  return (bytes + 15) / 16 * 16;
}

size_t line_view_rank_bytes(const struct line_view *v)
{
  size_t counts = (size_t)PROGRAMS * (size_t)v->w->ranks;
  return aligned(sizeof(struct shown_rank) + counts * sizeof(struct rcl_whole_count) +
                 STATES * (size_t)v->w->state_bytes);
}

size_t line_view_channel_bytes(const struct line_view *v)
{
  return aligned(sizeof(struct shown_channel) + v->kinds * sizeof(struct rcl_whole_control));
}

static void narrow_channel(const struct line_view *v, int from, int to, bool show)
{
  int n = from * v->w->ranks + to;
  v->narrow_channel[n] = show ? v->channel[n] : (struct rcl_whole_channel){.control = v->nothing};
}

static void narrow_rank(const struct line_view *v, int rank, bool show)
{
  v->narrow_rank[rank] =
      show ? v->rank[rank]
           : (struct rcl_whole_rank){.config = &v->w->config[rank], .standing = RCL_STANDS_DEAD};
}

void line_view_narrow(const struct line_view *v, int i, int j, bool show)
{
  narrow_rank(v, i, show);
  narrow_channel(v, i, i, show);
  if (i == j)
    return;
  narrow_rank(v, j, show);
  narrow_channel(v, i, j, show);
  narrow_channel(v, j, i, show);
  narrow_channel(v, j, j, show);
}

void line_view_init(struct line_view *v, const struct world *w)
{
  size_t ranks = (size_t)w->ranks, channels = ranks * ranks;
  *v = (struct line_view){.w = w, .kinds = control_kinds(w->protocol)};
  v->rank = memory_table(ranks, sizeof *v->rank);
  v->channel = memory_table(channels, sizeof *v->channel);
  v->shown = memory_table(ranks, sizeof *v->shown);
  v->zeroes = memory_table(1, w->state_bytes);
  v->narrow_rank = memory_table(ranks, sizeof *v->narrow_rank);
  v->narrow_channel = memory_table(channels, sizeof *v->narrow_channel);
  v->nothing = memory_table(v->kinds + 1, sizeof *v->nothing);
  v->whole = (struct rcl_whole){.ranks = w->ranks, .rank = v->rank, .channel = v->channel};
  for (int i = 0; i < w->ranks; i++)
    for (int j = 0; j < w->ranks; j++)
      line_view_narrow(v, i, j, false);
}

void line_view_clear(struct line_view *v)
{
  free(v->rank);
  free(v->channel);
  free(v->shown);
  free(v->zeroes);
  free(v->narrow_rank);
  free(v->narrow_channel);
  free(v->nothing);
}

void line_view_begin(struct line_view *v, uint32_t committed, uint32_t committing,
                     uint32_t incarnation)
{
  v->whole.committed = committed;
  v->whole.committing = committing;
  v->incarnation = incarnation;
  v->narrow = v->whole;
  v->narrow.rank = v->narrow_rank;
  v->narrow.channel = v->narrow_channel;
}

void line_view_set_rank(struct line_view *v, int rank, const void *shown)
{
  v->shown[rank] = shown;
  v->rank[rank] = v->shown[rank]->rank;
}

void line_view_set_channel(struct line_view *v, int from, int to, const void *shown)
{
  v->channel[from * v->w->ranks + to] = ((const struct shown_channel *)shown)->channel;
}

void line_view_count(struct line_view *v)
{
  int n = v->w->ranks;
  for (int from = 0; from < n; from++)
    for (int to = 0; to < n; to++) {
      struct rcl_whole_channel *channel = &v->channel[from * n + to];
      const struct rcl_whole_count *sent = v->shown[from]->count + to,
                                   *given = v->shown[to]->count + from;
      channel->now = (struct rcl_whole_count){sent[OF_NOW * n].sent, given[OF_NOW * n].given};
      channel->committed =
          (struct rcl_whole_count){sent[OF_COMMITTED * n].sent, given[OF_COMMITTED * n].given};
      channel->newer = (struct rcl_whole_count){sent[OF_NEWER * n].sent, given[OF_NEWER * n].given};
    }
}
