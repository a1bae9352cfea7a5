/* recline campaign SCENARIO: reads the options, and prints the result at the end. */
#include <gio/gio.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/glib/catalogue.h"
#include "base/glib/command_line.h"
#include "base/glib/json.h"
#include "base/output.h"
#include "command/campaign/answer.h"
#include "command/campaign/campaign.h"
#include "command/campaign/scale.h"
#include "command/campaign/warnings.h"

enum { RUNS = 100, RUNS_UNTIL = 10000, RUNS_MAX = 1000000, JOBS_MAX = 1000 };

struct options {
  char **set, **sweeps, **files;
  char *out, *field, *until, *engine;
  int runs, jobs, chunk, scale;
  gboolean json, replay;
};

static bool read_percent(const char *text, double *share)
{
  char *end = NULL;
  *share = g_ascii_strtod(text, &end) / 100;
  return end != text && !strcmp(end, "%") && *share > 0 && *share < 1;
}

const struct about about_campaign = {
    "campaign", "SCENARIO",
    "run a scenario with many seeds and values; print means with confidence intervals, and "
    "continue what was stopped",
    "campaign demo --runs 5 --sweep checkpoint.every=30ms,50ms --out kept"};

static int parse(int argc, char **argv, struct options *o, struct campaign *c)
{
  const GOptionEntry entries[] = {
      {"set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &o->set,
       "Change a value of the scenario, for all runs", "KEY=VALUE"},
      {"sweep", 'w', 0, G_OPTION_ARG_FILENAME_ARRAY, &o->sweeps,
       "Run with each of these values (checkpoint.every=30s,1m); with several sweeps, with each "
       "combination",
       "KEY=VALUE,VALUE..."},
      {"runs", 'n', 0, G_OPTION_ARG_INT, &o->runs,
       "Seeds: the scenario's and those after it (100; with --until at most 10000)", "N"},
      {"until", 'u', 0, G_OPTION_ARG_STRING, &o->until,
       "End when all confidence intervals are within so many per cent of the mean", "P%"},
      {"field", 'f', 0, G_OPTION_ARG_STRING, &o->field, "The figure that is shown (simulated_s)",
       "NAME"},
      {"jobs", 'j', 0, G_OPTION_ARG_INT, &o->jobs, "Runs at once (one for each core)", "N"},
      {"engine", 'e', 0, G_OPTION_ARG_STRING, &o->engine,
       "Where runs take place: as children (local), or as Slurm's job arrays (slurm)", "NAME"},
      {"replay", 'r', 0, G_OPTION_ARG_NONE, &o->replay,
       "Run each program once, record it, and replay the recording in all runs", NULL},
      {"chunk", 'c', 0, G_OPTION_ARG_INT, &o->chunk,
       "Runs of an element of Slurm's job array (a hundredth of all)", "N"},
      {"scale", 0, 0, G_OPTION_ARG_INT, &o->scale,
       "Run a smaller job, which keeps the write time of a checkpoint and the MTBF of the machine",
       "RANKS"},
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &o->out,
       "Keep runs.csv, table.csv, figure.svg and what continues the campaign there", "DIR"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &o->json, "Print one JSON object and nothing else", NULL},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->files, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  if (!options_read(&about_campaign, argc, argv, entries))
    return EXIT_BAD_INPUT;
  if (o->until && !read_percent(o->until, &c->until))
    return bad_input("recline campaign: --until %s, expected a percentage such as 1%%", o->until);
  if (o->runs < 0)
    o->runs = o->until ? RUNS_UNTIL : RUNS;
  if (o->runs < 1 || o->runs > RUNS_MAX)
    return bad_input("recline campaign: --runs %d, expected 1 to %d", o->runs, RUNS_MAX);
  if (o->jobs < 0 || o->jobs > JOBS_MAX)
    return bad_input("recline campaign: --jobs %d, expected 1 to %d", o->jobs, JOBS_MAX);
  if (o->engine && strcmp(o->engine, "local") != 0 && strcmp(o->engine, "slurm") != 0)
    return bad_input("recline campaign: --engine %s, expected local or slurm", o->engine);
  c->slurm = o->engine && !strcmp(o->engine, "slurm");
  if (c->slurm && !o->out)
    return bad_input("recline campaign: --engine slurm without --out, expected a folder that all "
                     "nodes see");
  if (o->chunk < 0 || o->chunk > RUNS_MAX || (o->chunk && !c->slurm))
    return bad_input("recline campaign: --chunk %d, expected 1 to %d, with --engine slurm",
                     o->chunk, RUNS_MAX);
  return EXIT_FINE;
}

/* Returns the answer as an object, which the caller unrefs. */
static JsonBuilder *as_json(const struct campaign *c, const struct ranking *ranking, int field)
{
  JsonBuilder *json = json_builder_new();
  json_builder_begin_object(json);
  json_add_text(json, "version", RECLINE_VERSION);
  json_add_text(json, "field", c->done.fields->pdata[field]);
  warnings_add_json(c->done.warnings, json);
  answer_add_json(&c->table, ranking, field, json);
  table_add_json(&c->table, field, json);
  json_builder_end_object(json);
  return json;
}

/* Prints the command that shows why no run of the first cell has ended as expected. */
static void print_reason(const struct campaign *c, const struct options *o)
{
  if (table_unexpected(&c->table, 0) < c->table.count)
    return;
  printf("Why? ");
  if (o->out)
    printf("recline run %s/cells/0.yaml\n", o->out);
  else
    printf("recline run %s\n", o->files[0]);
}

/* Prints what a stopped campaign tells up to now. */
static void print_part(const struct campaign *c)
{
  int field = runs_field(&c->done, c->field);
  struct ranking ranking = ranking_of(&c->table, field, NAN);
  g_autofree char *sentence = answer_sentence(&c->table, &ranking, field);
  printf("After %u of %u runs of each: %s\n", c->table.count, c->runs, sentence);
  table_print(&c->table, field);
  answer_print_ranking(&c->table, &ranking, field);
  ranking_clear(&ranking);
}

static void print_answer(const struct campaign *c, const struct options *o,
                         const struct ranking *ranking, int field)
{
  g_autofree char *sentence = answer_sentence(&c->table, ranking, field);
  warnings_print(c->done.warnings);
  printf("%s\n", sentence);
  print_reason(c, o);
  table_print(&c->table, field);
  answer_print_ranking(&c->table, ranking, field);
}

static int report(const struct campaign *c, const struct options *o, int code)
{
  g_autoptr(GError) error = NULL;
  int field = runs_field(&c->done, c->field);
  struct ranking ranking = ranking_of(&c->table, field, c->failure_free);
  g_autoptr(JsonBuilder) json = as_json(c, &ranking, field);
  if (o->out && !campaign_report(c, json, &error)) {
    code = bad_input("%s", error->message);
  } else if (o->json) {
    json_print(json);
  } else {
    print_answer(c, o, &ranking, field);
    if (o->out)
      printf("runs.csv, table.csv and figure.svg are in %s\n", o->out);
  }
  ranking_clear(&ranking);
  return code;
}

int command_campaign(int argc, char **argv)
{
  struct options o = {.runs = -1};
  struct campaign c = {.command = "recline campaign", .lock = -1};
  int code = parse(argc, argv, &o, &c);
  g_autofree char *scratch = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *scenario =
      code == EXIT_FINE ? catalogue_scenario("recline campaign", o.files) : NULL;
  if (code == EXIT_FINE && !scenario)
    code = EXIT_BAD_INPUT;
  if (code == EXIT_FINE)
    code = scale_options(&o.set, o.sweeps, scenario, o.scale, o.json);
  if (code == EXIT_FINE && !o.out && !(scratch = g_dir_make_tmp("recline-campaign-XXXXXX", &error)))
    code = bad_input("recline campaign: %s", error->message);
  if (code == EXIT_FINE) {
    c.scenario = scenario;
    c.set = o.set;
    c.sweeps = o.sweeps;
    c.out = scratch ? scratch : o.out;
    c.field = o.field ? o.field : "simulated_s";
    c.runs = (unsigned)o.runs;
    c.jobs = o.jobs || c.slurm ? (unsigned)o.jobs : g_get_num_processors();
    c.chunk = (unsigned)o.chunk;
    c.replay = o.replay;
    code = campaign_run(&c);
    if (c.has_table)
      code = report(&c, &o, code);
    else if (c.is_part && !o.json)
      print_part(&c);
    fflush(stdout);
    campaign_clear(&c);
  }
  if (c.signal && o.out)
    fprintf(stderr, "stopped: the runs that have ended are in %s; the same command goes on\n",
            o.out);
  else if (c.signal)
    fprintf(stderr, "stopped: nothing is kept, as there is no --out\n");
  if (scratch)
    output_remove(scratch);
  g_strfreev(o.set);
  g_strfreev(o.sweeps);
  g_strfreev(o.files);
  g_free(o.out);
  g_free(o.field);
  g_free(o.until);
  g_free(o.engine);
  if (c.signal)
    raise(c.signal); /* the caller sees which signal stopped this process */
  return code;
}
