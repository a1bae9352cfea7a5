#include "plots/trace_file.h"

#include <stdint.h>
#include <string.h>

#include "plots/input.h"

struct reader {
  struct trace_file *trace;
  unsigned line;
  GError **error;
};

static bool bad(struct reader *reader, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool bad(struct reader *reader, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  input_error(reader->error, reader->trace->name, reader->line, format, arguments);
  va_end(arguments);
  return false;
}

static const char *keep(struct reader *reader, const char *text)
{
  return g_string_chunk_insert(reader->trace->chunk, text);
}

static bool whole_number(const char *text, gint64 low, gint64 high, gint64 *number)
{
  return g_ascii_string_to_signed(text, 10, low, high, number, NULL);
}

/* --- one event or action --- */

static bool is_name(const char *text)
{
  return g_ascii_islower(text[0]) &&
         text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static bool read_part(struct reader *reader, struct trace_item *item, const char *part)
{
  const char *equals = strchr(part, '=');
  if (part[0] == '@') {
    if (!whole_number(part + 1, 0, G_MAXINT64, &item->message))
      return bad(reader, "message number \"%s\", expected @ and a whole number", part);
    return true;
  }
  if (equals == NULL) {
    if (item->words == NULL)
      item->words = g_ptr_array_new();
    g_ptr_array_add(item->words, (gpointer)(uintptr_t)keep(reader, part));
    return true;
  }
  if (equals == part)
    return bad(reader, "\"%s\", expected key=value", part);
  g_autofree char *key = g_strndup(part, (gsize)(equals - part));
  struct trace_field field = {.key = keep(reader, key), .value = keep(reader, equals + 1)};
  if (item->fields == NULL)
    item->fields = g_array_new(FALSE, FALSE, sizeof field);
  g_array_append_val(item->fields, field);
  return true;
}

static void clear_item(gpointer data)
{
  struct trace_item *item = data;
  g_clear_pointer(&item->words, g_ptr_array_unref);
  g_clear_pointer(&item->fields, g_array_unref);
}

static bool read_item(struct reader *reader, struct trace_item *item, const char *text)
{
  *item = (struct trace_item){.name = "", .message = -1};
  g_auto(GStrv) parts = g_strsplit(text, " ", -1);
  for (unsigned i = 0; parts[i] != NULL; i++) {
    if (parts[i][0] == '\0')
      continue;
    if (item->name[0] != '\0') {
      if (!read_part(reader, item, parts[i]))
        return false;
    } else if (is_name(parts[i])) {
      item->name = keep(reader, parts[i]);
    } else {
      return bad(reader, "\"%s\", expected the name of an event or action", parts[i]);
    }
  }
  if (item->name[0] == '\0')
    return bad(reader, "nothing, expected an event or action");
  return true;
}

/* --- one step --- */

/* What the pictures cannot do without. */
static const struct {
  const char *event, *field;
} REQUIRED[] = {
    {"send", "peer"},
    {"arrived", "peer"},
    {"control", "peer"},
    {"resend", "peer"},
    {"captured", "checkpoint"},
    {"durable", "checkpoint"},
    {"committed", "checkpoint"},
    {"detected", "rank"},
};

static bool check_item(struct reader *reader, const struct trace_item *item)
{
  for (unsigned i = 0; i < G_N_ELEMENTS(REQUIRED); i++) {
    const char *field = REQUIRED[i].field;
    if (!trace_item_is(item, REQUIRED[i].event))
      continue;
    bool checkpoint = g_str_equal(field, "checkpoint");
    gint64 number = trace_item_number(item, field, -1);
    if (number < 0 || (!checkpoint && number >= reader->trace->ranks))
      return bad(reader, "%s with %s=%s, expected %s=0 to %s", item->name, field,
                 trace_item_field(item, field) ? trace_item_field(item, field) : "(none)", field,
                 checkpoint ? "any number" : "one less than the ranks");
  }
  return true;
}

static bool read_actions(struct reader *reader, struct trace_line *line, char **texts)
{
  for (unsigned i = 0; texts[i] != NULL; i++) {
    struct trace_item item;
    bool good = read_item(reader, &item, texts[i]) && check_item(reader, &item);
    if (line->actions == NULL) {
      line->actions = g_array_new(FALSE, FALSE, sizeof item);
      g_array_set_clear_func(line->actions, clear_item);
    }
    g_array_append_val(line->actions, item);
    if (!good)
      return false;
  }
  return true;
}

static bool read_rank(struct reader *reader, const char *text, int *rank)
{
  gint64 number = DISPATCHER;
  if (!g_str_equal(text, "-") && !whole_number(text, 0, reader->trace->ranks - 1, &number))
    return bad(reader, "rank \"%s\", expected 0 to %d or -", text, reader->trace->ranks - 1);
  *rank = (int)number;
  return true;
}

static bool read_time(struct reader *reader, struct trace_line *line, const char *text)
{
  if (!g_ascii_isdigit(text[0]) || text[strspn(text, "0123456789.eE+-")] != '\0')
    return bad(reader, "time \"%s\", expected a step number or seconds", text);
  line->time = keep(reader, text);
  reader->trace->timed |= strchr(text, '.') != NULL;
  return true;
}

static bool read_step(struct reader *reader, const char *text)
{
  struct trace_line line = {.number = reader->line, .text = keep(reader, text)};
  g_autofree char *copy = g_strdup(text);
  char *digest = g_strrstr(copy, " # ");
  if (digest != NULL)
    *digest = '\0';
  g_auto(GStrv) head = g_strsplit(copy, " ", 3);
  if (g_strv_length(head) < 3 || *head[2] == '\0')
    return bad(reader, "\"%s\", expected: time rank event", text);
  g_auto(GStrv) items = g_strsplit(head[2], " | ", -1);
  bool good = read_time(reader, &line, head[0]) && read_rank(reader, head[1], &line.rank) &&
              read_item(reader, &line.event, items[0]) && check_item(reader, &line.event) &&
              read_actions(reader, &line, items + 1);
  g_array_append_val(reader->trace->lines, line);
  return good;
}

/* violation no-loss rank=1: text */
static bool read_violation(struct reader *reader, const char *text)
{
  struct trace_violation violation = {.rank = DISPATCHER};
  const char *colon = strstr(text, ": ");
  if (colon == NULL)
    return bad(reader, "\"%s\", expected: violation PROPERTY rank=R: text", text);
  g_autofree char *head = g_strndup(text, (gsize)(colon - text));
  g_auto(GStrv) parts = g_strsplit(head, " ", -1);
  unsigned count = g_strv_length(parts);
  bool ranked = count == 3 && g_str_has_prefix(parts[2], "rank=");
  if (count < 2 || count > 3 || (count == 3 && !ranked))
    return bad(reader, "\"%s\", expected: violation PROPERTY rank=R: text", text);
  if (ranked && !read_rank(reader, parts[2] + strlen("rank="), &violation.rank))
    return false;
  violation.property = keep(reader, parts[1]);
  violation.text = keep(reader, colon + 2);
  g_array_append_val(reader->trace->violations, violation);
  return true;
}

/* again from=12 */
static bool read_again(struct reader *reader, const char *text)
{
  GArray *lines = reader->trace->lines;
  gint64 step;
  if (!g_str_has_prefix(text, "again from=") ||
      !whole_number(text + strlen("again from="), 0, (gint64)lines->len - 1, &step))
    return bad(reader, "\"%s\", expected: again from=STEP", text);
  reader->trace->again = (int)step;
  return true;
}

/* --- the file --- */

static bool read_header(struct reader *reader, const char *text)
{
  struct trace_file *trace = reader->trace;
  const char *space = strchr(text, ' ');
  if (space == NULL || space == text)
    return bad(reader, "\"%s\", expected a header line \"key value\" or ---", text);
  g_autofree char *key = g_strndup(text, (gsize)(space - text));
  const char *value = space + 1;
  gint64 ranks;
  if (g_str_equal(key, "protocol")) {
    trace->protocol = keep(reader, value);
  } else if (g_str_equal(key, "host")) {
    trace->host = keep(reader, value);
  } else if (g_str_equal(key, "ranks")) {
    if (!whole_number(value, 1, G_MAXINT16, &ranks))
      return bad(reader, "ranks \"%s\", expected 1 to %d", value, G_MAXINT16);
    trace->ranks = (int)ranks;
  }
  return true;
}

static bool read_lines(struct reader *reader, char **lines)
{
  if (lines[0] == NULL || !g_str_equal(lines[0], "recline-trace 3"))
    return bad(reader, "\"%s\", expected \"recline-trace 3\"", lines[0] ? lines[0] : "");
  bool body = false;
  for (unsigned i = 1; lines[i] != NULL; i++) {
    reader->line = i + 1;
    bool good = true;
    if (lines[i][0] == '\0')
      continue;
    if (!body && g_str_equal(lines[i], "---")) {
      body = true;
      if (reader->trace->ranks == 0)
        return bad(reader, "the header ends without ranks, expected \"ranks N\"");
    } else if (!body) {
      good = read_header(reader, lines[i]);
    } else if (g_str_has_prefix(lines[i], "violation ")) {
      good = read_violation(reader, lines[i]);
    } else if (g_str_has_prefix(lines[i], "again ")) {
      good = read_again(reader, lines[i]);
    } else {
      good = read_step(reader, lines[i]);
    }
    if (!good)
      return false;
  }
  if (!body)
    return bad(reader, "the file ends in the header, expected ---");
  if (reader->trace->lines->len == 0)
    return bad(reader, "the file ends, expected at least one step");
  return true;
}

static void clear_line(gpointer data)
{
  struct trace_line *line = data;
  clear_item(&line->event);
  g_clear_pointer(&line->actions, g_array_unref);
}

struct trace_file *trace_file_parse(const char *name, const char *text, GError **error)
{
  struct trace_file *trace = g_new0(struct trace_file, 1);
  trace->chunk = g_string_chunk_new(1 << 16);
  trace->name = g_string_chunk_insert(trace->chunk, name);
  trace->again = -1;
  trace->lines = g_array_new(FALSE, FALSE, sizeof(struct trace_line));
  g_array_set_clear_func(trace->lines, clear_line);
  trace->violations = g_array_new(FALSE, FALSE, sizeof(struct trace_violation));
  struct reader reader = {.trace = trace, .line = 1, .error = error};
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  if (read_lines(&reader, lines))
    return trace;
  trace_file_free(trace);
  return NULL;
}

void trace_file_free(struct trace_file *trace)
{
  g_array_unref(trace->lines);
  g_array_unref(trace->violations);
  g_string_chunk_free(trace->chunk);
  g_free(trace);
}

const char *trace_item_field(const struct trace_item *item, const char *key)
{
  for (unsigned i = 0; item->fields != NULL && i < item->fields->len; i++) {
    const struct trace_field *field = &g_array_index(item->fields, struct trace_field, i);
    if (g_str_equal(field->key, key))
      return field->value;
  }
  return NULL;
}

gint64 trace_item_number(const struct trace_item *item, const char *key, gint64 otherwise)
{
  const char *value = trace_item_field(item, key);
  gint64 number;
  return value != NULL && whole_number(value, G_MININT64, G_MAXINT64, &number) ? number : otherwise;
}

const struct trace_item *trace_line_action(const struct trace_line *line, const char *name,
                                           unsigned *after)
{
  unsigned from = after != NULL ? *after : 0;
  for (unsigned i = from; line->actions != NULL && i < line->actions->len; i++) {
    const struct trace_item *action = &g_array_index(line->actions, struct trace_item, i);
    if (!trace_item_is(action, name))
      continue;
    if (after != NULL)
      *after = i + 1;
    return action;
  }
  return NULL;
}
