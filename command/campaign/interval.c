/* recline interval SCENARIO: tells how often to take checkpoints.
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
#include "base/glib/json.h"
#include "base/glib/terminal.h"
#include "base/output.h"
#include "command/campaign/answer.h"
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
  gboolean json, theory;
};

/* Holds measured values. */
struct costs {
  struct machine_model model;
  double work;      /* seconds of the program without checkpoints and failures */
  bool exponential; /* the formulas apply */
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
      {"theory", 0, 0, G_OPTION_ARG_NONE, &o->theory,
       "Answer by theory alone, after the three runs that measure the costs", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &o->json, "Print one JSON object and nothing else", NULL},
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

/* Runs the scenario with the settings of the options and then `settings` (ends with NULL), and
 * shows `what` meanwhile. Returns its result, or NULL after printing why there is none. */
static JsonNode *measure(const struct options *o, const char *what, const char *const *settings)
{
  g_autofree char *problem = NULL;
  progress_begin(what);
  if (!o->json && !terminal_shows_progress())
    g_printerr("%s\n", what);
  g_autofree char *out = campaign_measure(o->files[0], o->set, settings, &problem);
  progress_end();
  if (!out)
    g_printerr("%s", problem);
  return out ? json_from_string(out, NULL) : NULL;
}

static double number(JsonNode *result, const char *group, const char *name)
{
  JsonObject *object = json_node_get_object(result);
  object = group ? json_object_get_object_member(object, group) : object;
  return json_node_get_double(json_object_get_member(object, name));
}

/* Counts what the law applies to: each node, each zone with a node in use, or the platform. */
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

/* Adds up the rates of all failure laws. Returns false if there is no law. The formulas assume one
 * level of storage, and failures that come one by one. */
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

/* Says that there were too few checkpoints, and what the program lacks. */
static void complain_of_calls(const struct scenario *scenario, double checkpoints, double work)
{
  bool none = !strcmp(scenario->protocol.name, "none");
  g_printerr(
      "recline interval: %.0f checkpoint%s in %g s, one asked for every %g s: %s, expected a "
      "program that takes them\n",
      checkpoints, checkpoints == 1.0 ? "" : "s", work, work / PIECES,
      none ? "protocol none takes none" : "the program makes too few MPI calls to be checkpointed");
}

/* Makes three runs: without checkpoints, with checkpoints, and with a crash between two of them. */
static bool measure_costs(const struct options *o, const struct scenario *scenario,
                          struct costs *costs)
{
  const char *const none[] = {"failures=none",
                              "expect={}",
                              "checkpoint.every=0",
                              "checkpoint.at=[]",
                              "checkpoint.calls=ignored",
                              NULL};
  g_autoptr(JsonNode) plain = measure(o, "measuring without checkpoints, run 1 of 3", none);
  if (!plain)
    return false;
  costs->work = number(plain, NULL, "simulated_s");
  g_autofree char *every = g_strdup_printf("checkpoint.every=%.9gs", costs->work / PIECES);
  const char *const some[] = {"failures=none", "expect={}", every, NULL};
  g_autoptr(JsonNode) taken = measure(o, "measuring with checkpoints, run 2 of 3", some);
  double checkpoints = taken ? number(taken, "checkpoints", "committed") : 0.0;
  if (taken && checkpoints < 2.0)
    complain_of_calls(scenario, checkpoints, costs->work);
  if (checkpoints < 2.0)
    return false;
  double longer = number(taken, NULL, "simulated_s");
  costs->model.checkpoint = MAX((longer - costs->work) / checkpoints, 0.0);
  g_autofree char *crash =
      g_strdup_printf("failures=[{rank: %d, at: %.9gs, repair: 0}]", scenario->program.ranks - 1,
                      longer * (PIECES / 2 + 0.6) / PIECES);
  /* Without detection=0, survivors would compute until the crash is detected. That time is lost,
   * but is not part of recovery. */
  const char *const crashed[] = {crash, "expect={}", every, "detection=0", NULL};
  g_autoptr(JsonNode) recovered = measure(o, "measuring a recovery, run 3 of 3", crashed);
  if (!recovered)
    return false;
  costs->model.recovery = number(recovered, "time_s", "restart");
  warnings_take(costs->warnings, json_node_get_object(recovered));
  return true;
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
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "Every %s; ", best);
  if (found->first == found->last)
    g_string_append(text, "all others that were tried are measurably worse");
  else
    g_string_append_printf(text, "anything from %s to %s is not measurably worse", first, last);
  g_string_append_printf(text, "%s%s.", *cost ? "; it " : "", cost);
  g_autofree char *few = answer_few_failures(table, found->best);
  if (few && theory > 0.0) {
    g_autofree char *by_theory = answer_time(theory);
    g_string_printf(text, "Every %s, by theory: %s.", by_theory, few);
    answer_add_missing(text, table, "intervals");
    return g_string_free(text, FALSE);
  }
  if (few)
    g_string_append_printf(text, " But %s.", few);
  answer_add_missing(text, table, "intervals");
  if (found->next != found->best)
    answer_add_further(text, answer_further_runs(table, found->next, found->best, field), next);
  return g_string_free(text, FALSE);
}

/* Returns a number with that many digits, without an exponent, which the caller frees. */
static char *with_digits(double value, int digits)
{
  if (!isfinite(value) || value == 0.0)
    return g_strdup_printf("%g", value);
  int after = MAX(digits - 1 - (int)floor(log10(fabs(value))), 0);
  char *text = g_strdup_printf("%.*f", after, value);
  size_t length = strlen(text);
  while (after > 0 && text[length - 1] == '0')
    text[--length] = '\0';
  if (text[length - 1] == '.')
    text[length - 1] = '\0';
  return text;
}

static void print_simulated(const struct table *table, int field, const struct range *found)
{
  struct estimate e = table_mean(table, found->best, field);
  g_autofree char *mean = with_digits(e.mean, 5), *half = with_digits(e.half, 3);
  printf("  simulated  %12s  %12s s ± %s; 95 %%: between %s and %s\n",
         grid_value(table->runs->grid, found->best, 0), mean, half,
         grid_value(table->runs->grid, found->first, 0),
         grid_value(table->runs->grid, found->last, 0));
}

/* Returns the optimum by the exact formula, in seconds, or 0 if there is none. */
static double optimum_of(const struct costs *costs)
{
  return costs->exponential && costs->model.checkpoint > 0.0 ? optimum_exact(&costs->model) : 0.0;
}

static void print_by(const struct costs *costs, const char *name, double interval)
{
  g_autofree char *every = with_digits(interval, 5);
  g_autofree char *mean = with_digits(optimum_time(&costs->model, costs->work, interval), 5);
  printf("  %-9s  %11ss  %12s s\n", name, every, mean);
}

static void print_theory(const struct costs *costs)
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
    g_autofree char *seconds = with_digits(each[i].seconds, 4);
    printf("%s %s s", each[i].name, seconds);
  }
  printf("\n");
  printf("             interval       mean time\n");
  if (optimum_of(costs) <= 0.0)
    return;
  print_by(costs, "Young", optimum_young(m));
  print_by(costs, "Daly", optimum_daly(m));
  print_by(costs, "exact", optimum_exact(m));
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

static void add_measured(const struct costs *costs, JsonBuilder *json)
{
  const struct machine_model *m = &costs->model;
  bool known = optimum_of(costs) > 0.0;
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

/* Holds an answer: intervals in seconds, and the cost as a share of the job. */
struct answer {
  const char *sentence;
  double every, from, to, cost; /* NAN: not known */
};

static JsonBuilder *begin_json(const struct answer *a)
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

static void print_text(const struct costs *costs, const char *sentence)
{
  warnings_print(costs->warnings);
  printf("%s\n", sentence);
  print_theory(costs);
}

/* Returns the answer as an object, which the caller unrefs. */
static JsonBuilder *as_json(const struct campaign *c, const struct costs *costs,
                            const struct range *found, const char *sentence)
{
  int field = runs_field(&c->done, c->field);
  struct estimate mean = table_mean(&c->table, found->best, field);
  const struct answer answer = {sentence, seconds_of(&c->table, found->best),
                                seconds_of(&c->table, found->first),
                                seconds_of(&c->table, found->last), mean.mean / costs->work - 1};
  JsonBuilder *json = begin_json(&answer);
  json_add_real(json, "cost_half_width_95", mean.half / costs->work);
  json_add_whole(json, "further_runs",
                 found->next == found->best
                     ? 0
                     : answer_further_runs(&c->table, found->next, found->best, field));
  add_measured(costs, json);
  warnings_add_json(costs->warnings, json);
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
  g_autofree char *sentence = sentence_of(&c->table, field, &found, costs->work, optimum_of(costs));
  g_autoptr(JsonBuilder) json = as_json(c, costs, &found, sentence);
  if (o->json) {
    json_print(json);
  } else {
    print_text(costs, sentence);
    print_simulated(&c->table, field, &found);
  }
  return !o->out || campaign_report(c, json, error);
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
                       .theory = optimum_of(costs),
                       .failure_free = costs->work,
                       .runs = (unsigned)o->runs,
                       .jobs = o->jobs ? (unsigned)o->jobs : g_get_num_processors(),
                       .lock = -1};
  int code = campaign_run(&c);
  if (c.has_table && !tell_answer(o, &c, costs, &error))
    code = bad_input("%s", error->message);
  else if (c.has_table && o->out && !o->json)
    printf("figure.svg, table.csv and runs.csv are in %s\n", o->out);
  *stopped = c.signal;
  campaign_clear(&c);
  return code;
}

/* Answers without a campaign. The members of the object that only a campaign tells are null. */
static int answer_by_theory(const struct options *o, const struct costs *costs)
{
  double best = optimum_of(costs);
  if (best <= 0.0)
    return bad_input("recline interval: --theory: there is no formula for these failures and "
                     "checkpoints, expected an exponential law, one level of storage, and "
                     "checkpoints that take time");
  double cost = optimum_time(&costs->model, costs->work, best) / costs->work - 1;
  g_autofree char *every = answer_time(best);
  g_autofree char *sentence =
      g_strdup_printf("Every %s, by theory: it costs %.2g %% of the job.", every, 100 * cost);
  if (!o->json) {
    print_text(costs, sentence);
    return EXIT_FINE;
  }
  const struct answer answer = {sentence, best, NAN, NAN, cost};
  g_autoptr(JsonBuilder) json = begin_json(&answer);
  json_add_whole(json, "further_runs", 0);
  add_measured(costs, json);
  warnings_add_json(costs->warnings, json);
  json_open_list(json, "cells");
  json_builder_end_array(json);
  json_builder_end_object(json);
  json_print(json);
  return EXIT_FINE;
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
  } else if (!measure_costs(o, scenario, &costs)) {
    code = EXIT_BAD_INPUT;
  } else if (o->theory) {
    code = answer_by_theory(o, &costs);
    scenario_free(scenario);
    return code;
  } else if (!o->out && !(scratch = g_dir_make_tmp("recline-interval-XXXXXX", &error))) {
    code = bad_input("recline interval: %s", error->message);
  }
  if (code == EXIT_FINE)
    code = simulate(o, &costs, scenario, scratch ? scratch : o->out, stopped);
  scenario_free(scenario);
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
  if (stopped && o.out)
    fprintf(stderr, "stopped: the runs that have ended are in %s; the same command goes on\n",
            o.out);
  else if (stopped)
    fprintf(stderr, "stopped: nothing is kept, as there is no --out\n");
  g_strfreev(o.set);
  g_strfreev(o.files);
  g_free(o.out);
  if (stopped)
    raise(stopped); /* the caller sees which signal stopped this process */
  return code;
}
