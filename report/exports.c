#include "report/exports_inside.h"

#include <string.h>

/* Lists the page's colours, in Paje's notation. */
static const char *const colours[DOINGS] = {"0.30 0.54 0.33", "0.23 0.45 0.72", "0.54 0.43 0.12",
                                            "0.56 0.27 0.68", "0.85 0.51 0.18", "0.75 0.22 0.17"};

static int by_time(const void *a, const void *b)
{
  const struct entry *x = a, *y = b;
  return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : 0;
}

static gint64 time_of(const struct story *story, int line)
{
  return instant_of(trace_file_line(story->trace, (unsigned)line)->time);
}

/* Returns whether a picture of the complete run shows the event by itself. */
static bool is_notable(const struct trace_line *line)
{
  static const char *const names[] = {"crash", "captured", "durable", "committed"};
  for (guint i = 0; i < G_N_ELEMENTS(names) && line->rank >= 0; i++)
    if (trace_item_is(&line->event, names[i]))
      return true;
  return false;
}

static void add_messages(const struct story *story, GArray *entries)
{
  for (guint i = 0; i < story->history->messages->len; i++) {
    const struct message *m = &g_array_index(story->history->messages, struct message, i);
    const char *name = m->control                      ? "control"
                       : m->crossing == CROSSING_LATE  ? "late"
                       : m->crossing == CROSSING_EARLY ? "early"
                       : m->fate == FATE_DISCARDED     ? "discarded"
                                                       : "message";
    if (m->received == NOWHERE)
      continue; /* the message was never received, so there is no arrow */
    struct entry sent = {time_of(story, m->sent), ENTRY_SEND, m->from, m->to, i, name};
    struct entry received = {time_of(story, m->received), ENTRY_END, m->to, m->from, i, name};
    g_array_append_val(entries, sent);
    g_array_append_val(entries, received);
  }
}

/* Returns the entries, sorted by time. Entries with the same time stay in the order in which they
 * were added. */
GArray *export_entries(const struct story *story)
{
  GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
  for (int rank = 0; rank < story->periods.ranks; rank++) {
    for (guint i = 0; i < story->periods.of[rank]->len; i++) {
      const struct period *p = &g_array_index(story->periods.of[rank], struct period, i);
      struct entry entry = {p->from, ENTRY_STATE, rank, 0, i, doing_names[p->doing]};
      g_array_append_val(entries, entry);
    }
  }
  add_messages(story, entries);
  for (guint i = 0; i < story->trace->lines->len; i++) {
    const struct trace_line *line = trace_file_line(story->trace, i);
    struct entry entry = {instant_of(line->time), ENTRY_EVENT, line->rank, 0, i, line->event.name};
    if (is_notable(line))
      g_array_append_val(entries, entry);
  }
  g_array_sort(entries, by_time);
  return entries;
}

/* ---- Paje ---- */

static const char PAJE_HEAD[] =
    "%EventDef PajeDefineContainerType 0\n%  Alias string\n%  Type string\n%  Name "
    "string\n%EndEventDef\n"
    "%EventDef PajeDefineStateType 1\n%  Alias string\n%  Type string\n%  Name "
    "string\n%EndEventDef\n"
    "%EventDef PajeDefineEventType 2\n%  Alias string\n%  Type string\n%  Name "
    "string\n%EndEventDef\n"
    "%EventDef PajeDefineLinkType 3\n%  Alias string\n%  Type string\n%  StartContainerType "
    "string\n"
    "%  EndContainerType string\n%  Name string\n%EndEventDef\n"
    "%EventDef PajeDefineEntityValue 4\n%  Alias string\n%  Type string\n%  Name string\n%  Color "
    "color\n"
    "%EndEventDef\n"
    "%EventDef PajeCreateContainer 5\n%  Time date\n%  Alias string\n%  Type string\n%  Container "
    "string\n"
    "%  Name string\n%EndEventDef\n"
    "%EventDef PajeDestroyContainer 6\n%  Time date\n%  Type string\n%  Name string\n%EndEventDef\n"
    "%EventDef PajeSetState 7\n%  Time date\n%  Type string\n%  Container string\n%  Value string\n"
    "%EndEventDef\n"
    "%EventDef PajeNewEvent 8\n%  Time date\n%  Type string\n%  Container string\n%  Value string\n"
    "%EndEventDef\n"
    "%EventDef PajeStartLink 9\n%  Time date\n%  Type string\n%  Container string\n%  Value "
    "string\n"
    "%  StartContainer string\n%  Key string\n%EndEventDef\n"
    "%EventDef PajeEndLink 10\n%  Time date\n%  Type string\n%  Container string\n%  Value string\n"
    "%  EndContainer string\n%  Key string\n%EndEventDef\n"
    "0 RUN 0 run\n0 RANK RUN rank\n1 DOING RANK activity\n2 EVENT RANK event\n"
    "3 MESSAGE RUN RANK RANK message\n";

/* Prints seconds with nine digits after the point. */
static void add_seconds(GString *text, gint64 time)
{
  g_string_append_printf(text, "%" G_GINT64_FORMAT ".%09" G_GINT64_FORMAT, time / 1000000000,
                         time % 1000000000);
}

static void add_paje(GString *text, const struct entry *e)
{
  static const int numbers[] = {
      [ENTRY_END] = 10, [ENTRY_STATE] = 7, [ENTRY_EVENT] = 8, [ENTRY_SEND] = 9};
  g_string_append_printf(text, "%d ", numbers[e->kind]);
  add_seconds(text, e->time);
  if (e->kind == ENTRY_STATE)
    g_string_append_printf(text, " DOING rank%d %s\n", e->rank, e->name);
  else if (e->kind == ENTRY_EVENT)
    g_string_append_printf(text, " EVENT rank%d \"%s\"\n", e->rank, e->name);
  else
    g_string_append_printf(text, " MESSAGE run \"%s\" rank%d %u\n", e->name, e->rank, e->number);
}

char *export_paje(const struct story *story)
{
  GString *text = g_string_new(PAJE_HEAD);
  g_autoptr(GArray) entries = export_entries(story);
  for (int i = 0; i < DOINGS; i++)
    g_string_append_printf(text, "4 %s DOING %s \"%s\"\n", doing_names[i], doing_names[i],
                           colours[i]);
  g_string_append(text, "5 0.000000000 run RUN 0 run\n");
  for (int rank = 0; rank < story->trace->ranks; rank++)
    g_string_append_printf(text, "5 0.000000000 rank%d RANK run \"rank %d\"\n", rank, rank);
  for (guint i = 0; i < entries->len; i++)
    add_paje(text, &g_array_index(entries, struct entry, i));
  for (int rank = 0; rank <= story->trace->ranks; rank++) {
    g_autofree char *name = g_strdup_printf("rank%d", rank);
    bool last = rank == story->trace->ranks;
    g_string_append(text, "6 ");
    add_seconds(text, story->periods.end);
    g_string_append_printf(text, " %s %s\n", last ? "RUN" : "RANK", last ? "run" : name);
  }
  return g_string_free(text, FALSE);
}

/* ---- trace viewers ---- */

/* Prints microseconds. */
static void add_micros(GString *text, gint64 time)
{
  g_string_append_printf(text, "%" G_GINT64_FORMAT ".%03" G_GINT64_FORMAT, time / 1000,
                         time % 1000);
}

static void add_json(GString *text, const struct story *story, const struct entry *e)
{
  g_string_append_printf(text, ",\n{\"pid\": 0, \"tid\": %d, \"name\": \"%s\", \"ts\": ", e->rank,
                         e->name);
  add_micros(text, e->time);
  const GArray *of = story->periods.of[e->rank];
  gint64 end = e->kind == ENTRY_STATE && e->number + 1 < of->len
                   ? g_array_index(of, struct period, e->number + 1).from
                   : story->periods.end;
  switch (e->kind) {
  case ENTRY_STATE:
    g_string_append(text, ", \"ph\": \"X\", \"dur\": ");
    add_micros(text, end - e->time);
    g_string_append_c(text, '}');
    break;
  case ENTRY_EVENT:
    g_string_append(text, ", \"ph\": \"i\", \"s\": \"t\"}");
    break;
  case ENTRY_SEND:
  case ENTRY_END:
    g_string_append_printf(text, ", \"cat\": \"message\", \"id\": %u, \"ph\": %s}", e->number,
                           e->kind == ENTRY_SEND ? "\"s\"" : "\"f\", \"bp\": \"e\"");
    break;
  }
}

char *export_json(const struct story *story)
{
  GString *text = g_string_new("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
                               "{\"pid\": 0, \"name\": \"process_name\", \"ph\": \"M\", "
                               "\"args\": {\"name\": \"run\"}}");
  g_autoptr(GArray) entries = export_entries(story);
  for (int rank = 0; rank < story->trace->ranks; rank++)
    g_string_append_printf(text,
                           ",\n{\"pid\": 0, \"tid\": %d, \"name\": \"thread_name\", \"ph\": \"M\", "
                           "\"args\": {\"name\": \"rank %d\"}}",
                           rank, rank);
  for (guint i = 0; i < entries->len; i++)
    add_json(text, story, &g_array_index(entries, struct entry, i));
  g_string_append(text, "\n]}\n");
  return g_string_free(text, FALSE);
}
