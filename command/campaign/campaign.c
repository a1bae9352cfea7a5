/* Runs a scenario many times. All cells of the sweeps have the same seeds. DIR contains:
 *
 *     campaign.txt           version and sweeps, to recognize the campaign; locked while it runs
 *     recordings/NAME/       with `replay`: recordings, one for each program (recording_folder.h)
 *     cells/N.yaml           the scenario of each cell, resolved: `recline run` takes it with --set
 *     runs.jsonl             a line for each run that has ended (runs.h)
 *     runs.csv, table.csv    made at the end, like figure.gp, figure.svg and answer.json
 *     slurm/                 files of Slurm's jobs, while Slurm runs the campaign (slurm.h)
 *
 * The widths of the intervals are checked only after every ROUND runs of all cells, when no run is
 * under way. So the number of runs does not depend on how many run at once. */
#define _GNU_SOURCE /* flock */
#include "command/campaign/campaign.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/glib/json.h"
#include "base/glib/terminal.h"
#include "base/output.h"
#include "command/campaign/answer.h"
#include "command/campaign/bands.h"
#include "command/campaign/costs.h"
#include "command/campaign/pool.h"
#include "command/campaign/recording_folder.h"
#include "command/campaign/slurm.h"
#include "protocols/protocol.h"
#include "world/scenario/scenario.h"

enum { ROUND = 20, PROGRESS_SECONDS = 30 };

static char *in(const struct campaign *c, const char *name)
{
  return g_build_filename(c->out, name, NULL);
}

static char *cell_file(const struct campaign *c, unsigned cell)
{
  g_autofree char *name = g_strdup_printf("cells/%u.yaml", cell);
  return in(c, name);
}

static bool fail(GError **error, const char *file)
{
  g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno),
              "%s: %s, expected a folder that can be written", file, g_strerror(errno));
  return false;
}

/* ---- the folder ---- */

static bool make_folder(struct campaign *c, GError **error)
{
  g_autofree char *cells = in(c, "cells"), *name = in(c, "campaign.txt");
  c->made = !g_file_test(c->out, G_FILE_TEST_EXISTS);
  if (g_mkdir_with_parents(cells, 0777) != 0)
    return fail(error, c->out);
  c->lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (c->lock < 0)
    return fail(error, name);
  if (flock(c->lock, LOCK_EX | LOCK_NB) == 0) {
    output_sweep(c->out);
    output_sweep(cells);
    return true;
  }
  g_set_error(error, SCENARIO_ERROR, 0,
              "%s: another process runs this campaign, expected it to end", c->out);
  return false;
}

/* Returns the first line in which two texts differ, as "line 3 is 'A', and 'B' of this campaign".
 * The caller frees it. */
static char *difference(const char *there, const char *here)
{
  g_auto(GStrv) old = g_strsplit(there, "\n", -1), new = g_strsplit(here, "\n", -1);
  unsigned i = 0;
  while (old[i] && new[i] && !strcmp(old[i], new[i]))
    i++;
  const char *first = old[i] ? g_strstrip(old[i]) : "", *second = new[i] ? g_strstrip(new[i]) : "";
  return g_strdup_printf("line %u is '%s', and '%s' of this campaign", i + 1, first, second);
}

/* Returns whether the file belongs to this campaign. An empty file belongs to every campaign. */
static bool same_or_new(const struct campaign *c, const char *file, const char *text,
                        GError **error)
{
  g_autofree char *there = NULL;
  if (g_file_get_contents(file, &there, NULL, NULL) && *there) {
    if (!strcmp(there, text))
      return true;
    g_autofree char *what = difference(there, text);
    g_set_error(error, SCENARIO_ERROR, 0,
                "%s: not as this campaign, as %s, expected the scenario, sweeps and recline that "
                "%s was begun with, or an empty folder",
                file, what, c->out);
    return false;
  }
  FILE *to = fopen(file, "w");
  bool good = to && fputs(text, to) >= 0;
  return (to && fclose(to) == 0 && good) || fail(error, file);
}

static bool know_again(const struct campaign *c, GError **error)
{
  g_autofree char *file = in(c, "campaign.txt");
  GString *text = g_string_new("recline " RECLINE_VERSION "\n");
  for (char **sweep = c->sweeps; sweep && *sweep; sweep++)
    g_string_append_printf(text, "sweep %s\n", *sweep);
  if (c->replay)
    g_string_append(text, "replay\n");
  bool good = same_or_new(c, file, text->str, error);
  g_string_free(text, TRUE);
  return good;
}

/* ---- cells ---- */

static bool load_cell(const struct campaign *c, unsigned cell, struct scenario **scenario,
                      GError **error)
{
  g_auto(GStrv) set = grid_settings(&c->grid, cell, c->set);
  *scenario = scenario_load(c->scenario, (const char *const *)set, error);
  if (!*scenario)
    return false;
  if (!(*scenario)->platform.text)
    return scenario_complain(*scenario, "platform.file", error,
                             "missing, expected the platform on which the program runs");
  return campaign_runs_to_end(*scenario, error) && scenario_expects_of(*scenario, true, error);
}

/* Says what to expect of a cell's runs. The timer counts only if nothing else asks for
 * checkpoints. */
static struct outlook outlook_of(const struct scenario *scenario)
{
  const struct rcl_protocol *protocol = rcl_protocol_named(scenario->protocol.name);
  bool by_time = protocol && protocol->controls && scenario->checkpoint.count == 0 &&
                 scenario->checkpoint.instants_count == 0;
  return (struct outlook){by_time ? scenario->checkpoint.every : 0.0,
                          protocol && protocol->independent ? scenario->program.ranks : 1.0,
                          costs_mtbf(scenario)};
}

/* Checks all cells. Nothing has been written before this. */
static bool check_cells(struct campaign *c, uint64_t *seed, GError **error)
{
  c->outlook = g_new0(struct outlook, c->grid.cells);
  for (unsigned cell = 0; cell < c->grid.cells; cell++) {
    struct scenario *scenario = NULL;
    bool good = load_cell(c, cell, &scenario, error);
    if (good) {
      *seed = scenario->seed;
      c->outlook[cell] = outlook_of(scenario);
    }
    scenario_free(scenario);
    if (!good)
      return false;
  }
  return true;
}

static bool save_cell(const struct campaign *c, unsigned cell, GError **error)
{
  g_autofree char *file = cell_file(c, cell), *fresh = in(c, "cells/.new"), *text = NULL;
  struct scenario *scenario = NULL;
  bool good = load_cell(c, cell, &scenario, error) && scenario_save(scenario, fresh, error) &&
              g_file_get_contents(fresh, &text, NULL, error) && same_or_new(c, file, text, error);
  scenario_free(scenario);
  unlink(fresh);
  return good;
}

static bool save_cells(const struct campaign *c, GError **error)
{
  for (unsigned cell = 0; cell < c->grid.cells; cell++)
    if (!save_cell(c, cell, error))
      return false;
  return true;
}

/* ---- running ---- */

struct progress {
  const struct campaign *campaign;
  struct pool *pool;
  struct slurm *slurm; /* Slurm, or NULL if runs are children of this process */
  /* by cell: "recordings/NAME", a path in the campaign's folder; NULL if no run is a replay */
  char **recording;
  uint64_t seed;  /* seed of the first run of each cell */
  unsigned count; /* number of runs of each cell that are wanted now */
  uint64_t next;  /* number of the next run to start: run * cells + cell */
  gint64 began;
  double each;  /* seconds that a run took on average, with all jobs at once, or 0 if not known */
  double told;  /* seconds from `began` to the last line of progress in a file */
  double width; /* width of the widest interval, or INFINITY if it is not known yet */
  int *failed;  /* by cell: exit code of the last run that failed, or 0 if there is none */
};

static bool start_next(const struct campaign *c, struct progress *p, GError **error)
{
  unsigned cell = (unsigned)(p->next % c->grid.cells), run = (unsigned)(p->next / c->grid.cells);
  if (runs_row(&c->done, cell, run)) {
    p->next++;
    return true;
  }
  if (p->slurm) {
    slurm_want(p->slurm, p->next++, cell, p->seed + run, p->recording ? p->recording[cell] : "");
    return true;
  }
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *file = cell_file(c, cell);
  g_autofree char *seed = g_strdup_printf("seed=%" G_GUINT64_FORMAT, p->seed + run);
  g_autofree char *recording = p->recording ? in(c, p->recording[cell]) : NULL;
  char *words[] = {self,
                   (char *)"run",
                   file,
                   (char *)"--set",
                   seed,
                   (char *)"--json",
                   recording ? (char *)"--replay" : NULL,
                   recording,
                   NULL};
  return pool_start(p->pool, words, p->next++, error);
}

static bool is_full(const struct progress *p)
{
  return !p->slurm && pool_is_full(p->pool);
}

static bool is_empty(const struct progress *p)
{
  return p->slurm ? slurm_is_empty(p->slurm) : pool_is_empty(p->pool);
}

/* Returns the number of runs that this campaign will have, as far as it is known. */
static double expected_runs(const struct campaign *c, const struct progress *p)
{
  if (c->until <= 0.0 || !isfinite(p->width))
    return c->runs;
  double wanted = p->count * (p->width / c->until) * (p->width / c->until);
  return CLAMP(ceil(wanted / ROUND) * ROUND, p->count, c->runs);
}

/* Shows progress: on a terminal by one line that changes, in a file by a new line now and then. */
static void show_progress(void *data)
{
  struct progress *p = data;
  const struct campaign *c = p->campaign;
  guint done = g_hash_table_size(c->done.rows);
  double gone = (double)(g_get_monotonic_time() - p->began) / G_USEC_PER_SEC;
  double left = MAX(expected_runs(c, p) * c->grid.cells - done, 0.0);
  bool again = terminal_shows_progress();
  if (!again && gone < p->told + PROGRESS_SECONDS)
    return;
  p->told = gone;
  g_printerr("%s%u runs done, about %.0f to go", again ? "\r\033[K" : "", done, left);
  if (isfinite(p->width))
    g_printerr(", ± %.2f %%", 100 * p->width);
  g_printerr(", %.0f s", gone);
  if (c->done.added > 0) {
    g_autofree char *time = answer_time(p->each * left);
    g_printerr(", about %s left", time);
  }
  if (!again)
    g_printerr("\n");
}

static void end_progress(void)
{
  if (terminal_shows_progress())
    g_printerr("\r\033[K");
}

static void explain(const struct campaign *c, const struct progress *p, const struct ended *ended,
                    const char *why)
{
  unsigned cell = (unsigned)(ended->job % c->grid.cells);
  uint64_t seed = p->seed + ended->job / c->grid.cells;
  g_autofree char *file = cell_file(c, cell);
  g_autofree char *recording = p->recording ? in(c, p->recording[cell]) : NULL;
  end_progress();
  g_printerr("%s", ended->err ? ended->err : "");
  bool silent = !ended->err || !*ended->err;
  g_printerr("%s: a run failed%s%s: recline run %s --set seed=%" G_GUINT64_FORMAT "%s%s\n",
             c->command, silent ? ", " : "", silent ? why : "", file, seed,
             recording ? " --replay " : "", recording ? recording : "");
}

/* Returns the last line that the run wrote, for g_free(). */
static char *last_words(const char *text, int code)
{
  /* exit code of a child that has found no program to execute, as in POSIX */
  enum { NOT_STARTED = 127 };
  if (code == NOT_STARTED && !(text && *text))
    return g_strdup("it could not be started");
  g_autofree char *words = g_strchomp(g_strdup(text ? text : ""));
  char *line = strrchr(words, '\n');
  line = line ? line + 1 : words;
  return g_strdup(*line ? line + strspn(line, " |") : "it said nothing");
}

/* Turns a run without a result into a row that says what has failed. For the first such run of each
 * cell, also tells the user. */
static bool take_failed(struct campaign *c, struct progress *p, const struct ended *ended, int code,
                        GError **error)
{
  unsigned cell = (unsigned)(ended->job % c->grid.cells);
  g_autofree char *why = last_words(ended->err, code);
  if (!p->failed[cell])
    explain(c, p, ended, why);
  p->failed[cell] = code;
  c->failed = MAX(c->failed, code);
  return runs_add_failed(&c->done, cell, (unsigned)(ended->job / c->grid.cells), code, why, error);
}

/* Takes a run that has ended. Returns an exit code, or 0 if the campaign goes on. */
static int take(struct campaign *c, struct progress *p, const struct ended *ended)
{
  int code = WIFEXITED(ended->status) ? WEXITSTATUS(ended->status) : EXIT_BREACH;
  g_autoptr(GError) error = NULL;
  bool added = code > EXIT_INCONCLUSIVE ? take_failed(c, p, ended, code, &error)
                                        : runs_add(&c->done, (unsigned)(ended->job % c->grid.cells),
                                                   (unsigned)(ended->job / c->grid.cells), code,
                                                   ended->out ? ended->out : "", &error);
  bool known = c->done.fields->len == 0 || runs_field(&c->done, c->field) >= 0;
  if (added && known)
    return 0;
  end_progress();
  if (added)
    return bad_input("%s: \"%s\" is no number of a result, expected one such as simulated_s or "
                     "time_s.lost",
                     c->command, c->field);
  return bad_input("%s: %s", c->command, error ? error->message : "a result cannot be read");
}

/* Returns whether runs of all cells have failed and none has ended, so that no run is likely ever
 * to end. */
static bool is_hopeless(const struct campaign *c, const struct progress *p)
{
  bool all = c->done.fields->len == 0;
  for (unsigned cell = 0; all && cell < c->grid.cells; cell++)
    all = p->failed[cell] != 0;
  return all;
}

/* Makes runs until `count` runs of each cell have ended. */
static int run_round(struct campaign *c, struct progress *p)
{
  uint64_t end = (uint64_t)p->count * c->grid.cells;
  g_autoptr(GError) error = NULL;
  struct ended ended;
  while (p->next < end || !is_empty(p)) {
    while (p->next < end && !is_full(p))
      if (!start_next(c, p, &error))
        return bad_input("%s: %s", c->command, error->message);
    if (is_empty(p))
      break;
    show_progress(p);
    c->signal = p->slurm ? slurm_wait(p->slurm, &ended, &error) : pool_wait(p->pool, &ended);
    if (error) {
      c->signal = 0;
      return bad_input("%s: %s", c->command, error->message);
    }
    if (c->signal)
      return EXIT_BREACH;
    int code = take(c, p, &ended);
    p->each = (double)(g_get_monotonic_time() - p->began) / G_USEC_PER_SEC /
              (double)MAX(c->done.added, 1);
    g_free(ended.out);
    g_free(ended.err);
    if (code || is_hopeless(c, p))
      return code ? code : c->failed;
  }
  return 0;
}

/* Returns how many runs of every cell have ended: the runs of a stopped campaign that can be
 * compared. */
static unsigned whole_runs(const struct campaign *c)
{
  for (unsigned run = 0; run < c->runs; run++)
    for (unsigned cell = 0; cell < c->grid.cells; cell++)
      if (!runs_row(&c->done, cell, run))
        return run;
  return c->runs;
}

static int run_rounds(struct campaign *c, struct progress *p)
{
  enum { LEAST = 2 }; /* runs for an interval of confidence */
  int code = 0;
  do {
    p->count = c->until > 0.0 ? MIN(p->count + ROUND, c->runs) : c->runs;
    code = run_round(c, p);
    c->table = (struct table){&c->done, c->signal ? whole_runs(c) : p->count, c->outlook};
    c->is_part = c->signal && c->table.count >= LEAST && c->done.fields->len > 0;
    if (code)
      return code;
    if (c->done.fields->len == 0 && c->failed)
      return c->failed;
    if (c->done.fields->len == 0) {
      g_printerr("%s: inconclusive: no run came to its end\n", c->command);
      return EXIT_INCONCLUSIVE;
    }
    p->width = table_width(&c->table, runs_field(&c->done, c->field));
  } while (p->count < c->runs && !(p->width <= c->until));
  for (unsigned cell = 0; cell < c->grid.cells; cell++)
    if (table_unexpected(&c->table, cell) > 0)
      code = EXIT_NOT_AS_EXPECTED;
  c->has_table = true;
  return c->failed ? c->failed : code;
}

/* ---- recordings ---- */

/* Gives cells the same recording if their programs agree in everything on which a recording
 * depends. */
static bool name_recordings(const struct campaign *c, struct progress *p, GError **error)
{
  p->recording = g_new0(char *, c->grid.cells + 1);
  for (unsigned cell = 0; cell < c->grid.cells; cell++) {
    struct scenario *scenario = NULL;
    if (!load_cell(c, cell, &scenario, error))
      return false;
    g_autofree char *text = recording_text(scenario);
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
    p->recording[cell] = g_strdup_printf("recordings/%.16s", sum);
    scenario_free(scenario);
  }
  return true;
}

/* Records a cell's program. It runs without a protocol, because its calls do not depend on the
 * protocol. Returns an exit code. Shows the messages of the run if it fails. */
static int record(struct campaign *c, const struct progress *p, unsigned cell)
{
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *file = cell_file(c, cell), *folder = in(c, p->recording[cell]);
  g_autofree char *whole = g_build_filename(folder, "program", NULL);
  char *words[] = {self,
                   (char *)"run",
                   file,
                   (char *)"--set",
                   (char *)"failures=[]",
                   (char *)"--set",
                   (char *)"expect={}",
                   (char *)"--set",
                   (char *)"protocol={name: none}",
                   (char *)"--json",
                   (char *)"--record",
                   folder,
                   NULL};
  g_autoptr(GError) error = NULL;
  struct ended ended;
  if (g_file_test(whole, G_FILE_TEST_EXISTS))
    return 0;
  if (!pool_start(p->pool, words, 0, &error))
    return bad_input("%s: %s", c->command, error->message);
  c->signal = pool_wait(p->pool, &ended);
  if (c->signal)
    return EXIT_BREACH;
  int code = g_file_test(whole, G_FILE_TEST_EXISTS) ? 0 : EXIT_BAD_INPUT;
  if (code)
    g_printerr("%s%s: %s cannot be recorded\n", ended.err ? ended.err : "", c->command, file);
  g_free(ended.out);
  g_free(ended.err);
  return code;
}

static int record_all(struct campaign *c, struct progress *p)
{
  g_autoptr(GError) error = NULL;
  int code = name_recordings(c, p, &error) ? 0 : bad_input("%s", error->message);
  for (unsigned cell = 0; code == 0 && cell < c->grid.cells; cell++)
    code = record(c, p, cell);
  return code;
}

int campaign_run(struct campaign *c)
{
  g_autoptr(GError) error = NULL;
  struct progress p = {.campaign = c, .began = g_get_monotonic_time(), .width = INFINITY};
  c->lock = -1;
  if (!grid_read(&c->grid, c->sweeps, &error) || !check_cells(c, &p.seed, &error) ||
      !make_folder(c, &error) || !know_again(c, &error) || !save_cells(c, &error))
    return bad_input("%s", error->message);
  g_autofree char *file = in(c, "runs.jsonl");
  if (!runs_open(&c->done, &c->grid, file, &error))
    return bad_input("%s", error->message);
  int code = 0;
  p.failed = g_new0(int, c->grid.cells);
  p.pool = pool_new(MAX(c->jobs, 1), c->out);
  pool_tick(p.pool, show_progress, &p);
  if (c->replay)
    code = record_all(c, &p);
  if (code == 0 && c->slurm && !(p.slurm = slurm_new(c->out, c->jobs, c->chunk, p.pool, &error)))
    code = bad_input("%s", error->message);
  if (code == 0)
    code = run_rounds(c, &p);
  end_progress();
  if (p.slurm && c->signal)
    g_printerr("%s: Slurm's array %s goes on; the same command collects it, `scancel %s` ends it\n",
               c->command, slurm_array(p.slurm), slurm_array(p.slurm));
  slurm_free(p.slurm, !c->signal);
  pool_free(p.pool);
  g_strfreev(p.recording);
  g_free(p.failed);
  if (c->has_table) {
    slurm_remove(c->out);
    g_autofree char *first = cell_file(c, 0);
    if (c->failure_free <= 0.0)
      c->failure_free = campaign_failure_free(c, first);
  }
  bool nothing = g_hash_table_size(c->done.rows) == 0 || (c->failed && c->done.fields->len == 0);
  if (code > EXIT_NOT_AS_EXPECTED && c->made && nothing)
    output_remove(c->out); /* nothing has been done in this folder */
  return code;
}

static bool write_answer(const struct campaign *c, JsonBuilder *answer, GError **error)
{
  g_autofree char *file = in(c, "answer.json"), *text = json_text(answer, true);
  return output_write(file, text, strlen(text)) || fail(error, file);
}

bool campaign_report(const struct campaign *c, JsonBuilder *answer, GError **error)
{
  g_autofree char *csv = in(c, "runs.csv"), *table = in(c, "table.csv");
  g_autofree char *name = g_path_get_basename(c->scenario);
  g_autofree char *title =
      c->title
          ? g_strdup(c->title)
          : g_strdup_printf("%s: mean of %u runs, with its 95 %% interval", name, c->table.count);
  return runs_sort(&c->done, error) && runs_write_csv(&c->done, c->table.count, csv, error) &&
         table_write_csv(&c->table, table, error) &&
         bands_draw(&c->table,
                    &(struct figure){runs_field(&c->done, c->field), c->extra, title,
                                     c->failure_free, c->theory},
                    c->out, error) &&
         write_answer(c, answer, error);
}

void campaign_clear(struct campaign *c)
{
  if (c->lock >= 0)
    close(c->lock);
  if (c->done.rows)
    runs_close(&c->done);
  g_free(c->outlook);
  grid_clear(&c->grid);
}
