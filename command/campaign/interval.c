/* recline interval SCENARIO: how often to take checkpoints.
 *
 *     three runs --> cost of a checkpoint and of a recovery --> Young, Daly, exact optimum
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
#include "base/glib/terminal.h"
#include "base/output.h"
#include "command/campaign/bands.h"
#include "command/campaign/campaign.h"
#include "command/campaign/optimum.h"
#include "command/campaign/warnings.h"
#include "world/scenario/scenario.h"

enum { RUNS = 50, RUNS_MAX = 1000000, CANDIDATES = 9, PIECES = 6 };

struct options {
  char **set, **files;
  char *out;
  int runs, jobs;
};

/* Measured values. */
struct costs {
  struct machine_model model;
  double work;      /* seconds of the program without checkpoints and failures */
  bool exponential; /* the formulas hold */
  GPtrArray *warnings;
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
      {"runs", 'n', 0, G_OPTION_ARG_INT, &o->runs, "Seeds for each interval (50)", "N"},
      {"jobs", 'j', 0, G_OPTION_ARG_INT, &o->jobs, "Runs at once (one for each core)", "N"},
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &o->out,
       "Keep figure.svg, table.csv, runs.csv and what continues it there", "DIR"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->files, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  if (!options_read(&about_interval, argc, argv, entries))
    return EXIT_BAD_INPUT;
  if (o->runs < 2 || o->runs > RUNS_MAX || o->jobs < 0)
    return bad_input("recline interval: --runs %d --jobs %d, expected 2 to %d runs, and jobs",
                     o->runs, o->jobs, RUNS_MAX);
  char *scenario = catalogue_scenario("recline interval", o->files);
  if (!scenario)
    return EXIT_BAD_INPUT;
  g_free(o->files[0]);
  o->files[0] = scenario;
  return EXIT_FINE;
}

/* ---- measuring ---- */

/* Runs the scenario with these settings (NULL-terminated, besides those of the options). Returns
 * its result; NULL after printing why there is none. */
static JsonNode *measure(const struct options *o, const char *const *settings)
{
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *out = NULL, *err = NULL;
  g_autoptr(GError) error = NULL;
  int status = 0;
  const char *const first[] = {self, "run", o->files[0], "--json"};
  for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
    g_ptr_array_add(words, (char *)first[i]);
  for (char **set = o->set; set && *set; set++) {
    g_ptr_array_add(words, (char *)"--set");
    g_ptr_array_add(words, *set);
  }
  for (; *settings; settings++) {
    g_ptr_array_add(words, (char *)"--set");
    g_ptr_array_add(words, (char *)*settings);
  }
  g_ptr_array_add(words, NULL);
  if (!g_spawn_sync(NULL, (char **)words->pdata, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &err,
                    &status, &error))
    g_printerr("recline interval: %s\n", error->message);
  else if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FINE)
    return json_from_string(out, NULL);
  else
    g_printerr("%s", err);
  return NULL;
}

static double number(JsonNode *result, const char *group, const char *name)
{
  JsonObject *object = json_node_get_object(result);
  object = group ? json_object_get_object_member(object, group) : object;
  return json_node_get_double(json_object_get_member(object, name));
}

/* Counts the sources of failures of the law: nodes, zones with a node in use, or the platform. */
static int subjects(const struct layout *layout, int nodes, enum failure_scope of)
{
  int count = 0;
  for (int node = 0; of == OF_ZONE && node < nodes; node++) {
    int other = 0;
    while (strcmp(layout->zones[other], layout->zones[node]))
      other++;
    count += other == node;
  }
  return of == OF_NODE ? nodes : of == OF_ZONE ? count : 1;
}

/* Adds up the rates of all laws; returns false if there is none. The formulas know one level, and
 * failures that come one by one. */
static bool read_laws(const struct scenario *scenario, struct costs *costs)
{
  int nodes = layout_nodes(&scenario->platform.layout, scenario->program.ranks);
  double rate = 0.0, repairs = 0.0;
  costs->exponential = scenario->checkpoint.levels_count < 2;
  for (unsigned i = 0; i < scenario->failures_count; i++) {
    const struct failure *failure = &scenario->failures[i];
    bool law = failure->trigger == TRIGGER_LAW && failure->kills != KILLS_SERVER;
    int all = law ? subjects(&scenario->platform.layout, nodes, failure->of) : 0;
    double one = law ? all / failure->mtbf : 0.0;
    costs->exponential &= law && failure->law == LAW_EXPONENTIAL && failure->burst == 1;
    rate += one;
    repairs += one * failure->repair;
  }
  costs->model.mtbf = 1.0 / rate;
  costs->model.downtime = scenario->detection + repairs / rate;
  return rate > 0.0;
}

/* Runs without checkpoints; with some; with a crash between two of them. */
static bool measure_costs(const struct options *o, const struct scenario *scenario,
                          struct costs *costs)
{
  const char *const none[] = {"failures=none",
                              "expect={}",
                              "checkpoint.every=0",
                              "checkpoint.at=[]",
                              "checkpoint.calls=ignored",
                              NULL};
  g_autoptr(JsonNode) plain = measure(o, none);
  if (!plain)
    return false;
  costs->work = number(plain, NULL, "simulated_s");
  g_autofree char *every = g_strdup_printf("checkpoint.every=%.9gs", costs->work / PIECES);
  const char *const some[] = {"failures=none", "expect={}", every, NULL};
  g_autoptr(JsonNode) taken = measure(o, some);
  double checkpoints = taken ? number(taken, "checkpoints", "committed") : 0.0;
  if (taken && checkpoints < 2.0)
    g_printerr("recline interval: %.0f checkpoints in %g s, one asked for every %g s, expected a "
               "program that takes them\n",
               checkpoints, costs->work, costs->work / PIECES);
  if (checkpoints < 2.0)
    return false;
  double longer = number(taken, NULL, "simulated_s");
  costs->model.checkpoint = MAX((longer - costs->work) / checkpoints, 0.0);
  g_autofree char *crash =
      g_strdup_printf("failures=[{rank: %d, at: %.9gs, repair: 0}]", scenario->program.ranks - 1,
                      longer * (PIECES / 2 + 0.6) / PIECES);
  /* Until a crash is detected survivors compute on: that time is lost, but is not part of recovery.
   */
  const char *const crashed[] = {crash, "expect={}", every, "detection=0", NULL};
  g_autoptr(JsonNode) recovered = measure(o, crashed);
  if (!recovered)
    return false;
  costs->model.recovery = number(recovered, "time_s", "restart");
  warnings_take(costs->warnings, json_node_get_object(recovered));
  return true;
}

/* ---- the campaign ---- */

/* Makes candidates a factor of sqrt(2) apart, none longer than the program. */
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

static unsigned best_cell(const struct table *table, int field)
{
  unsigned best = 0;
  for (unsigned cell = 1; cell < table->runs->grid->cells; cell++)
    if (!(table_mean(table, cell, field).mean >= table_mean(table, best, field).mean))
      best = cell;
  return best;
}

/* Prints the candidates next to the best one that are not known to be worse. */
static void print_simulated(const struct table *table, int field)
{
  unsigned best = best_cell(table, field), first = best, last = best;
  while (first > 0 && !(table_difference(table, first - 1, best, field).mean >
                        table_difference(table, first - 1, best, field).half))
    first--;
  while (last + 1 < table->runs->grid->cells &&
         !(table_difference(table, last + 1, best, field).mean >
           table_difference(table, last + 1, best, field).half))
    last++;
  struct estimate e = table_mean(table, best, field);
  printf("  simulated  %12s  %12.6g s ± %.3g; 95 %%: between %s and %s\n",
         grid_value(table->runs->grid, best, 0), e.mean, e.half,
         grid_value(table->runs->grid, first, 0), grid_value(table->runs->grid, last, 0));
}

static void print_by(const struct costs *costs, const char *name, double interval)
{
  printf("  %-9s  %11.6gs  %12.6g s\n", name, interval,
         optimum_time(&costs->model, costs->work, interval));
}

static void print_theory(const struct costs *costs)
{
  const struct machine_model *m = &costs->model;
  warnings_print(costs->warnings);
  printf("checkpoint %.6g s, recovery %.6g s, downtime %.6g s, mtbf %.6g s, work %.6g s\n",
         m->checkpoint, m->recovery, m->downtime, m->mtbf, costs->work);
  printf("             interval       mean time\n");
  if (!costs->exponential || m->checkpoint <= 0.0)
    return;
  print_by(costs, "Young", optimum_young(m));
  print_by(costs, "Daly", optimum_daly(m));
  print_by(costs, "exact", optimum_exact(m));
}

/* Returns the curve in gnuplot's words. */
static char *curve(const struct costs *costs)
{
  const struct machine_model *m = &costs->model;
  if (!costs->exponential)
    return NULL;
  return g_strdup_printf("%.9g / x * exp(%.9g / %.9g) * (exp((x + %.9g) / %.9g) - 1) with lines lc "
                         "'black' dt 2 title 'exact'",
                         costs->work * (m->mtbf + m->downtime), m->recovery, m->mtbf, m->checkpoint,
                         m->mtbf);
}

static int simulate(const struct options *o, const struct costs *costs, const char *out,
                    int *stopped)
{
  g_autofree char *sweep = candidates(costs), *extra = curve(costs);
  char *sweeps[] = {sweep, NULL};
  g_autoptr(GError) error = NULL;
  struct campaign c = {.command = "recline interval",
                       .scenario = o->files[0],
                       .set = o->set,
                       .sweeps = sweeps,
                       .out = out,
                       .field = "simulated_s",
                       .extra = extra,
                       .runs = (unsigned)o->runs,
                       .jobs = o->jobs ? (unsigned)o->jobs : g_get_num_processors(),
                       .lock = -1};
  int code = campaign_run(&c);
  if (c.has_table)
    print_simulated(&c.table, runs_field(&c.done, c.field));
  if (c.has_table && o->out && !campaign_report(&c, &error))
    code = bad_input("%s", error->message);
  else if (c.has_table && o->out)
    printf("figure.svg, table.csv and runs.csv are in %s\n", o->out);
  *stopped = c.signal;
  campaign_clear(&c);
  return code;
}

static int find_interval(const struct options *o, int *stopped)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *scratch = NULL;
  g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
  struct costs costs = {.warnings = warnings};
  struct scenario *scenario = scenario_load(o->files[0], (const char *const *)o->set, &error);
  if (!scenario)
    return bad_input("%s", error->message);
  int code = EXIT_FINE;
  if (!campaign_runs_to_end(scenario, &error)) {
    code = bad_input("%s", error->message);
  } else if (!read_laws(scenario, &costs)) {
    scenario_complain(scenario, "failures", &error, "none by law, expected a law with its mtbf");
    code = bad_input("%s", error->message);
  } else if (progress_begin("measuring"), !measure_costs(o, scenario, &costs)) {
    code = EXIT_BAD_INPUT;
  } else if (!o->out && !(scratch = g_dir_make_tmp("recline-interval-XXXXXX", &error))) {
    code = bad_input("recline interval: %s", error->message);
  }
  progress_end();
  scenario_free(scenario);
  if (code != EXIT_FINE)
    return code;
  print_theory(&costs);
  fflush(stdout);
  code = simulate(o, &costs, scratch ? scratch : o->out, stopped);
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
  g_strfreev(o.set);
  g_strfreev(o.files);
  g_free(o.out);
  if (stopped)
    raise(stopped); /* the caller sees which signal stopped us */
  return code;
}
