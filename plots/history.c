#include "plots/history.h"

#include "plots/input.h"

/* The state of a rank while the lines are read from first to last. */
struct life {
  int number;  /* number of the life; a life begins with START */
  int first;   /* line of the first start */
  int started; /* line of the newest start */
  int crashed; /* line of the crash, while the rank is down */
  int rolled;  /* line of the roll-back that waits for its start */
  int held;    /* line of the hold that waits for its release */
};

struct scan {
  struct history *history;
  struct life *lives; /* by rank */
  int *life;          /* by line: the life of the line's rank */
  /* @number of a message -> index of the message, for control messages as well */
  GHashTable *sent;
  GHashTable *cuts;    /* checkpoint -> index of its newest cut */
  GHashTable *kept;    /* rank and slot -> line of the keep */
  GHashTable *capture; /* rank and checkpoint -> line of the newest capture */
};

static gint64 *pair(int rank, gint64 number)
{
  gint64 *key = g_new(gint64, 1);
  *key = number * (G_MAXINT16 + 1) + rank;
  return key;
}

static void remember(GHashTable *table, gint64 *key, int index)
{
  g_hash_table_insert(table, key, GINT_TO_POINTER(index + 1));
}

static int recall(GHashTable *table, gint64 *key)
{
  int index = GPOINTER_TO_INT(g_hash_table_lookup(table, key)) - 1;
  g_free(key);
  return index; /* index is NOWHERE if it was not found */
}

static struct message *message_at(const struct history *history, int index)
{
  return &g_array_index(history->messages, struct message, index);
}

static struct cut *cut_at(const struct history *history, int index)
{
  return &g_array_index(history->cuts, struct cut, index);
}

static void add_span(struct scan *scan, enum span_kind kind, int rank, int from, int to)
{
  struct span span = {.kind = kind, .rank = rank, .from = from, .to = to};
  g_array_append_val(scan->history->spans, span);
}

/* --- messages --- */

static void send_message(struct scan *scan, int at, const struct trace_item *item, bool suppressed)
{
  const struct trace_line *line = trace_file_line(scan->history->trace, (unsigned)at);
  bool control = trace_item_is(item, "control");
  const char *name = control && item->word != NULL ? item->word : "";
  struct message message = {.control = control,
                            .name = name,
                            .number = suppressed ? -1 : item->message,
                            .from = line->rank,
                            .to = (int)trace_item_number(item, "peer", 0),
                            .sent = at,
                            .received = NOWHERE,
                            .fate = suppressed ? FATE_SUPPRESSED : FATE_FLIGHT};
  if (item->message >= 0 && !suppressed)
    remember(scan->sent, pair(0, item->message), (int)scan->history->messages->len);
  g_array_append_val(scan->history->messages, message);
}

static bool receive_message(struct scan *scan, int at, GError **error)
{
  const struct trace_file *trace = scan->history->trace;
  const struct trace_line *line = trace_file_line(trace, (unsigned)at);
  if (line->event.message < 0)
    return true; /* the trace does not tell which message it is, so there is nothing to draw */
  int index = recall(scan->sent, pair(0, line->event.message));
  if (index == NOWHERE) {
    g_set_error(error, INPUT_ERROR, 0,
                "%s:%u: message @%" G_GINT64_FORMAT
                " arrives, expected an earlier line that sends it",
                trace->name, line->number, line->event.message);
    return false;
  }
  /* the network has doubled the message */
  if (message_at(scan->history, index)->received != NOWHERE) {
    struct message again = *message_at(scan->history, index);
    index = (int)scan->history->messages->len;
    g_array_append_val(scan->history->messages, again);
  }
  struct message *message = message_at(scan->history, index);
  message->received = at;
  message->to = line->rank;
  message->fate = trace_line_action(line, "discard", NULL) ? FATE_DISCARDED : FATE_RECEIVED;
  return true;
}

static void find_crossing(const struct scan *scan, struct message *message)
{
  for (unsigned i = 0; i < scan->history->cuts->len && message->received != NOWHERE; i++) {
    const struct cut *cut = cut_at(scan->history, (int)i);
    int out = cut->at[message->from];
    int in = cut->at[message->to];
    /* A capture in another life of the rank belongs to another history, so the message crosses
     * nothing. */
    if (message->from == message->to || out == NOWHERE || in == NOWHERE ||
        scan->life[out] != scan->life[message->sent] ||
        scan->life[in] != scan->life[message->received])
      continue;
    if (message->sent < out && message->received > in)
      message->crossing = CROSSING_LATE;
    else if (message->sent > out && message->received < in)
      message->crossing = CROSSING_EARLY;
    else
      continue;
    message->checkpoint = cut->checkpoint;
    return;
  }
}

/* --- checkpoints --- */

/* Begins a new cut, because a rank captures a second time. With local rollback, ranks that have not
 * rolled back keep their captures in the new cut. */
static int new_cut(struct scan *scan, int rank, gint64 checkpoint, int before)
{
  int ranks = scan->history->trace->ranks;
  struct cut cut = {.checkpoint = checkpoint, .at = g_new(int, (gsize)ranks)};
  for (int i = 0; i < ranks; i++) {
    int at = before == NOWHERE ? NOWHERE : cut_at(scan->history, before)->at[i];
    bool stands = at != NOWHERE && i != rank && scan->life[at] == scan->lives[i].number;
    cut.at[i] = stands ? at : NOWHERE;
  }
  g_array_append_val(scan->history->cuts, cut);
  remember(scan->cuts, pair(0, checkpoint), (int)scan->history->cuts->len - 1);
  return (int)scan->history->cuts->len - 1;
}

static void capture(struct scan *scan, int at, int rank, gint64 checkpoint)
{
  int index = recall(scan->cuts, pair(0, checkpoint));
  if (index == NOWHERE || cut_at(scan->history, index)->at[rank] != NOWHERE)
    index = new_cut(scan, rank, checkpoint, index);
  cut_at(scan->history, index)->at[rank] = at;
  remember(scan->capture, pair(rank, checkpoint), at);
}

static void commit(struct scan *scan, gint64 checkpoint)
{
  int index = recall(scan->cuts, pair(0, checkpoint));
  if (index != NOWHERE)
    cut_at(scan->history, index)->committed = true;
}

/* --- the life of a rank --- */

static void roll_back(struct scan *scan, int rank, int from, int undone, gint64 checkpoint)
{
  int to =
      checkpoint == 0 ? scan->lives[rank].first : recall(scan->capture, pair(rank, checkpoint));
  struct rollback rollback = {.rank = rank, .from = from, .to = to, .checkpoint = checkpoint};
  g_array_append_val(scan->history->rollbacks, rollback);
  if (to != NOWHERE)
    add_span(scan, SPAN_UNDONE, rank, MAX(to, scan->lives[rank].started), undone);
}

static void end_hold(struct scan *scan, int rank, int at)
{
  struct life *life = &scan->lives[rank];
  if (life->held != NOWHERE)
    add_span(scan, SPAN_HELD, rank, life->held, at);
  life->held = NOWHERE;
}

static void start(struct scan *scan, int at, const struct trace_line *line)
{
  struct life *life = &scan->lives[line->rank];
  gint64 checkpoint = trace_item_number(&line->event, "checkpoint", 0);
  end_hold(scan, line->rank, at);
  if (life->rolled != NOWHERE)
    add_span(scan, SPAN_RESTORING, line->rank, life->rolled, at);
  if (life->crashed != NOWHERE) {
    add_span(scan, SPAN_DOWN, line->rank, life->crashed, at);
    roll_back(scan, line->rank, at, life->crashed, checkpoint);
  }
  if (life->first == NOWHERE)
    life->first = at;
  life->started = at;
  life->rolled = life->crashed = NOWHERE;
  life->number++;
}

static void crash(struct scan *scan, int at, int rank)
{
  struct life *life = &scan->lives[rank];
  end_hold(scan, rank, at);
  if (life->rolled != NOWHERE)
    add_span(scan, SPAN_RESTORING, rank, life->rolled, at);
  life->rolled = NOWHERE;
  life->crashed = at;
}

static void read_actions(struct scan *scan, int at, const struct trace_line *line)
{
  for (unsigned i = 0; i < line->actions_count; i++) {
    const struct trace_item *action = &line->actions[i];
    gint64 slot = trace_item_number(action, "slot", 0);
    if (trace_item_is(action, "control") || trace_item_is(action, "resend")) {
      send_message(scan, at, action, false);
    } else if (trace_item_is(action, "hold") && scan->lives[line->rank].held == NOWHERE) {
      scan->lives[line->rank].held = at;
    } else if (trace_item_is(action, "release")) {
      end_hold(scan, line->rank, at);
    } else if (trace_item_is(action, "keep")) {
      remember(scan->kept, pair(line->rank, slot), at);
    } else if (trace_item_is(action, "roll-back")) {
      roll_back(scan, line->rank, at, at, trace_item_number(action, "checkpoint", 0));
      end_hold(scan, line->rank, at);
      scan->lives[line->rank].rolled = at;
    } else if (trace_item_is(action, "deliver") && slot > 0) {
      struct replay replay = {.rank = line->rank,
                              .kept = recall(scan->kept, pair(line->rank, slot)),
                              .delivered = at,
                              .slot = slot,
                              .peer = trace_item_number(action, "peer", DISPATCHER)};
      g_array_append_val(scan->history->replays, replay);
    }
  }
}

static bool read_line(struct scan *scan, int at, GError **error)
{
  const struct trace_line *line = trace_file_line(scan->history->trace, (unsigned)at);
  const struct trace_item *event = &line->event;
  if (line->rank == DISPATCHER)
    return true;
  if (trace_item_is(event, "start"))
    start(scan, at, line);
  scan->life[at] = scan->lives[line->rank].number;
  if (trace_item_is(event, "crash"))
    crash(scan, at, line->rank);
  else if (trace_item_is(event, "captured"))
    capture(scan, at, line->rank, trace_item_number(event, "checkpoint", 0));
  else if (trace_item_is(event, "committed"))
    commit(scan, trace_item_number(event, "checkpoint", 0));
  else if (trace_item_is(event, "send"))
    send_message(scan, at, event, trace_line_action(line, "suppress", NULL) != NULL);
  else if (trace_item_is(event, "arrived") || trace_item_is(event, "control"))
    if (!receive_message(scan, at, error))
      return false;
  read_actions(scan, at, line);
  return true;
}

static void close_spans(struct scan *scan)
{
  int end = (int)scan->history->trace->lines->len;
  for (int rank = 0; rank < scan->history->trace->ranks; rank++) {
    const struct life *life = &scan->lives[rank];
    end_hold(scan, rank, end);
    if (life->crashed != NOWHERE)
      add_span(scan, SPAN_DOWN, rank, life->crashed, end);
    if (life->rolled != NOWHERE)
      add_span(scan, SPAN_RESTORING, rank, life->rolled, end);
  }
  for (unsigned i = 0; i < scan->history->messages->len; i++)
    find_crossing(scan, message_at(scan->history, (int)i));
}

static void clear_cut(gpointer data)
{
  g_free(((struct cut *)data)->at);
}

static GHashTable *table_new(void)
{
  return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

struct history *history_new(const struct trace_file *trace)
{
  struct history *history = g_new0(struct history, 1);
  history->trace = trace;
  history->messages = g_array_new(FALSE, FALSE, sizeof(struct message));
  history->cuts = g_array_new(FALSE, FALSE, sizeof(struct cut));
  g_array_set_clear_func(history->cuts, clear_cut);
  history->spans = g_array_new(FALSE, FALSE, sizeof(struct span));
  history->rollbacks = g_array_new(FALSE, FALSE, sizeof(struct rollback));
  history->replays = g_array_new(FALSE, FALSE, sizeof(struct replay));
  return history;
}

static struct scan scan_new(const struct trace_file *trace)
{
  struct scan scan = {.history = history_new(trace),
                      .lives = g_new(struct life, (gsize)trace->ranks),
                      .life = g_new0(int, trace->lines->len),
                      .sent = table_new(),
                      .cuts = table_new(),
                      .kept = table_new(),
                      .capture = table_new()};
  for (int rank = 0; rank < trace->ranks; rank++)
    scan.lives[rank] = (struct life){0, NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE};
  return scan;
}

struct history *history_read(const struct trace_file *trace, GError **error)
{
  struct scan scan = scan_new(trace);
  bool good = true;
  for (unsigned i = 0; i < trace->lines->len && good; i++)
    good = read_line(&scan, (int)i, error);
  if (good)
    close_spans(&scan);
  g_hash_table_unref(scan.sent);
  g_hash_table_unref(scan.cuts);
  g_hash_table_unref(scan.kept);
  g_hash_table_unref(scan.capture);
  g_free(scan.lives);
  g_free(scan.life);
  if (good)
    return scan.history;
  history_free(scan.history);
  return NULL;
}

void history_free(struct history *history)
{
  g_array_unref(history->messages);
  g_array_unref(history->cuts);
  g_array_unref(history->spans);
  g_array_unref(history->rollbacks);
  g_array_unref(history->replays);
  g_free(history);
}
