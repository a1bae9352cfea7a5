/* Finds out, with levels of storage, which checkpoints a crash takes and which it leaves. */
#include "world/rules/world_step.h"

const struct world_record *world_durable_record(const struct world *w, int rank,
                                                uint32_t checkpoint, enum rcl_part part)
{
  uint32_t count;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].checkpoint == checkpoint && stored[i].part == part && stored[i].durable)
      return &stored[i];
  return NULL;
}

static int level_of(const struct world *w, uint32_t checkpoint)
{
  int level = w->levels - 1;
  while (level > 0 && checkpoint % w->level[level].every)
    level--;
  return level;
}

static int node_of(const struct world *w, int rank)
{
  return rank / w->stored_per_node;
}

static int nodes_of(const struct world *w)
{
  return (w->ranks - 1) / w->stored_per_node + 1;
}

/* Returns the node that keeps a copy of what `node` stores in a ring. */
static int partner_of(const struct world_level *level, int node)
{
  int first = node - node % level->set;
  return first + (node + 1 - first) % level->set;
}

static struct world_record *edit_stored(const struct world *w, int rank, uint32_t *count)
{
  READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, count);
  return world_edit(w, WORLD_STORED, rank, 0, *count * (uint32_t)sizeof(struct world_record));
}

/* Returns whether the record is on nodes. Logs of independent protocols are on another machine, the
 * event logger. */
static bool is_on_nodes(const struct world *w, const struct world_record *record)
{
  return w->levels && w->level[level_of(w, record->checkpoint)].needs > CRASH_LEAVES_NOTHING &&
         !(w->protocol->independent && record->part == RCL_PART_LOG);
}

static bool takes(const struct world *w, const struct world_record *record,
                  enum crash_leaves leaves)
{
  return is_on_nodes(w, record) && leaves < w->level[level_of(w, record->checkpoint)].needs;
}

bool world_has_to_lose(const struct world *w, int rank, enum crash_leaves leaves)
{
  uint32_t count;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (takes(w, &stored[i], leaves) && !(stored[i].harm & HARM_LOST))
      return true;
  return false;
}

/* Returns whether a crash at the node of `rank` takes the copy of a record of rank `of`. */
static bool takes_copy(const struct world *w, const struct world_record *record, int of, int rank,
                       enum crash_leaves leaves)
{
  const struct world_level *level = &w->level[level_of(w, record->checkpoint)];
  return level->ring && partner_of(level, node_of(w, of)) == node_of(w, rank) &&
         takes(w, record, leaves);
}

void world_lose(const struct world *w, int rank, enum crash_leaves leaves)
{
  for (int of = 0; w->levels && of < w->ranks; of++) {
    uint32_t count;
    struct world_record *stored = edit_stored(w, of, &count);
    for (uint32_t i = 0; i < count; i++) {
      if (of == rank && takes(w, &stored[i], leaves))
        stored[i].harm |= HARM_LOST;
      if (takes_copy(w, &stored[i], of, rank, leaves))
        stored[i].harm |= HARM_COPY_LOST;
    }
  }
}

void world_rebuild(const struct world *w, int rank, uint32_t checkpoint)
{
  for (int of = 0; w->levels && of < w->ranks; of++) {
    uint32_t count;
    struct world_record *stored = edit_stored(w, of, &count);
    for (uint32_t i = 0; i < count; i++) {
      if (of == rank && stored[i].checkpoint == checkpoint)
        stored[i].harm &= (uint8_t)~HARM_LOST;
      if (takes_copy(w, &stored[i], of, rank, CRASH_LEAVES_NOTHING) &&
          !(stored[i].harm & HARM_LOST))
        stored[i].harm &= (uint8_t)~HARM_COPY_LOST;
    }
  }
}

void world_note_copy(const struct world *w, int rank, uint32_t index)
{
  uint32_t count;
  if (!w->levels)
    return;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  const struct world_level *level = &w->level[level_of(w, stored[index].checkpoint)];
  int partner = level->ring ? partner_of(level, node_of(w, rank)) : 0;
  int first = partner * w->stored_per_node, end = first + w->stored_per_node;
  for (int other = first; level->ring && other < end && other < w->ranks; other++)
    if (read_rank_head(w, other).phase >= RANK_DEAD) {
      edit_stored(w, rank, &count)[index].harm |= HARM_COPY_LOST;
      return;
    }
}

static bool node_has_lost(const struct world *w, int node, uint32_t checkpoint)
{
  int end = (node + 1) * w->stored_per_node;
  for (int rank = node * w->stored_per_node; rank < end && rank < w->ranks; rank++) {
    const struct world_record *image = world_durable_record(w, rank, checkpoint, RCL_PART_IMAGE);
    if (image && image->harm & HARM_LOST)
      return true;
  }
  return false;
}

void world_lose_server(const struct world *w)
{
  for (int rank = 0; rank < w->ranks; rank++) {
    uint32_t count;
    struct world_record *stored = edit_stored(w, rank, &count);
    for (uint32_t i = 0; i < count; i++)
      if (stored[i].durable && !is_on_nodes(w, &stored[i]))
        stored[i].harm |= HARM_LOST;
  }
}

bool world_is_there(const struct world *w, int rank, const struct world_record *record)
{
  if (!(record->harm & HARM_LOST))
    return true;
  if (!is_on_nodes(w, record))
    return false;
  const struct world_level *level = &w->level[level_of(w, record->checkpoint)];
  if (level->ring)
    return !(record->harm & HARM_COPY_LOST);
  int first = node_of(w, rank) - node_of(w, rank) % level->set, lost = 0;
  for (int node = first; node < first + level->set && node < nodes_of(w); node++)
    lost += node_has_lost(w, node, record->checkpoint);
  return lost <= level->losses;
}

const struct world_record *world_lost_record(const struct world *w, int rank, uint32_t checkpoint)
{
  uint32_t count;
  const struct world_record *last = NULL, *lost = NULL;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++) {
    bool same = stored[i].checkpoint == checkpoint && !world_is_there(w, rank, &stored[i]);
    if (!stored[i].durable)
      continue;
    if (stored[i].part == RCL_PART_IMAGE && (stored[i].checkpoint > checkpoint || same))
      lost = &stored[i];
    last = &stored[i];
  }
  return last && last->part == RCL_PART_LOG && last->harm & HARM_LOST ? last : lost;
}

bool world_can_read(const struct world *w, int rank, uint32_t checkpoint)
{
  const struct world_record *image =
      w->levels ? world_durable_record(w, rank, checkpoint, RCL_PART_IMAGE) : NULL;
  return !image || world_is_there(w, rank, image);
}

static bool is_whole(const struct world *w, uint32_t checkpoint)
{
  for (int rank = 0; rank < w->ranks; rank++) {
    const struct world_record *image = world_durable_record(w, rank, checkpoint, RCL_PART_IMAGE);
    if (!image || !world_is_there(w, rank, image))
      return false;
  }
  return true;
}

uint32_t world_newest_line(const struct world *w, uint32_t most)
{
  uint32_t count, newest = RCL_FRESH;
  if (!w->levels)
    return most;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, RCL_COORDINATOR_RANK, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].checkpoint > newest && stored[i].checkpoint <= most &&
        is_whole(w, stored[i].checkpoint))
      newest = stored[i].checkpoint;
  return newest;
}

/* Returns the checkpoint to which recoveries go once restarts from `line` have failed as often as
 * allowed. Returns `line` itself if there is no other. */
static uint32_t line_before(const struct world *w, uint32_t line)
{
  const struct world_global *global = read_global(w);
  if (line <= global->before || global->falls >= w->attempts)
    return line;
  return world_newest_line(w, line - 1) == global->before ? global->before : line;
}

static bool has_failed(const struct world *w, uint32_t line)
{
  const struct world_global *global = read_global(w);
  return w->attempts && line == global->committed && global->restarts >= w->attempts;
}

uint32_t world_choose_line(const struct world *w)
{
  uint32_t newest = world_newest_line(w, read_global(w)->committed);
  uint32_t line = has_failed(w, newest) ? line_before(w, newest) : newest;
  if (!w->attempts)
    return line;
  struct world_global *global = edit_global(w);
  global->falls = (uint16_t)(global->falls + (line != newest));
  global->restarts = (uint16_t)(line != global->committed          ? 1
                                : global->restarts < ATTEMPTS_MOST ? global->restarts + 1
                                                                   : ATTEMPTS_MOST);
  return line;
}

enum next_line world_next_line(const struct world *w)
{
  uint32_t newest = world_newest_line(w, read_global(w)->committed);
  if (!has_failed(w, newest))
    return NEXT_NEWEST;
  return line_before(w, newest) == newest ? NEXT_EXHAUSTED : NEXT_BEFORE;
}

bool world_is_superseded(const struct world *w, int rank, uint32_t checkpoint)
{
  uint32_t count, newer = 0, last = 0;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].checkpoint > checkpoint && stored[i].checkpoint <= read_global(w)->committed &&
        level_of(w, stored[i].checkpoint) >= level_of(w, checkpoint) &&
        stored[i].checkpoint != last) {
      newer++;
      last = stored[i].checkpoint;
    }
  return newer > (w->attempts ? 1 : 0);
}
