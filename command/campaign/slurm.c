#define _DEFAULT_SOURCE /* W_EXITCODE */
#include "command/campaign/slurm.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/exit_codes.h"
#include "base/output.h"

enum {
  /* most elements of an array; Slurm's MaxArraySize is 1001 unless a site says otherwise */
  ELEMENTS_MAX = 1000,
  ELEMENTS = 100, /* default number of elements of an array */
  TRIES = 3,      /* most arrays in a row that leave no result */
  PAUSE_MIN_MS = 250,
  PAUSE_MAX_MS = 5000
};

static const char task[] =
    "#!/bin/sh\n"
    "# An element of the array: task RECLINE LISTS. What ended otherwise, by a signal for one, "
    "has\n"
    "# no result and is run again.\n"
    "while read -r job cell seed recording; do\n"
    "  [ -z \"$(find results -name \"$job.[0-9]*\")\" ] || continue\n"
    "  mine=.$job-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}\n"
    "  \"$1\" run ../cells/$cell.yaml --set seed=$seed --json \\\n"
    "    ${recording:+--replay ../$recording} >$mine.out 2>$mine.err </dev/null\n"
    "  code=$?\n"
    "  case $code in\n"
    "    0 | 1 | 2 | 3 | 64) mv $mine.err results/$job.err && mv $mine.out results/$job.$code ;;\n"
    "    *) echo \"$job: exit code $code\" && cat $mine.err && rm $mine.out $mine.err ;;\n"
    "  esac\n"
    "done <\"$2/$SLURM_ARRAY_TASK_ID\"\n";

struct slurm {
  char *folder, *results, *array_file;
  char *array; /* number of the last array, or empty if there is none */
  unsigned jobs, chunk, tries, pause;
  struct pool *pool;
  GHashTable *wanted; /* for each "JOB" the line "JOB CELL SEED RECORDING" */
  GQueue *found;      /* names of expected results that were found */
  bool complained;    /* the user has been told that squeue fails */
};

/* ---- Slurm's commands ---- */

/* Runs a command of Slurm and returns its output. Returns NULL with `error` if the command could
 * not be started or has failed. */
static char *ask(char **words, GError **error)
{
  g_autofree char *out = NULL, *err = NULL;
  int status = 0;
  if (!g_spawn_sync(NULL, words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, &status, error))
    return NULL;
  if (g_spawn_check_wait_status(status, NULL))
    return g_steal_pointer(&out);
  err[strcspn(err, "\n")] = '\0';
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", err);
  return NULL;
}

/* Returns whether the array is still running. While squeue gives no answer, the array counts as
 * running. */
static bool goes_on(struct slurm *s)
{
  char *words[] = {(char *)"squeue", (char *)"--noheader", (char *)"--me", (char *)"--format=%F",
                   NULL};
  g_autoptr(GError) error = NULL;
  if (!*s->array)
    return false;
  g_autofree char *printed = ask(words, &error);
  if (!printed) {
    if (!s->complained)
      g_printerr("%s; array %s is waited for\n", error->message, s->array);
    s->complained = true;
    return true;
  }
  g_auto(GStrv) lines = g_strsplit_set(printed, " \n", -1);
  return g_strv_contains((const char *const *)lines, s->array);
}

static void read_array(struct slurm *s)
{
  g_autofree char *text = NULL;
  g_file_get_contents(s->array_file, &text, NULL, NULL);
  g_free(s->array);
  s->array = g_strndup(text ? text : "", text ? strspn(text, "0123456789") : 0);
}

/* ---- submitting ---- */

static bool cannot(const char *file, GError **error)
{
  g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno), OUTPUT_CANNOT, file,
              g_strerror(errno));
  return false;
}

/* Sorts jobs by number. Slurm starts elements in their order, so results come in the order of the
 * campaign.
 */
static gint by_job(gconstpointer a, gconstpointer b)
{
  guint64 x = g_ascii_strtoull(a, NULL, 10), y = g_ascii_strtoull(b, NULL, 10);
  return (x > y) - (x < y);
}

static unsigned chunk_of(const struct slurm *s, unsigned runs)
{
  unsigned least = (runs + ELEMENTS_MAX - 1) / ELEMENTS_MAX;
  return MAX(s->chunk ? s->chunk : (runs + ELEMENTS - 1) / ELEMENTS, least);
}

/* Writes a file for each element. Returns the number of elements, or 0 if there was an error. */
static unsigned write_lists(const struct slurm *s, const char *folder, GError **error)
{
  g_autoptr(GList) jobs = g_list_sort(g_hash_table_get_values(s->wanted), by_job);
  unsigned chunk = chunk_of(s, g_hash_table_size(s->wanted)), elements = 0;
  for (GList *job = jobs; job; elements++) {
    g_autofree char *file = g_strdup_printf("%s/%u", folder, elements);
    GString *list = g_string_new(NULL);
    for (unsigned i = 0; job && i < chunk; i++, job = job->next)
      g_string_append_printf(list, "%s\n", (const char *)job->data);
    bool written = g_file_set_contents(file, list->str, (gssize)list->len, error);
    g_string_free(list, TRUE);
    if (!written)
      return 0;
  }
  return elements;
}

/* Submits the array. The array's number is written into a file by sbatch itself, so that it is
 * known even if this process is killed. */
static bool submit_lists(struct slurm *s, char *lists, unsigned elements, GError **error)
{
  g_autofree char *limit = s->jobs ? g_strdup_printf("%%%u", s->jobs) : g_strdup("");
  g_autofree char *array = g_strdup_printf("--array=0-%u%s", elements - 1, limit);
  g_autofree char *chdir = g_strconcat("--chdir=", s->folder, NULL);
  g_autofree char *script = g_build_filename(s->folder, "task", NULL);
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  char *words[] = {(char *)"sh",
                   (char *)"-c",
                   (char *)"exec sbatch \"$@\" >\"$0\"",
                   s->array_file,
                   (char *)"--parsable",
                   (char *)"--job-name=recline",
                   (char *)"--ntasks=1",
                   (char *)"--requeue",
                   (char *)"--output=log",
                   (char *)"--open-mode=append",
                   array,
                   chdir,
                   script,
                   self,
                   lists,
                   NULL};
  g_autofree char *printed = ask(words, error);
  read_array(s);
  return printed != NULL;
}

static bool submit(struct slurm *s, GError **error)
{
  g_autofree char *lists = g_build_filename(s->folder, "lists-XXXXXX", NULL);
  const char *one = NULL;
  GHashTableIter iter;
  g_hash_table_iter_init(&iter, s->wanted);
  g_hash_table_iter_next(&iter, NULL, (gpointer *)&one);
  if (s->tries++ == TRIES) {
    g_set_error(
        error, G_IO_ERROR, G_IO_ERROR_FAILED,
        "%s/log: %d arrays left no result of %u runs (such as %s: job, cell, seed), expected one "
        "of each",
        s->folder, TRIES, g_hash_table_size(s->wanted), one);
    return false;
  }
  if (!g_mkdtemp_full(lists, 0755))
    return cannot(lists, error);
  unsigned elements = write_lists(s, lists, error);
  return elements && submit_lists(s, lists, elements, error);
}

/* ---- results ---- */

static char *result_file(const struct slurm *s, const char *name)
{
  return g_build_filename(s->results, name, NULL);
}

/* Calls `take` for each file "JOB.CODE" of a result. */
static void visit(struct slurm *s, void (*take)(struct slurm *, const char *name, int code))
{
  GDir *folder = g_dir_open(s->results, 0, NULL);
  const char *name;
  while (folder && (name = g_dir_read_name(folder))) {
    const char *dot = strchr(name, '.');
    if (dot && g_ascii_isdigit(dot[1]))
      take(s, name, (int)g_ascii_strtoll(dot + 1, NULL, 10));
  }
  if (folder)
    g_dir_close(folder);
}

/* Removes failed results, because a run that failed when the campaign was stopped may work now. */
static void forget_failed(struct slurm *s, const char *name, int code)
{
  g_autofree char *file = result_file(s, name);
  if (code > EXIT_INCONCLUSIVE)
    g_unlink(file);
}

static void note_found(struct slurm *s, const char *name, int code)
{
  g_autofree char *job = g_strndup(name, strcspn(name, "."));
  (void)code;
  if (g_hash_table_contains(s->wanted, job))
    g_queue_push_tail(s->found, g_strdup(name));
}

static bool take_result(struct slurm *s, struct ended *ended)
{
  if (g_queue_is_empty(s->found))
    visit(s, note_found);
  g_autofree char *name = g_queue_pop_head(s->found);
  if (!name)
    return false;
  g_auto(GStrv) parts = g_strsplit(name, ".", 2);
  g_autofree char *out = result_file(s, name), *messages = g_strconcat(parts[0], ".err", NULL);
  g_autofree char *err = result_file(s, messages);
  *ended = (struct ended){.job = g_ascii_strtoull(parts[0], NULL, 10),
                          .status = W_EXITCODE((int)g_ascii_strtoll(parts[1], NULL, 10), 0)};
  g_file_get_contents(out, &ended->out, NULL, NULL);
  g_file_get_contents(err, &ended->err, NULL, NULL);
  g_hash_table_remove(s->wanted, parts[0]);
  s->tries = 0;
  s->pause = PAUSE_MIN_MS;
  return true;
}

int slurm_wait(struct slurm *s, struct ended *ended, GError **error)
{
  for (;;) {
    int stopped = pool_pause(s->pool, 0);
    if (stopped)
      return stopped;
    if (take_result(s, ended))
      return 0;
    if (!goes_on(s)) {
      if (take_result(s, ended)) /* the result had been written before the array ended */
        return 0;
      if (!submit(s, error))
        return -1;
    }
    pool_pause(s->pool, s->pause);
    s->pause = MIN(s->pause * 2, PAUSE_MAX_MS);
  }
}

/* ---- beginning and end ---- */

struct slurm *slurm_new(const char *folder, unsigned jobs, unsigned chunk, struct pool *pool,
                        GError **error)
{
  g_autofree char *full = g_canonicalize_filename(folder, NULL);
  struct slurm *s = g_new0(struct slurm, 1);
  s->folder = g_build_filename(full, "slurm", NULL);
  s->results = g_build_filename(s->folder, "results", NULL);
  s->array_file = g_build_filename(s->folder, "array", NULL);
  s->jobs = jobs;
  s->chunk = chunk;
  s->pool = pool;
  s->pause = PAUSE_MIN_MS;
  s->wanted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  s->found = g_queue_new();
  read_array(s);
  g_autofree char *script = g_build_filename(s->folder, "task", NULL);
  if (g_mkdir_with_parents(s->results, 0777) != 0)
    cannot(s->results, error);
  else if (g_file_set_contents(script, task, -1, error)) {
    visit(s, forget_failed);
    return s;
  }
  slurm_free(s, false);
  return NULL;
}

void slurm_free(struct slurm *s, bool ended)
{
  if (!s)
    return;
  char *words[] = {(char *)"scancel", s->array, NULL};
  if (ended && *s->array)
    g_free(ask(words, NULL));
  if (ended)
    output_remove(s->folder);
  g_hash_table_unref(s->wanted);
  g_queue_free_full(s->found, g_free);
  g_free(s->folder);
  g_free(s->results);
  g_free(s->array_file);
  g_free(s->array);
  g_free(s);
}

void slurm_remove(const char *folder)
{
  g_autofree char *slurm = g_build_filename(folder, "slurm", NULL);
  output_remove(slurm);
}

void slurm_want(struct slurm *s, uint64_t job, unsigned cell, uint64_t seed, const char *recording)
{
  char *name = g_strdup_printf("%" G_GUINT64_FORMAT, job);
  g_hash_table_insert(
      s->wanted, name,
      g_strdup_printf("%s %u %" G_GUINT64_FORMAT " %s", name, cell, seed, recording));
}

bool slurm_is_empty(const struct slurm *s)
{
  return g_hash_table_size(s->wanted) == 0;
}

const char *slurm_array(const struct slurm *s)
{
  return s->array;
}
