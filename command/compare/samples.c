#include "command/compare/samples.h"

#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "command/campaign/runs.h"
#include "world/result/measured.h"

static bool fail(GError **error, const char *file, const char *what)
{
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: %s", file, what);
  return false;
}

/* ---- a result ---- */

static const char *text_of(JsonObject *object, const char *key)
{
  JsonNode *node = json_object_get_member(object, key);
  const char *text = node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;
  return text ? text : "";
}

static void add_number(const char *name, double value, void *samples)
{
  samples_add(samples, name, value);
}

/* Adds the mean of each phase, over the checkpoints of a run that have the phase. */
static void add_phases(struct samples *samples, JsonArray *phases)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < json_array_get_length(phases); i++) {
    const char *name = text_of(json_array_get_object_element(phases, i), "phase");
    if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
      g_ptr_array_add(names, (char *)name);
  }
  for (guint n = 0; n < names->len; n++) {
    g_autofree char *name = g_strconcat("phase ", names->pdata[n], NULL);
    double sum = 0.0;
    unsigned count = 0;
    for (guint i = 0; i < json_array_get_length(phases); i++) {
      JsonObject *phase = json_array_get_object_element(phases, i);
      if (strcmp(text_of(phase, "phase"), names->pdata[n]) != 0)
        continue;
      sum += json_object_get_double_member_with_default(phase, "mean_s", 0.0);
      count++;
    }
    samples_add(samples, name, sum / count);
  }
}

static bool add_result(struct samples *samples, const char *file, const char *json, gssize length,
                       GError **error)
{
  g_autoptr(JsonParser) parser = json_parser_new();
  bool parsed = json_parser_load_from_data(parser, json, length, NULL);
  JsonNode *root = parsed ? json_parser_get_root(parser) : NULL;
  if (!root || !JSON_NODE_HOLDS_OBJECT(root) ||
      !json_object_has_member(json_node_get_object(root), "verdict"))
    return fail(error, file, "no result, expected result.json of recline run");
  JsonObject *result = json_node_get_object(root);
  if (!runs_has_ended(result))
    /* this run is skipped, because means are taken over runs whose programs have ended */
    return true;
  if (samples->runs++ == 0) {
    samples->protocol = g_strdup(text_of(result, "protocol"));
    samples->program = g_strdup(text_of(result, "program"));
    samples->ranks = (int)json_object_get_int_member_with_default(result, "ranks", 0);
    samples->title = g_strdup_printf("%s, %s on %d ranks of %s", samples->protocol,
                                     samples->program, samples->ranks, text_of(result, "platform"));
  }
  runs_visit_numbers(result, add_number, samples);
  JsonNode *phases = json_object_get_member(result, "phases");
  if (phases && JSON_NODE_HOLDS_ARRAY(phases))
    add_phases(samples, json_node_get_array(phases));
  return true;
}

static bool read_result(struct samples *samples, const char *file, GError **error)
{
  g_autofree char *json = NULL;
  gsize length = 0;
  return g_file_get_contents(file, &json, &length, error) &&
         add_result(samples, file, json, (gssize)length, error);
}

/* Reads the traces that the processes of one run on real MPI have left. */
static bool read_traces(struct samples *samples, const char *folder, GError **error)
{
  struct result result;
  bool good = measured_result(folder, &result, error);
  g_autofree char *json = good ? result_json(&result) : NULL;
  good = good && add_result(samples, folder, json, -1, error);
  result_clear(&result);
  return good;
}

/* ---- folders ---- */

static char *below(const char *folder, const char *name)
{
  char *path = g_build_filename(folder, name, NULL);
  if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
    return path;
  g_free(path);
  return NULL;
}

/* Reads all runs of a campaign that has one cell. */
static bool read_campaign(struct samples *samples, const char *file, GError **error)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents(file, &text, NULL, error))
    return false;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (char **line = lines; *line; line++) {
    if (!**line)
      continue;
    if (!strstr(*line, "\"cell\": 0,"))
      return fail(error, file, "a campaign of several cells, expected one without --sweep");
    if (!add_result(samples, file, *line, -1, error))
      return false;
  }
  return true;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Reads repetitions, each in a folder of its own. */
static bool read_folders(struct samples *samples, const char *folder, GError **error)
{
  g_autoptr(GDir) dir = g_dir_open(folder, 0, error);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  const char *name;
  if (!dir)
    return false;
  while ((name = g_dir_read_name(dir)))
    g_ptr_array_add(names, g_build_filename(folder, name, NULL));
  g_ptr_array_sort(names, by_name);
  for (guint i = 0; i < names->len; i++) {
    g_autofree char *result = below(names->pdata[i], "result.json");
    g_autofree char *trace = below(names->pdata[i], "trace.0.0");
    if (result ? !read_result(samples, result, error)
               : trace && !read_traces(samples, names->pdata[i], error))
      return false;
  }
  return true;
}

bool samples_read(struct samples *samples, const char *path, GError **error)
{
  *samples = (struct samples){.names = g_ptr_array_new_with_free_func(g_free),
                              .values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                                              (GDestroyNotify)g_array_unref)};
  g_autofree char *result = below(path, "result.json"), *trace = below(path, "trace.0.0");
  g_autofree char *runs = below(path, "runs.jsonl");
  if (!g_file_test(path, G_FILE_TEST_EXISTS))
    return fail(error, path, "not there, expected result.json, or a folder with results");
  bool good = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? read_result(samples, path, error)
              : result                                  ? read_result(samples, result, error)
              : runs                                    ? read_campaign(samples, runs, error)
              : trace                                   ? read_traces(samples, path, error)
                                                        : read_folders(samples, path, error);
  return good && (samples->runs > 0 || fail(error, path,
                                            "no run whose program ended, expected result.json, "
                                            "runs.jsonl or traces of real MPI"));
}
