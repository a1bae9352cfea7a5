#include "verify/walk/shrink.h"

#include <string.h>

#include "verify/check/claim.h"
#include "world/rules/world.h"

/* Limits the number of moves, so that shrinking takes a few seconds at most. */
enum { MOVES_MAX = 3000000, TRIES = 6, SMALL_RANKS = 3, SMALL_STATES = 200000 };

struct shrinking {
  struct draft *draft;
  struct run *run; /* the shortest run so far */
  struct dice *dice;
  const char *property;
  uint64_t moves; /* number of moves taken so far */
};

static bool is_spent(const struct shrinking *s)
{
  return s->moves > MOVES_MAX;
}

static bool open_draft(const struct draft *draft, struct course *course)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *text = draft_claim(draft, "smaller", "a smaller world");
  if (course_read(course, text, &error))
    return true;
  course_close(course);
  return false;
}

static bool shows(struct shrinking *s, const struct run *run)
{
  s->moves += run->moves->len;
  return run->ending == ENDING_VIOLATED && !strcmp(run->why.property, s->property);
}

/* Returns whether the program ends in each of a few runs without failures, checkpoints and
 * protocol. */
static bool ends(struct shrinking *s, const struct draft *draft)
{
  struct draft plain = *draft;
  struct course course;
  struct run run;
  bool fine = true;
  plain.protocol = rcl_protocol_named("none");
  plain.file = NULL;
  plain.crashes = plain.checkpoints = 0;
  plain.interval = plain.failures = 0;
  plain.log_stored = false;
  plain.closes = plain.anywhere = false;
  plain.hazards = 0;
  if (draft->protocol->level == RCL_LEVEL_CHANNEL || !open_draft(&plain, &course))
    return draft->protocol->level == RCL_LEVEL_CHANNEL;
  run_init(&run);
  for (int i = 0; i < 3 && fine; i++) {
    walker_run(&course, s->dice, &run);
    s->moves += run.moves->len;
    fine = run.ending != ENDING_VIOLATED;
  }
  run_clear(&run);
  course_close(&course);
  return fine;
}

/* Tries the draft `smaller`. Returns whether it still shows the violation. If it does, makes it the
 * present draft; otherwise clears it. */
static bool try_draft(struct shrinking *s, struct draft *smaller, const int16_t *to)
{
  struct course course;
  struct run run;
  bool found = false;
  if (is_spent(s) || !open_draft(smaller, &course)) {
    draft_clear(smaller);
    return false;
  }
  run_init(&run);
  walker_follow(&course, s->run->moves, to, &run);
  found = shows(s, &run);
  for (int i = 0; i < TRIES && !found; i++) {
    walker_run(&course, s->dice, &run);
    found = shows(s, &run);
  }
  course_close(&course);
  if (found && ends(s, smaller)) {
    draft_clear(s->draft);
    *s->draft = *smaller;
    run_clear(s->run);
    *s->run = run;
    return true;
  }
  draft_clear(smaller);
  run_clear(&run);
  return false;
}

/* ---- the program ---- */

static bool shrink_ranks(struct shrinking *s)
{
  bool shrunk = false;
  for (int rank = s->draft->ranks - 1; rank >= 0 && !is_spent(s); rank--) {
    int16_t to[PROGRAM_RANKS_MAX];
    struct draft smaller = draft_copy(s->draft);
    for (int i = 0; i < s->draft->ranks; i++)
      to[i] = (int16_t)(i == rank ? -1 : i - (i > rank));
    if (draft_remove_rank(&smaller, rank))
      shrunk |= try_draft(s, &smaller, to);
    else
      draft_clear(&smaller);
  }
  return shrunk;
}

/* Returns the numbers of the units that exist. The caller ends with g_array_unref(). */
static GArray *units_of(const struct draft *draft)
{
  g_autofree bool *there = g_new0(bool, draft->units + 1);
  GArray *units = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (guint i = 0; i < draft->ops->len; i++)
    there[g_array_index(draft->ops, struct drawn, i).unit] = true;
  for (uint32_t unit = 0; unit < draft->units; unit++)
    if (there[unit])
      g_array_append_val(units, unit);
  return units;
}

/* Takes out the existing units with the indices `from` to `to` - 1. */
static bool without(struct shrinking *s, const GArray *units, guint from, guint to)
{
  g_autofree bool *out = g_new0(bool, s->draft->units + 1);
  struct draft smaller = draft_copy(s->draft);
  for (guint i = from; i < to; i++)
    out[g_array_index(units, uint32_t, i)] = true;
  draft_remove_units(&smaller, out);
  return try_draft(s, &smaller, NULL);
}

static bool shrink_units(struct shrinking *s)
{
  bool shrunk = false;
  g_autoptr(GArray) units = units_of(s->draft);
  for (guint size = MAX(1, units->len / 2); !is_spent(s); size /= 2) {
    for (guint from = 0; from < units->len && !is_spent(s);) {
      guint to = MIN(from + size, units->len);
      if (without(s, units, from, to)) {
        g_array_remove_range(units, from, to - from);
        shrunk = true;
      } else {
        from = to;
      }
    }
    if (size == 1)
      break;
  }
  return shrunk;
}

/* ---- the machine ---- */

/* Makes feature number `which` of the machine simpler. Returns false if that feature cannot be
 * simpler. */
static bool simplify(struct draft *draft, unsigned which)
{
  const struct draft was = *draft;
  switch (which) {
  case 0:
    draft->levels = 0;
    return was.levels;
  case 1:
    draft->per_node = 1;
    return was.per_node > 1;
  case 2:
    draft->closes = false;
    return was.closes;
  case 3:
    draft->fifo = false;
    return was.fifo;
  case 4:
    draft->crashes--;
    return was.crashes > 0;
  case 5:
    draft->checkpoints--;
    return was.checkpoints > 0;
  case 6:
    *draft->topology = 0;
    return *was.topology;
  case 7:
    draft->no_order = false;
    return was.no_order;
  case 8:
    draft->capacity = 64;
    return was.capacity > 64;
  case 9:
    draft->capacity = was.capacity / 2;
    return was.capacity > 4;
  case 10:
    draft->anywhere = true;
    return !was.anywhere;
  default:
    draft->hazards &= ~(1U << (which - 11));
    return was.hazards != draft->hazards;
  }
}

enum { SIMPLER = 16 };

static bool shrink_machine(struct shrinking *s)
{
  bool shrunk = false;
  for (unsigned which = 0; which < SIMPLER && !is_spent(s); which++) {
    struct draft smaller = draft_copy(s->draft);
    while (simplify(&smaller, which) && try_draft(s, &smaller, NULL)) {
      shrunk = true;
      smaller = draft_copy(s->draft);
    }
    if (smaller.ops && smaller.ops != s->draft->ops)
      draft_clear(&smaller);
  }
  return shrunk;
}

/* ---- the moves ---- */

/* Takes out moves `from` to `to` - 1 of the run. Returns whether the remaining run is shorter and
 * violates the same property. */
static bool skip(struct shrinking *s, const struct course *course, guint from, guint to)
{
  struct run run;
  GArray *moves = g_array_sized_new(FALSE, FALSE, sizeof(struct move), s->run->moves->len);
  g_array_append_vals(moves, s->run->moves->data, s->run->moves->len);
  g_array_remove_range(moves, from, to - from);
  run_init(&run);
  walker_follow(course, moves, NULL, &run);
  g_array_unref(moves);
  if (!shows(s, &run) || run.moves->len >= s->run->moves->len) {
    run_clear(&run);
    return false;
  }
  run_clear(s->run);
  *s->run = run;
  return true;
}

static bool shorten(struct shrinking *s, const struct course *course)
{
  bool shrunk = false;
  for (guint size = MAX(1, s->run->moves->len / 2); !is_spent(s); size /= 2) {
    for (guint from = 0; from < s->run->moves->len && !is_spent(s);)
      if (skip(s, course, from, MIN(from + size, s->run->moves->len)))
        shrunk = true;
      else
        from += size;
    if (size == 1)
      break;
  }
  return shrunk;
}

static bool shorten_drawn(struct shrinking *s)
{
  struct course course;
  if (!open_draft(s->draft, &course))
    return false;
  bool shrunk = shorten(s, &course);
  course_close(&course);
  return shrunk;
}

/* Lets the explorer look for a shortest run, in a world that it can explore. */
static void find_shortest(struct shrinking *s)
{
  struct course course;
  struct world world;
  struct exploration found;
  if (s->draft->ranks > SMALL_RANKS || !open_draft(s->draft, &course))
    return;
  const struct explorer_options options = {.properties = (const char *const *)course.judged->pdata,
                                           .workers = 1,
                                           .max_states = SMALL_STATES,
                                           .max_bytes = UINT64_C(1) << 30};
  claim_world(course.claim, course.script, &world);
  explore(&world, (unsigned)s->draft->crashes, (unsigned)s->draft->checkpoints, &options, &found);
  if (found.verdict == EXPLORER_VIOLATED && !found.again &&
      !strcmp(found.why.property, s->property) && found.moves_count <= s->run->moves->len) {
    g_array_set_size(s->run->moves, 0);
    g_array_append_vals(s->run->moves, found.moves, found.moves_count);
    s->run->why = found.why;
  }
  exploration_clear(&found);
  world_clear(&world);
  course_close(&course);
}

void shrink(struct draft *draft, struct run *run, struct dice *dice)
{
  struct shrinking s = {.draft = draft, .run = run, .dice = dice, .property = run->why.property};
  bool shrunk = true;
  while (shrunk && !is_spent(&s)) {
    shrunk = shrink_units(&s);
    shrunk |= shrink_ranks(&s);
    shrunk |= shrink_machine(&s);
    shrunk |= shorten_drawn(&s);
  }
  find_shortest(&s);
}

void shrink_moves(const struct course *course, struct run *run)
{
  struct shrinking s = {.run = run, .property = run->why.property};
  while (shorten(&s, course))
    continue;
}
