#include "plots/trace_file.h"

#include <stdint.h>
#include <string.h>

#include "plots/input.h"
#include "plots/words.h"

struct reader {
  struct trace_file *trace;
  unsigned line;
  GError **error;
  char *block; /* the newest of trace->blocks */
  gsize used;  /* number of bytes of that block that are in use */
};

enum { BLOCK = 1 << 20 }; /* number of bytes of a block; only a very long line needs more */

static bool bad(struct reader *reader, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool bad(struct reader *reader, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  input_error(reader->error, reader->trace->name, reader->line, format, arguments);
  va_end(arguments);
  return false;
}

/* Returns zeroed memory that lives as long as the trace. The memory is cut from blocks, because
 * there may be millions of items, which are too many for malloc(). */
static void *reserve(struct reader *reader, gsize size)
{
  if (!reader->block || reader->used + size > (gsize)BLOCK) {
    reader->block = g_malloc0(MAX(size, (gsize)BLOCK));
    reader->used = 0;
    g_ptr_array_add(reader->trace->blocks, reader->block);
  }
  reader->used += size;
  return reader->block + reader->used - size;
}

/* Ends `text` where `separator` begins. Returns the text after the separator, or NULL if there is
 * no separator. */
static char *cut(char *text, const char *separator)
{
  /* The strstr() of sanitizers reads the text to its end. Here, that may be the end of a large
   * file. */
  char *found = separator[1] ? strstr(text, separator) : strchr(text, separator[0]);
  if (!found)
    return NULL;
  *found = '\0';
  return found + strlen(separator);
}

static unsigned occurrences(const char *text, const char *part)
{
  unsigned count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
    count++;
  return count;
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

static bool read_part(struct reader *reader, struct trace_item *item, char *part)
{
  if (part[0] == '@') {
    if (!whole_number(part + 1, 0, G_MAXINT64, &item->message))
      return bad(reader, "message number \"%s\", expected @ and a whole number", part);
    return true;
  }
  char *equals = strchr(part, '=');
  if (equals == NULL) {
    item->word = item->word ? item->word : part;
    return true;
  }
  if (equals == part)
    return bad(reader, "\"%s\", expected key=value", part);
  *equals = '\0';
  item->fields[item->fields_count++] = (struct trace_field){.key = part, .value = equals + 1};
  return true;
}

static bool read_item(struct reader *reader, struct trace_item *item, char *text)
{
  *item = (struct trace_item){.name = "", .message = -1};
  item->fields = reserve(reader, occurrences(text, "=") * sizeof *item->fields);
  for (char *part = text, *next; part; part = next) {
    next = cut(part, " ");
    if (part[0] == '\0')
      continue;
    if (item->name[0] != '\0') {
      if (!read_part(reader, item, part))
        return false;
    } else if (is_name(part)) {
      item->name = part;
    } else {
      return bad(reader, "\"%s\", expected the name of an event or action", part);
    }
  }
  if (item->name[0] == '\0')
    return bad(reader, "nothing, expected an event or action");
  return true;
}

/* --- one step --- */

/* The fields that pictures need. All other fields are skipped. */
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

/* Reads the actions, which follow the event; `texts` is NULL if there are none. Returns false if
 * the text is wrong. */
static bool read_actions(struct reader *reader, struct trace_line *line, char *texts)
{
  if (texts == NULL)
    return true;
  line->actions = reserve(reader, (occurrences(texts, " | ") + 1) * sizeof *line->actions);
  for (char *text = texts, *next; text; text = next) {
    struct trace_item *item = &line->actions[line->actions_count++];
    next = cut(text, " | ");
    if (!read_item(reader, item, text) || !check_item(reader, item))
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
  line->time = text;
  reader->trace->timed |= strchr(text, '.') != NULL;
  return true;
}

/* Reads a step. `words` is a copy of `text`, which this function cuts into pieces. */
static bool read_step(struct reader *reader, const char *text, char *words)
{
  struct trace_line line = {.number = reader->line, .text = text};
  char *digest = g_strrstr(words, " # ");
  if (digest != NULL)
    *digest = '\0';
  char *rank = cut(words, " "), *event = rank ? cut(rank, " ") : NULL;
  if (event == NULL || *event == '\0')
    return bad(reader, "\"%s\", expected: time rank event", text);
  char *actions = cut(event, " | ");
  bool good = read_time(reader, &line, words) && read_rank(reader, rank, &line.rank) &&
              read_item(reader, &line.event, event) && check_item(reader, &line.event) &&
              read_actions(reader, &line, actions);
  g_array_append_val(reader->trace->lines, line);
  return good;
}

/* Reads `violation no-loss rank=1: text`. */
static bool read_violation(struct reader *reader, const char *text, char *words)
{
  struct trace_violation violation = {.rank = DISPATCHER};
  violation.text = cut(words, ": ");
  char *property = cut(words, " "), *rank = property ? cut(property, " ") : NULL;
  bool ranked = rank && g_str_has_prefix(rank, "rank=") && !strchr(rank, ' ');
  if (violation.text == NULL || property == NULL || (rank && !ranked))
    return bad(reader, "\"%s\", expected: violation PROPERTY rank=R: text", text);
  if (ranked && !read_rank(reader, rank + strlen("rank="), &violation.rank))
    return false;
  violation.property = property;
  if (reader->trace->lines->len > 0)
    violation.by = trace_file_line(reader->trace, reader->trace->lines->len - 1)->time;
  g_array_append_val(reader->trace->violations, violation);
  return true;
}

/* Reads `again from=12`. */
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
    trace->protocol = value;
  } else if (g_str_equal(key, "host")) {
    trace->host = value;
  } else if (g_str_equal(key, "control") && strstr(value, ": ")) {
    const char *says = strstr(value, ": ");
    g_hash_table_insert(trace->controls, g_strndup(value, (gsize)(says - value)),
                        (gpointer)(uintptr_t)(says + 2));
  } else if (g_str_equal(key, "ranks")) {
    if (!whole_number(value, 1, G_MAXINT16, &ranks))
      return bad(reader, "ranks \"%s\", expected 1 to %d", value, G_MAXINT16);
    trace->ranks = (int)ranks;
  }
  return true;
}

static bool read_line(struct reader *reader, const char *text, char *words, bool body)
{
  if (!body)
    return read_header(reader, text);
  if (g_str_has_prefix(text, "violation "))
    return read_violation(reader, text, words);
  if (g_str_has_prefix(text, "again "))
    return read_again(reader, text);
  return read_step(reader, text, words);
}

static bool read_lines(struct reader *reader)
{
  struct trace_file *trace = reader->trace;
  char *next = cut(trace->text, "\n");
  if (!g_str_equal(trace->text, "recline-trace 3"))
    return bad(reader, "\"%s\", expected \"recline-trace 3\"", trace->text);
  bool body = false;
  for (char *text = next; text; text = next) {
    next = cut(text, "\n");
    reader->line++;
    if (text[0] == '\0')
      continue;
    if (!body && g_str_equal(text, "---")) {
      body = true;
      if (trace->ranks == 0)
        return bad(reader, "the header ends without ranks, expected \"ranks N\"");
      continue;
    }
    char *words = trace->words + (text - trace->text);
    cut(words, "\n");
    if (!read_line(reader, text, words, body))
      return false;
  }
  if (!body)
    return bad(reader, "the file ends in the header, expected ---");
  if (trace->lines->len == 0)
    return bad(reader, "the file ends, expected at least one step");
  return true;
}

struct trace_file *trace_file_parse(const char *name, const char *text, GError **error)
{
  struct trace_file *trace = g_new0(struct trace_file, 1);
  trace->text = g_strdup(text);
  trace->words = g_strdup(text);
  trace->blocks = g_ptr_array_new_with_free_func(g_free);
  trace->name = g_strdup(name);
  trace->again = -1;
  trace->controls = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  trace->lines = g_array_new(FALSE, FALSE, sizeof(struct trace_line));
  trace->violations = g_array_new(FALSE, FALSE, sizeof(struct trace_violation));
  struct reader reader = {.trace = trace, .line = 1, .error = error};
  if (read_lines(&reader))
    return trace;
  trace_file_free(trace);
  return NULL;
}

void trace_file_free(struct trace_file *trace)
{
  g_array_unref(trace->lines);
  g_array_unref(trace->violations);
  g_hash_table_unref(trace->controls);
  g_ptr_array_unref(trace->blocks);
  g_free(trace->text);
  g_free(trace->words);
  g_free(trace->name);
  g_free(trace->numbers);
  g_free(trace);
}

const char *trace_item_field(const struct trace_item *item, const char *key)
{
  for (unsigned i = 0; i < item->fields_count; i++)
    if (g_str_equal(item->fields[i].key, key))
      return item->fields[i].value;
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
  for (unsigned i = from; i < line->actions_count; i++) {
    const struct trace_item *action = &line->actions[i];
    if (!trace_item_is(action, name))
      continue;
    if (after != NULL)
      *after = i + 1;
    return action;
  }
  return NULL;
}

char *trace_item_says(const struct trace_file *trace, const struct trace_item *item)
{
  const char *text = item->word ? g_hash_table_lookup(trace->controls, item->word) : NULL;
  return text ? words_control(text, trace_item_field(item, "words")) : NULL;
}

bool trace_file_names(const struct trace_file *trace, gint64 number)
{
  for (unsigned i = 0; i < trace->violations->len && number >= 0; i++) {
    const char *text = g_array_index(trace->violations, struct trace_violation, i).text;
    while ((text = strchr(text, '@')) != NULL)
      if (g_ascii_strtoll(++text, NULL, 10) == number)
        return true;
  }
  return false;
}
