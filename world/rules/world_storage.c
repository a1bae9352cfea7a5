/* Keeps images on stable storage, and restarts ranks from them. */
#include <stdlib.h>

#include "base/breach.h"
#include "base/memory.h"
#include "world/rules/properties.h"
#include "world/rules/world_step.h"

/* ---- stable storage ---- */

/* Stands for an empty part in the kept bytes of an image. */
#define NO_PART ((enum part_kind)(WORLD_TOKENS + 1))

/* Finds the bytes of a part that an image needs, as pieces of the memory that begins at `*from`.
 * For a rank's part these are the pieces of its protocol's state that are in use. */
static uint32_t pieces_of(const struct world *w, int rank, enum part_kind kind,
                          struct rcl_piece *piece, const unsigned char **from)
{
  *piece = (struct rcl_piece){0};
  *from = NULL;
  if (kind == NO_PART)
    return 1;
  *from = world_read(w, kind, rank, 0, &piece->bytes);
  if (kind != WORLD_RANK)
    return 1;
  *from += sizeof(struct world_rank);
  return world_in_use(w, rank, *from, piece);
}

/* Keeps an image: the pieces of its parts, each preceded by its size. Returns its number. */
static uint32_t keep_parts(const struct world *w, int rank, const enum part_kind *kinds, int count)
{
  struct rcl_piece piece[RCL_PIECES];
  const unsigned char *from;
  size_t total = 0;
  for (int i = 0; i < count; i++)
    for (uint32_t k = pieces_of(w, rank, kinds[i], piece, &from); k-- > 0;)
      total += sizeof piece->bytes + piece[k].bytes;
  unsigned char *bytes = memory_grow(NULL, total), *at = bytes;
  for (int i = 0; i < count; i++) {
    uint32_t pieces = pieces_of(w, rank, kinds[i], piece, &from);
    for (uint32_t k = 0; k < pieces; k++) {
      memcpy(at, &piece[k].bytes, sizeof piece[k].bytes);
      at += sizeof piece[k].bytes;
      if (piece[k].bytes)
        memcpy(at, from + piece[k].offset, piece[k].bytes);
      at += piece[k].bytes;
    }
  }
  uint32_t number = w->memory.keep(w->memory.ctx, bytes, (uint32_t)(at - bytes));
  free(bytes);
  return number;
}

static void clear_state(const struct world *w, int rank, unsigned char *state)
{
  struct rcl_piece piece[RCL_PIECES];
  for (uint32_t k = world_in_use(w, rank, state, piece); k-- > 0;)
    memset(state + piece[k].offset, 0, piece[k].bytes);
}

static void restore_parts(const struct world *w, int rank, const enum part_kind *kinds, int count,
                          uint32_t number)
{
  struct rcl_piece piece[RCL_PIECES];
  uint32_t size, length;
  REQUIRE(!read_global(w)->settled, "no rank starts from contents that are left out");
  const unsigned char *from, *at = w->memory.kept(w->memory.ctx, number, &size);
  for (int i = 0; i < count; i++) {
    uint32_t pieces = pieces_of(w, rank, kinds[i], piece, &from);
    unsigned char *state =
        kinds[i] == WORLD_RANK ? (unsigned char *)(edit_rank(w, rank) + 1) : NULL;
    if (state)
      clear_state(w, rank, state);
    for (uint32_t k = 0; k < pieces; k++) {
      memcpy(&length, at, sizeof length);
      at += sizeof length;
      unsigned char *to = state ? state : world_edit(w, kinds[i], rank, 0, length);
      if (length)
        memcpy(to + piece[k].offset, at, length);
      at += length;
    }
  }
}

static const enum part_kind state_parts[] = {WORLD_RANK, WORLD_SLOTS};
static const enum part_kind bare_parts[] = {WORLD_RANK, NO_PART};

uint32_t world_settled_image(const struct world *w, int rank, uint32_t image)
{
  return world_keep_received(w, rank, image, world_judges_garbage(w));
}

static uint32_t settled_state(const struct world *w)
{
  return w->memory.keep(w->memory.ctx, NULL, 0);
}

void world_settle_record(const struct world *w, int rank, struct world_record *record)
{
  if (record->image)
    record->image = world_settled_image(w, rank, record->image);
  record->state = settled_state(w);
}

uint32_t world_keep_image(struct step_context *t)
{
  if (read_global(t->w)->settled)
    return world_settled_image(t->w, t->rank, 0);
  return keep_parts(t->w, t->rank, world_image_parts, IMAGE_PARTS);
}

static void forget_record(const struct world *w, const struct world_record *record)
{
  if (!w->memory.forget)
    return;
  if (record->image)
    w->memory.forget(w->memory.ctx, record->image);
  if (record->state)
    w->memory.forget(w->memory.ctx, record->state);
}

/* Removes the records of `rank` for which `gone` returns true. */
static void remove_records(const struct world *w, int rank,
                           bool (*gone)(const struct world_record *, uint32_t), uint32_t with)
{
  uint32_t count;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = count; i-- > 0;)
    if (gone(&stored[i], with)) {
      forget_record(w, &stored[i]);
      list_remove(w, WORLD_STORED, rank, 0, i, sizeof *stored);
      stored = READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
    }
}

static bool is_of(const struct world_record *record, uint32_t checkpoint)
{
  return record->checkpoint == checkpoint;
}

static bool is_of_other(const struct world_record *record, uint32_t checkpoint)
{
  return record->checkpoint != checkpoint;
}

static bool is_image_of(const struct world_record *record, uint32_t checkpoint)
{
  return record->checkpoint == checkpoint && record->part == RCL_PART_IMAGE;
}

static bool is_log_of(const struct world_record *record, uint32_t checkpoint)
{
  return record->checkpoint == checkpoint && record->part == RCL_PART_LOG;
}

static bool is_cut(const struct world_record *record, uint32_t ignored)
{
  (void)ignored;
  return !record->durable;
}

void world_drop_cut(const struct world *w, int rank)
{
  remove_records(w, rank, is_cut, 0);
}

static bool is_after(const struct world_record *record, uint32_t checkpoint)
{
  return record->checkpoint > checkpoint;
}

static bool is_image_after(const struct world_record *record, uint32_t checkpoint)
{
  return record->part == RCL_PART_IMAGE && is_after(record, checkpoint);
}

/* Returns whether storage is fenced against the rank. Independent recovery has no fence: storage
 * serves each rank by itself. */
bool world_fenced(const struct step_context *t)
{
  const struct world_rank *me = read_rank(t->w, t->rank);
  return me->declared ||
         (!t->w->protocol->independent && me->incarnation < read_global(t->w)->incarnation);
}

/* Removes the records that the new write replaces at once. An event logger keeps the old log until
 * it has the new one. */
static void replace_records(struct step_context *t, const struct rcl_action *action)
{
  if (action->part == RCL_PART_IMAGE)
    remove_records(t->w, t->rank, is_image_of, action->checkpoint);
  else if (!t->w->protocol->independent)
    remove_records(t->w, t->rank, is_log_of, action->checkpoint);
}

static uint32_t keep_state(const struct step_context *t, const struct rcl_action *action)
{
  const struct world *w = t->w;
  bool no_slots = w->protocol->independent && action->part == RCL_PART_LOG;
  int parts = no_slots ? 1 : 2;
  if (read_global(w)->settled)
    return settled_state(w);
  if (!w->bounded || w->protocol->independent)
    return keep_parts(w, t->rank, action->bare ? bare_parts : state_parts, parts);
  unsigned char now[w->state_bytes + 1];
  struct world_rank *me = edit_rank(w, t->rank);
  memcpy(now, me + 1, w->state_bytes);
  world_merge_state(w, t->rank, action->checkpoint, me + 1);
  uint32_t kept = keep_parts(w, t->rank, state_parts, parts);
  memcpy(edit_rank(w, t->rank) + 1, now, w->state_bytes);
  world_note_merge(w, t->rank, kept, now);
  return kept;
}

static bool is_stored(const struct step_context *t, const struct rcl_action *action)
{
  uint32_t count;
  const struct world_record *stored =
      READ_LIST(struct world_record, t->w, WORLD_STORED, t->rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].checkpoint == action->checkpoint && stored[i].part == action->part)
      return true;
  return false;
}

void world_store(struct step_context *t, const struct rcl_action *action)
{
  const struct world_rank *me = read_rank(t->w, t->rank);
  struct world_record record = {.checkpoint = action->checkpoint, .part = action->part};
  if (world_fenced(t))
    return;
  if (action->part == RCL_PART_IMAGE) {
    if (!me->image || me->line != action->checkpoint) {
      world_violate(t, "legal", "no image of checkpoint %u to store", action->checkpoint);
      return;
    }
    world_check_stored(t);
    record.image = me->image;
    edit_rank(t->w, t->rank)->image = 0;
  } else if (!t->w->protocol->independent && is_stored(t, action))
    world_violate(t, "legal", "the log of checkpoint %u is stored already", action->checkpoint);
  replace_records(t, action);
  record.state = keep_state(t, action);
  uint32_t count;
  READ_LIST(struct world_record, t->w, WORLD_STORED, t->rank, 0, &count);
  list_insert(t->w, WORLD_STORED, t->rank, 0, count, &record, sizeof record);
}

/* Erases superseded checkpoints. Levels keep a checkpoint that survives more failures than every
 * newer checkpoint, until a newer one survives as many. */
static void erase_superseded(const struct world *w, int rank, uint32_t checkpoint)
{
  uint32_t count;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = count; i-- > 0;) {
    if (i >= count || stored[i].checkpoint > checkpoint ||
        !world_is_superseded(w, rank, stored[i].checkpoint))
      continue;
    remove_records(w, rank, is_of, stored[i].checkpoint);
    stored = READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  }
}

void world_erase(struct step_context *t, uint32_t checkpoint)
{
  if (t->w->protocol->independent)
    remove_records(t->w, t->rank, is_image_of, checkpoint);
  else if (t->w->levels)
    erase_superseded(t->w, t->rank, checkpoint);
  else
    remove_records(t->w, t->rank, is_of, checkpoint);
}

/* With independent recovery: drops all logs but the newest durable one. */
void world_drop_old_logs(const struct world *w, int rank)
{
  uint32_t count;
  bool newer = false;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = count; i-- > 0;) {
    if (stored[i].part != RCL_PART_LOG || !stored[i].durable)
      continue;
    if (newer) {
      forget_record(w, &stored[i]);
      list_remove(w, WORLD_STORED, rank, 0, i, sizeof *stored);
      stored = READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
    }
    newer = true;
  }
}

void world_report(struct step_context *t)
{
  const struct world *w = t->w;
  uint32_t count, i = 0;
  bool is_durable = t->move->fault != FAULT_EARLY_DURABLE;
  world_is_being_written(w, t->rank, t->event.checkpoint, t->event.part, &i);
  READ_LIST(struct world_record, w, WORLD_STORED, t->rank, 0, &count);
  struct world_record *stored =
      world_edit(w, WORLD_STORED, t->rank, 0, count * (uint32_t)sizeof *stored);
  stored[i].reported = true;
  stored[i].durable = is_durable;
  world_note_copy(w, t->rank, i);
  if (w->protocol->independent && t->event.part == RCL_PART_LOG)
    world_drop_old_logs(w, t->rank);
  if (w->protocol->independent && t->event.part == RCL_PART_IMAGE && is_durable)
    world_reach_commit(t, t->event.checkpoint, read_rank(w, t->rank)->noticed);
  if (!is_durable)
    edit_global(t->w)->injected = true;
}

/* ---- restart ---- */

void world_drop_image(const struct world *w, int rank)
{
  struct world_rank *me = edit_rank(w, rank);
  if (me->image && w->memory.forget)
    w->memory.forget(w->memory.ctx, me->image);
  me->image = 0;
}

void world_wipe(const struct world *w, int rank, enum rank_phase phase, uint16_t incarnation)
{
  struct world_rank *me = edit_rank(w, rank);
  world_drop_image(w, rank);
  uint16_t noticed = me->noticed;
  clear_state(w, rank, (unsigned char *)(me + 1));
  memset(me, 0, sizeof *me);
  me->phase = (uint8_t)phase;
  me->noticed = noticed;
  if (w->shares && phase == RANK_DEAD)
    *shares_uneven(w->shares) = true;
  memset(edit_program(w, rank), 0, program_bytes(w));
  list_clear(w, WORLD_POSTED, rank, 0);
  list_clear(w, WORLD_SLOTS, rank, 0);
  list_clear(w, WORLD_FLOWS, rank, 0);
  list_clear(w, WORLD_SENT, rank, 0);
  list_clear(w, WORLD_REJOINED, rank, 0);
  list_clear(w, WORLD_UNEXPECTED, rank, 0);
  for (int peer = 0; peer < w->ranks; peer++) {
    world_drop_stale(w, WORLD_CHANNEL, peer, rank, incarnation);
    world_drop_stale(w, WORLD_CONTROL, peer, rank, incarnation);
  }
  world_drop_shares(w, RCL_ANY, rank, incarnation);
}

void world_disconnect(const struct world *w, int rank, int peer, uint16_t incarnation)
{
  world_drop_stale(w, WORLD_CHANNEL, peer, rank, incarnation);
  world_drop_stale(w, WORLD_CONTROL, peer, rank, incarnation);
  world_drop_shares(w, peer, rank, incarnation);
}

static const struct world_record *image_record(const struct world *w, int rank, uint32_t checkpoint,
                                               bool durable)
{
  uint32_t count;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].checkpoint == checkpoint && stored[i].part == RCL_PART_IMAGE &&
        (stored[i].durable || !durable))
      return &stored[i];
  return NULL;
}

/* Returns whether the rank has that image. A living rank also has, in memory, an image that it has
 * captured but not stored. */
static bool has_image(const struct world *w, int rank, uint32_t checkpoint)
{
  const struct world_rank *me = read_rank(w, rank);
  return checkpoint == RCL_FRESH || (me->image && me->line == checkpoint) ||
         image_record(w, rank, checkpoint, false);
}

void world_set_back(struct step_context *t, uint32_t checkpoint)
{
  const struct world *w = t->w;
  if (!has_image(w, t->rank, checkpoint)) {
    world_violate(t, "legal", "roll back to %u, of which there is no image", checkpoint);
    return;
  }
  world_judge_set_back(t, checkpoint);
  struct world_rank *me = edit_rank(w, t->rank);
  me->phase = RANK_RESTORING;
  me->held = false;
  me->draining = 0;
  me->capturing = 0;
  me->origin = checkpoint;
}

/* Withdraws announcements. The receives that were posted when the image was taken, and the
 * collective that the program was in, must be announced again; a synchronous send has ended. */
static void withdraw_announcements(const struct world *w, int rank)
{
  uint32_t count;
  struct world_program *program = edit_program(w, rank);
  if (program->call.state != CALL_NONE)
    program->call.state = CALL_ANNOUNCED;
  program->sending = 0; /* the host has forgotten the send */
  READ_LIST(struct world_receive, w, WORLD_POSTED, rank, 0, &count);
  if (!count || below_matching(w))
    return;
  struct world_receive *posted =
      world_edit(w, WORLD_POSTED, rank, 0, count * (uint32_t)sizeof *posted);
  for (uint32_t i = 0; i < count; i++)
    world_withdraw(&posted[i]);
}

/* ---- independent recovery ---- */

/* Restores a rank that died: its state from the durable part that was stored last, and its slots
 * from the image. */
static void restore_state(const struct world *w, int rank, const struct world_record *image)
{
  uint32_t count, slots = image ? image->state : 0, last = 0;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].durable)
      last = stored[i].state;
  if (slots)
    restore_parts(w, rank, state_parts, 2, slots);
  if (last)
    restore_parts(w, rank, state_parts, 1, last);
}

/* Judges that the record is not torn. The rank starts from it in any case, because nothing tells a
 * torn write from a whole one. */
static void check_whole(struct step_context *t, const struct world_record *record)
{
  if (record && record->harm & HARM_TORN)
    world_violate(t, "restorable", "checkpoint %u of rank %d is torn", record->checkpoint, t->rank);
}

static void restore_program(struct step_context *t, uint32_t image)
{
  const struct world *w = t->w;
  memset(edit_program(w, t->rank), 0, program_bytes(w));
  list_clear(w, WORLD_POSTED, t->rank, 0);
  list_clear(w, WORLD_FLOWS, t->rank, 0);
  list_clear(w, WORLD_SENT, t->rank, 0);
  if (image) {
    restore_parts(w, t->rank, world_image_parts, IMAGE_PARTS - 1, image); /* without UNEXPECTED */
    withdraw_announcements(w, t->rank);
    if (has_windows(w))
      world_window_restored(w, t->rank);
  } else {
    world_begin_program(w, t->rank);
  }
}

/* Judges that no part is lost: a rank that died starts from its newest durable image and the log
 * after it. */
static void check_not_lost(struct step_context *t)
{
  const struct world_record *lost = world_lost_record(t->w, t->rank, t->event.checkpoint);
  if (lost)
    world_violate(t, "restorable", "%s %u of rank %d was lost",
                  lost->part == RCL_PART_LOG ? "the log behind checkpoint" : "checkpoint",
                  lost->checkpoint, t->rank);
}

/* Starts a rank that has died, or that has gone back by itself. */
static void restore_independently(struct step_context *t)
{
  const struct world *w = t->w;
  struct world_rank *me = edit_rank(w, t->rank);
  uint32_t checkpoint = t->event.checkpoint;
  const struct world_record *record = image_record(w, t->rank, checkpoint, false);
  uint32_t image = record ? record->image : checkpoint == RCL_FRESH ? 0 : me->image;
  check_whole(t, record);
  if (me->phase == RANK_RESTARTING) {
    world_occasion(t, PROPERTY_RESTORABLE);
    check_not_lost(t);
    restore_state(w, t->rank, record);
    world_rebuild(w, t->rank, checkpoint);
  }
  remove_records(w, t->rank, is_image_after, checkpoint);
  restore_program(t, image);
  for (int peer = 0; peer < w->ranks; peer++)
    world_disconnect(w, t->rank, peer, me->noticed);
  me = edit_rank(w, t->rank);
  me->phase = RANK_RUNNING;
  me->incarnation = me->noticed;
  if (me->line != checkpoint)
    world_drop_image(w, t->rank);
  me->line = me->stopped = checkpoint;
  world_reach_start(t);
}

/* Settles what is stored. Kept images are not forgotten, because a record and its rank may share
 * one. */
static void settle(const struct world *w)
{
  for (int rank = 0; rank < w->ranks; rank++) {
    uint32_t count;
    uint32_t image = read_rank(w, rank)->image;
    if (image)
      edit_rank(w, rank)->image = world_settled_image(w, rank, image);
    READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
    struct world_record *stored =
        world_edit(w, WORLD_STORED, rank, 0, count * (uint32_t)sizeof *stored);
    for (uint32_t i = 0; i < count; i++) {
      if (stored[i].state && w->memory.forget)
        w->memory.forget(w->memory.ctx, stored[i].state);
      world_settle_record(w, rank, &stored[i]);
    }
  }
  edit_global(w)->settled = true;
}

bool world_settles(const struct world *w)
{
  return w->bounded && !w->whole && !w->protocol->independent && !read_global(w)->crashes &&
         !world_judges_useful(w) && !(w->attempts && w->script->outputs);
}

/* Ends the recovery when all ranks have started again: clears the crashed rank and the target. */
static void end_recovery(const struct world *w)
{
  for (int rank = 0; rank < w->ranks; rank++) {
    const struct world_head other = read_rank_head(w, rank);
    bool runs = other.phase == RANK_RUNNING || other.phase == RANK_CAPTURING;
    if (other.phase != RANK_NEW && (!runs || other.noticed != read_global(w)->incarnation))
      return;
  }
  if (world_settles(w))
    settle(w);
  edit_global(w)->target = RCL_FRESH;
  edit_global(w)->down = -1;
}

void world_restore(struct step_context *t)
{
  const struct world *w = t->w;
  if (w->protocol->independent) {
    restore_independently(t);
    return;
  }
  uint32_t checkpoint = t->event.checkpoint;
  uint16_t incarnation = read_global(w)->incarnation;
  world_wipe(w, t->rank, RANK_RUNNING, incarnation);
  /* No rank will roll back to these checkpoints. */
  remove_records(w, t->rank, w->levels ? is_after : is_of_other, checkpoint);
  if (checkpoint != RCL_FRESH) {
    world_occasion(t, PROPERTY_RESTORABLE);
    const struct world_record *image = world_durable_record(w, t->rank, checkpoint, RCL_PART_IMAGE);
    const struct world_record *log = world_durable_record(w, t->rank, checkpoint, RCL_PART_LOG);
    if (!image || !world_is_there(w, t->rank, image)) {
      world_violate(t, "restorable", "checkpoint %u of rank %d is not on stable storage",
                    checkpoint, t->rank);
      edit_rank(w, t->rank)->phase = RANK_DEAD;
      return;
    }
    check_whole(t, image);
    check_whole(t, log);
    restore_parts(w, t->rank, world_image_parts, IMAGE_PARTS, image->image);
    t->stored = log ? log->state : image->state;
    restore_parts(w, t->rank, state_parts, 2, t->stored);
    withdraw_announcements(w, t->rank);
    if (has_windows(w))
      world_window_restored(w, t->rank);
  } else {
    world_begin_program(w, t->rank);
  }
  world_rebuild(w, t->rank, checkpoint);
  struct world_rank *me = edit_rank(w, t->rank);
  me->incarnation = me->noticed = incarnation;
  me->line = me->stopped = checkpoint;
  me->closed = t->event.closed ? CONNECTIONS_CLOSED | CONNECTIONS_ANEW : 0;
  world_reach_start(t);
  if (incarnation)
    end_recovery(w);
}
