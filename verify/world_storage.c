/* The world: images and stable storage, crash, detection, restart. */
#include <stdlib.h>

#include "world_taking.h"

/* ---- stable storage ---- */

/* Bytes kept for an image: the parts of the program, each behind its size. */
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

static const enum part_kind image_parts[] = {WORLD_PROGRAM, WORLD_POSTED, WORLD_FLOWS,
                                             WORLD_UNEXPECTED};
enum { IMAGE_PARTS = sizeof image_parts / sizeof *image_parts };
static const enum part_kind state_parts[] = {WORLD_RANK, WORLD_SLOTS};

uint32_t world_keep_image(struct taking *t)
{
  return keep_parts(t->w, t->rank, image_parts, IMAGE_PARTS);
}

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

bool world_fenced(const struct taking *t)
{
  return read_rank(t->w, t->rank)->incarnation < read_global(t->w)->incarnation;
}

void world_store(struct taking *t, const struct action *action)
{
  const struct world_rank *me = read_rank(t->w, t->rank);
  struct world_record record = {.checkpoint = action->checkpoint, .part = action->part};
  if (world_fenced(t))
    return;
  if (action->part == PART_IMAGE) {
    if (!me->image || me->line != action->checkpoint) {
      world_violate(t, "legal", "no image of checkpoint %u to store", action->checkpoint);
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

void world_erase(struct taking *t, uint32_t checkpoint)
{
  remove_records(t->w, t->rank, is_of, checkpoint);
}

void world_report(struct taking *t)
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

void world_wipe(const struct world *w, int rank, enum rank_phase phase, uint16_t incarnation)
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
  list_clear(w, WORLD_UNEXPECTED, rank, 0);
  for (int peer = 0; peer < w->ranks; peer++) {
    drop_stale(w, WORLD_CHANNEL, peer, rank, incarnation);
    drop_stale(w, WORLD_CONTROL, peer, rank, incarnation);
    drop_stale(w, WORLD_SHARE, peer, rank, incarnation);
  }
}

void world_crash(struct taking *t)
{
  world_wipe(t->w, t->rank, RANK_DEAD, UINT16_MAX);
  edit_rank(t->w, t->rank)->noticed = 0;
  remove_records(t->w, t->rank, is_cut, 0);
  struct world_global *global = edit_global(t->w);
  if (t->w->bounded)
    global->crashes--;
  if (t->rank == COORDINATOR_RANK)
    global->committing = global->requested = 0;
}

/* The dispatcher fences storage first, so that what it then reads as committed stays so. */
void world_detect(struct taking *t)
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
  if (!count || below_matching(w))
    return;
  struct world_receive *posted =
      world_edit(w, WORLD_POSTED, rank, 0, count * (uint32_t)sizeof *posted);
  for (uint32_t i = 0; i < count; i++) {
    posted[i].announced = false;
    posted[i].from = posted[i].peer;
    posted[i].from_tag = posted[i].tag;
  }
}

void world_restore(struct taking *t)
{
  const struct world *w = t->w;
  uint32_t checkpoint = t->event.checkpoint;
  uint16_t incarnation = read_global(w)->incarnation;
  world_wipe(w, t->rank, RANK_RUNNING, incarnation);
  remove_records(w, t->rank, is_after, checkpoint);
  if (checkpoint != FRESH) {
    const struct world_record *image = durable_record(w, t->rank, checkpoint, PART_IMAGE);
    const struct world_record *log = durable_record(w, t->rank, checkpoint, PART_LOG);
    if (!image) {
      world_violate(t, "restorable", "checkpoint %u of rank %d is not on stable storage",
                    checkpoint, t->rank);
      edit_rank(w, t->rank)->phase = RANK_DEAD;
      return;
    }
    restore_parts(w, t->rank, image_parts, IMAGE_PARTS, image->image);
    restore_parts(w, t->rank, state_parts, 2, log ? log->state : image->state);
    withdraw_announcements(w, t->rank);
  } else {
    world_begin_program(w, t->rank);
  }
  struct world_rank *me = edit_rank(w, t->rank);
  me->incarnation = me->noticed = incarnation;
  me->line = me->stopped = checkpoint;
}
