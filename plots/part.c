#include "plots/part.h"

#include <stdint.h>
#include <string.h>

#include "plots/input.h"

struct selection {
  const struct history *whole;
  double from, to; /* times; lines at exactly these times are in the part */
  int *row;        /* by rank: the rank's row, or NOWHERE if the rank is left out */
  int *line;       /* by line: the line's index in the part, or NOWHERE */
  struct trace_file *trace;
  struct history *history;
};

/* ---- the request ---- */

static bool read_time(const char *option, const char *text, bool timed, double *time,
                      GError **error)
{
  static const struct {
    const char *unit;
    double seconds;
  } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  char *end = NULL;
  if (!text)
    return true;
  double number = g_ascii_strtod(text, &end);
  for (unsigned i = 0; i < (timed ? G_N_ELEMENTS(units) : 1); i++)
    if (end != text && g_str_equal(end, units[i].unit) && number >= 0) {
      *time = number * units[i].seconds;
      return true;
    }
  return input_bad(error, option, 0, "\"%s\", expected %s", text,
                   timed ? "a time such as 0.1 or 120ms" : "a step");
}

/* Reads "3" or "0-3". */
static bool read_range(const char *text, int ranks, gint64 *first, gint64 *last)
{
  g_auto(GStrv) ends = g_strsplit(text, "-", 2);
  return ends[0] && g_ascii_string_to_signed(ends[0], 10, 0, ranks - 1, first, NULL) &&
         g_ascii_string_to_signed(ends[1] ? ends[1] : ends[0], 10, *first, ranks - 1, last, NULL);
}

/* Gives the requested ranks rows, in the order of the ranks. */
static bool read_ranks(struct selection *s, const char *text, GError **error)
{
  int ranks = s->whole->trace->ranks;
  g_auto(GStrv) ranges = g_strsplit(text ? text : "", ",", -1);
  for (int rank = 0; rank < ranks; rank++)
    s->row[rank] = text ? NOWHERE : 0;
  for (char **range = ranges; text && *range; range++) {
    gint64 first, last;
    if (!read_range(*range, ranks, &first, &last))
      return input_bad(error, "--ranks", 0, "\"%s\", expected ranks of 0 to %d such as 0-3,7", text,
                       ranks - 1);
    for (gint64 rank = first; rank <= last; rank++)
      s->row[rank] = 0;
  }
  if (text && !*ranges)
    return input_bad(error, "--ranks", 0, "\"\", expected ranks of 0 to %d such as 0-3,7",
                     ranks - 1);
  s->trace->numbers = g_new(int, (guint)ranks);
  for (int rank = 0; rank < ranks; rank++) {
    if (s->row[rank] == NOWHERE)
      continue;
    s->row[rank] = s->trace->ranks;
    s->trace->numbers[s->trace->ranks++] = rank;
  }
  return true;
}

/* ---- the part ---- */

static void take_lines(struct selection *s)
{
  const struct trace_file *whole = s->whole->trace;
  for (unsigned i = 0; i < whole->lines->len; i++) {
    struct trace_line line = *trace_file_line(whole, i);
    double time = g_ascii_strtod(line.time, NULL);
    bool inside = time >= s->from && time <= s->to &&
                  (line.rank == DISPATCHER || s->row[line.rank] != NOWHERE);
    s->line[i] = inside ? (int)s->trace->lines->len : NOWHERE;
    line.rank = line.rank == DISPATCHER || !inside ? line.rank : s->row[line.rank];
    if (inside)
      g_array_append_val(s->trace->lines, line);
  }
  s->line[whole->lines->len] = (int)s->trace->lines->len;
}

/* Returns the first line of the part at or after line `index`. */
static int next_line(const struct selection *s, int index)
{
  while (s->line[index] == NOWHERE)
    index++;
  return s->line[index];
}

static unsigned take_messages(struct selection *s)
{
  unsigned outside = 0;
  for (unsigned i = 0; i < s->whole->messages->len; i++) {
    struct message m = g_array_index(s->whole->messages, struct message, i);
    bool received = m.received != NOWHERE;
    int ends = (s->line[m.sent] != NOWHERE) + (received && s->line[m.received] != NOWHERE);
    if (!ends)
      continue;
    if (ends < 1 + received || s->row[m.from] == NOWHERE || s->row[m.to] == NOWHERE) {
      outside++;
      continue;
    }
    m.from = s->row[m.from];
    m.to = s->row[m.to];
    m.sent = s->line[m.sent];
    m.received = received ? s->line[m.received] : NOWHERE;
    g_array_append_val(s->history->messages, m);
  }
  return outside;
}

static void take_cuts(struct selection *s)
{
  for (unsigned i = 0; i < s->whole->cuts->len; i++) {
    const struct cut *cut = &g_array_index(s->whole->cuts, struct cut, i);
    struct cut part = {cut->checkpoint, cut->committed, g_new(int, (gsize)s->trace->ranks)};
    bool any = false;
    for (int row = 0; row < s->trace->ranks; row++) {
      int at = cut->at[s->trace->numbers[row]];
      part.at[row] = at == NOWHERE ? NOWHERE : s->line[at];
      any |= part.at[row] != NOWHERE;
    }
    if (any)
      g_array_append_val(s->history->cuts, part);
    else
      g_free(part.at);
  }
}

static void take_spans(struct selection *s)
{
  for (unsigned i = 0; i < s->whole->spans->len; i++) {
    struct span span = g_array_index(s->whole->spans, struct span, i);
    span.from = next_line(s, span.from);
    span.to = next_line(s, span.to);
    span.rank = s->row[span.rank];
    if (span.rank != NOWHERE && span.from < span.to)
      g_array_append_val(s->history->spans, span);
  }
}

/* Takes over rollbacks and replays. A rollback to a capture before the part has no arc. A replay
 * names the origin of its payload if that line is in the part. */
static void take_rollbacks(struct selection *s)
{
  for (unsigned i = 0; i < s->whole->rollbacks->len; i++) {
    struct rollback back = g_array_index(s->whole->rollbacks, struct rollback, i);
    back.from = s->line[back.from];
    back.to = back.to == NOWHERE ? NOWHERE : s->line[back.to];
    back.rank = s->row[back.rank];
    if (back.from != NOWHERE)
      g_array_append_val(s->history->rollbacks, back);
  }
  for (unsigned i = 0; i < s->whole->replays->len; i++) {
    struct replay replay = g_array_index(s->whole->replays, struct replay, i);
    replay.delivered = s->line[replay.delivered];
    replay.kept = replay.kept == NOWHERE ? NOWHERE : s->line[replay.kept];
    replay.rank = s->row[replay.rank];
    if (replay.delivered != NOWHERE)
      g_array_append_val(s->history->replays, replay);
  }
}

/* Takes over violations. A violation at rest is judged at the last line, so a part without that
 * line does not show it. */
static void take_violations(struct selection *s)
{
  const struct trace_file *whole = s->whole->trace;
  if (s->line[whole->lines->len - 1] == NOWHERE)
    return;
  g_array_append_vals(s->trace->violations, whole->violations->data, whole->violations->len);
  if (whole->again >= 0)
    s->trace->again = next_line(s, whole->again);
}

static void begin(struct selection *s)
{
  const struct trace_file *whole = s->whole->trace;
  *s->trace = (struct trace_file){.name = g_strdup(whole->name),
                                  .protocol = whole->protocol,
                                  .host = whole->host,
                                  .controls = g_hash_table_ref(whole->controls),
                                  .timed = whole->timed,
                                  .again = -1};
  s->trace->blocks = g_ptr_array_new();
  s->trace->lines = g_array_new(FALSE, FALSE, sizeof(struct trace_line));
  s->trace->violations = g_array_new(FALSE, FALSE, sizeof(struct trace_violation));
  s->history = history_new(s->trace);
}

struct history *part_of(const struct history *whole, const struct part *part, unsigned *outside,
                        GError **error)
{
  g_autofree int *row = g_new(int, (gsize)whole->trace->ranks);
  g_autofree int *line = g_new(int, whole->trace->lines->len + 1);
  struct selection s = {whole, 0, G_MAXDOUBLE, row, line, g_new(struct trace_file, 1), NULL};
  begin(&s);
  bool good = read_time("--from", part->from, whole->trace->timed, &s.from, error) &&
              read_time("--to", part->to, whole->trace->timed, &s.to, error) &&
              read_ranks(&s, part->ranks, error);
  if (good) {
    take_lines(&s);
    good = s.trace->lines->len > 0 ||
           input_bad(error, whole->trace->name, 0,
                     "no event in that part, expected --from and --to within "
                     "%s and %s",
                     trace_file_line(whole->trace, 0)->time,
                     trace_file_line(whole->trace, whole->trace->lines->len - 1)->time);
  }
  if (good) {
    *outside = take_messages(&s);
    take_cuts(&s);
    take_spans(&s);
    take_rollbacks(&s);
    take_violations(&s);
    return s.history;
  }
  part_free(s.history);
  return NULL;
}

void part_free(struct history *part)
{
  struct trace_file *trace = (struct trace_file *)(uintptr_t)part->trace;
  history_free(part);
  trace_file_free(trace);
}
