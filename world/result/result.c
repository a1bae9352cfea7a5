/* Writes and reads results as JSON. Results are written by hand, because json-glib prints seconds
 * with 17 digits. They are read with json-glib, strictly: a key that is missing, unknown or of
 * another type is an error, since scripts depend on these keys. */
#include "world/result/result.h"

#include <errno.h>
#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "base/output.h"

static const char *const VERDICTS[] = {
    [RUN_COMPLETED] = "completed", [RUN_RECOVERED] = "recovered", [RUN_GAVE_UP] = "gave-up",
    [RUN_LOST] = "lost",           [RUN_STOPPED] = "stopped",
};

const char *run_verdict_name(enum run_verdict verdict)
{
  return (size_t)verdict < G_N_ELEMENTS(VERDICTS) ? VERDICTS[verdict] : NULL;
}

/* Names the kinds of fields in the table. The table of fields serves writing and reading, and is in
 * the order of the file. */
enum field_kind {
  FIELD_VERDICT,
  FIELD_INT,
  FIELD_UNSIGNED,
  FIELD_COUNT,
  FIELD_SEED, /* all 64 bits */
  /* an array with one entry for each rank; the field `ranks` comes before it in the file */
  FIELD_COUNTS,
  FIELD_SECONDS,
  FIELD_TEXT,
  FIELD_TEXTS,
  FIELD_PHASES
};

struct field {
  /* object of the field, or NULL at the top level; fields of a group stand together */
  const char *group;
  const char *key;
  enum field_kind kind;
  size_t offset; /* offset in struct result */
};

#define AT(member) offsetof(struct result, member)

static const struct field FIELDS[] = {
    {NULL, "verdict", FIELD_VERDICT, AT(verdict)},
    {NULL, "program_exit", FIELD_INT, AT(program_exit)},
    {NULL, "ranks", FIELD_INT, AT(ranks)},
    {NULL, "crashes", FIELD_UNSIGNED, AT(crashes)},
    {"rollbacks", "global", FIELD_UNSIGNED, AT(rollbacks_global)},
    {"rollbacks", "local", FIELD_UNSIGNED, AT(rollbacks_local)},
    {"checkpoints", "committed", FIELD_UNSIGNED, AT(checkpoints_committed)},
    {"checkpoints", "aborted", FIELD_UNSIGNED, AT(checkpoints_aborted)},
    {"checkpoints", "abandoned", FIELD_UNSIGNED, AT(checkpoints_abandoned)},
    {"restart", "from", FIELD_UNSIGNED, AT(restart.from)},
    {"restart", "before_s", FIELD_SECONDS, AT(restart.before_s)},
    {"restart", "left", FIELD_UNSIGNED, AT(restart.left)},
    {"messages", "sent", FIELD_COUNT, AT(messages.sent)},
    {"messages", "late", FIELD_COUNT, AT(messages.late)},
    {"messages", "early", FIELD_COUNT, AT(messages.early)},
    {"messages", "suppressed", FIELD_COUNT, AT(messages.suppressed)},
    {"messages", "replayed", FIELD_COUNT, AT(messages.replayed)},
    {"messages", "discarded", FIELD_COUNT, AT(messages.discarded)},
    {"control", "separate", FIELD_COUNT, AT(control.separate)},
    {"control", "combined", FIELD_COUNT, AT(control.combined)},
    {"network", "messages", FIELD_COUNT, AT(network.messages)},
    {"network", "control", FIELD_COUNT, AT(network.control)},
    {"network", "bytes", FIELD_COUNT, AT(network.bytes)},
    {NULL, "stored_bytes", FIELD_COUNT, AT(stored_bytes)},
    {NULL, "simulated_s", FIELD_SECONDS, AT(simulated_s)},
    {"time_s", "compute", FIELD_SECONDS, AT(time.compute)},
    {"time_s", "mpi", FIELD_SECONDS, AT(time.mpi)},
    {"time_s", "protocol", FIELD_SECONDS, AT(time.protocol)},
    {"time_s", "checkpoint", FIELD_SECONDS, AT(time.checkpoint)},
    {"time_s", "lost", FIELD_SECONDS, AT(time.lost)},
    {"time_s", "restart", FIELD_SECONDS, AT(time.restart)},
    {"output", "count", FIELD_COUNT, AT(output.count)},
    {"output", "bytes", FIELD_COUNT, AT(output.bytes)},
    {"output", "delay_mean_s", FIELD_SECONDS, AT(output.delay_mean_s)},
    {"output", "delay_max_s", FIELD_SECONDS, AT(output.delay_max_s)},
    {"copies", "payload_bytes", FIELD_COUNT, AT(copies.payload_bytes)},
    {"copies", "payload_s", FIELD_SECONDS, AT(copies.payload_s)},
    {"copies", "state_bytes", FIELD_COUNT, AT(copies.state_bytes)},
    {"copies", "state_s", FIELD_SECONDS, AT(copies.state_s)},
    {"repair_s", "detect", FIELD_SECONDS, AT(repair.detect)},
    {"repair_s", "revoke", FIELD_SECONDS, AT(repair.revoke)},
    {"repair_s", "notice", FIELD_SECONDS, AT(repair.notice)},
    {"repair_s", "agree", FIELD_SECONDS, AT(repair.agree)},
    {"repair_s", "spawn", FIELD_SECONDS, AT(repair.spawn)},
    {"repair_s", "rebuild", FIELD_SECONDS, AT(repair.rebuild)},
    {NULL, "phases", FIELD_PHASES, 0},
    {NULL, "iterations", FIELD_COUNT, AT(iterations)},
    {NULL, "rank_iterations", FIELD_COUNTS, AT(rank_iterations)},
    {NULL, "image_bytes", FIELD_COUNT, AT(image_bytes)},
    {NULL, "rank_image_bytes", FIELD_COUNTS, AT(rank_image_bytes)},
    {"audit", "violations", FIELD_COUNT, AT(audit_violations)},
    {"audit", "first", FIELD_TEXT, AT(audit_first)},
    {NULL, "gave_up", FIELD_TEXT, AT(gave_up)},
    {NULL, "notes", FIELD_TEXTS, AT(notes)},
    {NULL, "warnings", FIELD_TEXTS, AT(warnings)},
    {NULL, "version", FIELD_TEXT, AT(version)},
    {NULL, "scenario", FIELD_TEXT, AT(scenario)},
    {NULL, "program", FIELD_TEXT, AT(program)},
    {NULL, "platform", FIELD_TEXT, AT(platform)},
    {NULL, "protocol", FIELD_TEXT, AT(protocol)},
    {NULL, "seed", FIELD_SEED, AT(seed)},
};

/* ---- writing ---- */

static void add_text(GString *json, const char *text)
{
  if (text == NULL) {
    g_string_append(json, "null");
    return;
  }
  /* A JSON document is UTF-8, whatever a program or a file name contains. */
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  g_autoptr(JsonNode) node = json_node_init_string(json_node_alloc(), valid);
  g_autofree char *quoted = json_to_string(node, FALSE);
  g_string_append(json, quoted);
}

static void add_seconds(GString *json, double seconds)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(text, sizeof text, "%.9g", seconds);
  g_string_append(json, text);
}

static void add_counts(GString *json, const uint64_t *counts, int length)
{
  g_string_append_c(json, '[');
  for (int i = 0; i < length; i++)
    g_string_append_printf(json, "%s%" G_GUINT64_FORMAT, i > 0 ? ", " : "", counts[i]);
  g_string_append_c(json, ']');
}

static void add_texts(GString *json, char *const *texts)
{
  g_string_append_c(json, '[');
  for (char *const *text = texts; text && *text; text++) {
    g_string_append(json, text == texts ? "" : ", ");
    add_text(json, *text);
  }
  g_string_append_c(json, ']');
}

/* Writes all phases on one line. */
static void add_phases(GString *json, const struct result *result)
{
  g_string_append_c(json, '[');
  for (unsigned i = 0; i < result->phases_count; i++) {
    const struct run_phase *phase = &result->phases[i];
    g_string_append_printf(json, "%s{\"checkpoint\": %u, \"phase\": ", i > 0 ? ", " : "",
                           phase->checkpoint);
    add_text(json, phase->name);
    g_string_append_printf(json, ", \"ranks\": %d, \"min_s\": ", phase->ranks);
    add_seconds(json, phase->least);
    g_string_append(json, ", \"mean_s\": ");
    add_seconds(json, phase->mean);
    g_string_append(json, ", \"max_s\": ");
    add_seconds(json, phase->most);
    if (phase->rank_0 >= 0.0) {
      g_string_append(json, ", \"rank0_s\": ");
      add_seconds(json, phase->rank_0);
    }
    g_string_append_c(json, '}');
  }
  g_string_append_c(json, ']');
}

static void add_value(GString *json, const struct field *field, const struct result *result)
{
  const char *place = (const char *)result + field->offset;
  switch (field->kind) {
  case FIELD_VERDICT:
    add_text(json, run_verdict_name(*(const enum run_verdict *)place));
    break;
  case FIELD_INT:
    g_string_append_printf(json, "%d", *(const int *)place);
    break;
  case FIELD_UNSIGNED:
    g_string_append_printf(json, "%u", *(const unsigned *)place);
    break;
  case FIELD_COUNT:
  case FIELD_SEED:
    g_string_append_printf(json, "%" G_GUINT64_FORMAT, *(const uint64_t *)place);
    break;
  case FIELD_COUNTS:
    add_counts(json, *(uint64_t *const *)place, result->ranks);
    break;
  case FIELD_SECONDS:
    add_seconds(json, *(const double *)place);
    break;
  case FIELD_TEXT:
    add_text(json, *(char *const *)place);
    break;
  case FIELD_TEXTS:
    add_texts(json, *(char **const *)place);
    break;
  case FIELD_PHASES:
    add_phases(json, result);
    break;
  }
}

char *result_json(const struct result *result)
{
  GString *json = g_string_new("{");
  const char *group = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(FIELDS); i++) {
    const struct field *field = &FIELDS[i];
    bool goes_on = i > 0 && g_strcmp0(group, field->group) == 0;
    if (!goes_on && group != NULL)
      g_string_append(json, "}");
    g_string_append(json, i == 0 ? "\n  " : goes_on && group != NULL ? ", " : ",\n  ");
    if (!goes_on && field->group != NULL)
      g_string_append_printf(json, "\"%s\": {", field->group);
    group = field->group;
    g_string_append_printf(json, "\"%s\": ", field->key);
    add_value(json, field, result);
  }
  g_string_append(json, group == NULL ? "\n}\n" : "}\n}\n");
  return g_string_free(json, FALSE);
}

bool result_save(const struct result *result, const char *file, GError **error)
{
  g_autofree char *json = result_json(result);
  if (output_write(file, json, strlen(json)))
    return true;
  g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno), OUTPUT_CANNOT, file,
              g_strerror(errno));
  return false;
}

/* ---- reading ---- */

static bool read_verdict(JsonNode *node, enum run_verdict *verdict)
{
  const char *name = json_node_get_string(node);
  for (size_t i = 0; i < G_N_ELEMENTS(VERDICTS); i++) {
    if (g_strcmp0(name, VERDICTS[i]) == 0) {
      *verdict = (enum run_verdict)i;
      return true;
    }
  }
  return false;
}

static bool read_integer(JsonNode *node, int64_t least, int64_t most, int64_t *value)
{
  if (json_node_get_value_type(node) != G_TYPE_INT64)
    return false;
  *value = json_node_get_int(node);
  return *value >= least && *value <= most;
}

static uint64_t *read_counts(JsonNode *node, int length)
{
  if (!JSON_NODE_HOLDS_ARRAY(node))
    return NULL;
  JsonArray *array = json_node_get_array(node);
  if (length <= 0 || json_array_get_length(array) != (guint)length)
    return NULL;
  g_autofree uint64_t *counts = g_new(uint64_t, (gsize)length);
  for (guint i = 0; i < (guint)length; i++) {
    JsonNode *element = json_array_get_element(array, i);
    int64_t integer;
    if (!JSON_NODE_HOLDS_VALUE(element) || !read_integer(element, 0, G_MAXINT64, &integer))
      return NULL;
    counts[i] = (uint64_t)integer;
  }
  return g_steal_pointer(&counts);
}

static char **read_texts(JsonNode *node)
{
  if (!JSON_NODE_HOLDS_ARRAY(node))
    return NULL;
  JsonArray *array = json_node_get_array(node);
  guint length = json_array_get_length(array);
  g_auto(GStrv) texts = g_new0(char *, length + 1);
  for (guint i = 0; i < length; i++) {
    JsonNode *element = json_array_get_element(array, i);
    if (!JSON_NODE_HOLDS_VALUE(element) || json_node_get_value_type(element) != G_TYPE_STRING)
      return NULL;
    texts[i] = json_node_dup_string(element);
  }
  return g_steal_pointer(&texts);
}

static bool read_phase(JsonObject *object, struct run_phase *phase)
{
  static const char *const numbers[] = {"checkpoint", "ranks", "min_s", "mean_s", "max_s"};
  for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
    JsonNode *node = json_object_get_member(object, numbers[i]);
    if (!node || !JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) == G_TYPE_STRING)
      return false;
  }
  phase->checkpoint = (uint32_t)json_object_get_int_member(object, "checkpoint");
  phase->ranks = (int)json_object_get_int_member(object, "ranks");
  phase->least = json_object_get_double_member(object, "min_s");
  phase->mean = json_object_get_double_member(object, "mean_s");
  phase->most = json_object_get_double_member(object, "max_s");
  phase->rank_0 = json_object_get_double_member_with_default(object, "rank0_s", -1.0);
  phase->name = g_strdup(json_object_get_string_member_with_default(object, "phase", NULL));
  return phase->name != NULL;
}

static bool read_phases(JsonNode *node, struct result *result)
{
  if (!JSON_NODE_HOLDS_ARRAY(node))
    return false;
  JsonArray *array = json_node_get_array(node);
  result->phases_count = json_array_get_length(array);
  result->phases = g_new0(struct run_phase, result->phases_count);
  for (guint i = 0; i < result->phases_count; i++) {
    JsonNode *element = json_array_get_element(array, i);
    if (!JSON_NODE_HOLDS_OBJECT(element) ||
        !read_phase(json_node_get_object(element), &result->phases[i]))
      return false;
  }
  return true;
}

static bool read_value(JsonNode *node, const struct field *field, struct result *result)
{
  char *place = (char *)result + field->offset;
  int64_t integer;
  if (field->kind == FIELD_TEXT && JSON_NODE_HOLDS_NULL(node))
    return true;
  if (field->kind == FIELD_COUNTS) {
    *(uint64_t **)place = read_counts(node, result->ranks);
    return *(uint64_t **)place != NULL;
  }
  if (field->kind == FIELD_TEXTS) {
    *(char ***)place = read_texts(node);
    return *(char ***)place != NULL;
  }
  if (field->kind == FIELD_PHASES)
    return read_phases(node, result);
  if (!JSON_NODE_HOLDS_VALUE(node))
    return false;
  switch (field->kind) {
  case FIELD_VERDICT:
    return read_verdict(node, (enum run_verdict *)place);
  case FIELD_INT:
    if (!read_integer(node, G_MININT, G_MAXINT, &integer))
      return false;
    *(int *)place = (int)integer;
    return true;
  case FIELD_UNSIGNED:
    if (!read_integer(node, 0, G_MAXUINT, &integer))
      return false;
    *(unsigned *)place = (unsigned)integer;
    return true;
  case FIELD_SEED:
    return true; /* take_seed() has read it */
  case FIELD_COUNT:
    if (!read_integer(node, 0, G_MAXINT64, &integer))
      return false;
    *(uint64_t *)place = (uint64_t)integer;
    return true;
  case FIELD_COUNTS:
  case FIELD_TEXTS:
  case FIELD_PHASES:
    break; /* lists have a case of their own above */
  case FIELD_SECONDS:
    *(double *)place = json_node_get_double(node);
    return json_node_get_value_type(node) != G_TYPE_STRING;
  case FIELD_TEXT:
    *(char **)place = json_node_dup_string(node);
    return json_node_get_value_type(node) == G_TYPE_STRING;
  }
  return false;
}

static JsonNode *find(JsonObject *top, const struct field *field)
{
  if (field->group == NULL)
    return json_object_get_member(top, field->key);
  JsonNode *group = json_object_get_member(top, field->group);
  if (group == NULL || !JSON_NODE_HOLDS_OBJECT(group))
    return NULL;
  return json_object_get_member(json_node_get_object(group), field->key);
}

/* Reads the seed from the digits in the text, because json-glib holds no number above 2^63 - 1. A
 * quote within a string has a backslash before it, so no string looks like the key. */
static bool take_seed(char *json, uint64_t *seed)
{
  static const char KEY[] = "\"seed\": ";
  char *digits = strstr(json, KEY);
  if (digits == NULL)
    return true; /* the key is missing, which is reported as for any other key */
  digits += strlen(KEY);
  size_t length = strspn(digits, "0123456789");
  g_autofree char *number = g_strndup(digits, length);
  if (!g_ascii_string_to_unsigned(number, 10, 0, G_MAXUINT64, seed, NULL))
    return false;
  memset(digits, ' ', length - 1);
  digits[length - 1] = '0';
  return strchr("\n,", digits[length]) != NULL;
}

bool result_load(const char *file, struct result *result, GError **error)
{
  *result = (struct result){0};
  g_autofree char *json = NULL;
  g_autoptr(JsonParser) parser = json_parser_new();
  if (!g_file_get_contents(file, &json, NULL, error))
    return false;
  if (!take_seed(json, &result->seed)) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                "%s: seed has a value that it cannot have", file);
    return false;
  }
  if (!json_parser_load_from_data(parser, json, -1, error)) {
    g_prefix_error(error, "%s: ", file);
    return false;
  }
  JsonNode *root = json_parser_get_root(parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root)) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: not a result, expected an object",
                file);
    return false;
  }
  for (size_t i = 0; i < G_N_ELEMENTS(FIELDS); i++) {
    const struct field *field = &FIELDS[i];
    JsonNode *node = find(json_node_get_object(root), field);
    if (node != NULL && read_value(node, field, result))
      continue;
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: %s%s%s %s", file,
                field->group == NULL ? "" : field->group, field->group == NULL ? "" : ".",
                field->key, node == NULL ? "is missing" : "has a value that it cannot have");
    result_clear(result);
    return false;
  }
  return true;
}

/* Appends a text, which the list owns from then on. */
static void append_text(char ***texts, char *text)
{
  guint length = *texts ? g_strv_length(*texts) : 0;
  *texts = g_renew(char *, *texts, length + 2);
  (*texts)[length] = text;
  (*texts)[length + 1] = NULL;
}

void result_note(struct result *result, const char *format, ...)
{
  va_list values;
  va_start(values, format);
  append_text(&result->notes, g_strdup_vprintf(format, values));
  va_end(values);
}

void result_warn(struct result *result)
{
  append_text(&result->warnings, g_strdup(result->notes[g_strv_length(result->notes) - 1]));
}

void result_clear(struct result *result)
{
  for (unsigned i = 0; i < result->phases_count; i++)
    g_free(result->phases[i].name);
  g_free(result->phases);
  g_free(result->rank_image_bytes);
  g_free(result->rank_iterations);
  g_free(result->audit_first);
  g_free(result->gave_up);
  g_strfreev(result->notes);
  g_strfreev(result->warnings);
  g_free(result->version);
  g_free(result->scenario);
  g_free(result->program);
  g_free(result->platform);
  g_free(result->protocol);
  *result = (struct result){0};
}
