#include "command/campaign/theory.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/glib/json.h"
#include "base/output.h"
#include "command/campaign/answer.h"
#include "command/campaign/numbers.h"
#include "command/campaign/theory_words.h"
#include "command/campaign/warnings.h"

/* ---- the ranking ---- */

/* Returns whether a place comes before another. Places whose images fail with their nodes come
 * last, because their cost holds only for a job that is as long as the measured one. */
static bool is_before(const struct place *a, const struct place *b)
{
  if (a->known != b->known || !a->known)
    return a->known && !b->known;
  if (a->cell->costs.lost != b->cell->costs.lost)
    return b->cell->costs.lost;
  if (place_is_marked(a) != place_is_marked(b))
    return place_is_marked(b);
  return a->cost < b->cost;
}

static void judge(struct place *place)
{
  const struct costs *costs = &place->cell->costs;
  double best = costs_optimum(costs);
  place->known = !costs->problem && (costs->lost || best > 0.0);
  if (!place->known)
    return;
  place->every = costs->lost ? NAN : best;
  place->cost = costs_share(costs, best);
  place->from = place->to = NAN;
}

/* Gives all places the range of intervals that cost hardly more than the optimum. The less the best
 * place costs, the less counts as hardly more. */
static void add_ranges(struct place *places, unsigned count)
{
  static const double LITTLE = 0.02;
  for (unsigned i = 0; i < count; i++) {
    struct place *place = &places[i];
    place->more = places[0].cost < LITTLE ? 0.001 : 0.01;
    if (place->known && !place->cell->costs.lost)
      costs_range(&place->cell->costs, place->every, place->more, &place->from, &place->to);
  }
}

/* Returns the cells in the order of their costs, for g_free(). */
static struct place *ranked(const struct cell *cells, const struct grid *grid)
{
  struct place *places = g_new0(struct place, grid->cells);
  for (unsigned i = 0; i < grid->cells; i++) {
    struct place place = {.cell = &cells[i], .number = i};
    unsigned at = i;
    judge(&place);
    for (; at > 0 && is_before(&place, &places[at - 1]); at--)
      places[at] = places[at - 1];
    places[at] = place;
  }
  add_ranges(places, grid->cells);
  return places;
}

/* ---- one cell ---- */

static void print_by(const struct costs *costs, const char *name, double interval)
{
  g_autofree char *every = number_digits(interval, 5);
  g_autofree char *mean = number_digits(optimum_time(&costs->model, costs->work, interval), 5);
  printf("  %-9s  %11ss  %12s s\n", name, every, mean);
}

void theory_print(const struct costs *costs)
{
  const struct machine_model *m = &costs->model;
  const struct {
    const char *name;
    double seconds;
  } each[] = {{"checkpoint", m->checkpoint},
              {", recovery", m->recovery},
              {", downtime", m->downtime},
              {", mtbf", m->mtbf},
              {", work", costs->work}};
  for (size_t i = 0; i < G_N_ELEMENTS(each); i++) {
    g_autofree char *seconds = number_digits(each[i].seconds, 4);
    printf("%s %s s", each[i].name, seconds);
  }
  printf("\n");
  printf("             interval       mean time\n");
  if (costs_optimum(costs) <= 0.0)
    return;
  print_by(costs, "Young", optimum_young(m));
  print_by(costs, "Daly", optimum_daly(m));
  print_by(costs, "exact", optimum_exact(m));
}

/* ---- for a program ---- */

JsonBuilder *theory_begin_json(const struct answer *a)
{
  JsonBuilder *json = json_builder_new();
  json_builder_begin_object(json);
  json_add_text(json, "version", RECLINE_VERSION);
  json_add_text(json, "answer", a->sentence);
  json_add_real(json, "every_s", a->every);
  json_add_real(json, "from_s", a->from);
  json_add_real(json, "to_s", a->to);
  json_add_real(json, "cost", a->cost);
  return json;
}

void theory_add_json(const struct costs *costs, JsonBuilder *json)
{
  const struct machine_model *m = &costs->model;
  bool known = costs_optimum(costs) > 0.0;
  json_open_object(json, "measured");
  json_add_real(json, "checkpoint_s", m->checkpoint);
  json_add_real(json, "recovery_s", m->recovery);
  json_add_real(json, "downtime_s", m->downtime);
  json_add_real(json, "mtbf_s", m->mtbf);
  json_add_real(json, "work_s", costs->work);
  json_builder_end_object(json);
  json_open_object(json, "theory");
  json_add_real(json, "young_s", known ? optimum_young(m) : NAN);
  json_add_real(json, "daly_s", known ? optimum_daly(m) : NAN);
  json_add_real(json, "exact_s", known ? optimum_exact(m) : NAN);
  json_builder_end_object(json);
}

static void add_place(const struct place *place, const struct grid *grid, JsonBuilder *json)
{
  const struct costs *costs = &place->cell->costs;
  g_autofree char *problem = place_problem(place);
  g_autoptr(GPtrArray) assumed = place_assumptions(place);
  json_builder_begin_object(json);
  json_open_object(json, "sweep");
  for (unsigned i = 0; i < grid->sweeps; i++)
    json_add_text(json, grid->sweep[i].key, grid_value(grid, place->number, i));
  json_builder_end_object(json);
  json_add_real(json, "every_s", place->known ? place->every : NAN);
  json_add_real(json, "from_s", place->known ? place->from : NAN);
  json_add_real(json, "to_s", place->known ? place->to : NAN);
  json_add_real(json, "cost", place->known ? place->cost : NAN);
  json_add_real(json, "more", place->known ? place->more : NAN);
  json_add_real(json, "checkpoint_s", place->known ? costs->model.checkpoint : NAN);
  json_add_real(json, "recovery_s", place->known ? costs->model.recovery : NAN);
  json_add_real(json, "due", place->known ? costs->due : NAN);
  json_add_real(json, "committed", place->known ? costs->committed : NAN);
  json_add_bool(json, "lost", costs->lost);
  json_add_text(json, "problem", problem);
  json_open_list(json, "assumes");
  for (guint i = 0; i < assumed->len; i++)
    json_builder_add_string_value(json, assumed->pdata[i]);
  json_builder_end_array(json);
  json_builder_end_object(json);
}

/* Returns the answer as an object, which the caller unrefs. */
static JsonBuilder *as_json(const struct place *places, const struct grid *grid,
                            const GPtrArray *warnings, const char *sentence)
{
  const struct place *best = &places[0];
  const struct answer answer = {sentence, best->every, best->from, best->to, best->cost};
  JsonBuilder *json = theory_begin_json(&answer);
  json_add_whole(json, "further_runs", 0);
  theory_add_json(&best->cell->costs, json);
  warnings_add_json(warnings, json);
  json_open_list(json, "cells");
  json_builder_end_array(json);
  json_open_list(json, "ranking");
  for (unsigned i = 0; i < grid->cells; i++)
    add_place(&places[i], grid, json);
  json_builder_end_array(json);
  json_builder_end_object(json);
  return json;
}

/* ---- the answer ---- */

/* Makes the folder and writes the answer into it. */
static bool keep(const struct theory *t, JsonBuilder *json)
{
  g_autofree char *file = g_build_filename(t->out, "answer.json", NULL), *text = NULL;
  text = json_text(json, true);
  if (g_mkdir_with_parents(t->out, 0777) == 0 && output_write(file, text, strlen(text)))
    return true;
  bad_input(OUTPUT_CANNOT, file, g_strerror(errno));
  return false;
}

static int tell(const struct theory *t, const struct grid *grid, const struct place *places,
                const GPtrArray *warnings)
{
  const struct place *best = &places[0];
  if (!best->known) {
    for (unsigned i = 0; i < grid->cells; i++) {
      g_autofree char *problem = place_problem(&places[i]);
      g_printerr("%s\n", problem);
    }
    return EXIT_BAD_INPUT;
  }
  g_autofree char *sentence = places_sentence(places, grid);
  g_autoptr(JsonBuilder) json = as_json(places, grid, warnings, sentence);
  if (t->json) {
    json_print(json);
  } else if (grid->sweeps == 0) {
    warnings_print(warnings);
    printf("%s\n", sentence);
    theory_print(&best->cell->costs);
    places_print_notes(places, grid);
  } else {
    warnings_print(warnings);
    places_print(places, grid);
    places_print_notes(places, grid);
    printf("%s\n", sentence);
  }
  return !t->out || keep(t, json) ? EXIT_FINE : EXIT_BAD_INPUT;
}

/* Gives a problem to cells that no formula can answer, so that nothing is measured for them. */
static void refuse(struct cell *cells, unsigned count)
{
  static const char none[] = "recline interval: --theory: there is no formula for these failures "
                             "and checkpoints, expected an exponential law, one level of storage, "
                             "and checkpoints that take time";
  for (unsigned i = 0; i < count; i++) {
    struct costs *costs = &cells[i].costs;
    if (!costs->problem && !costs->exponential)
      costs->problem = g_strdup(none);
    if (!costs->problem && costs->lost && costs->alone)
      costs->problem = g_strdup("a failed rank has lost the image from which it would start, with "
                                "its node, expected storage: nfs, or redundancy");
  }
}

static int answer(const struct theory *t, const struct grid *grid, struct cell *cells, int *stopped)
{
  g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
  struct measurements shown = {.file = t->file, .jobs = MAX(t->jobs, 1), .silent = t->json};
  refuse(cells, grid->cells);
  shown.all = cells_runs(cells, grid);
  int code = cells_measure(cells, grid, &shown, warnings);
  if (code != 0) {
    *stopped = MAX(code, 0);
    return EXIT_BAD_INPUT;
  }
  g_autofree struct place *places = ranked(cells, grid);
  return tell(t, grid, places, warnings);
}

/* Refuses sweeps that theory cannot answer. */
static bool is_sensible(const struct grid *grid, GError **error)
{
  for (unsigned i = 0; i < grid->sweeps; i++)
    if (g_str_has_prefix(grid->sweep[i].key, "checkpoint.every")) {
      g_set_error(error, SCENARIO_ERROR, 0,
                  "--sweep checkpoint.every: theory finds the interval, expected other keys");
      return false;
    }
  return true;
}

int theory_answer(const struct theory *t, int *stopped)
{
  struct grid grid;
  g_autoptr(GError) error = NULL;
  int code = EXIT_FINE;
  if (grid_read(&grid, t->sweeps, &error) && is_sensible(&grid, &error)) {
    struct cell *cells = cells_new(&grid, t->file, t->set);
    code = answer(t, &grid, cells, stopped);
    cells_free(cells, grid.cells);
  } else {
    code = bad_input("%s", error->message);
  }
  grid_clear(&grid);
  return code;
}
