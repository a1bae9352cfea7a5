/* recline interval SCENARIO: tells how often to take checkpoints.
 *
 *     four runs --> cost of a checkpoint and of a recovery --> Young, Daly, exact optimum
 *                                                                |
 *     a campaign over intervals around it --> simulated optimum, and the picture
 */
#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/glib/catalogue.h"
#include "base/glib/command_line.h"
#include "base/glib/json.h"
#include "base/glib/terminal.h"
#include "base/output.h"
#include "command/campaign/answer.h"
#include "command/campaign/bands.h"
#include "command/campaign/campaign.h"
#include "command/campaign/costs.h"
#include "command/campaign/numbers.h"
#include "command/campaign/scale.h"
#include "command/campaign/theory.h"
#include "command/campaign/warnings.h"
#include "world/scenario/scenario.h"

enum { RUNS = 50, RUNS_MAX = 1000000, CANDIDATES = 9 };

struct options {
  char **set, **sweeps, **files;
  char *out;
  int runs, jobs, scale;
  gboolean json, theory;
};

const struct about about_interval = {
    "interval", "SCENARIO",
    "find the best time between checkpoints; by theory, and by a campaign, from what a checkpoint "
    "and a recovery are measured to cost",
    "interval mine.yaml --runs 20 --out interval"};

static int parse(int argc, char **argv, struct options *o)
{
  const GOptionEntry entries[] = {
      {"set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &o->set, "Change a value of the scenario",
       "KEY=VALUE"},
      {"sweep", 'w', 0, G_OPTION_ARG_FILENAME_ARRAY, &o->sweeps,
       "With --theory: answer for each of these values (checkpoint.storage=local,nfs), with "
       "several sweeps for each combination, and rank them",
       "KEY=VALUE,VALUE..."},
      {"runs", 'n', 0, G_OPTION_ARG_INT, &o->runs, "Seeds for each interval (50)", "N"},
      {"jobs", 'j', 0, G_OPTION_ARG_INT, &o->jobs, "Runs at once (one for each core)", "N"},
      {"scale", 0, 0, G_OPTION_ARG_INT, &o->scale,
       "Answer by a smaller job, which keeps the write time of a checkpoint and the MTBF of the "
       "machine",
       "RANKS"},
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &o->out,
       "Keep figure.svg, table.csv, runs.csv and what continues it there", "DIR"},
      {"theory", 0, 0, G_OPTION_ARG_NONE, &o->theory,
       "Answer by theory alone, after the four runs that measure the costs", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &o->json, "Print one JSON object and nothing else", NULL},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->files, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  if (!options_read(&about_interval, argc, argv, entries))
    return EXIT_BAD_INPUT;
  if (o->runs < 2 || o->runs > RUNS_MAX || o->jobs < 0)
    return bad_input("recline interval: --runs %d --jobs %d, expected 2 to %d runs, and jobs",
                     o->runs, o->jobs, RUNS_MAX);
  if (o->sweeps && !o->theory)
    return bad_input("recline interval: --sweep without --theory, expected --theory, or recline "
                     "campaign");
  char *scenario = catalogue_scenario("recline interval", o->files);
  if (!scenario)
    return EXIT_BAD_INPUT;
  g_free(o->files[0]);
  o->files[0] = scenario;
  return scale_options(&o->set, o->sweeps, o->files[0], o->scale, o->json);
}

/* ---- the campaign ---- */

/* Returns candidates for the sweep, a factor of sqrt(2) apart and none longer than the program. */
static char *candidates(const struct costs *costs)
{
  double best = MIN(optimum_exact(&costs->model), costs->work / 4);
  GString *sweep = g_string_new("checkpoint.every=");
  for (int i = 0; i < CANDIDATES; i++) {
    double every = best * exp2((i - CANDIDATES / 2) / 2.0);
    g_string_append_printf(sweep, "%s%.*fs", i ? "," : "", every < 100 ? 6 : 0, every);
  }
  return g_string_free(sweep, FALSE);
}

static double seconds_of(const struct table *table, unsigned cell)
{
  double seconds = NAN;
  sweep_number(grid_value(table->runs->grid, cell, 0), &seconds);
  return seconds;
}

static char *time_of(const struct table *table, unsigned cell)
{
  return answer_time(seconds_of(table, cell));
}

/* Returns "Every 32 min; anything from 11 min to 2 h is not measurably worse; it costs 3.1 % of the
 * job." If hardly anything failed, the sentence gives `theory`, the optimum by the formula (0:
 * there is none). The caller frees it. */
static char *sentence_of(const struct table *table, int field, const struct range *found,
                         double failure_free, double theory)
{
  g_autofree char *best = time_of(table, found->best), *first = time_of(table, found->first);
  g_autofree char *last = time_of(table, found->last), *next = time_of(table, found->next);
  g_autofree char *cost = answer_cost(table, found->best, field, failure_free);
  g_autofree char *few = answer_few_failures(table, found->best);
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "Every %s; ", best);
  if (found->first == found->last)
    g_string_append(text, few ? "all others that were tried took longer"
                              : "all others that were tried are measurably worse");
  else
    g_string_append_printf(text, "anything from %s to %s is not measurably worse", first, last);
  g_string_append_printf(text, "%s%s.", *cost ? "; it " : "", cost);
  if (few && theory > 0.0) {
    g_autofree char *by_theory = answer_time(theory);
    g_string_printf(text, "Every %s, by theory: %s.", by_theory, few);
    answer_add_missing(text, table, "intervals");
    return g_string_free(text, FALSE);
  }
  if (few)
    g_string_append_printf(text, " But %s.", few);
  answer_add_short(text, table);
  answer_add_missing(text, table, "intervals");
  if (found->next != found->best && !few)
    answer_add_further(text, answer_further_runs(table, found->next, found->best, field), next);
  return g_string_free(text, FALSE);
}

static void print_simulated(const struct table *table, int field, const struct range *found)
{
  g_autofree char *few = answer_few_failures(table, found->best);
  if (few) { /* the longest interval would be the best */
    printf("  simulated  too few failures to compare intervals\n");
    return;
  }
  struct estimate e = table_mean(table, found->best, field);
  g_autofree char *mean = number_digits(e.mean, 5), *half = number_half(e.mean, e.half);
  printf("  simulated  %12s  %12s s ± %s; 95 %%: between %s and %s\n",
         grid_value(table->runs->grid, found->best, 0), mean, half,
         grid_value(table->runs->grid, found->first, 0),
         grid_value(table->runs->grid, found->last, 0));
}

/* Returns the mean time in seconds over the interval, for gnuplot, or NULL if there is no formula.
 * The caller frees it. */
static char *curve(const struct costs *costs)
{
  const struct machine_model *m = &costs->model;
  if (!costs->exponential)
    return NULL;
  return g_strdup_printf("%.9g / x * exp(%.9g / %.9g) * (exp((x + %.9g) / %.9g) - 1)",
                         costs->work * (m->mtbf + m->downtime), m->recovery, m->mtbf, m->checkpoint,
                         m->mtbf);
}

/* Returns the answer as an object, which the caller unrefs. */
static JsonBuilder *as_json(const struct campaign *c, const struct costs *costs,
                            const struct range *found, const char *sentence)
{
  int field = runs_field(&c->done, c->field);
  struct estimate mean = table_mean(&c->table, found->best, field);
  const struct answer answer = {sentence, seconds_of(&c->table, found->best),
                                seconds_of(&c->table, found->first),
                                seconds_of(&c->table, found->last), mean.mean / costs->base - 1};
  JsonBuilder *json = theory_begin_json(&answer);
  json_add_real(json, "cost_half_width_95", mean.half / costs->base);
  json_add_whole(json, "further_runs",
                 found->next == found->best
                     ? 0
                     : answer_further_runs(&c->table, found->next, found->best, field));
  theory_add_json(costs, json);
  warnings_add_json(c->done.warnings, json);
  table_add_json(&c->table, field, json);
  json_builder_end_object(json);
  return json;
}

/* Prints the answer, and keeps it in DIR if there is one. */
static bool tell_answer(const struct options *o, const struct campaign *c,
                        const struct costs *costs, GError **error)
{
  int field = runs_field(&c->done, c->field);
  const struct range found = range_of(&c->table, field);
  g_autofree char *sentence =
      sentence_of(&c->table, field, &found, costs->base, costs_optimum(costs));
  g_autoptr(JsonBuilder) json = as_json(c, costs, &found, sentence);
  if (o->json) {
    json_print(json);
  } else {
    warnings_print(c->done.warnings);
    printf("%s\n", sentence);
    theory_print(costs);
    print_simulated(&c->table, field, &found);
  }
  return !o->out || campaign_report(c, json, error);
}

/* Prints what a stopped campaign tells up to now. */
static void print_part(const struct campaign *c, const struct costs *costs)
{
  int field = runs_field(&c->done, c->field);
  const struct range found = range_of(&c->table, field);
  g_autofree char *sentence =
      sentence_of(&c->table, field, &found, costs->base, costs_optimum(costs));
  printf("After %u of %u runs of each interval: %s\n", c->table.count, c->runs, sentence);
  theory_print(costs);
  print_simulated(&c->table, field, &found);
}

static unsigned jobs_of(const struct options *o)
{
  return o->jobs ? (unsigned)o->jobs : g_get_num_processors();
}

static int simulate(const struct options *o, const struct costs *costs,
                    const struct scenario *scenario, const char *out, int *stopped)
{
  g_autofree char *sweep = candidates(costs), *extra = curve(costs);
  g_autofree char *title = g_strdup_printf(
      "When to take checkpoints: %s, %s on %d rank%s", scenario->id, scenario->protocol.name,
      scenario->program.ranks, scenario->program.ranks > 1 ? "s" : "");
  char *sweeps[] = {sweep, NULL};
  g_autoptr(GError) error = NULL;
  struct campaign c = {.command = "recline interval",
                       .scenario = o->files[0],
                       .set = o->set,
                       .sweeps = sweeps,
                       .out = out,
                       .field = "simulated_s",
                       .extra = extra,
                       .title = title,
                       .theory = costs_optimum(costs),
                       .failure_free = costs->base,
                       .runs = (unsigned)o->runs,
                       .jobs = jobs_of(o),
                       .lock = -1};
  int code = campaign_run(&c);
  if (c.has_table && !tell_answer(o, &c, costs, &error))
    code = bad_input("%s", error->message);
  else if (c.has_table && o->out && !o->json)
    printf("figure.svg, table.csv and runs.csv are in %s\n", o->out);
  if (c.is_part && !o->json)
    print_part(&c, costs);
  *stopped = c.signal;
  campaign_clear(&c);
  return code;
}

/* Measures the costs of the scenario's only cell, and makes the campaign. */
static int measure_and_simulate(const struct options *o, const struct grid *grid, struct cell *cell,
                                const char *out, int *stopped)
{
  g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
  struct measurements shown = {
      .file = o->files[0], .jobs = jobs_of(o), .silent = o->json, .all = cells_runs(cell, grid)};
  int code = cells_measure(cell, grid, &shown, warnings);
  if (code != 0) {
    *stopped = MAX(code, 0);
    return EXIT_BAD_INPUT;
  }
  if (cell->costs.problem) {
    g_printerr("%s\n", cell->costs.problem);
    return EXIT_BAD_INPUT;
  }
  return simulate(o, &cell->costs, cell->scenario, out, stopped);
}

static int find_interval(const struct options *o, int *stopped)
{
  const struct theory theory = {o->files[0], o->set, o->sweeps, o->out, jobs_of(o), o->json};
  g_autoptr(GError) error = NULL;
  g_autofree char *scratch = NULL;
  struct grid grid;
  if (o->theory)
    return theory_answer(&theory, stopped);
  if (!o->out && !(scratch = g_dir_make_tmp("recline-interval-XXXXXX", &error)))
    return bad_input("recline interval: %s", error->message);
  grid_read(&grid, NULL, NULL); /* one cell */
  struct cell *cell = cells_new(&grid, o->files[0], o->set);
  int code = measure_and_simulate(o, &grid, cell, scratch ? scratch : o->out, stopped);
  cells_free(cell, grid.cells);
  grid_clear(&grid);
  if (scratch)
    output_remove(scratch);
  return code;
}

int command_interval(int argc, char **argv)
{
  struct options o = {.runs = RUNS};
  int stopped = 0;
  int code = parse(argc, argv, &o);
  if (code == EXIT_FINE)
    code = find_interval(&o, &stopped);
  fflush(stdout);
  if (stopped && o.theory)
    fprintf(stderr, "stopped: --theory keeps no runs; fewer cells, or --scale, take less time\n");
  else if (stopped && o.out)
    fprintf(stderr, "stopped: the runs that have ended are in %s; the same command goes on\n",
            o.out);
  else if (stopped)
    fprintf(stderr, "stopped: nothing is kept, as there is no --out\n");
  g_strfreev(o.set);
  g_strfreev(o.sweeps);
  g_strfreev(o.files);
  g_free(o.out);
  if (stopped)
    raise(stopped); /* the caller sees which signal stopped this process */
  return code;
}
