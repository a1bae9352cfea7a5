/* recline run: reads the options, and finds all errors in a scenario. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/glib/catalogue.h"
#include "base/glib/command_line.h"
#include "command/campaign/recording_folder.h"
#include "command/common.h"
#include "command/launch.h"
#include "command/main.h"
#include "command/run.h"
#include "protocols/neighbours.h"
#include "sim/host/storage/manifest.h"
#include "world/script/script.h"
#include "world/trace/schedule_file.h"

enum { TIMEOUT_MAX = 1000000000 }; /* in seconds */

const struct about about_run = {"run", "SCENARIO",
                                "simulate an MPI program with a protocol and failures; say whether "
                                "it recovered, and what that cost",
                                "run demo\n"
                                "run demo --set protocol.name=bookmark --set failures.0.rank=5\n"
                                "run mine.yaml --out kept"};

int run_parse(int argc, char **argv, struct options *options, char **scenario)
{
  g_auto(GStrv) files = NULL;
  g_autofree char *limit = NULL;
  const GOptionEntry entries[] = {
      {"set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &options->set,
       "Change a value of the scenario (failures.0.at=4s)", "KEY=VALUE"},
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &options->out,
       "Keep scenario.yaml, result.json, trace.txt, activity.txt and program.out there", "DIR"},
      {"json", 'j', 0, G_OPTION_ARG_NONE, &options->json,
       "Print the result as one JSON object and nothing else", NULL},
      {"no-trace", 0, 0, G_OPTION_ARG_NONE, &options->no_trace,
       "With --out, no trace.txt and activity.txt", NULL},
      {"keep", 'k', 0, G_OPTION_ARG_NONE, &options->keep,
       "Do not remove the private folder, and say where it is", NULL},
      {"timeout", 't', 0, G_OPTION_ARG_STRING, &limit,
       "Stop after that wall time: inconclusive, exit code 2", "TIME"},
      {"memory", 'm', 0, G_OPTION_ARG_STRING, &options->memory,
       "Stop when it takes more memory: inconclusive, exit code 2", "SIZE"},
      {"record", 0, 0, G_OPTION_ARG_FILENAME, &options->record,
       "Record there what the program does, in a run without failures", "FOLDER"},
      {"replay", 0, 0, G_OPTION_ARG_FILENAME, &options->replay,
       "Do what was recorded there instead of running the program", "FOLDER"},
      {"restart", 0, 0, G_OPTION_ARG_FILENAME, &options->restart,
       "Go on from the checkpoint that a run has left there (checkpoint.then: stop)", "FOLDER"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  g_autoptr(GError) error = NULL;
  if (!options_read(&about_run, argc, argv, entries))
    return EXIT_BAD_INPUT;
  if (limit && !scenario_option_seconds(limit, &options->timeout, &error))
    return bad_input("recline run: --timeout: %s", error->message);
  if (options->timeout > TIMEOUT_MAX)
    return bad_input("recline run: --timeout %s, expected 0 to %d seconds", limit, TIMEOUT_MAX);
  if (options->memory && !scenario_bytes(options->memory, &options->memory_bytes, &error))
    return bad_input("recline run: --memory: %s", error->message);
  *scenario = catalogue_scenario("recline run", files);
  return *scenario != NULL ? EXIT_FINE : EXIT_BAD_INPUT;
}

/* Refuses a wrong script, because the program that runs scripts would refuse it only after
 * everything has started. */
static bool check_script(const struct scenario *scenario, GError **error)
{
  int line = 0;
  char *message = NULL;
  if (scenario->program.script == NULL)
    return true;
  struct script *script =
      script_parse(scenario->program.script, scenario->program.ranks, &line, &message);
  if (script != NULL) {
    script_free(script);
    return true;
  }
  g_set_error(error, SCENARIO_ERROR, 0, "%s:%d: program.script: %s", scenario->file,
              scenario->program.script_line + line - 1, message);
  free(message);
  return false;
}

static bool find_program(struct run *run, GError **error)
{
  const struct scenario *scenario = run->scenario;
  const char *name = scenario->program.script != NULL ? "script" : scenario->program.binary;
  run->program = launch_find(name);
  if (run->program == NULL)
    return scenario_complain(
        scenario, "program.binary", error,
        "\"%s\" not found, expected a program beside the scenario, in a folder of "
        "RECLINE_PROGRAMS or among recline's own",
        name);
  const char *why_not = launch_refuses(run->program);
  if (why_not != NULL)
    return scenario_complain(scenario, "program.binary", error,
                             "\"%s\" %s, expected a program built by recline-cc (docs/run.md)",
                             name, why_not);
  return true;
}

/* Finds the program that replays a recording. */
static bool find_replay(struct run *run, GError **error)
{
  const char *folder = run->options.replay;
  if (folder == NULL)
    return true;
  if (!recording_fits(folder, run->scenario, error))
    return false;
  g_free(run->program);
  run->program = launch_find("replay");
  return run->program != NULL ||
         scenario_complain(run->scenario, "program.binary", error,
                           "replay not found, expected it among recline's own programs");
}

static bool check_schedule(const struct scenario *scenario, GError **error)
{
  struct trace_story story;
  if (scenario->schedule == NULL)
    return true;
  bool good = schedule_file_read(scenario, &story, error);
  if (good)
    trace_story_clear(&story);
  return good;
}

/* Refuses a script without a platform. The loader accepts it, because the explorer needs none. */
static bool check_platform(const struct scenario *scenario, GError **error)
{
  if (scenario->platform.text != NULL)
    return true;
  return scenario_complain(scenario, "platform.file", error,
                           "missing, expected the platform on which the script runs");
}

/* Refuses a topology that is not connected. In such a topology, a protocol that spreads over
 * neighbours would wait for ever for a rank out of reach. */
static bool check_topology(const struct scenario *scenario, GError **error)
{
  const struct rcl_place *place = rcl_protocol_named(scenario->protocol.name)->place;
  const char *text = scenario->program.topology;
  char problem[NEIGHBOURS_PROBLEM];
  if (!text || !place || !(place->assumes & RCL_ASSUMES_CONNECTED))
    return true;
  g_autofree uint32_t *rows = neighbours_read(text, scenario->program.ranks, problem);
  int unreached = neighbours_unreached(rows, scenario->program.ranks);
  return unreached < 0 ||
         scenario_complain(scenario, "program.topology", error,
                           "no way from rank 0 to rank %d, and the markers of %s go to "
                           "neighbours, expected a connected topology",
                           unreached, scenario->protocol.name);
}

static bool check_hazards(const struct scenario *scenario, GError **error)
{
  const struct rcl_protocol *protocol = rcl_protocol_named(scenario->protocol.name);
  if (scenario->check.hazards & HAZARD_CONTROL_OVERTAKES &&
      (protocol->level == RCL_LEVEL_CHANNEL || protocol->piggybacks))
    return scenario_complain(scenario, "check.hazards", error,
                             "control-overtakes, and the control messages of %s travel with the "
                             "program's, expected another hazard",
                             protocol->name);
  return true;
}

/* Refuses to stop at a checkpoint without DIR and the trace, because the run that goes on needs
 * both. */
static bool check_stop(const struct run *run, GError **error)
{
  const char *problem = run->options.out == NULL ? "expected --out DIR, where it is left"
                        : run->options.no_trace  ? "expected no --no-trace: it has a part in it"
                        : run->options.record != NULL || run->options.replay != NULL
                            ? "expected neither --record nor --replay: they protect no memory"
                            : NULL;
  return run->scenario->checkpoint.then != AFTERWARDS_STOP || problem == NULL ||
         scenario_complain(run->scenario, "checkpoint.then", error, "stop leaves a checkpoint, %s",
                           problem);
}

static bool is_same_folder(const char *a, const char *b)
{
  struct stat of_a, of_b;
  return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

/* Checks that the run can go on from the folder of --restart, and makes its path absolute. */
static bool check_restart(struct run *run, GError **error)
{
  struct options *options = &run->options;
  if (options->restart == NULL)
    return true;
  const char *beside = options->record != NULL || options->replay != NULL
                           ? "beside --record or --replay, expected it alone"
                       : options->out != NULL && is_same_folder(options->restart, options->out)
                           ? "is --out, too, expected another folder"
                           : NULL;
  if (beside != NULL) {
    g_set_error(error, SCENARIO_ERROR, 0, "recline run: --restart %s: %s", options->restart,
                beside);
    return false;
  }
  struct manifest *manifest = manifest_read(options->restart, error);
  bool fits = manifest != NULL && manifest_fits(manifest, options->restart, run->scenario, error);
  manifest_free(manifest);
  char *folder = g_canonicalize_filename(options->restart, NULL);
  g_free(options->restart);
  options->restart = folder;
  return fits;
}

bool run_check(struct run *run, GError **error)
{
  const struct scenario *scenario = run->scenario;
  return scenario_expects_of(run->scenario, true, error) && check_topology(scenario, error) &&
         check_platform(scenario, error) && check_hazards(scenario, error) &&
         check_script(scenario, error) && check_schedule(scenario, error) &&
         check_stop(run, error) && check_restart(run, error) && find_program(run, error) &&
         find_replay(run, error);
}
