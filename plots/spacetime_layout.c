/* Places the columns, rows and texts of the space-time diagram (spacetime.c). */
#include <string.h>

#include "plots/spacetime_inside.h"
#include "plots/words.h"

/* --- 1. columns --- */

enum { SHARED_FROM = 150 };

static bool has_only(const struct trace_line *line, const char *first, const char *second)
{
  for (unsigned i = 0; i < line->actions_count; i++) {
    const struct trace_item *action = &line->actions[i];
    if (!trace_item_is(action, first) && !trace_item_is(action, second))
      return false;
    if (trace_item_number(action, "slot", 0) > 0)
      return false;
  }
  return true;
}

static bool is_posting(const struct trace_line *line)
{
  return (trace_item_is(&line->event, "receive") && has_only(line, "match", "match")) ||
         (trace_item_is(&line->event, "safe-point") && has_only(line, "", ""));
}

static bool is_traffic(const struct trace_line *line)
{
  return (trace_item_is(&line->event, "send") && has_only(line, "transmit", "transmit")) ||
         (trace_item_is(&line->event, "arrived") && has_only(line, "deliver", "match")) ||
         (trace_item_is(&line->event, "choice") && has_only(line, "", ""));
}

static bool is_control(const struct trace_line *line)
{
  return trace_item_is(&line->event, "control") && has_only(line, "control", "");
}

/* Returns whether a picture of the complete run may leave out the line. It always shows lines that
 * begin or end a life of a rank or a checkpoint. */
static bool is_small(const struct trace_line *line)
{
  static const char *const events[] = {"crash",     "detected", "ended",    "captured",
                                       "committed", "start",    "finished", "timer"};
  for (unsigned i = 0; i < G_N_ELEMENTS(events); i++)
    if (trace_item_is(&line->event, events[i]))
      return false;
  return !trace_line_action(line, "roll-back", NULL) && !trace_line_action(line, "give-up", NULL);
}

/* The kinds of lines that are left out of a picture of a long trace, one kind after the other,
 * until the picture is small enough. */
static const struct {
  bool (*goes)(const struct trace_line *);
  bool crossing; /* this kind includes events of messages that cross a recovery line */
  const char *what;
} FILTER[] = {
    {is_posting, false, "lines of posted receives and places without effect"},
    {is_traffic, false, "lines of messages that cross no recovery line"},
    {is_control, false, "lines of control messages without other effect"},
    {is_small, false, "lines of what is logged and written"},
    {is_small, true, "lines of messages that cross a recovery line"},
};

static void mark_notable(const struct diagram *diagram, bool *notable)
{
  for (unsigned i = 0; i < diagram->history->messages->len; i++) {
    const struct message *message = &g_array_index(diagram->history->messages, struct message, i);
    if (message->control || (message->fate == FATE_RECEIVED && message->crossing == CROSSING_NONE))
      continue;
    notable[message->sent] = true;
    if (message->received != NOWHERE)
      notable[message->received] = true;
  }
}

void spacetime_select_columns(struct diagram *diagram)
{
  unsigned lines = diagram->trace->lines->len, columns = lines;
  g_autofree bool *notable = g_new0(bool, lines);
  mark_notable(diagram, notable);
  for (unsigned i = 0; i < lines; i++)
    diagram->shown[i] = true;
  for (unsigned f = 0; f < G_N_ELEMENTS(FILTER) && columns > COLUMNS_MAX; f++) {
    unsigned before = columns;
    for (unsigned i = 0; i < lines; i++)
      if (diagram->shown[i] && (!notable[i] || FILTER[f].crossing) &&
          FILTER[f].goes(trace_file_line(diagram->trace, i))) {
        diagram->shown[i] = false;
        columns--;
      }
    if (columns < before)
      g_string_append_printf(diagram->left_out, "%s%u %s", diagram->left_out->len > 0 ? ", " : "",
                             before - columns, FILTER[f].what);
  }
}

/* Returns for each line the last shown line whose message the line receives, or NOWHERE. The caller
 * frees the list. */
static int *find_senders(const struct diagram *diagram)
{
  int *sender = g_new(int, diagram->trace->lines->len + 1);
  for (unsigned i = 0; i < diagram->trace->lines->len; i++)
    sender[i] = NOWHERE;
  for (unsigned i = 0; i < diagram->history->messages->len; i++) {
    const struct message *message = &g_array_index(diagram->history->messages, struct message, i);
    if (message->received != NOWHERE && diagram->shown[message->sent])
      sender[message->received] = MAX(sender[message->received], message->sent);
  }
  return sender;
}

/* Gives each shown line a column. If there are many lines, successive lines of different ranks
 * share a column, unless one of them receives a message of another. */
void spacetime_set_columns(struct diagram *diagram)
{
  unsigned lines = diagram->trace->lines->len, shown = 0;
  g_autofree int *sender = find_senders(diagram);
  /* by rank: the first free column */
  g_autofree int *next = g_new0(int, (gsize)diagram->trace->ranks);
  int columns = 0;
  bool alone = true;
  for (unsigned i = 0; i < lines; i++)
    shown += diagram->shown[i];
  diagram->shares = shown > SHARED_FROM;
  for (unsigned i = 0; i < lines; i++) {
    int rank = trace_file_line(diagram->trace, i)->rank;
    diagram->column[i] = columns;
    if (!diagram->shown[i])
      continue;
    int least = sender[i] == NOWHERE ? 0 : diagram->column[sender[i]] + 1;
    least = rank == DISPATCHER ? columns : MAX(least, next[rank]);
    if (!diagram->shares || alone || least >= columns)
      columns++;
    diagram->column[i] = columns - 1;
    alone = rank == DISPATCHER;
    if (!alone)
      next[rank] = columns;
  }
  diagram->column[lines] = columns;
  diagram->step = columns <= 60 ? 29 : columns <= 150 ? 25 : columns <= COLUMNS_MAX ? 20 : 12;
  diagram->right = LEFT + diagram->step * columns;
}

double spacetime_x(const struct diagram *diagram, int line)
{
  return LEFT + diagram->step * diagram->column[line];
}

struct point spacetime_point(const struct diagram *diagram, int line)
{
  int rank = trace_file_line(diagram->trace, (unsigned)line)->rank;
  return (struct point){spacetime_x(diagram, line), diagram->row[rank]};
}

/* --- 2. rows --- */

static void add_text(GString *text, const char *format, const char *value)
{
  g_string_append(text, text->len > 0 ? ", " : "");
  const char *hole = strstr(format, "%s");
  g_string_append_len(text, format, hole ? hole - format : (gssize)strlen(format));
  if (hole != NULL)
    g_string_append(text, value != NULL ? value : "?");
}

static void item_text(const struct trace_item *item, GString *text)
{
  const char *checkpoint = trace_item_field(item, "checkpoint");
  const char *part = trace_item_field(item, "part");
  const struct words *words = words_find(words_labels, item->name);
  const char *value = words && words->field ? trace_item_field(item, words->field) : NULL;
  bool log = trace_item_is(item, "durable") && part && g_str_equal(part, "log");
  if (log)
    add_text(text, "log durable %s", checkpoint);
  else if (words)
    add_text(text, words->text, value ? value : item->word);
  if (trace_item_is(item, "start") && checkpoint != NULL && !g_str_equal(checkpoint, "0"))
    g_string_append_printf(text, " from %s", checkpoint);
  if (trace_item_is(item, "roll-back") && checkpoint != NULL)
    g_string_append_printf(text, " to %s", checkpoint);
  if (trace_item_is(item, "force"))
    g_string_append_printf(text, " forced to %s", trace_item_field(item, "outcome"));
}

static char *line_text(const struct trace_line *line)
{
  GString *text = g_string_new(NULL);
  item_text(&line->event, text);
  for (unsigned i = 0; i < line->actions_count; i++)
    item_text(&line->actions[i], text);
  return g_string_free(text, FALSE);
}

void spacetime_clear_label(gpointer data)
{
  g_free(((struct label *)data)->text);
}

double spacetime_label_width(const struct label *label)
{
  return picture_text_width(label->text, TEXT) + 4;
}

/* Returns the lowest level on which the text does not touch an earlier text. ends[level] is where
 * the last text of a level ends. */
static unsigned free_level(GArray *ends, double from, double to)
{
  unsigned level = 0;
  while (level < ends->len && g_array_index(ends, double, level) > from)
    level++;
  if (level == ends->len)
    g_array_append_val(ends, to);
  g_array_index(ends, double, level) = to;
  return level;
}

/* Sets the levels of the texts of one rank. Returns the number of levels. */
static unsigned label_rank(struct diagram *diagram, int rank)
{
  g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(double));
  for (unsigned i = 0; i < diagram->trace->lines->len; i++) {
    const struct trace_line *line = trace_file_line(diagram->trace, i);
    if (line->rank != rank || !diagram->shown[i])
      continue;
    struct label label = {.line = (int)i, .text = line_text(line)};
    if (label.text[0] == '\0') {
      g_free(label.text);
      continue;
    }
    double middle = spacetime_x(diagram, label.line), half = spacetime_label_width(&label) / 2;
    label.level = free_level(ends, middle - half, middle + half);
    g_array_append_val(diagram->labels, label);
  }
  return ends->len;
}

double spacetime_rollback_depth(double length)
{
  return 14 + MIN(0.07 * length, 26);
}

double spacetime_replay_depth(double length)
{
  return 11 + MIN(0.05 * length, 18);
}

/* Returns how much room below the rank the rank's arcs need. A cubic curve goes three quarters of
 * the way to its control points. */
static double arcs_below(const struct diagram *diagram, int rank)
{
  double depth = 8;
  const struct history *history = diagram->history;
  for (unsigned i = 0; i < history->rollbacks->len; i++) {
    const struct rollback *back = &g_array_index(history->rollbacks, struct rollback, i);
    if (back->rank == rank && back->to != NOWHERE)
      depth = MAX(depth, spacetime_rollback_depth(spacetime_x(diagram, back->from) -
                                                  spacetime_x(diagram, back->to)));
  }
  for (unsigned i = 0; i < history->replays->len; i++) {
    const struct replay *replay = &g_array_index(history->replays, struct replay, i);
    if (replay->rank == rank)
      depth = MAX(depth, 29);
  }
  return depth;
}

void spacetime_set_rows(struct diagram *diagram)
{
  int ranks = diagram->trace->ranks;
  double least = ranks <= 4 ? 84 : ranks <= 8 ? 66 : ranks <= 16 ? 50 : 36;
  double y = 24, below = 0, apart = 0;
  for (int rank = DISPATCHER; rank < ranks; rank++) {
    unsigned levels = label_rank(diagram, rank);
    if (rank == DISPATCHER && levels == 0)
      continue;
    y += MAX(apart, below + 8 + 12 + LEVEL * levels);
    diagram->row[rank] = y;
    if (rank == DISPATCHER) {
      /* The dispatcher has no messages, and nothing stands below it, so its row can be close to the
       * row above. */
      diagram->dispatcher = true;
    } else {
      below = arcs_below(diagram, rank);
      apart = least;
    }
  }
  diagram->y = y + below + 24; /* leaves room for the names of recovery lines */
}
