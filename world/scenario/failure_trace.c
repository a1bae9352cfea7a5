#include "world/scenario/failure_trace.h"

#include <stdio.h>
#include <string.h>

#include "world/scenario/document.h"
#include "world/scenario/scenario.h"

static const struct format {
  /* The names of columns. A row counts if the file has no column `type` or if the row has a 0 in
   * that column. */
  const char *node, *start, *end, *type;
  bool blanks; /* blanks, not commas, separate columns */
  enum { TIME_SECONDS, TIME_DATE, TIME_EPOCH } time;
} formats[] = {{"node", "start", "end", NULL, false, TIME_SECONDS},
               {"nodenumz", "Prob Started", "Prob Fixed", NULL, false, TIME_DATE},
               {"node_id", "event_start_time", "event_stop_time", "event_type", true, TIME_EPOCH},
               {"node_id", "event_start_time", "event_end_time", "event_type", true, TIME_EPOCH}};

struct reader {
  const char *file;
  int line;
  const struct format *format;
  int node, start, end, type; /* numbers of columns */
  char *const *nodes;
  GHashTable *seen; /* node of an archive -> index + 1 */
  GArray *outages;
  GError **error;
};

static bool refuse(const struct reader *r, const char *what, const char *text, const char *hope)
{
  g_autofree char *shown = text ? document_quote(text) : g_strdup("");
  g_set_error(r->error, SCENARIO_ERROR, 0, "%s:%d: %s%s%s, expected %s", r->file, r->line, shown,
              text ? " " : "", what, hope);
  return false;
}

static char **split(const char *line, bool blanks)
{
  GPtrArray *fields = g_ptr_array_new();
  g_auto(GStrv) parts = g_strsplit_set(line, blanks ? " \t" : ",", -1);
  for (char **part = parts; *part; part++)
    if (!blanks || **part)
      g_ptr_array_add(fields, g_strdup(g_strstrip(*part)));
  g_ptr_array_add(fields, NULL);
  return (char **)g_ptr_array_free(fields, FALSE);
}

static int column(char **fields, const char *name)
{
  for (int i = 0; name && fields[i]; i++)
    if (!g_ascii_strcasecmp(fields[i], name))
      return i;
  return -1;
}

static bool read_header(struct reader *r, const char *line)
{
  for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
    const struct format *f = &formats[i];
    g_auto(GStrv) fields = split(line + strspn(line, "# "), f->blanks);
    r->node = column(fields, f->node);
    r->start = column(fields, f->start);
    r->end = column(fields, f->end);
    r->type = column(fields, f->type);
    r->format = f;
    if (r->node >= 0 && r->start >= 0 && r->end >= 0 && (!f->type || r->type >= 0))
      return true;
  }
  return refuse(r, "names no columns of a trace", line,
                "node,start,end, or those of LANL or of the Failure Trace Archive");
}

static bool read_date(const char *text, double *seconds)
{
  int month, day, year, hour, minute, used = 0;
  if (sscanf(text, "%d/%d/%d %d:%d%n", &month, &day, &year, &hour, &minute, &used) != 5 ||
      text[used])
    return false;
  g_autoptr(GDateTime) date = g_date_time_new_utc(year, month, day, hour, minute, 0);
  *seconds = date ? (double)g_date_time_to_unix(date) : 0;
  return date;
}

static bool read_time(struct reader *r, const char *text, double *seconds)
{
  char *end = NULL;
  if (r->format->time == TIME_DATE)
    return read_date(text, seconds) || refuse(r, "is no time", text, "month/day/year hour:minute");
  *seconds = g_ascii_strtod(text, &end);
  bool number = g_ascii_isdigit(*text) && !*end && *seconds < 1e10;
  return number || (r->format->time == TIME_SECONDS && scenario_seconds(text, seconds, NULL)) ||
         refuse(r, "is no time", text, "seconds of 0 or more");
}

/* Returns the index of a node, or -1 if there is none. */
static int find_node(struct reader *r, const char *name)
{
  char *end = NULL;
  int count = (int)g_strv_length((char **)r->nodes);
  for (int i = 0; i < count; i++)
    if (!strcmp(r->nodes[i], name))
      return i;
  if (r->format->time == TIME_SECONDS) {
    guint64 index = g_ascii_strtoull(name, &end, 10);
    return g_ascii_isdigit(*name) && !*end && index < (guint64)count ? (int)index : -1;
  }
  guint next = g_hash_table_size(r->seen) + 1;
  gpointer known = g_hash_table_lookup(r->seen, name);
  if (!known)
    g_hash_table_insert(r->seen, g_strdup(name), GUINT_TO_POINTER(next));
  return known ? GPOINTER_TO_INT(known) - 1 : (int)next - 1;
}

static bool read_row(struct reader *r, const char *line)
{
  struct outage outage;
  g_auto(GStrv) fields = split(line, r->format->blanks);
  int last = MAX(MAX(r->node, r->type), MAX(r->start, r->end));
  if ((int)g_strv_length(fields) <= last)
    return refuse(r, "has too few columns", line, "those of the first line");
  if (r->type >= 0 && strcmp(fields[r->type], "0") != 0)
    return true; /* the node was up, so the row does not count */
  outage.node = find_node(r, fields[r->node]);
  if (outage.node < 0)
    return refuse(r, "is no node", fields[r->node], "a node of the platform, or its index from 0");
  if (!read_time(r, fields[r->start], &outage.start) || !read_time(r, fields[r->end], &outage.end))
    return false;
  if (outage.end < outage.start)
    return refuse(r, "is before the start", fields[r->end], "the end of the failure");
  g_array_append_val(r->outages, outage);
  return true;
}

static bool read_lines(struct reader *r, char *text)
{
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (r->line = 1; lines[r->line - 1]; r->line++) {
    const char *line = g_strchomp(lines[r->line - 1]);
    if (!r->format && !read_header(r, line))
      return false;
    if (r->line > 1 && *line && *line != '#' && !read_row(r, line))
      return false;
  }
  return true;
}

static int by_start(gconstpointer a, gconstpointer b)
{
  const struct outage *x = a, *y = b;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  return (x->node > y->node) - (x->node < y->node);
}

bool failure_trace_read(const char *file, char *const *nodes, struct outage **outages,
                        unsigned *count, GError **error)
{
  g_autofree char *text = NULL;
  gsize size = 0;
  struct reader r = {.file = file, .nodes = nodes, .error = error};
  if (!g_file_test(file, G_FILE_TEST_IS_REGULAR) || !g_file_get_contents(file, &text, &size, NULL))
    return g_set_error(error, SCENARIO_ERROR, 0, "%s: not there, expected a trace of failures",
                       file),
           false;
  r.seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  r.outages = g_array_new(FALSE, FALSE, sizeof(struct outage));
  bool good = read_lines(&r, text);
  g_array_sort(r.outages, by_start);
  *count = r.outages->len;
  *outages = (struct outage *)(void *)g_array_free(r.outages, FALSE);
  for (unsigned i = *count; r.format && r.format->time != TIME_SECONDS && i-- > 0;) {
    (*outages)[i].end -= (*outages)[0].start;
    (*outages)[i].start -= (*outages)[0].start;
  }
  g_hash_table_unref(r.seen);
  return good;
}
