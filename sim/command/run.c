/* recline run SCENARIO: simulate one run, judge it, tell the story.
 *
 *     scenario --load--> resolved --check--> private folder --launch--> result.json --judge--> exit
 *                                            (in DIR with --out)           |
 *                                                                          +--> DIR/... by renaming
 *
 * Everything that can be wrong with the input is found before the private folder is made, so that
 * bad input leaves nothing behind. docs/run.md says the same to users.
 */
#define _GNU_SOURCE /* ST_NOEXEC */
#include <errno.h>
#include <gio/gio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocols/neighbours.h"
#include "sim/campaign/recording.h"
#include "sim/command/common.h"
#include "sim/command/death.h"
#include "sim/command/launch.h"
#include "sim/command/main.h"
#include "sim/command/summary.h"
#include "sim/host/manifest.h"
#include "sim/host/result.h"
#include "verify/base/catalogue.h"
#include "verify/base/command_line.h"
#include "verify/base/output.h"
#include "verify/scenario/scenario.h"
#include "verify/trace/schedule_file.h"
#include "verify/world/script.h"
#include "verify/world/world.h"

enum { TIMEOUT_MAX = 1000000000 }; /* seconds */

struct options {
  char **set;
  char *out;
  gboolean json, keep, no_trace;
  double timeout; /* seconds; 0: none */
  char *memory;
  double memory_bytes;
  char *record, *replay, *restart; /* folders */
};

struct run {
  struct options options;
  struct scenario *scenario;
  char *program;   /* absolute path */
  char **args;     /* of the program; a script's: the file with its text */
  char *directory; /* private, removed at the end */
  int folder;      /* its descriptor, which locks it */
  char *again;     /* where it is recorded a second time; NULL: it is not */
  bool made_out;   /* DIR did not exist before */
  int interrupted; /* the signal that stopped us */
  int status;      /* of the simulation */
};

/* What --out keeps, in the order in which it appears there: who sees result.json sees all.
 * program.err is kept only when the simulation died. */
static const char *const KEPT[] = {"scenario.yaml", "program.out",   "program.err", "activity.txt",
                                   "trace.txt",     MANIFEST_FOLDER, "result.json"};

static char *in(const char *folder, const char *name)
{
  return g_build_filename(folder, name, NULL);
}

/* ---- input ---- */

const struct about about_run = {"run", "SCENARIO",
                                "simulate an MPI program with a protocol and failures; say whether "
                                "it recovered, and what that cost",
                                "run demo\n"
                                "run demo --set protocol.name=bookmark --set failures.0.rank=5\n"
                                "run mine.yaml --out kept"};

static int parse(int argc, char **argv, struct options *options, char **scenario)
{
  g_auto(GStrv) files = NULL;
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
      {"timeout", 't', 0, G_OPTION_ARG_DOUBLE, &options->timeout,
       "Stop after so many seconds of wall time: inconclusive, exit code 2", "S"},
      {"memory", 'm', 0, G_OPTION_ARG_STRING, &options->memory,
       "The same when it takes more memory", "SIZE"},
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
  if (files == NULL || files[1] != NULL)
    return bad_input("recline run: %s, expected one SCENARIO",
                     files == NULL ? "no scenario" : "more than one scenario");
  if (!(options->timeout >= 0 && options->timeout <= TIMEOUT_MAX))
    return bad_input("recline run: --timeout %g, expected 0 to %d seconds", options->timeout,
                     TIMEOUT_MAX);
  if (options->memory && !scenario_bytes(options->memory, &options->memory_bytes, &error))
    return bad_input("recline run: --memory: %s", error->message);
  *scenario = catalogue_scenario("recline run", files[0]);
  return *scenario != NULL ? EXIT_FINE : EXIT_BAD_INPUT;
}

/* The program that runs scripts would refuse it too, but only after everything has started. */
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

/* The program that does what another has done. */
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
  bool good = counterexample_read(scenario, &story, error);
  if (good)
    trace_story_clear(&story);
  return good;
}

/* The loader asks for a platform only where there is a binary: a script may be for the explorer. */
static bool check_platform(const struct scenario *scenario, GError **error)
{
  if (scenario->platform.file != NULL)
    return true;
  return scenario_complain(scenario, "platform.file", error,
                           "missing, expected the platform on which the script runs");
}

/* A protocol that spreads over neighbours would wait for ever for a rank that it does not reach. */
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

/* What is left for another run is in DIR, with the trace. */
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

/* Makes the folder's path absolute. */
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

/* ---- the private folder ---- */

/* In DIR where there is one, so that its files get there by renaming. */
static bool make_directory(struct run *run, GError **error)
{
  const char *out = run->options.out;
  const char *base = out != NULL ? out : g_get_tmp_dir();
  if (out != NULL && !g_file_test(out, G_FILE_TEST_EXISTS)) {
    if (g_mkdir_with_parents(out, 0777) != 0) {
      g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno),
                  "--out %s: %s, expected a folder that can be made", out, g_strerror(errno));
      return false;
    }
    run->made_out = true;
  }
  output_sweep(base);
  g_autofree char *path = NULL;
  run->folder = output_folder(base, &path);
  if (run->folder < 0) {
    g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno),
                "%s%s: %s, expected a folder that can be written", out != NULL ? "--out " : "",
                base, g_strerror(errno));
    return false;
  }
  run->directory = g_canonicalize_filename(path, NULL);
  struct statvfs system;
  if (fstatvfs(run->folder, &system) == 0 && system.f_flag & ST_NOEXEC) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                "%s%s: mounted noexec, expected a folder from which programs can be loaded",
                out != NULL ? "--out " : "TMPDIR ", base);
    return false;
  }
  return true;
}

/* Under a name that no command sweeps. */
static void keep(const char *directory)
{
  g_autofree char *base = g_path_get_dirname(directory);
  g_autofree char *name = in(base, ".recline-kept-XXXXXX");
  bool kept = g_mkdtemp(name) != NULL && rename(directory, name) == 0;
  g_printerr("kept: %s\n", kept ? name : directory);
}

static void clean_up(struct run *run)
{
  if (run->directory != NULL && run->options.keep)
    keep(run->directory);
  else if (run->directory != NULL)
    output_remove(run->directory);
  if (run->directory != NULL)
    close(run->folder);
  if (run->made_out)
    rmdir(run->options.out); /* only if nothing came of it */
  g_clear_pointer(&run->directory, g_free);
}

static bool write_file(const char *file, const char *text, GError **error)
{
  if (output_write(file, text, strlen(text)))
    return true;
  g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno), OUTPUT_CANNOT, file,
              g_strerror(errno));
  return false;
}

static bool write_hostfile(const struct run *run, const char *file, GError **error)
{
  const struct scenario *scenario = run->scenario;
  GString *hosts = g_string_new(NULL);
  for (int rank = 0; rank < scenario->program.ranks; rank++)
    g_string_append_printf(hosts, "%s\n", layout_host(&scenario->platform.layout, rank));
  g_string_append_printf(hosts, "%s\n", scenario_dispatcher(scenario));
  bool good = write_file(file, hosts->str, error);
  g_string_free(hosts, TRUE);
  return good;
}

static bool write_script(struct run *run, GError **error)
{
  g_strfreev(run->args); /* of the run before, where it is recorded */
  if (run->options.replay != NULL) {
    run->args = g_new0(char *, 2);
    run->args[0] = g_canonicalize_filename(run->options.replay, NULL);
    return true;
  }
  if (run->scenario->program.script == NULL) {
    run->args = g_strdupv(run->scenario->program.args);
    return true;
  }
  run->args = g_new0(char *, 3);
  run->args[0] = in(run->directory, "script");
  if (run->scenario->schedule != NULL)
    run->args[1] = g_strdup("each"); /* no message but those of the script */
  return write_file(run->args[0], run->scenario->program.script, error);
}

/* ---- the simulation ---- */

/* Of two limits; 0 is none. */
static double least(double a, double b)
{
  return a > 0 && b > 0 ? MIN(a, b) : MAX(a, b);
}

static bool simulate(struct run *run, GError **error)
{
  g_autofree char *scenario = in(run->directory, "scenario.yaml");
  g_autofree char *hostfile = in(run->directory, "hosts");
  g_autofree char *result = in(run->directory, "result.json");
  g_autofree char *out = in(run->directory, "program.out");
  g_autofree char *err = in(run->directory, "program.err");
  if (!scenario_save(run->scenario, scenario, error) || !write_hostfile(run, hostfile, error) ||
      !write_script(run, error))
    return false;
  const struct launch job = {
      .program = run->program,
      .args = (const char *const *)run->args,
      .platform = run->scenario->platform.file,
      .processes = run->scenario->program.ranks + 1,
      .scenario = scenario,
      .directory = run->directory,
      .folder = run->folder,
      .result = result,
      .out = out,
      .err = err,
      .trace = run->options.out != NULL && !run->options.no_trace,
      .restart = run->options.restart,
      .record = run->again != NULL ? run->again : run->options.record,
      .skew = run->again != NULL ? 1.5 : 1.0,
      .timeout = least(run->options.timeout, run->scenario->limits.time),
      .memory = least(run->options.memory_bytes, run->scenario->limits.memory),
  };
  return launch(&job, &run->status, &run->interrupted, error);
}

/* To its end, and well. */
static bool completed(const struct run *run)
{
  g_autofree char *file = in(run->directory, "result.json");
  struct result result = {0};
  bool good = run->interrupted == 0 && WIFEXITED(run->status) && WEXITSTATUS(run->status) == 0 &&
              result_load(file, &result, NULL) && result.verdict == RUN_COMPLETED;
  result_clear(&result);
  return good;
}

/* Twice, so that it is seen whether the program does the same under other circumstances. What it
 * prints is that of the second run; the caller sees what came of a run that has failed. */
static bool record(struct run *run, GError **error)
{
  g_autofree char *folder = g_canonicalize_filename(run->options.record, NULL);
  g_free(run->options.record);
  run->options.record = g_steal_pointer(&folder);
  g_autofree char *again = in(run->directory, "again");
  if (!recording_open(run->options.record, error) || !recording_open(again, error) ||
      !simulate(run, error))
    return false;
  if (!completed(run))
    return true;
  run->again = again;
  run->scenario->seed++;
  bool good = simulate(run, error);
  run->scenario->seed--;
  run->again = NULL;
  if (!good || !completed(run))
    return good;
  return recording_same(run->options.record, again, run->scenario->program.ranks, error) &&
         recording_close(run->options.record, run->scenario, error);
}

/* Copies a file of any size; what the program printed is never held in memory. */
static void print_file(const char *file, FILE *to)
{
  char bytes[1 << 16];
  g_autoptr(GFile) path = g_file_new_for_path(file);
  g_autoptr(GFileInputStream) from = g_file_read(path, NULL, NULL);
  gssize count;
  while (from != NULL &&
         (count = g_input_stream_read(G_INPUT_STREAM(from), bytes, sizeof bytes, NULL, NULL)) > 0)
    if (fwrite(bytes, 1, (size_t)count, to) < (size_t)count)
      return; /* main() tells why */
  fflush(to);
}

/* A folder only if a run has left it. */
static void remove_earlier(const char *file)
{
  g_autofree char *manifest = in(file, "manifest");
  if (g_file_test(manifest, G_FILE_TEST_EXISTS))
    output_remove(file);
  else
    unlink(file);
}

/* Moves what there is of KEPT into DIR; what an earlier run left there goes first, so that DIR
 * never mixes two runs. */
static bool publish(const struct run *run, bool with_result, GError **error)
{
  const char *out = run->options.out;
  g_autofree char *err = in(run->directory, "program.err");
  if (with_result)
    unlink(err);
  for (size_t i = G_N_ELEMENTS(KEPT); i-- > 0;) {
    g_autofree char *to = in(out, KEPT[i]);
    remove_earlier(to);
  }
  for (size_t i = 0; i < G_N_ELEMENTS(KEPT); i++) {
    g_autofree char *from = in(run->directory, KEPT[i]);
    g_autofree char *to = in(out, KEPT[i]);
    if (g_file_test(from, G_FILE_TEST_EXISTS) && rename(from, to) != 0) {
      g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno), "%s: %s", to,
                  g_strerror(errno));
      return false;
    }
  }
  return true;
}

/* ---- judging ---- */

/* The verdict of a run that is expected; -1: none, as for a claim of `recline check`. */
static int expected_verdict(enum expected_verdict expected)
{
  static const int verdicts[] = {[EXPECT_NOTHING] = -1,
                                 [EXPECT_COMPLETED] = RUN_COMPLETED,
                                 [EXPECT_RECOVERED] = RUN_RECOVERED,
                                 [EXPECT_GAVE_UP] = RUN_GAVE_UP,
                                 [EXPECT_LOST] = RUN_LOST,
                                 [EXPECT_STOPPED] = RUN_STOPPED};
  return expected < G_N_ELEMENTS(verdicts) ? verdicts[expected] : -1;
}

static bool ended(enum run_verdict verdict)
{
  return verdict == RUN_COMPLETED || verdict == RUN_RECOVERED;
}

/* NULL when the run is as it should be; otherwise what was expected and what was seen. A program
 * that ended must have ended well unless the scenario says otherwise. */
static char *judge(const struct scenario *scenario, const struct result *result)
{
  int expected = expected_verdict(scenario->expect.verdict);
  const char *seen = run_verdict_name(result->verdict);
  if (result->audit_violations > 0)
    return g_strdup_printf("expected no violation, seen %" G_GUINT64_FORMAT ", first: %s",
                           result->audit_violations,
                           result->audit_first != NULL ? result->audit_first : "unknown");
  if (expected >= 0 && expected != (int)result->verdict)
    return g_strdup_printf("expected %s, seen %s", run_verdict_name((enum run_verdict)expected),
                           seen);
  bool stopped = result->verdict == RUN_STOPPED;
  if (expected < 0 && !ended(result->verdict) && !stopped)
    return g_strdup_printf("expected completed or recovered, seen %s", seen);
  int expected_exit = scenario->expect.program_exit;
  if (expected_exit < 0 && ended(result->verdict))
    expected_exit = 0;
  if (expected_exit >= 0 && expected_exit != result->program_exit)
    return g_strdup_printf("expected exit code %d of the program, seen %d", expected_exit,
                           result->program_exit);
  return NULL;
}

/* ---- the command ---- */

static int report(const struct run *run, const struct result *result)
{
  g_autofree char *wrong = judge(run->scenario, result);
  if (run->options.json) {
    g_autofree char *json = result_json(result);
    fputs(json, stdout);
    if (wrong != NULL)
      g_printerr("recline run: %s\n", wrong);
  } else {
    summary_print(run->scenario, result, run->program, run->options.out, wrong);
  }
  return wrong == NULL ? EXIT_FINE : EXIT_NOT_AS_EXPECTED;
}

/* The program's output is shown also when the simulation died: it may say why. */
static void print_program(const struct run *run)
{
  g_autofree char *out = in(run->directory, "program.out");
  g_autofree char *err = in(run->directory, "program.err");
  if (!run->options.json)
    print_file(out, stdout);
  print_file(err, stderr);
}

/* The layer writes the result when the last rank is in MPI_Finalize; what the program then returns
 * from main is the exit code of the simulation. */
static bool complete_result(const struct run *run, const char *file, struct result *result,
                            GError **error)
{
  if (!result_load(file, result, error))
    return false;
  if (!ended(result->verdict) || WEXITSTATUS(run->status) == result->program_exit)
    return true;
  result->program_exit = WEXITSTATUS(run->status);
  return result_save(result, file, error);
}

/* The simulation has ended, with a result. */
static int finish(const struct run *run, const char *file)
{
  struct result result = {0};
  g_autoptr(GError) error = NULL;
  int code;
  if (!complete_result(run, file, &result, &error)) {
    g_printerr("recline run: %s\n", error->message);
    return error->domain == G_FILE_ERROR ? EXIT_BAD_INPUT : EXIT_BREACH;
  }
  print_program(run);
  if (run->options.out == NULL || publish(run, true, &error))
    code = report(run, &result);
  else
    code = bad_input("%s", error->message);
  result_clear(&result);
  return code;
}

/* It has died, before its result or after it. */
static int fail(const struct run *run, const char *file)
{
  g_autoptr(GError) error = NULL;
  bool keeps = true;
  int code = death_explain(run->directory, run->scenario->platform.file, run->status, &keeps);
  unlink(file);
  if (keeps && run->options.out != NULL && !publish(run, false, &error))
    return bad_input("%s", error->message);
  return code;
}

static int run_scenario(struct run *run, const char *file)
{
  g_autoptr(GError) error = NULL;
  run->scenario = scenario_load(file, (const char *const *)run->options.set, &error);
  if (run->scenario == NULL || !scenario_expects_of(run->scenario, true, &error) ||
      !check_topology(run->scenario, &error) || !check_platform(run->scenario, &error) ||
      !check_hazards(run->scenario, &error) || !check_script(run->scenario, &error) ||
      !check_schedule(run->scenario, &error) || !check_stop(run, &error) ||
      !check_restart(run, &error) || !find_program(run, &error) || !find_replay(run, &error) ||
      !make_directory(run, &error) ||
      !(run->options.record != NULL ? record : simulate)(run, &error))
    return bad_input("%s", error->message);
  if (run->interrupted < 0)
    g_printerr(run->interrupted == LAUNCH_TIMEOUT
                   ? "recline run: inconclusive: not at its end after the time that it may take\n"
                   : "recline run: inconclusive: it takes more memory than it may\n");
  if (run->interrupted != 0)
    return run->interrupted < 0 ? EXIT_INCONCLUSIVE : EXIT_BREACH;
  g_autofree char *result = in(run->directory, "result.json");
  bool done = WIFEXITED(run->status) && g_file_test(result, G_FILE_TEST_EXISTS);
  return done ? finish(run, result) : fail(run, result);
}

int command_run(int argc, char **argv)
{
  struct run run = {0};
  g_autofree char *file = NULL;
  int code = parse(argc, argv, &run.options, &file);
  if (code == EXIT_FINE) {
    launch_block();
    code = run_scenario(&run, file);
    fflush(stdout);
    clean_up(&run);
    launch_unblock();
  }
  if (run.interrupted > 0)
    raise(run.interrupted); /* the caller sees which signal stopped us */
  scenario_free(run.scenario);
  g_strfreev(run.options.set);
  g_strfreev(run.args);
  g_free(run.options.out);
  g_free(run.options.memory);
  g_free(run.options.record);
  g_free(run.options.replay);
  g_free(run.options.restart);
  g_free(run.program);
  return code;
}
