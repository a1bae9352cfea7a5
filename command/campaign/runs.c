#define _XOPEN_SOURCE 700 /* truncate */
#include "command/campaign/runs.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/output.h"
#include "command/campaign/warnings.h"

static gpointer key_of(const struct runs *runs, unsigned cell, unsigned run)
{
  return GSIZE_TO_POINTER((gsize)run * runs->grid->cells + cell);
}

static void free_row(gpointer data)
{
  struct row *row = data;
  g_free(row->line);
  g_free(row->value);
  g_free(row);
}

const struct row *runs_row(const struct runs *runs, unsigned cell, unsigned run)
{
  return g_hash_table_lookup(runs->rows, key_of(runs, cell, run));
}

int runs_field(const struct runs *runs, const char *name)
{
  for (guint i = 0; i < runs->fields->len; i++)
    if (!strcmp(runs->fields->pdata[i], name))
      return (int)i;
  return -1;
}

/* ---- from JSON ---- */

/* Calls `take` for each member. If a member is an object, calls `take` for each member of that
 * object, with the name "outer.inner". */
static void visit(JsonObject *object, const char *outer,
                  void (*take)(const char *name, JsonNode *, void *data), void *data)
{
  g_autoptr(GList) members = json_object_get_members(object);
  for (GList *member = members; member; member = member->next) {
    JsonNode *node = json_object_get_member(object, member->data);
    g_autofree char *name =
        outer ? g_strconcat(outer, ".", member->data, NULL) : g_strdup(member->data);
    if (JSON_NODE_HOLDS_OBJECT(node))
      visit(json_node_get_object(node), name, take, data);
    else
      take(name, node, data);
  }
}

/* Returns whether a number is an outcome of the run, and does not merely identify the run. */
static bool is_outcome(const char *name)
{
  static const char *const others[] = {"cell",  "run",          "exit", "seed",
                                       "ranks", "program_exit", NULL};
  return !g_strv_contains(others, name) && !g_str_has_prefix(name, "sweep.");
}

struct numbers {
  void (*take)(const char *name, double value, void *data);
  void *data;
};

static void take_number(const char *name, JsonNode *node, void *numbers)
{
  const struct numbers *to = numbers;
  if (JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) != G_TYPE_STRING &&
      is_outcome(name))
    to->take(name, json_node_get_double(node), to->data);
}

void runs_visit_numbers(JsonObject *result,
                        void (*take)(const char *name, double value, void *data), void *data)
{
  struct numbers numbers = {take, data};
  visit(result, NULL, take_number, &numbers);
}

bool runs_has_ended(JsonObject *result)
{
  const char *verdict = json_object_get_string_member_with_default(result, "verdict", "");
  return !g_strcmp0(verdict, "completed") || !g_strcmp0(verdict, "recovered");
}

bool runs_is_time(const char *field)
{
  return g_str_has_suffix(field, "_s") || strstr(field, "_s.");
}

static void add_field(const char *name, double value, void *fields)
{
  (void)value;
  g_ptr_array_add(fields, g_strdup(name));
}

static JsonNode *find(JsonObject *object, const char *name)
{
  g_auto(GStrv) parts = g_strsplit(name, ".", 2);
  JsonNode *node = json_object_get_member(object, parts[0]);
  if (!parts[1] || !node || !JSON_NODE_HOLDS_OBJECT(node))
    return parts[1] ? NULL : node;
  return json_object_get_member(json_node_get_object(node), parts[1]);
}

static void read_values(struct runs *runs, JsonObject *object, struct row *row)
{
  row->ended = runs_has_ended(object);
  if (runs->fields->len == 0 && row->exit <= EXIT_INCONCLUSIVE)
    runs_visit_numbers(object, add_field, runs->fields);
  row->value = g_new(double, runs->fields->len);
  for (guint i = 0; i < runs->fields->len; i++) {
    JsonNode *node = find(object, runs->fields->pdata[i]);
    row->value[i] = node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_double(node) : (double)NAN;
  }
}

static int whole(JsonObject *object, const char *name)
{
  return (int)json_object_get_int_member_with_default(object, name, -1);
}

/* Takes the line. Returns false if the line is no run of this campaign. */
static bool take_line(struct runs *runs, char *line)
{
  g_autoptr(JsonParser) parser = json_parser_new();
  struct row *row = g_new0(struct row, 1);
  row->line = line;
  JsonNode *root =
      json_parser_load_from_data(parser, line, -1, NULL) ? json_parser_get_root(parser) : NULL;
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
  int cell = object ? whole(object, "cell") : -1, run = object ? whole(object, "run") : -1;
  row->exit = object ? whole(object, "exit") : -1;
  if (cell < 0 || (unsigned)cell >= runs->grid->cells || run < 0 || row->exit < 0) {
    free_row(row);
    return false;
  }
  read_values(runs, object, row);
  warnings_take(runs->warnings, object);
  g_hash_table_insert(runs->rows, key_of(runs, (unsigned)cell, (unsigned)run), row);
  return true;
}

static gboolean has_failed(gpointer key, gpointer row, gpointer unused)
{
  (void)key;
  (void)unused;
  return ((const struct row *)row)->exit > EXIT_INCONCLUSIVE;
}

/* ---- the file ---- */

static bool fail(const struct runs *runs, GError **error)
{
  g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno), "%s: %s", runs->file,
              g_strerror(errno));
  return false;
}

static bool read_lines(struct runs *runs, char *text, GError **error)
{
  unsigned number = 1;
  for (char *end; (end = strchr(text, '\n')); text = end + 1, number++) {
    if (take_line(runs, g_strndup(text, (gsize)(end - text))))
      continue;
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                "%s:%u: no run of this campaign, expected the file as it was written", runs->file,
                number);
    return false;
  }
  return true;
}

bool runs_open(struct runs *runs, const struct grid *grid, const char *file, GError **error)
{
  *runs = (struct runs){.grid = grid,
                        .file = g_strdup(file),
                        .rows = g_hash_table_new_full(NULL, NULL, NULL, free_row),
                        .warnings = g_ptr_array_new_with_free_func(g_free),
                        .fields = g_ptr_array_new_with_free_func(g_free)};
  g_autofree char *text = NULL;
  gsize size = 0;
  if (!g_file_test(file, G_FILE_TEST_EXISTS))
    return true;
  if (!g_file_get_contents(file, &text, &size, error))
    return false;
  const char *last = strrchr(text, '\n');
  gsize kept = last ? (gsize)(last + 1 - text) : 0;
  if (kept < size && truncate(file, (off_t)kept) != 0)
    return fail(runs, error);
  if (!read_lines(runs, text, error))
    return false;
  g_hash_table_foreach_remove(runs->rows, has_failed, NULL);
  return true;
}

void runs_close(struct runs *runs)
{
  g_free(runs->file);
  g_hash_table_unref(runs->rows);
  g_ptr_array_unref(runs->warnings);
  g_ptr_array_unref(runs->fields);
}

static void add_text(GString *json, const char *text)
{
  g_autoptr(JsonNode) node = json_node_init_string(json_node_alloc(), text);
  g_autofree char *quoted = json_to_string(node, FALSE);
  g_string_append(json, quoted);
}

/* Appends the members of a printed result on one line, with the same digits. Leaves out the phases
 * of checkpoints, because they would take most of the line. */
static void add_result(GString *line, const char *result)
{
  const char *open = strchr(result, '{');
  g_auto(GStrv) parts = g_strsplit(open ? open + 1 : "\"verdict\": \"inconclusive\"}", "\n", -1);
  for (char **part = parts; *part; part++) {
    const char *text = g_strstrip(*part);
    if (g_str_has_prefix(text, "\"phases\":"))
      continue;
    g_string_append_printf(line, "%s%s", *text && *text != '}' ? " " : "", text);
  }
}

bool runs_add(struct runs *runs, unsigned cell, unsigned run, int code, const char *result,
              GError **error)
{
  GString *line = g_string_new(NULL);
  g_string_printf(line, "{\"cell\": %u, \"run\": %u, \"sweep\": {", cell, run);
  for (unsigned i = 0; i < runs->grid->sweeps; i++) {
    g_string_append(line, i ? ", " : "");
    add_text(line, runs->grid->sweep[i].key);
    g_string_append(line, ": ");
    add_text(line, grid_value(runs->grid, cell, i));
  }
  g_string_append_printf(line, "}, \"exit\": %d,", code);
  add_result(line, result);
  g_string_append_c(line, '\n');
  FILE *file = fopen(runs->file, "a");
  bool written = file && fwrite(line->str, 1, line->len, file) == line->len;
  if (file && fclose(file) != 0)
    written = false;
  if (!written) {
    g_string_free(line, TRUE);
    return fail(runs, error);
  }
  runs->added++;
  g_string_truncate(line, line->len - 1);
  return take_line(runs, g_string_free(line, FALSE));
}

bool runs_add_failed(struct runs *runs, unsigned cell, unsigned run, int code, const char *why,
                     GError **error)
{
  g_autoptr(GString) result = g_string_new("{\"verdict\": \"failed\", \"gave_up\": ");
  add_text(result, why);
  g_string_append_c(result, '}');
  return runs_add(runs, cell, run, code, result->str, error);
}

static gint by_key(gconstpointer a, gconstpointer b)
{
  gsize x = GPOINTER_TO_SIZE(a), y = GPOINTER_TO_SIZE(b);
  return (x > y) - (x < y);
}

bool text_write(GString *text, const char *file, GError **error)
{
  bool written = output_write(file, text->str, text->len);
  if (!written)
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno), OUTPUT_CANNOT, file,
                g_strerror(errno));
  g_string_free(text, TRUE);
  return written;
}

bool runs_sort(const struct runs *runs, GError **error)
{
  GString *text = g_string_new(NULL);
  g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(runs->rows), by_key);
  for (GList *key = keys; key; key = key->next) {
    const struct row *row = g_hash_table_lookup(runs->rows, key->data);
    g_string_append_printf(text, "%s\n", row->line);
  }
  return text_write(text, runs->file, error);
}

/* ---- CSV ---- */

void csv_add(GString *csv, const char *text)
{
  if (csv->len && csv->str[csv->len - 1] != '\n')
    g_string_append_c(csv, ',');
  if (!strpbrk(text, ",\"\n")) {
    g_string_append(csv, text);
    return;
  }
  g_string_append_c(csv, '"');
  for (; *text; text++)
    g_string_append_printf(csv, *text == '"' ? "\"\"" : "%c", *text);
  g_string_append_c(csv, '"');
}

/* Adds the name of a value to the columns, unless the value is a list, such as a number for each
 * rank. */
static void add_name(const char *name, JsonNode *node, void *names)
{
  if (!JSON_NODE_HOLDS_ARRAY(node))
    g_ptr_array_add(names, g_strdup(name));
}

static void add_value(JsonNode *node, GString *csv)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE] = "";
  if (!node || JSON_NODE_HOLDS_NULL(node))
    csv_add(csv, "");
  else if (json_node_get_value_type(node) == G_TYPE_STRING)
    csv_add(csv, json_node_get_string(node));
  else if (json_node_get_value_type(node) == G_TYPE_INT64)
    csv_add(csv, (g_snprintf(number, sizeof number, "%" G_GUINT64_FORMAT,
                             (guint64)json_node_get_int(node)),
                  number));
  else
    csv_add(csv, g_ascii_formatd(number, sizeof number, "%.9g", json_node_get_double(node)));
}

static void add_line(const struct row *row, const GPtrArray *names, GString *csv)
{
  g_autoptr(JsonNode) root = json_from_string(row->line, NULL);
  for (guint i = 0; i < names->len; i++)
    add_value(find(json_node_get_object(root), names->pdata[i]), csv);
  g_string_append_c(csv, '\n');
}

static void add_header(const GPtrArray *names, GString *csv)
{
  for (guint i = 0; i < names->len; i++)
    csv_add(csv, g_str_has_prefix(names->pdata[i], "sweep.")
                     ? (const char *)names->pdata[i] + strlen("sweep.")
                     : names->pdata[i]);
  g_string_append_c(csv, '\n');
}

bool runs_write_csv(const struct runs *runs, unsigned count, const char *file, GError **error)
{
  GString *csv = g_string_new(NULL);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  const struct row *longest = runs_row(runs, 0, 0);
  for (unsigned run = 0; run < count; run++)
    for (unsigned cell = 0; cell < runs->grid->cells; cell++)
      if (strlen(runs_row(runs, cell, run)->line) > strlen(longest->line))
        longest = runs_row(runs, cell, run);
  g_autoptr(JsonNode) root = json_from_string(longest->line, NULL);
  visit(json_node_get_object(root), NULL, add_name, names);
  add_header(names, csv);
  for (unsigned run = 0; run < count; run++)
    for (unsigned cell = 0; cell < runs->grid->cells; cell++)
      add_line(runs_row(runs, cell, run), names, csv);
  return text_write(csv, file, error);
}
