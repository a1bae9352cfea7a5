/* Is `recline check`. It finds claims, explores each in a process of its own, and reports. */
#define _DEFAULT_SOURCE
#include "verify/check/check.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/glib/catalogue.h"
#include "base/glib/command_line.h"
#include "base/glib/signals.h"
#include "base/glib/terminal.h"
#include "base/output.h"
#include "verify/check/claim_process.h"
#include "verify/check/matrix.h"
#include "verify/distribute/launcher.h"
#include "world/trace/trace.h"

/* Sets the limits of the command line (docs/architecture.md). */
enum { AT_ONCE_MAX = 1024, /* processes or threads */ TIMEOUT_MAX = 1000000000 /* seconds */ };

struct command {
  gboolean all, more, matrix, json, tap, junit, annotate, progress, audit, whole, compact;
  gint jobs, workers;
  gint64 max_states;
  /* Options as the user wrote them. */
  char *reduce, *out, *memory, *saves, *protocol, *disk, *limit, *pause;
  double memory_bytes, save_every;
  double timeout; /* seconds for a claim, or 0 for no limit */
  char **names;
  struct launch launch; /* the transport, if several processes check one claim together */
  /* standard error; in processes other than the first one, only the exploring child writes to it */
  int errors;
  struct checked *list;
  unsigned count;
  struct matrix *cells; /* with --matrix: the matrix whose cells are the claims of the list */
};

/* ---- options ---- */

const struct about about_check = {
    "check", "[CLAIM|SCENARIO|TRACE]...",
    "explore every interleaving and every crash of small worlds; replay traces",
    "check c3-recovers\n"
    "check c3-no-suppress --out kept\n"
    "check --all --jobs 2 --junit"};

static int parse_options(struct command *c, int argc, char **argv)
{
  const GOptionEntry entries[] = {
      {"all", 0, 0, G_OPTION_ARG_NONE, &c->all, "Check every claim and mutant", NULL},
      {"long", 0, 0, G_OPTION_ARG_NONE, &c->more, "Check those that take longer", NULL},
      {"matrix", 0, 0, G_OPTION_ARG_NONE, &c->matrix,
       "Print every protocol's verdict in every world", NULL},
      {"jobs", 0, 0, G_OPTION_ARG_INT, &c->jobs, "Explore N claims at a time", "N"},
      {"workers", 0, 0, G_OPTION_ARG_INT, &c->workers, "Explore each with N threads", "N"},
      {"memory", 0, 0, G_OPTION_ARG_STRING, &c->memory, "Take no more for tables", "SIZE"},
      {"disk", 0, 0, G_OPTION_ARG_FILENAME, &c->disk, "Keep states there when memory is short",
       "DIR"},
      {"resume", 0, 0, G_OPTION_ARG_FILENAME, &c->saves, "Save there; go on from what is there",
       "DIR"},
      {"checkpoint", 0, 0, G_OPTION_ARG_STRING, &c->protocol,
       "With processes of MPI: save by that protocol", "PROTOCOL"},
      {"save-every", 0, 0, G_OPTION_ARG_STRING, &c->pause, "Save after each such time", "TIME"},
      {"progress", 0, 0, G_OPTION_ARG_NONE, &c->progress, "Show the progress, also in a file",
       NULL},
      {"audit", 0, 0, G_OPTION_ARG_NONE, &c->audit, "Compute again what is remembered, and compare",
       NULL},
      {"whole", 0, 0, G_OPTION_ARG_NONE, &c->whole, "Keep stored contents that make no difference",
       NULL},
      {"reduce", 0, 0, G_OPTION_ARG_STRING, &c->reduce, "Leave out runs that others stand for",
       "none|por|sym|all"},
      {"compact", 0, 0, G_OPTION_ARG_NONE, &c->compact, "Keep fingerprints of states", NULL},
      {"max-states", 0, 0, G_OPTION_ARG_INT64, &c->max_states, "Stop a claim at N states", "N"},
      {"timeout", 0, 0, G_OPTION_ARG_STRING, &c->limit,
       "Stop a claim after that time: inconclusive", "TIME"},
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &c->out, "Write counterexamples there", "DIR"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &c->json, "Print one JSON object", NULL},
      {"tap", 0, 0, G_OPTION_ARG_NONE, &c->tap, "Print the Test Anything Protocol", NULL},
      {"junit", 0, 0, G_OPTION_ARG_NONE, &c->junit, "Print JUnit's XML", NULL},
      {"annotate", 0, 0, G_OPTION_ARG_NONE, &c->annotate,
       "Tell GitHub Actions, on standard error, which claims are not as expected", NULL},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &c->names, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  return options_read(&about_check, argc, argv, entries) ? EXIT_FINE : EXIT_BAD_INPUT;
}

/* Judges the options for several processes, which explore one world, each with one worker. */
static int check_launch(const struct command *c)
{
  if (c->protocol && (c->launch.size == 1 || !c->saves))
    return bad_input("recline check: --checkpoint %s, expected processes that mpirun has started, "
                     "and --resume",
                     c->protocol);
  if (c->launch.size == 1 || (c->names && !c->names[1] && !c->all && !c->more && !c->matrix &&
                              !c->audit && !c->disk && c->jobs <= 1 && c->workers <= 1))
    return EXIT_FINE;
  return bad_input("recline check: started as %u processes, expected one claim and none of --all, "
                   "--long, --matrix, --audit, --disk, --jobs and --workers",
                   c->launch.size);
}

static int check_options(struct command *c)
{
  static const char *const reductions[] = {"none", "por", "sym", "all", NULL};
  g_autoptr(GError) error = NULL;
  gint processors = (gint)(c->launch.size > 1 ? 1 : g_get_num_processors());
  if (c->jobs == -1) /* most claims are small, and a long one may need all memory */
    c->jobs = (c->all || c->matrix) && !c->more && c->workers == -1 ? processors : 1;
  if (c->workers == -1 && c->jobs > 0) /* the jobs share the processors */
    c->workers = MAX(1, processors / c->jobs);
  if (c->reduce && !g_strv_contains(reductions, c->reduce))
    return bad_input("recline check: --reduce %s, expected none, por, sym or all", c->reduce);
  if (c->jobs > AT_ONCE_MAX || c->workers > AT_ONCE_MAX)
    return bad_input("recline check: --jobs %d --workers %d, expected at most %d of each", c->jobs,
                     c->workers, AT_ONCE_MAX);
  if (c->jobs < 1 || c->workers < 1 || c->max_states < 0)
    return bad_input("recline check: --jobs %d --workers %d --max-states %" G_GINT64_FORMAT
                     ", expected at least one job and worker and no negative bound",
                     c->jobs, c->workers, c->max_states);
  if (c->limit && !scenario_option_seconds(c->limit, &c->timeout, &error))
    return bad_input("recline check: --timeout: %s", error->message);
  if (c->pause && !scenario_option_seconds(c->pause, &c->save_every, &error))
    return bad_input("recline check: --save-every: %s", error->message);
  if (c->timeout > TIMEOUT_MAX)
    return bad_input("recline check: --timeout %s, expected 0 to %d seconds", c->limit,
                     TIMEOUT_MAX);
  if (c->memory && !scenario_bytes(c->memory, &c->memory_bytes, &error))
    return bad_input("recline check: --memory: %s", error->message);
  if (c->json + c->tap + c->junit > 1)
    return bad_input(
        "recline check: more than one of --json, --tap, --junit, expected one or none");
  if ((c->all || c->more) + c->matrix + (c->names != NULL) != 1)
    return bad_input("recline check: %s, expected claims and scenarios, --all or --matrix",
                     c->names || c->all ? "more than one of these" : "nothing to check");
  return EXIT_FINE;
}

/* ---- finding claims ---- */

/* Adds all claims of some kind to `files`, sorted. */
static void add_files(GPtrArray *files, unsigned kinds)
{
  g_autofree char **found = catalogue_files(kinds);
  for (char **file = found; *file; file++)
    g_ptr_array_add(files, *file);
}

char *check_find_claim(const char *name)
{
  if (strchr(name, '/') || g_str_has_suffix(name, ".yaml"))
    return g_strdup(name);
  return catalogue_find(CHECKABLE, name);
}

static int find_files(const struct command *c, GPtrArray *files)
{
  int code = EXIT_FINE;
  add_files(files,
            (c->all ? CATALOGUE_CLAIMS | CATALOGUE_MUTANTS : 0) | (c->more ? CATALOGUE_LONG : 0));
  for (char **name = c->names; name && *name; name++) {
    char *file = check_find_claim(*name);
    g_autofree char *guess = file ? NULL : catalogue_guess(CHECKABLE, *name);
    if (file)
      g_ptr_array_add(files, file);
    else
      code = bad_input("recline check: there is no claim '%s', expected one of 'recline list "
                       "claims' or 'mutants', or a file%s",
                       *name, guess);
  }
  if (!files->len && code == EXIT_FINE)
    code = bad_input("recline check: no claims found, expected some below RECLINE_DATA");
  return code;
}

static int load_matrix(struct command *c)
{
  g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GError) error = NULL;
  GArray *cells = g_array_new(FALSE, TRUE, sizeof(struct checked));
  add_files(files, CATALOGUE_MATRIX);
  c->cells = matrix_load(files, cells, &error);
  c->count = cells->len;
  c->list = (struct checked *)(void *)g_array_free(cells, FALSE);
  return c->cells ? EXIT_FINE : bad_input("%s", error->message);
}

/* Loads and judges all claims before any is explored. */
static int load(struct command *c)
{
  if (c->matrix)
    return load_matrix(c);
  g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
  int code = find_files(c, files);
  c->list = g_new0(struct checked, files->len + 1);
  for (guint i = 0; i < files->len; i++) {
    g_autoptr(GError) error = NULL;
    struct scenario *claim = scenario_load(g_ptr_array_index(files, i), NULL, &error);
    if (claim)
      c->list[c->count++].claim = claim;
    if (!claim || !claim_valid(claim, &error))
      code = bad_input("%s", error->message);
  }
  return code;
}

/* ---- exploring ---- */

static bool reduces(const struct command *c, const char *name)
{
  return c->reduce && (g_str_equal(c->reduce, name) || g_str_equal(c->reduce, "all"));
}

static bool shows_progress(const struct command *c)
{
  return !c->launch.rank && (c->progress || (c->jobs == 1 && terminal_shows_progress()));
}

/* Returns the settings that are the same for all claims. */
static struct work work_of(const struct command *c)
{
  return (struct work){
      .options = {.max_states = (uint64_t)c->max_states,
                  .out = c->out,
                  .jobs = (unsigned)c->jobs * (c->launch.size > 1 ? c->launch.here : 1),
                  .workers = (unsigned)c->workers,
                  .stubborn = reduces(c, "por"),
                  .symmetry = reduces(c, "sym"),
                  .compact = c->compact,
                  .audit = c->audit,
                  .whole = c->whole,
                  .memory = (uint64_t)c->memory_bytes,
                  .saves = c->saves,
                  .protocol = c->protocol,
                  .disk = c->disk,
                  .save_seconds = c->save_every,
                  .progress = shows_progress(c)},
      .timeout = c->timeout,
      .launch = &c->launch,
      .errors = c->errors};
}

static struct worker *worker_of(struct worker *workers, int jobs, pid_t pid)
{
  for (int i = 0; i < jobs; i++)
    if (workers[i].pid == pid)
      return &workers[i];
  return NULL;
}

/* Shows progress while several claims are explored, and returns whether it has written a line. A
 * single claim shows its own progress. */
static bool show_progress(const struct command *c, gint64 began, unsigned done)
{
  g_autofree char *line = g_strdup_printf("%u of %u claims done", done, c->count);
  return c->jobs > 1 && progress_line(began, line);
}

/* Explores all claims, `jobs` at a time. Returns false after an error of the input. */
static bool explore_all(struct command *c)
{
  gint64 began = g_get_monotonic_time();
  bool shown = false;
  g_autofree struct worker *workers = g_new0(struct worker, (gsize)c->jobs);
  unsigned next = 0, running = 0;
  bool fine = true;
  const struct work work = work_of(c);
  while (fine ? next < c->count || running : running) {
    struct worker *idle = worker_of(workers, c->jobs, 0);
    if (fine && next < c->count && idle) {
      fine = worker_begin(&work, idle, &c->list[next]);
      next++;
      running += fine;
      continue;
    }
    int status;
    struct rusage usage;
    pid_t pid = wait4(-1, &status, WNOHANG, &usage), ending = 0;
    if (pid <= 0 && (ending = workers_watch(&work, workers, c->jobs)))
      pid = wait4(ending, &status, 0, &usage);
    struct worker *worker = pid > 0 ? worker_of(workers, c->jobs, pid) : NULL;
    if (!worker) {
      shown |= show_progress(c, began, next - running);
      continue;
    }
    progress_clear(shown);
    running--;
    fine &= worker_end(worker, status, &usage);
    if (fine && !c->matrix && !c->json && !c->tap && !c->junit)
      report_line(worker->checked);
  }
  return fine;
}

/* ---- pictures ---- */

/* Lets `recline draw` make a picture of a trace, of the kind that the suffix names. If the picture
 * cannot be made, prints a warning. Returns false if it cannot be written to the disk. */
static bool draw(const char *trace, const char *suffix)
{
  g_autofree char *stem = g_strndup(trace, strlen(trace) - strlen(".trace"));
  g_autofree char *file = g_strconcat(stem, suffix, NULL);
  g_autofree char *said = NULL;
  const char *argv[] = {"/proc/self/exe", "draw", trace, "-o", file, NULL};
  int status = 0;
  g_autoptr(GError) error = NULL;
  if (g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &said,
                   &status, &error) &&
      g_spawn_check_wait_status(status, &error))
    return true;
  bool fine = !said || !strstr(said, OUTPUT_CANNOT_PART);
  if (fine)
    fprintf(stderr, "recline check: %s was not made: %s\n", file, error->message);
  fputs(said ? said : "", stderr);
  return fine;
}

static bool draw_all(const struct command *c)
{
  bool fine = true;
  for (unsigned i = 0; fine && i < c->count; i++)
    if (*c->list[i].result.trace)
      fine =
          draw(c->list[i].result.trace, ".svg") && draw(c->list[i].result.trace, ".narration.txt");
  return fine;
}

/* ---- the command ---- */

/* Returns the exit code of a process other than the first one, which reports the verdict. If a
 * process is lost, the launcher ends all others. */
static int exit_code_of_another(const struct command *c)
{
  const struct claim_result *result = &c->list[0].result;
  if (!c->list[0].lost)
    return EXIT_FINE;
  dprintf(c->errors, "recline check: process %u of %u: %s\n", c->launch.rank, c->launch.size,
          *result->bound ? result->bound : result->text);
  return result->verdict == CLAIM_BREACH ? EXIT_BREACH : EXIT_INCONCLUSIVE;
}

static int exit_code(const struct command *c)
{
  int code = EXIT_FINE;
  for (unsigned i = 0; i < c->count; i++) {
    const struct checked *checked = &c->list[i];
    if (checked->result.verdict == CLAIM_BREACH)
      return EXIT_BREACH;
    if (c->matrix)
      continue; /* the scenario expects nothing */
    if (checked_as_expected(checked))
      continue;
    if (checked->result.verdict != CLAIM_INCONCLUSIVE)
      code = EXIT_NOT_AS_EXPECTED;
    else if (code == EXIT_FINE)
      code = EXIT_INCONCLUSIVE;
  }
  return code;
}

static void report(const struct command *c)
{
  g_autofree char *json = c->json && !c->matrix ? report_json(c->list, c->count) : NULL;
  if (c->matrix)
    matrix_print(c->cells, c->list);
  else if (json)
    printf("%s\n", json);
  else if (c->tap)
    report_tap(c->list, c->count);
  else if (c->junit)
    report_junit(c->list, c->count);
  else
    report_end(c->list, c->count);
  if (c->annotate && !c->matrix)
    report_annotate(stderr, c->list, c->count);
}

/* Saves the text that --json prints beside the counterexamples. */
static bool save(const struct command *c)
{
  g_autofree char *json = report_json(c->list, c->count);
  g_autofree char *file = g_build_filename(c->out, "check.json", NULL);
  if (output_write(file, json, strlen(json)))
    return true;
  bad_input(OUTPUT_CANNOT, file, g_strerror(errno));
  return false;
}

static bool explore_again(struct command *c)
{
  struct command again = *c;
  GArray *cells = matrix_again(c->cells, c->list, c->count);
  again.list = (struct checked *)(void *)cells->data;
  again.count = cells->len;
  bool fine = explore_all(&again);
  matrix_add(c->cells, c->list, cells);
  g_array_unref(cells);
  return fine;
}

static int run(struct command *c)
{
  int code = load(c);
  if (code != EXIT_FINE)
    return code;
  if (c->out && g_mkdir_with_parents(c->out, 0777) != 0)
    return bad_input("%s: cannot be made: %s, expected a folder", c->out, g_strerror(errno));
  if (c->saves && g_mkdir_with_parents(c->saves, 0777) != 0)
    return bad_input("%s: cannot be made: %s, expected a folder", c->saves, g_strerror(errno));
  if (c->disk && g_mkdir_with_parents(c->disk, 0777) != 0)
    return bad_input("%s: cannot be made: %s, expected a folder", c->disk, g_strerror(errno));
  if (c->out)
    output_sweep(c->out);
  if (c->saves)
    output_sweep(c->saves);
  if (!c->launch.rank)
    signals_tell(c->saves ? "stopped: what was saved goes on with the same command\n"
                          : "stopped: nothing is kept; with --resume DIR the same command saves "
                            "there, and goes on\n");
  if (!explore_all(c) || (c->matrix && !explore_again(c)))
    return EXIT_BAD_INPUT;
  progress_begin("drawing");
  bool kept = !c->out || (draw_all(c) && (c->matrix || save(c)));
  progress_end();
  report(c);
  if (c->launch.rank)
    return exit_code_of_another(c);
  return kept ? exit_code(c) : EXIT_BAD_INPUT;
}

/* ---- traces ---- */

/* Replays a trace in a world of its own. Returns the exit code. */
static int replay(const char *file)
{
  g_autoptr(GError) error = NULL;
  struct trace_story story;
  if (!trace_read(file, &story, &error))
    return bad_input("%s", error->message);
  printf("%s: %u moves, the same in a replay\n", file, story.count);
  trace_story_clear(&story);
  return EXIT_FINE;
}

static bool are_traces(char **names)
{
  while (names && *names && (g_str_has_suffix(*names, ".trace") || trace_is(*names)))
    names++;
  return names && !*names;
}

static int replay_all(char **names)
{
  int code = EXIT_FINE;
  for (; *names; names++) {
    int one = replay(*names);
    code = one > code ? one : code;
  }
  return code;
}

/* Silences a process other than the first one, which reports. */
static void be_silent(struct command *c)
{
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  c->errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
}

int command_check(int argc, char **argv)
{
  struct command c = {.jobs = -1, .workers = -1, .save_every = 60, .launch = launch_read()};
  c.errors = STDERR_FILENO;
  if (c.launch.rank)
    be_silent(&c);
  int code = parse_options(&c, argc, argv);
  if (c.launch.rank)
    g_clear_pointer(&c.out, g_free);
  code = code == EXIT_FINE ? check_launch(&c) : code;
  code = code == EXIT_FINE ? check_options(&c) : code;
  if (code == EXIT_FINE)
    code = are_traces(c.names) ? replay_all(c.names) : run(&c);
  for (unsigned i = 0; i < c.count; i++)
    scenario_free(c.list[i].claim);
  g_free(c.list);
  g_free(c.reduce);
  g_free(c.out);
  g_free(c.memory);
  g_free(c.limit);
  g_free(c.pause);
  g_free(c.saves);
  g_free(c.protocol);
  g_free(c.disk);
  g_strfreev(c.names);
  matrix_free(c.cells);
  return c.launch.rank && code == EXIT_BAD_INPUT ? EXIT_FINE
                                                 /* otherwise the first process has reported the
                                                  * error */
                                                 : code;
}
