#include "command/campaign/theory_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/campaign/answer.h"
#include "command/campaign/numbers.h"
#include "command/campaign/table.h"

/* ---- one cell ---- */

static const struct level *level_of(const struct place *place)
{
  return scenario_level(place->cell->scenario, 0);
}

static bool writes_behind(const struct place *place)
{
  return place->cell->scenario->checkpoint.writes == WRITES_BACKGROUND;
}

bool place_is_marked(const struct place *place)
{
  const struct costs *costs = &place->cell->costs;
  return place->known && is_short(costs->due, costs->committed);
}

char *place_problem(const struct place *place)
{
  const char *problem = place->cell->costs.problem;
  if (place->known)
    return NULL;
  if (!problem || !*problem)
    return g_strdup(problem ? "a run failed, and said nothing"
                            : "recline interval: --theory: checkpoints take no time, expected "
                              "checkpoints that take time");
  const char *line = strrchr(problem, '\n');
  return g_strdup(line ? line + 1 : problem);
}

/* Returns "c3 nfs", the values of the sweeps, or the protocol without sweeps. The caller frees
 * it. */
static char *name_of(const struct place *place, const struct grid *grid)
{
  GString *name = g_string_new(NULL);
  for (unsigned i = 0; i < grid->sweeps; i++)
    g_string_append_printf(name, "%s%s", i ? " " : "", grid_value(grid, place->number, i));
  if (!grid->sweeps)
    g_string_append(name, place->cell->scenario->protocol.name);
  return g_string_free(name, FALSE);
}

static const char *storage_name(const struct place *place)
{
  static const char *const names[] = {"", "the memory of its node", "the local disk",
                                      "the shared file system"};
  return names[level_of(place)->storage];
}

static const char *redundancy_words(const struct place *place)
{
  static const char *const words[] = {"", " and a partner's copy", " and parity (xor)",
                                      " and Reed-Solomon parity"};
  return words[level_of(place)->redundancy];
}

/* Returns what is assumed about the storage of a cell. The caller frees it. */
static char *storage_assumption(const struct place *place)
{
  const struct level *level = level_of(place);
  const char *name = storage_name(place);
  if (place->cell->costs.lost)
    return g_strdup_printf("%s: %s, so the job starts over at each failure", name,
                           level->storage == STORAGE_MEMORY
                               ? "a node that fails loses it"
                               : "a spare takes over the ranks of a node that fails, and the disk "
                                 "is lost with the node");
  if (level->redundancy == REDUNDANCY_PARTNER)
    return g_strdup_printf("%s: a node and its partner do not fail together", name);
  if (level->redundancy != REDUNDANCY_NONE)
    return g_strdup_printf("%s: at most %d node%s of a set of %d fail%s together", name,
                           level->losses, level->losses == 1 ? "" : "s", level->group,
                           level->losses == 1 ? "s" : "");
  if (level->storage == STORAGE_NFS)
    return g_strdup_printf("%s outlives all failures", name);
  return g_strdup_printf("%s: a node that fails comes back with it, after the repair", name);
}

GPtrArray *place_assumptions(const struct place *place)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
  if (!place->cell->scenario)
    return texts;
  const char *protocol = place->cell->scenario->protocol.name;
  g_autofree char *assumed = answer_assumed(protocol);
  g_ptr_array_add(texts, storage_assumption(place));
  g_ptr_array_add(texts, g_strdup_printf("%s assumes %s", protocol,
                                         *assumed ? assumed : "nothing more than MPI"));
  if (place->cell->costs.alone)
    g_ptr_array_add(texts, g_strdup_printf("%s sends only failed ranks back; the formula counts "
                                           "the work of all ranks as lost, so its cost is an "
                                           "upper bound",
                                           protocol));
  return texts;
}

/* ---- the sentence ---- */

/* Appends the values of those sweeps that the words for storage and protocol do not mention. */
static void add_others(GString *text, const struct place *place, const struct grid *grid)
{
  for (unsigned i = 0; i < grid->sweeps; i++) {
    const char *key = grid->sweep[i].key, *value = grid_value(grid, place->number, i);
    if (!strcmp(key, "checkpoint.writes"))
      g_string_append_printf(text, " in the %s", value);
    else if (strcmp(key, "checkpoint.storage") != 0 && strcmp(key, "protocol.name") != 0 &&
             !g_str_has_prefix(key, "checkpoint.levels"))
      g_string_append_printf(text, ", %s=%s", key, value);
  }
}

/* Appends the names of other cells that cost hardly more than the best one. */
static void add_ties(GString *text, const struct place *places, const struct grid *grid)
{
  const struct place *best = &places[0];
  enum { NAMED = 3 };
  unsigned count = 0;
  g_autoptr(GString) names = g_string_new(NULL);
  for (unsigned i = 1; i < grid->cells; i++) {
    g_autofree char *name = name_of(&places[i], grid);
    bool other = places[i].known && !place_is_marked(&places[i]) && !places[i].cell->costs.lost;
    if (other && places[i].cost <= best->cost + best->more)
      g_string_append_printf(names, "%s%s", count++ ? ", " : "", name);
  }
  if (count > NAMED)
    g_string_printf(names, "%u others of the table", count);
  if (count)
    g_string_append_printf(text, " Within %g %% of it: %s.", 100 * best->more, names->str);
}

/* Appends what must be known beside the answer. */
static void add_caveats(GString *text, const struct place *places, const struct grid *grid)
{
  const struct place *best = &places[0], *lost = NULL;
  const struct costs *costs = &best->cell->costs;
  for (unsigned i = 0; i < grid->cells && !lost; i++)
    lost = places[i].known && places[i].cell->costs.lost ? &places[i] : NULL;
  if (place_is_marked(best))
    g_string_append_printf(text, " But only %.0f of %.0f checkpoints committed that were due.",
                           costs->committed, costs->due);
  if (writes_behind(best))
    g_string_append(text, " Warning: its checkpoints are written in the background, which the "
                          "formula does not fit: a failure during a write goes back further.");
  if (lost && lost != best && level_of(lost)->storage == STORAGE_LOCAL)
    g_string_append_printf(text,
                           " Not to the local disk%s: a spare takes over the ranks of a node "
                           "that fails, and the disk is lost with the node.",
                           *redundancy_words(lost) ? redundancy_words(lost) : " alone");
}

char *places_sentence(const struct place *places, const struct grid *grid)
{
  const struct place *best = &places[0];
  const char *storage = storage_name(best), *redundancy = redundancy_words(best);
  const char *protocol = best->cell->scenario->protocol.name;
  g_autofree char *every = answer_time(best->every), *from = answer_time(best->from);
  g_autofree char *to = answer_time(best->to), *cost = number_percent(best->cost);
  GString *text = g_string_new(NULL);
  if (best->cell->costs.lost) {
    g_autofree char *why = storage_assumption(best);
    g_string_append_printf(text, "No interval helps with %s", protocol);
    add_others(text, best, grid);
    g_string_append_printf(text, ", by theory: it costs %s of the job. With %s.", cost, why);
    return g_string_free(text, FALSE);
  }
  g_string_append_printf(text, "Every %s to %s%s with %s", every, storage, redundancy, protocol);
  add_others(text, best, grid);
  g_string_append_printf(text,
                         ", by theory: costs %s of the job; anything from %s to %s costs at most "
                         "%g %% more.",
                         cost, from, to, 100 * best->more);
  add_ties(text, places, grid);
  add_caveats(text, places, grid);
  return g_string_free(text, FALSE);
}

/* ---- the table ---- */

static void print_place(const struct place *place, const struct grid *grid, unsigned rank,
                        int width)
{
  const struct costs *costs = &place->cell->costs;
  g_autofree char *name = name_of(place, grid), *cost = number_percent(place->cost);
  g_autofree char *problem = place_problem(place);
  printf("  %2u  %-*s  ", rank, width, name);
  if (problem) {
    printf("no answer: %s\n", problem);
    return;
  }
  if (costs->lost) {
    printf("lost with the node: the job starts over at each failure\n");
    return;
  }
  g_autofree char *every = answer_time(place->every), *from = answer_time(place->from);
  g_autofree char *to = answer_time(place->to), *range = g_strdup_printf("%s to %s", from, to);
  g_autofree char *checkpoint = answer_time(costs->model.checkpoint);
  g_autofree char *recovery = answer_time(costs->model.recovery);
  printf("%9s  %-17s  %8s  %10s  %8s  %3.0f of %.0f%s\n", every, range, cost, checkpoint, recovery,
         costs->committed, costs->due, place_is_marked(place) ? " (!)" : "");
}

void places_print(const struct place *places, const struct grid *grid)
{
  int width = 8;
  double more = places[0].more;
  for (unsigned i = 0; i < grid->cells; i++) {
    g_autofree char *name = name_of(&places[i], grid);
    width = MAX(width, (int)g_utf8_strlen(name, -1));
  }
  g_autofree char *range = g_strdup_printf("at most %g %% more", 100 * more);
  printf("by theory, the least cost first\n");
  printf("      %-*s  %9s  %-17s  %8s  %10s  %8s  %s\n", width, "", "every", range, "cost",
         "checkpoint", "recovery", "committed");
  for (unsigned i = 0; i < grid->cells; i++)
    print_place(&places[i], grid, i + 1, width);
}

/* ---- what the numbers rest on ---- */

/* Adds a text unless the list contains it already. Takes ownership of the text. */
static void add_once(GPtrArray *texts, char *text)
{
  if (g_ptr_array_find_with_equal_func(texts, text, g_str_equal, NULL))
    g_free(text);
  else
    g_ptr_array_add(texts, text);
}

/* Adds what is odd about a cell's numbers. */
static void add_odd(GPtrArray *texts, const struct place *place, const struct grid *grid)
{
  static const double MUCH = 0.25; /* a share of a checkpoint's cost */
  const struct costs *costs = &place->cell->costs;
  double waits = costs->model.checkpoint - costs->own;
  g_autofree char *name = name_of(place, grid);
  if (place_is_marked(place))
    add_once(texts, g_strdup_printf("(!) %s: only %.0f of %.0f checkpoints that were due "
                                    "committed, as the program has too few places for them; a "
                                    "step must be shorter than the interval",
                                    name, costs->committed, costs->due));
  if (waits > MUCH * costs->model.checkpoint && !costs->lost) {
    g_autofree char *wait = answer_time(waits), *all = answer_time(costs->model.checkpoint);
    add_once(texts, g_strdup_printf("%s: %s of the %s of a checkpoint are not a rank's own image, "
                                    "but waits for ranks that take it in another step of the "
                                    "program, or at another time",
                                    name, wait, all));
  }
  if (writes_behind(place))
    add_once(texts, g_strdup("warning: checkpoint.writes: background: the formula takes an image "
                             "to be safe when the program goes on, expected foreground"));
}

void places_print_notes(const struct place *places, const struct grid *grid)
{
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  for (unsigned i = 0; i < grid->cells; i++)
    if (places[i].known)
      add_odd(texts, &places[i], grid);
  for (unsigned i = 0; i < grid->cells; i++) {
    g_autoptr(GPtrArray) assumed = place_assumptions(&places[i]);
    for (guint k = 0; places[i].known && k < assumed->len; k++)
      add_once(texts, g_strdup(assumed->pdata[k]));
  }
  for (guint i = 0; i < texts->len; i++)
    printf("%s\n", (const char *)texts->pdata[i]);
}
