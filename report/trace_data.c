#include "report/trace_data.h"

#include <string.h>

#include "base/glib/json.h"
#include "report/columns.h"

enum { TEXT_LINES = 4096 };

enum message_class {
  CLASS_DELIVERED,
  CLASS_LATE,
  CLASS_EARLY,
  CLASS_RESENT,
  CLASS_SUPPRESSED,
  CLASS_DISCARDED,
  CLASS_FLIGHT,
  CLASS_CONTROL,
  CLASSES
};

static const char *const class_names[CLASSES] = {"delivered",    "late",       "early",
                                                 "sent again",   "suppressed", "discarded",
                                                 "not received", "control"};

struct data {
  GString *page;
  JsonBuilder *about;
  const char *prefix;
  const struct trace_file *trace;
  const struct history *history;
};

/* ---- periods ---- */

static void add_periods(const struct data *d, const struct periods *p)
{
  GByteArray *times = g_byte_array_new(), *doings = g_byte_array_new();
  json_open_list(d->about, "periods");
  for (int rank = 0; rank < p->ranks; rank++) {
    gint64 last = 0;
    json_builder_add_int_value(d->about, p->of[rank]->len);
    for (guint i = 0; i < p->of[rank]->len; i++) {
      const struct period *period = &g_array_index(p->of[rank], struct period, i);
      gint64 from = MAX(period->from, last);
      column_add(times, (guint64)(from - last));
      column_add(doings, period->doing);
      last = from;
    }
  }
  json_builder_end_array(d->about);
  /* The page's axis of time must have a width, even if the run ends at time 0. */
  json_add_whole(d->about, "end", MAX(p->end, 1));
  column_end(d->page, d->prefix, "periods", times);
  column_end(d->page, d->prefix, "doing", doings);
}

/* ---- steps ---- */

/* Appends the line as the page shows it. Leaves out fields that only a replay compares, because
 * they take most of the room. */
static void add_text(GString *chunk, const char *text)
{
  static const char CONTENT[] = " content=";
  const char *end = strstr(text, " # "), *content = strstr(text, CONTENT);
  end = end ? end : text + strlen(text);
  if (content && content < end) {
    g_string_append_len(chunk, text, content - text);
    text = content + 1 + strcspn(content + 1, " ");
  }
  g_string_append_len(chunk, text, MAX(end - text, 0));
  g_string_append_c(chunk, '\n');
}

static void add_texts(const struct data *d)
{
  g_autoptr(GString) chunk = g_string_new(NULL);
  guint lines = d->trace->lines->len;
  for (guint i = 0; i < lines; i++) {
    add_text(chunk, trace_file_line(d->trace, i)->text);
    if ((i + 1) % TEXT_LINES && i + 1 < lines)
      continue;
    g_autofree char *name = g_strdup_printf("text-%u", i / TEXT_LINES);
    column_put(d->page, d->prefix, name, chunk->str, chunk->len);
    g_string_truncate(chunk, 0);
  }
}

/* Returns the number of a kind of event. Kinds are numbered in the order in which they first
 * occur. */
static guint kind_of(GHashTable *kinds, JsonBuilder *about, const char *name)
{
  gpointer found = g_hash_table_lookup(kinds, name);
  if (found)
    return GPOINTER_TO_UINT(found) - 1;
  guint kind = g_hash_table_size(kinds);
  json_builder_add_string_value(about, name);
  g_hash_table_insert(kinds, (gpointer)(guintptr)name, GUINT_TO_POINTER(kind + 1));
  return kind;
}

static void add_steps(const struct data *d)
{
  GByteArray *times = g_byte_array_new(), *ranks = g_byte_array_new();
  GByteArray *kinds = g_byte_array_new(), *numbers = g_byte_array_new();
  g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
  gint64 last = 0;
  unsigned number = 0;
  json_open_list(d->about, "kinds");
  for (guint i = 0; i < d->trace->lines->len; i++) {
    const struct trace_line *line = trace_file_line(d->trace, i);
    gint64 time = MAX(instant_of(line->time), last);
    column_add(times, (guint64)(time - last));
    column_add(ranks, (guint64)line->rank + 1);
    column_add(kinds, kind_of(known, d->about, line->event.name));
    column_add(numbers, line->number - number);
    last = time;
    number = line->number;
  }
  json_builder_end_array(d->about);
  column_end(d->page, d->prefix, "time", times);
  column_end(d->page, d->prefix, "rank", ranks);
  column_end(d->page, d->prefix, "kind", kinds);
  column_end(d->page, d->prefix, "number", numbers);
}

/* ---- messages ---- */

static enum message_class class_of(const struct data *d, const struct message *m)
{
  if (m->control)
    return CLASS_CONTROL;
  if (m->fate == FATE_SUPPRESSED)
    return CLASS_SUPPRESSED;
  if (m->fate == FATE_DISCARDED)
    return CLASS_DISCARDED;
  if (m->fate == FATE_FLIGHT)
    return CLASS_FLIGHT;
  if (m->crossing != CROSSING_NONE)
    return m->crossing == CROSSING_LATE ? CLASS_LATE : CLASS_EARLY;
  const struct trace_line *line = trace_file_line(d->trace, (unsigned)m->sent);
  return trace_item_is(&line->event, "send") ? CLASS_DELIVERED : CLASS_RESENT;
}

static int by_sending(const void *a, const void *b)
{
  const struct message *x = a, *y = b;
  return x->sent - y->sent;
}

static void add_messages(const struct data *d)
{
  static const char *const names[] = {"sent", "received", "class", "to", "bytes"};
  GByteArray *column[G_N_ELEMENTS(names)];
  int last = 0;
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    column[i] = g_byte_array_new();
  g_array_sort(d->history->messages, by_sending);
  for (guint i = 0; i < d->history->messages->len; i++) {
    const struct message *m = &g_array_index(d->history->messages, struct message, i);
    const struct trace_line *line = trace_file_line(d->trace, (unsigned)m->sent);
    gint64 bytes = m->control ? 0 : trace_item_number(&line->event, "bytes", 0);
    column_add(column[0], (guint64)(m->sent - last));
    column_add(column[1], m->received == NOWHERE ? 0 : (guint64)(m->received - m->sent + 1));
    column_add(column[2], class_of(d, m));
    column_add(column[3], (guint64)MAX(m->to, 0));
    column_add(column[4], (guint64)MAX(bytes, 0));
    last = m->sent;
  }
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    column_end(d->page, d->prefix, names[i], column[i]);
  GByteArray *replays = g_byte_array_new();
  last = 0;
  for (guint i = 0; i < d->history->replays->len; i++) {
    const struct replay *replay = &g_array_index(d->history->replays, struct replay, i);
    column_add(replays, (guint64)(replay->delivered - last));
    last = replay->delivered;
  }
  column_end(d->page, d->prefix, "replays", replays);
  json_open_list(d->about, "classes");
  for (int i = 0; i < CLASSES; i++)
    json_builder_add_string_value(d->about, class_names[i]);
  json_builder_end_array(d->about);
}

/* ---- storage ---- */

static guint stores(const struct trace_line *line)
{
  guint count = 0, after = 0;
  while (trace_line_action(line, "store", &after))
    count++;
  return count;
}

/* Counts the writes under way at each step. A rank that starts has no writes under way. */
static void add_writes(const struct data *d)
{
  GByteArray *writes = g_byte_array_new();
  g_autofree gint64 *open = g_new0(gint64, (gsize)d->trace->ranks);
  guint last = 0;
  for (guint i = 0; i < d->trace->lines->len; i++) {
    const struct trace_line *line = trace_file_line(d->trace, i);
    if (line->rank == DISPATCHER)
      continue;
    gint64 change = stores(line);
    if (trace_item_is(&line->event, "durable") && open[line->rank])
      change--;
    if (trace_item_is(&line->event, "crash") || trace_item_is(&line->event, "start"))
      change -= open[line->rank];
    if (!change)
      continue;
    open[line->rank] += change;
    column_add(writes, i - last);
    column_add_signed(writes, change);
    last = i;
  }
  column_end(d->page, d->prefix, "writes", writes);
}

/* ---- rare things ---- */

static void add_cuts(const struct data *d)
{
  json_open_list(d->about, "lines_of_recovery");
  for (guint i = 0; i < d->history->cuts->len; i++) {
    const struct cut *cut = &g_array_index(d->history->cuts, struct cut, i);
    json_builder_begin_object(d->about);
    json_add_whole(d->about, "checkpoint", cut->checkpoint);
    json_add_bool(d->about, "committed", cut->committed);
    json_open_list(d->about, "at");
    for (int rank = 0; rank < d->trace->ranks; rank++)
      json_builder_add_int_value(d->about, cut->at[rank]);
    json_builder_end_array(d->about);
    json_builder_end_object(d->about);
  }
  json_builder_end_array(d->about);
  json_open_list(d->about, "rollbacks");
  for (guint i = 0; i < d->history->rollbacks->len; i++) {
    const struct rollback *back = &g_array_index(d->history->rollbacks, struct rollback, i);
    json_builder_begin_object(d->about);
    json_add_whole(d->about, "rank", back->rank);
    json_add_whole(d->about, "from", back->from);
    json_add_whole(d->about, "to", back->to);
    json_add_whole(d->about, "checkpoint", back->checkpoint);
    json_builder_end_object(d->about);
  }
  json_builder_end_array(d->about);
}

/* Adds the messages that a violation names. Each is given as its index among all messages, and its
 * number. */
static void add_named(const struct data *d)
{
  json_open_list(d->about, "named");
  for (guint i = 0; i < d->history->messages->len && d->trace->violations->len; i++) {
    const struct message *m = &g_array_index(d->history->messages, struct message, i);
    if (m->control || !trace_file_names(d->trace, m->number))
      continue;
    json_builder_begin_object(d->about);
    json_add_whole(d->about, "message", i);
    json_add_whole(d->about, "number", m->number);
    json_builder_end_object(d->about);
  }
  json_builder_end_array(d->about);
}

static void add_violations(const struct data *d)
{
  json_open_list(d->about, "violations");
  for (guint i = 0; i < d->trace->violations->len; i++) {
    const struct trace_violation *v =
        &g_array_index(d->trace->violations, struct trace_violation, i);
    json_builder_begin_object(d->about);
    json_add_text(d->about, "property", v->property);
    json_add_whole(d->about, "rank", v->rank);
    json_add_text(d->about, "text", v->text);
    json_builder_end_object(d->about);
  }
  json_builder_end_array(d->about);
  json_add_whole(d->about, "again", d->trace->again);
}

/* Adds the texts of control messages, by name. */
static void add_controls(const struct data *d)
{
  g_autoptr(GList) names =
      g_list_sort(g_hash_table_get_keys(d->trace->controls), (GCompareFunc)g_strcmp0);
  json_open_object(d->about, "controls");
  for (GList *each = names; each; each = each->next)
    json_add_text(d->about, each->data, g_hash_table_lookup(d->trace->controls, each->data));
  json_builder_end_object(d->about);
}

static void add_all(const struct data *d, const struct periods *periods, const char *file)
{
  g_autofree char *name = g_path_get_basename(file);
  json_builder_begin_object(d->about);
  json_add_text(d->about, "prefix", d->prefix);
  json_add_text(d->about, "file", name);
  json_add_text(d->about, "protocol", d->trace->protocol);
  json_add_whole(d->about, "ranks", d->trace->ranks);
  json_add_bool(d->about, "timed", d->trace->timed);
  json_add_whole(d->about, "steps", d->trace->lines->len);
  json_add_whole(d->about, "messages", d->history->messages->len);
  json_add_whole(d->about, "text_lines", TEXT_LINES);
  add_periods(d, periods);
  add_steps(d);
  add_messages(d);
  add_writes(d);
  add_cuts(d);
  add_violations(d);
  add_named(d);
  add_controls(d);
  add_texts(d);
  json_builder_end_object(d->about);
}

void trace_data_add(GString *page, JsonBuilder *about, const char *prefix, const char *file,
                    const struct story *story)
{
  struct data data = {page, about, prefix, story->trace, story->history};
  add_all(&data, &story->periods, file);
}
