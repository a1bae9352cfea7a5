#include "report/periods.h"

#include <stdlib.h>
#include <string.h>

#include "plots/input.h"

const char *const doing_names[DOINGS] = {"compute",    "mpi",     "protocol",
                                         "checkpoint", "restart", "lost"};

enum { DIGITS = 9 }; /* number of digits after the point of a second */

gint64 instant_of(const char *time)
{
  const char *point = strchr(time, '.');
  gint64 whole = g_ascii_strtoll(time, NULL, 10), part = 0;
  if (!point)
    return whole;
  for (int i = 0; i < DIGITS; i++) {
    if (point[1])
      point++;
    part = 10 * part + (g_ascii_isdigit(*point) ? *point - '0' : 0);
  }
  return whole * 1000000000 + part;
}

static void begin(struct periods *p, int ranks)
{
  *p = (struct periods){.ranks = ranks, .of = g_new(GArray *, (gsize)ranks)};
  for (int i = 0; i < ranks; i++)
    p->of[i] = g_array_new(FALSE, FALSE, sizeof(struct period));
}

void periods_clear(struct periods *p)
{
  for (int i = 0; i < p->ranks; i++)
    g_array_unref(p->of[i]);
  g_free(p->of);
  *p = (struct periods){0};
}

static void add(GArray *periods, gint64 from, enum doing doing)
{
  struct period period = {from, doing};
  g_array_append_val(periods, period);
}

/* Marks the rank's work since time `to` as lost. */
static void go_back(GArray *periods, gint64 to)
{
  for (guint i = periods->len; i-- > 0;) {
    struct period *period = &g_array_index(periods, struct period, i);
    gint64 from = period->from;
    if (period->doing != DOING_RESTART && from >= to) {
      period->doing = DOING_LOST;
    } else if (period->doing != DOING_RESTART) {
      struct period lost = {to, DOING_LOST};
      g_array_insert_val(periods, i + 1, lost);
    }
    if (from <= to)
      return;
  }
}

static enum doing doing_named(const char *name)
{
  enum doing doing = 0;
  while (doing < DOING_LOST && strcmp(doing_names[doing], name))
    doing++;
  return doing;
}

static bool read_line(struct periods *p, const char *line)
{
  g_auto(GStrv) word = g_strsplit(line, " ", -1);
  guint words = g_strv_length(word);
  gint64 rank;
  if (words < 3 || !g_ascii_isdigit(word[0][0]))
    return false;
  gint64 time = instant_of(word[0]);
  if (words == 3 && !strcmp(word[1], "-") && !strcmp(word[2], "end")) {
    p->end = time;
    p->ended = true;
    return true;
  }
  if (!g_ascii_string_to_signed(word[1], 10, 0, p->ranks - 1, &rank, NULL))
    return false;
  if (words == 4 && !strcmp(word[2], "back") && g_str_has_prefix(word[3], "to=")) {
    go_back(p->of[rank], instant_of(word[3] + 3));
    return true;
  }
  enum doing doing = doing_named(word[2]);
  if (words != 3 || doing == DOING_LOST)
    return false;
  add(p->of[rank], time, doing);
  return true;
}

bool periods_load(const char *file, int ranks, struct periods *p, GError **error)
{
  g_autofree char *text = NULL,
                  *head = g_strdup_printf("recline-activity 1\nranks %d\n---\n", ranks);
  begin(p, ranks);
  if (!g_file_get_contents(file, &text, NULL, NULL))
    return input_bad(error, file, 0, "cannot be read, expected the activities of a run");
  if (!g_str_has_prefix(text, head))
    return input_bad(error, file, 1,
                     "other activities, expected \"recline-activity 1\" and %d ranks", ranks);
  unsigned number = 4;
  for (char *line = text + strlen(head), *end; *line; line = end + 1, number++) {
    end = strchr(line, '\n');
    if (!end)
      return input_bad(error, file, number, "the file ends here, expected whole lines");
    *end = '\0';
    if (!read_line(p, line))
      return input_bad(error, file, number, "\"%.60s\", expected a time, a rank and an activity",
                       line);
  }
  if (!p->ended)
    return input_bad(error, file, number, "no end, expected a line \"TIME - end\"");
  return true;
}

/* ---- without the file ---- */

struct change {
  gint64 at;
  enum doing doing;
  int by; /* 1 if the span begins, -1 if it ends */
};

static int by_time(const void *a, const void *b)
{
  const struct change *x = a, *y = b;
  return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : x->by - y->by;
}

static gint64 time_of(const struct history *h, int line)
{
  guint last = h->trace->lines->len - 1;
  return instant_of(trace_file_line(h->trace, MIN((guint)line, last))->time);
}

/* Makes a rank's periods from the beginnings and ends of spans, which may overlap. */
static void lay_out(GArray *periods, GArray *changes)
{
  int open[DOINGS] = {0};
  enum doing now = DOING_COMPUTE;
  add(periods, 0, now);
  g_array_sort(changes, by_time);
  for (guint i = 0; i < changes->len; i++) {
    const struct change *change = &g_array_index(changes, struct change, i);
    open[change->doing] += change->by;
    enum doing next = open[DOING_RESTART]      ? DOING_RESTART
                      : open[DOING_LOST]       ? DOING_LOST
                      : open[DOING_CHECKPOINT] ? DOING_CHECKPOINT
                                               : DOING_COMPUTE;
    if (next != now)
      add(periods, change->at, next);
    now = next;
  }
}

void periods_of_history(const struct history *h, struct periods *p)
{
  static const enum doing doings[] = {[SPAN_DOWN] = DOING_RESTART,
                                      [SPAN_RESTORING] = DOING_RESTART,
                                      [SPAN_UNDONE] = DOING_LOST,
                                      [SPAN_HELD] = DOING_CHECKPOINT};
  begin(p, h->trace->ranks);
  p->end = h->trace->lines->len ? time_of(h, (int)h->trace->lines->len) : 0;
  for (int rank = 0; rank < p->ranks; rank++) {
    g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(struct change));
    for (guint i = 0; i < h->spans->len; i++) {
      const struct span *span = &g_array_index(h->spans, struct span, i);
      struct change from = {time_of(h, span->from), doings[span->kind], 1};
      struct change to = {time_of(h, span->to), doings[span->kind], -1};
      if (span->rank == rank)
        g_array_append_val(changes, from);
      if (span->rank == rank)
        g_array_append_val(changes, to);
    }
    lay_out(p->of[rank], changes);
  }
}
