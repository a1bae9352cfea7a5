/* Takes crashes and their detection. */
#include "world/rules/world_step.h"

static void count_crash(const struct world *w)
{
  if (w->bounded)
    edit_global(w)->crashes--;
}

/* Applies the crash to the rank's writes under way. Returns the digits of `ends` that are left for
 * other ranks. */
static uint32_t end_writes(const struct world *w, int rank, uint32_t ends)
{
  uint32_t count;
  READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  if (!ends || !count)
    return ends;
  struct world_record *stored =
      world_edit(w, WORLD_STORED, rank, 0, count * (uint32_t)sizeof *stored);
  for (uint32_t i = 0; i < count; i++) {
    if (stored[i].durable)
      continue;
    enum write_end end = ends % WRITE_ENDS;
    bool logger = w->protocol->independent && stored[i].part == RCL_PART_LOG;
    stored[i].durable = stored[i].reported = end != WRITE_LOST;
    stored[i].harm = end == WRITE_TORN && !logger ? HARM_TORN : 0;
    ends /= WRITE_ENDS;
  }
  return ends;
}

uint32_t world_crash_one(const struct world *w, int rank, uint32_t ends)
{
  bool finished = !w->protocol->independent && read_program(w, rank)->finished;
  world_wipe(w, rank, RANK_DEAD, UINT16_MAX);
  if (finished)
    /* the program counts as finished until the crash is detected */
    edit_program(w, rank)->finished = true;
  edit_rank(w, rank)->noticed = 0;
  ends = end_writes(w, rank, ends);
  world_drop_cut(w, rank);
  if (w->protocol->independent)
    world_drop_old_logs(w, rank);
  if (rank == RCL_COORDINATOR_RANK)
    edit_global(w)->committing = edit_global(w)->requested = 0;
  return ends;
}

void world_crash_in_step(struct step_context *t)
{
  reached_note(&t->verdict->reached, REACH_CUT_STEPS, 1);
  world_crash_one(t->w, t->rank, 0);
  world_lose(t->w, t->rank, CRASH_LEAVES_NOTHING);
  count_crash(t->w);
}

void world_crash(struct step_context *t)
{
  uint32_t ends = t->move->index;
  if (t->rank < 0) {
    world_lose_server(t->w);
    count_crash(t->w);
    return;
  }
  for (uint32_t left = ends; left; left /= WRITE_ENDS)
    if (left % WRITE_ENDS)
      reached_note(&t->verdict->reached,
                   left % WRITE_ENDS == WRITE_WHOLE ? REACH_WHOLE_WRITES : REACH_TORN_WRITES, 1);
  for (int rank = t->rank; rank < world_node_end(t->w, t->rank); rank++) {
    enum crash_leaves leaves = (enum crash_leaves)t->move->fault;
    if (world_can_crash(t->w, rank) || world_has_to_lose(t->w, rank, leaves))
      ends = world_crash_one(t->w, rank, ends);
    world_lose(t->w, rank, leaves);
  }
  count_crash(t->w);
}

/* Declares one rank dead. Each crash begins an incarnation of its own, which no survivor has
 * noticed yet, so survivors can be told of crashes one after the other. */
static void declare_one(const struct world *w, int rank)
{
  struct world_global *global = edit_global(w);
  struct world_rank *dead = edit_rank(w, rank);
  dead->born = ++global->incarnation;
  dead->origin = world_last_image(w, rank);
  global->down = (int16_t)rank;
  global->target = dead->origin;
}

static void await_restart(const struct world *w, int rank)
{
  struct world_rank *dead = edit_rank(w, rank);
  dead->phase = RANK_RESTARTING;
  if (w->protocol->independent)
    dead->noticed = dead->born;
  if (read_program(w, rank)->finished)
    edit_program(w, rank)->finished = false;
}

/* Declares all dead ranks dead. The dispatcher fences storage first, so that a checkpoint that it
 * then finds committed stays committed. */
static void declare_all(struct step_context *t, int living)
{
  const struct world *w = t->w;
  uint32_t newest = world_choose_line(w);
  struct world_global *global = edit_global(w);
  reached_note(&t->verdict->reached, REACH_FALLS_BACK, newest < global->committed);
  global->committing = global->requested = 0;
  global->incarnation++;
  global->target = global->committed = newest;
  global->down = (int16_t)living;
  for (int rank = 0; rank < w->ranks; rank++) {
    world_drop_cut(w, rank);
    if (read_rank(w, rank)->phase != RANK_DEAD)
      continue;
    await_restart(w, rank);
    if (edit_global(w)->down < 0)
      edit_global(w)->down = (int16_t)rank;
  }
}

/* Ends the process of a rank that was declared dead. The rank can then start again from storage,
 * wherever its process has gone back to. */
static void end_declared(const struct world *w, int rank)
{
  const struct world_rank was = *read_rank(w, rank);
  world_wipe(w, rank, RANK_DEAD, w->protocol->independent ? was.born : read_global(w)->incarnation);
  edit_rank(w, rank)->born = was.born;
  edit_rank(w, rank)->origin = w->protocol->independent ? world_last_image(w, rank) : was.origin;
  await_restart(w, rank);
}

void world_detect(struct step_context *t)
{
  const struct world *w = t->w;
  bool living = t->move->fault == DETECT_FALSELY;
  if (t->move->fault == DETECT_END) {
    end_declared(w, t->rank);
    return;
  }
  if (living) {
    world_drop_cut(w, t->rank);
    count_crash(w);
    edit_rank(w, t->rank)->declared = true;
    reached_note(&t->verdict->reached, REACH_FALSE_DETECTION, 1);
  }
  if (!w->protocol->independent)
    declare_all(t, living ? t->rank : -1);
  else
    declare_one(w, t->rank);
  if (w->protocol->independent && !living)
    await_restart(w, t->rank);
}
