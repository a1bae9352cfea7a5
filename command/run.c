/* recline run SCENARIO: simulates one run, judges it and prints a summary.
 *
 *     scenario --load--> resolved --check--> private folder --launch--> result.json --judge--> exit
 *                                            (in DIR with --out)           |
 *                                                                          +--> DIR/... by renaming
 *
 * All errors of the input are found before the private folder is made, so that bad input leaves
 * nothing behind. docs/run.md is the page for users.
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

#include "base/output.h"
#include "command/campaign/recording_folder.h"
#include "command/common.h"
#include "command/death.h"
#include "command/launch.h"
#include "command/main.h"
#include "command/run.h"
#include "command/summary.h"
#include "sim/host/storage/manifest.h"
#include "world/result/result.h"
#include "world/scenario/machine_file.h"

/* Lists the files that --out keeps, in the order in which they appear. result.json comes last, so
 * when it is there, all files are there. program.err is kept only if the simulation died. */
static const char *const KEPT[] = {"scenario.yaml", "program.out",  "program.err",   "activity.txt",
                                   "trace.txt",     "platform.xml", MANIFEST_FOLDER, "result.json"};

static char *in(const char *folder, const char *name)
{
  return g_build_filename(folder, name, NULL);
}

/* ---- the private folder ---- */

/* Makes the private folder. If there is a DIR, the private folder lies in DIR, so that files can be
 * renamed into DIR. */
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

/* Gives the folder a name that no command removes when it sweeps old folders. */
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
    rmdir(run->options.out); /* this removes the folder only if it is empty */
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
  /* if the program is recorded twice, these are the arguments of the first recording */
  g_strfreev(run->args);
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
    /* with "each", the program prints only the messages of the script */
    run->args[1] = g_strdup("each");
  return write_file(run->args[0], run->scenario->program.script, error);
}

/* ---- the simulation ---- */

/* Returns the smaller of two limits, where 0 means no limit. */
static double least(double a, double b)
{
  return a > 0 && b > 0 ? MIN(a, b) : MAX(a, b);
}

/* Returns whether SimGrid can read the platform that is made from a described machine. */
static bool platform_is_made(const struct scenario *scenario)
{
  const char *file = scenario->platform.file;
  return file == NULL || is_machine_file(file);
}

static bool simulate(struct run *run, GError **error)
{
  g_autofree char *scenario = in(run->directory, "scenario.yaml");
  g_autofree char *hostfile = in(run->directory, "hosts");
  g_autofree char *result = in(run->directory, "result.json");
  g_autofree char *out = in(run->directory, "program.out");
  g_autofree char *err = in(run->directory, "program.err");
  g_autofree char *made = in(run->directory, "platform.xml");
  bool is_made = platform_is_made(run->scenario);
  if (!scenario_save(run->scenario, scenario, error) || !write_hostfile(run, hostfile, error) ||
      !write_script(run, error) ||
      (is_made && !write_file(made, run->scenario->platform.text, error)))
    return false;
  const struct launch job = {
      .program = run->program,
      .args = (const char *const *)run->args,
      .input = run->options.replay ? NULL : run->scenario->program.input,
      .platform = is_made ? made : run->scenario->platform.file,
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
      .replay = run->options.replay ? run->args[0] : NULL,
      .skew = run->again != NULL ? 1.5 : 1.0,
      .timeout = least(run->options.timeout, run->scenario->limits.time),
      .memory = least(run->options.memory_bytes, run->scenario->limits.memory),
      .tells = !run->options.json,
  };
  return launch(&job, &run->status, &run->interrupted, error);
}

/* Returns whether the simulation ran to its end without an error. */
static bool completed(const struct run *run)
{
  g_autofree char *file = in(run->directory, "result.json");
  struct result result = {0};
  bool good = run->interrupted == 0 && WIFEXITED(run->status) && WEXITSTATUS(run->status) == 0 &&
              result_load(file, &result, NULL) && result.verdict == RUN_COMPLETED;
  result_clear(&result);
  return good;
}

/* Records the program twice, to see whether it does the same under different circumstances. The
 * output of the second run stays. If a run fails, the caller gets the result of that run. */
static bool record_twice(struct run *run, bool *whole, GError **error)
{
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
  *whole = recording_same(run->options.record, again, run->scenario->program.ranks, error) &&
           recording_close(run->options.record, run->scenario, error);
  return *whole;
}

/* Records the program. Removes the recording if it is not complete. */
static bool record(struct run *run, GError **error)
{
  bool whole = false;
  g_autofree char *folder = g_canonicalize_filename(run->options.record, NULL);
  g_free(run->options.record);
  run->options.record = g_steal_pointer(&folder);
  bool good = record_twice(run, &whole, error);
  if (!whole)
    recording_drop(run->options.record, run->scenario->program.ranks);
  return good;
}

/* Copies a file of any size, without holding it in memory. */
static void print_file(const char *file, FILE *to)
{
  char bytes[1 << 16];
  g_autoptr(GFile) path = g_file_new_for_path(file);
  g_autoptr(GFileInputStream) from = g_file_read(path, NULL, NULL);
  gssize count;
  while (from != NULL &&
         (count = g_input_stream_read(G_INPUT_STREAM(from), bytes, sizeof bytes, NULL, NULL)) > 0)
    if (fwrite(bytes, 1, (size_t)count, to) < (size_t)count)
      return; /* main() reports the error */
  fflush(to);
}

/* Removes a folder, but only if a run has left that folder. */
static void remove_earlier(const char *file)
{
  g_autofree char *manifest = in(file, "manifest");
  if (g_file_test(manifest, G_FILE_TEST_EXISTS))
    output_remove(file);
  else
    unlink(file);
}

/* Moves the existing files of KEPT into DIR. Removes the files of an earlier run first, so that DIR
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

/* Returns the verdict that a run should have. Returns -1 if the scenario expects no verdict, or
 * expects a verdict of `recline check`. */
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

/* Returns NULL if the run is as expected. Otherwise returns a text that says what was expected and
 * what was seen. Unless the scenario says otherwise, a program that came to its end must have
 * returned 0. */
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

/* Shows the program's output. If the simulation died, the output may say why. */
static void print_program(const struct run *run)
{
  g_autofree char *out = in(run->directory, "program.out");
  g_autofree char *err = in(run->directory, "program.err");
  if (!run->options.json)
    print_file(out, stdout);
  print_file(err, stderr);
}

/* Adds the exit code to the result. The layer writes the result when the last rank is in
 * MPI_Finalize. The exit code is known only later, when main returns it and the simulation ends
 * with it. */
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

/* Reports a simulation that has left a result. */
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

/* Reports a simulation that has died, with or without a result. */
static int fail(const struct run *run, const char *file)
{
  g_autoptr(GError) error = NULL;
  bool keeps = true;
  int code = death_explain(run->directory, run->scenario, run->status, &keeps);
  unlink(file);
  if (keeps && run->options.out != NULL && !publish(run, false, &error))
    return bad_input("%s", error->message);
  return code;
}

static int run_scenario(struct run *run, const char *file)
{
  g_autoptr(GError) error = NULL;
  run->scenario = scenario_load(file, (const char *const *)run->options.set, &error);
  if (run->scenario == NULL || !run_check(run, &error) || !make_directory(run, &error) ||
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
  int code = run_parse(argc, argv, &run.options, &file);
  if (code == EXIT_FINE) {
    launch_block();
    code = run_scenario(&run, file);
    fflush(stdout);
    clean_up(&run);
    launch_unblock();
  }
  if (run.interrupted > 0)
    raise(run.interrupted); /* the caller sees which signal stopped this process */
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
