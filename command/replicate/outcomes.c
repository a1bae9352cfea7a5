/* A run is `recline run SCENARIO --set ... --no-trace --out DIR/runs/NAME`. The file run.txt beside
 * its results identifies the run, so that a run with a result is not run again. */
#include <errno.h>
#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/glib/terminal.h"
#include "base/output.h"
#include "command/campaign/pool.h"
#include "command/replicate/expression.h"
#include "command/replicate/replicate.h"

struct outcome {
  const struct plan_run *run;
  char *name; /* name of the run, or RUN@CONSTANT:FACTOR */
  /* platform file that replaces the scenario's own, or NULL to keep the scenario's */
  char *platform;
  bool done;
  JsonNode *result;
  char *printed; /* text that the program has printed */
  char *failed;
};

static void free_outcome(void *data)
{
  struct outcome *o = data;
  if (o->result)
    json_node_unref(o->result);
  g_free(o->name);
  g_free(o->platform);
  g_free(o->printed);
  g_free(o->failed);
  g_free(o);
}

static char *in(const struct outcomes *all, const struct outcome *o, const char *name)
{
  return g_build_filename(all->out, "runs", o->name, name, NULL);
}

/* Returns the text that identifies a run. Returns NULL with `error` if the scenario of the run
 * cannot be read. */
static char *key_of(const struct outcomes *all, const struct outcome *o, GError **error)
{
  g_autofree char *scenario = NULL, *set = g_strjoinv("\n", o->run->set);
  g_autofree char *name = run_platform(o->run), *platform = NULL, *own = NULL;
  if (!g_file_get_contents(o->run->scenario, &scenario, NULL, error))
    return NULL;
  own = g_build_filename(all->data, "platforms", name ? name : "", NULL);
  g_file_get_contents(o->platform ? o->platform : own, &platform, NULL, NULL);
  g_autofree char *sum =
      g_compute_checksum_for_string(G_CHECKSUM_SHA256, platform ? platform : "", -1);
  return g_strconcat("recline " RECLINE_VERSION "\nplatform ", sum, "\n", set, "\n\n", scenario,
                     NULL);
}

/* Reads a result that exists already. */
static bool take_result(const struct outcomes *all, struct outcome *o, GError **error)
{
  g_autofree char *file = in(all, o, "result.json"), *out = in(all, o, "program.out"), *json = NULL;
  if (!g_file_get_contents(file, &json, NULL, error))
    return false;
  o->result = json_from_string(json, error);
  g_file_get_contents(out, &o->printed, NULL, NULL);
  o->done = o->result && JSON_NODE_HOLDS_OBJECT(o->result);
  return o->done;
}

static bool is_there(const struct outcomes *all, struct outcome *o, const char *key)
{
  g_autofree char *file = in(all, o, "run.txt"), *there = NULL;
  return g_file_get_contents(file, &there, NULL, NULL) && !strcmp(there, key) &&
         take_result(all, o, NULL);
}

/* ---- numbers ---- */

/* Finds the mean of a statistic of a phase, over the checkpoints that have the phase. */
static bool phase_value(JsonObject *object, const char *field, double *value)
{
  g_auto(GStrv) words = g_strsplit(field, ".", 3); /* phase, name, statistic */
  JsonArray *phases = json_object_get_array_member(object, "phases");
  unsigned found = 0;
  g_autofree char *key = g_strconcat(words[1] && words[2] ? words[2] : "", "_s", NULL);
  *value = 0.0;
  for (guint i = 0; phases && words[1] && i < json_array_get_length(phases); i++) {
    JsonObject *phase = json_array_get_object_element(phases, i);
    if (strcmp(json_object_get_string_member(phase, "phase"), words[1]) != 0 ||
        !json_object_has_member(phase, key))
      continue;
    *value += json_object_get_double_member(phase, key);
    found++;
  }
  *value /= found;
  return found > 0;
}

/* Finds the number after "NAME: " at the beginning of a printed line. */
static bool printed_value(const char *printed, const char *name, double *value)
{
  g_autofree char *wanted = g_strconcat(name, ": ", NULL);
  for (const char *line = printed; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (!g_str_has_prefix(line, wanted))
      continue;
    char *end;
    *value = g_ascii_strtod(line + strlen(wanted), &end);
    return end != line + strlen(wanted);
  }
  return false;
}

static bool member_value(JsonObject *object, const char *field, double *value)
{
  g_auto(GStrv) words = g_strsplit(field, ".", -1);
  for (char **word = words; *word; word++) {
    JsonNode *node = json_object_get_member(object, *word);
    if (!node)
      return false;
    if (!word[1]) {
      *value = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_double(node) : 0.0;
      return JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) != G_TYPE_STRING;
    }
    if (!JSON_NODE_HOLDS_OBJECT(node))
      return false;
    object = json_node_get_object(node);
  }
  return false;
}

bool outcomes_lookup(void *data, const char *run, const char *field, double *value, GError **error)
{
  const struct outcomes *all = data;
  const struct outcome *o = g_hash_table_lookup(all->items, run);
  for (guint i = 0; !strcmp(run, "published") && i < all->published->len; i++) {
    const struct published *p = all->published->pdata[i];
    *value = p->value;
    if (!strcmp(p->id, field))
      return true;
  }
  if (!o || !o->done) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "run %s %s", run,
                o && o->failed ? o->failed : "is not in the plan");
    return false;
  }
  JsonObject *object = json_node_get_object(o->result);
  bool found = g_str_has_prefix(field, "out.")
                   ? o->printed && printed_value(o->printed, field + strlen("out."), value)
               : g_str_has_prefix(field, "phase.") ? phase_value(object, field, value)
                                                   : member_value(object, field, value);
  if (!found)
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "run %s has no number %s", run, field);
  return found;
}

/* ---- running ---- */

/* Makes an outcome for each run to which an expression refers. */
static bool note_run(void *data, const char *run, const char *field, double *value, GError **error)
{
  struct outcomes *all = data;
  g_auto(GStrv) words = g_strsplit(run, "@", 2);
  const struct plan_run *planned = g_hash_table_lookup(all->plan->runs, words[0] ? words[0] : "");
  (void)field;
  (void)error;
  *value = 1.0;
  if (planned && !g_hash_table_contains(all->items, run)) {
    struct outcome *o = g_new0(struct outcome, 1);
    g_autoptr(GError) why = NULL;
    *o = (struct outcome){.run = planned, .name = g_strdup(run)};
    if (words[1] && !(o->platform = constant_platform(all, words[1], &why)))
      o->failed = g_strdup(why->message);
    g_hash_table_insert(all->items, o->name, o);
  }
  return true;
}

static bool start(const struct outcomes *all, struct pool *pool, const struct outcome *o,
                  guint index, GError **error)
{
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL), *folder = in(all, o, "");
  g_autofree char *platform = g_strconcat("platform.file=", o->platform, NULL);
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  const char *const first[] = {self, "run", o->run->scenario, "--no-trace", "--out", folder};
  output_remove(folder);
  for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
    g_ptr_array_add(words, (void *)(uintptr_t)first[i]);
  for (char **set = o->run->set; *set; set++)
    if (**set) {
      g_ptr_array_add(words, (void *)(uintptr_t) "--set");
      g_ptr_array_add(words, *set);
    }
  if (o->platform) {
    g_ptr_array_add(words, (void *)(uintptr_t) "--set");
    g_ptr_array_add(words, platform);
  }
  g_ptr_array_add(words, NULL);
  return pool_start(pool, (char *const *)words->pdata, index, error);
}

static void take_end(const struct outcomes *all, struct outcome *o, const struct ended *ended)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *key = key_of(all, o, NULL), *file = in(all, o, "run.txt");
  int code = WIFEXITED(ended->status) ? WEXITSTATUS(ended->status) : EXIT_BREACH;
  if (code == EXIT_FINE && key && take_result(all, o, &error)) {
    output_write(file, key, strlen(key));
    return;
  }
  const char *said = ended->err && *ended->err ? ended->err : error ? error->message : "";
  o->failed =
      g_strdup_printf("ended with exit code %d: %.*s", code, (int)strcspn(said, "\n"), said);
}

static void show_progress(guint done, guint all, const char *name)
{
  if (terminal_shows_progress())
    g_printerr("\r\033[K%u of %u runs done%s%s", done, all, *name ? ", last " : "", name);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
  return strcmp((*(struct outcome *const *)a)->name, (*(struct outcome *const *)b)->name);
}

/* Returns the runs without a result, in the order of their names. */
static GPtrArray *missing(struct outcomes *all, GError **error)
{
  GPtrArray *list = g_ptr_array_new();
  GHashTableIter iter;
  void *item;
  g_hash_table_iter_init(&iter, all->items);
  while (g_hash_table_iter_next(&iter, NULL, &item)) {
    g_autofree char *key = key_of(all, item, error);
    if (!key) {
      g_ptr_array_unref(list);
      return NULL;
    }
    if (!((struct outcome *)item)->failed && !is_there(all, item, key))
      g_ptr_array_add(list, item);
  }
  g_ptr_array_sort(list, by_name);
  return list;
}

static bool run_all(struct outcomes *all, GPtrArray *list, struct pool *pool, GError **error)
{
  const char *last = "";
  for (guint next = 0; next < list->len || !pool_is_empty(pool);) {
    struct ended ended;
    while (next < list->len && !pool_is_full(pool))
      if (!start(all, pool, list->pdata[next], next, error))
        return false;
      else
        next++;
    show_progress(all->ran, list->len, last);
    all->signal = pool_wait(pool, &ended);
    if (all->signal)
      return false;
    struct outcome *o = list->pdata[ended.job];
    take_end(all, o, &ended);
    last = o->name;
    all->ran++;
    g_free(ended.out);
    g_free(ended.err);
  }
  return true;
}

bool outcomes_run(struct outcomes *all, const struct replicas *replicas, unsigned jobs,
                  GError **error)
{
  double value;
  g_autofree char *runs = g_build_filename(all->out, "runs", NULL);
  all->items = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_outcome);
  for (unsigned i = 0; i < replicas->count; i++) {
    const struct plan_row *row = replicas->item[i].row;
    if (row && row->value)
      expression_value(row->value, note_run, all, &value, NULL);
    for (unsigned k = 0; row && row->tried && row->tried[k]; k++)
      tried_value(all, row, k, note_run, &value, NULL);
  }
  if (all->sensitivity)
    sensitivity_note(all, replicas, note_run);
  if (g_mkdir_with_parents(runs, 0777) != 0) {
    g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno), OUTPUT_CANNOT, runs,
                g_strerror(errno));
    return false;
  }
  g_autoptr(GPtrArray) list = missing(all, error);
  if (!list)
    return false;
  struct pool *pool = pool_new(jobs, all->out);
  bool good = run_all(all, list, pool, error);
  pool_free(pool);
  if (terminal_shows_progress())
    g_printerr("\r\033[K");
  return good;
}

void outcomes_clear(struct outcomes *all)
{
  if (all->items)
    g_hash_table_unref(all->items);
}
