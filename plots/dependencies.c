/* A node is an interval of a rank, from one of its checkpoints to the next. An edge says that the
 * interval at its head is undone with the interval at its tail, because a message went from one
 * interval to the other, or because both belong to one rank and follow each other. The graph shows
 * the first crash with the messages before it, and the rollbacks until the next crash. */
#include "plots/dependencies.h"

enum fate_of_interval { STANDS, UNDONE, CRASHED };

struct graph {
  const struct history *history;
  struct picture *picture;
  int ranks;
  int detected;      /* line of the first detection */
  int second;        /* line of the second detection, or the end of the trace */
  int *interval;     /* by line of the trace: the interval of its rank */
  int *last;         /* by rank: its last interval */
  int *first_undone; /* by rank: the first interval that is undone, or G_MAXINT if none is */
  bool *crashed;
};

static const struct trace_line *line_at(const struct graph *graph, int i)
{
  return trace_file_line(graph->history->trace, (unsigned)i);
}

static int lines_of(const struct graph *graph)
{
  return (int)graph->history->trace->lines->len;
}

static void find_detections(struct graph *graph)
{
  graph->detected = graph->second = lines_of(graph);
  for (int i = lines_of(graph); i-- > 0;)
    if (trace_item_is(&line_at(graph, i)->event, "detected")) {
      graph->second = graph->detected;
      graph->detected = i;
    }
}

static void number_intervals(struct graph *graph)
{
  for (int i = 0; i < graph->detected; i++) {
    const struct trace_line *line = line_at(graph, i);
    if (line->rank == DISPATCHER)
      continue;
    if (trace_item_is(&line->event, "captured"))
      graph->last[line->rank] = (int)trace_item_number(&line->event, "checkpoint", 0);
    if (trace_item_is(&line->event, "crash"))
      graph->crashed[line->rank] = true;
    graph->interval[i] = graph->last[line->rank];
  }
}

/* Finds the first undone interval of each rank, which is the one that begins at the checkpoint to
 * which the rank goes back. */
static void find_undone(struct graph *graph)
{
  for (int rank = 0; rank < graph->ranks; rank++)
    graph->first_undone[rank] = G_MAXINT;
  for (int i = graph->detected; i < graph->second; i++) {
    const struct trace_line *line = line_at(graph, i);
    const struct trace_item *back = trace_line_action(line, "roll-back", NULL);
    if (line->rank == DISPATCHER)
      continue;
    if (!back && trace_item_is(&line->event, "start"))
      back = &line->event;
    if (back)
      graph->first_undone[line->rank] =
          MIN(graph->first_undone[line->rank], (int)trace_item_number(back, "checkpoint", 0));
  }
}

static char *name_of(int rank, int interval)
{
  return g_strdup_printf("interval-%d-%d", rank, interval);
}

static enum fate_of_interval fate_of(const struct graph *graph, int rank, int interval)
{
  if (interval < graph->first_undone[rank])
    return STANDS;
  return graph->crashed[rank] && interval == graph->last[rank] ? CRASHED : UNDONE;
}

static void draw_interval(const struct graph *graph, int rank, int interval)
{
  static const struct {
    const char *class, *fill, *color;
  } LOOK[] = {[STANDS] = {"stands", "#e8f3e8", "#2a7a2a"},
              [UNDONE] = {"undone", "#fbe3d6", "#c05010"},
              [CRASHED] = {"crashed", "#f3b0b0", "#d00000"}};
  enum fate_of_interval fate = fate_of(graph, rank, interval);
  g_autofree char *name = name_of(rank, interval);
  g_autofree char *label = g_strdup_printf("rank %d, %d", rank, interval);
  g_autofree char *pos = picture_pos((struct point){interval * 110.0, rank * 54.0});
  g_autofree char *class = g_strdup_printf("interval %s", LOOK[fate].class);
  picture_node(graph->picture, name, "label", label, "shape", "box", "style", "rounded,filled",
               "pos", pos, "fillcolor", LOOK[fate].fill, "color", LOOK[fate].color, "class", class,
               "fontsize", "11", "id", name, "tooltip", label, NULL);
}

static void draw_rank(const struct graph *graph, int rank)
{
  for (int interval = 0; interval <= graph->last[rank]; interval++) {
    draw_interval(graph, rank, interval);
    if (!interval)
      continue;
    g_autofree char *from = name_of(rank, interval - 1);
    g_autofree char *to = name_of(rank, interval);
    picture_edge(graph->picture, from, to, "class", "checkpoint", "color", "#999999", "style",
                 "dashed", "tooltip", "the next interval of the same rank", NULL);
  }
}

/* Draws one edge for all messages between the same two intervals. */
static void draw_messages(const struct graph *graph)
{
  g_autoptr(GHashTable) drawn = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (unsigned i = 0; i < graph->history->messages->len; i++) {
    const struct message *message = &g_array_index(graph->history->messages, struct message, i);
    if (message->control || message->fate != FATE_RECEIVED || message->from == message->to ||
        message->received >= graph->detected)
      continue;
    int out = graph->interval[message->sent], in = graph->interval[message->received];
    g_autofree char *from = name_of(message->from, out);
    g_autofree char *to = name_of(message->to, in);
    bool pulls = fate_of(graph, message->from, out) != STANDS;
    if (g_hash_table_add(drawn, g_strconcat(from, to, NULL)))
      picture_edge(graph->picture, from, to, "class", pulls ? "depends undone" : "depends", "color",
                   pulls ? "#c05010" : "#555555", "tooltip", "a message", NULL);
  }
}

struct picture *dependencies_draw(const struct history *history)
{
  struct graph graph = {.history = history, .ranks = history->trace->ranks};
  graph.picture = picture_new("rollback dependencies");
  graph.interval = g_new0(int, (gsize)lines_of(&graph) + 1);
  graph.last = g_new0(int, (gsize)graph.ranks);
  graph.first_undone = g_new0(int, (gsize)graph.ranks);
  graph.crashed = g_new0(bool, (gsize)graph.ranks);
  picture_set(graph.picture, "label",
              "Rollback dependencies at the first crash: rank, interval (from that checkpoint "
              "on).\nAn undone interval undoes those that its edges lead to.",
              "splines", "true", NULL);
  find_detections(&graph);
  number_intervals(&graph);
  find_undone(&graph);
  for (int rank = 0; rank < graph.ranks; rank++)
    draw_rank(&graph, rank);
  draw_messages(&graph);
  g_free(graph.interval);
  g_free(graph.last);
  g_free(graph.first_undone);
  g_free(graph.crashed);
  return graph.picture;
}
