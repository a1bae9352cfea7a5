/* The space-time diagram.
 *
 *     title
 *             recovery line 1            y grows downwards; every line of the trace that is
 *     rank 0 --o----[C]---o----          shown has a column, and columns are equally wide, for
 *                \   :   /               steps and for seconds alike: order is what a reader
 *     rank 1 -----o--[C]-o-----          of a protocol looks for
 *             0   1   2  3   step
 *     legend
 *     violation
 *
 * 1. columns: which lines are shown, and where (spacetime_select_columns, spacetime_set_columns)
 * 2. rows: texts above the ranks in as many levels as they need, arcs below (spacetime_set_rows)
 * 3. painting, from bottom to top: bands, recovery lines, ranks, arrows, marks, texts, legend
 */
#include "plots/spacetime.h"

#include <string.h>

#include "plots/narration.h"
#include "plots/spacetime_inside.h"
#include "plots/words.h"

/* Colours of recovery lines, which are used in turn. Late and early messages have two other
 * colours. */
static const char *const CUTS[] = {"#1261a8", "#2a7f3b", "#6a4fb3", "#0e7c86", "#7a5c2e"};

/* --- 3. painting --- */

static void paint_bands(struct diagram *diagram)
{
  for (unsigned i = 0; i < diagram->history->spans->len; i++) {
    const struct span *span = &g_array_index(diagram->history->spans, struct span, i);
    if (span->kind != SPAN_UNDONE && span->kind != SPAN_HELD)
      continue;
    double y = diagram->row[span->rank];
    struct point ends[] = {{spacetime_x(diagram, span->from), y},
                           {spacetime_x(diagram, span->to), y}};
    bool held = span->kind == SPAN_HELD;
    spacetime_paint(diagram, held ? STROKE_HELD : STROKE_UNDONE, "bands", "bands", ends, 2,
                    held ? "program held" : "work undone", NULL);
  }
}

static void paint_solid(struct diagram *diagram, int rank, double from, double to)
{
  if (to <= from)
    return;
  g_autofree char *tooltip = g_strdup_printf("rank %d", trace_file_rank(diagram->trace, rank));
  struct point ends[] = {{from, diagram->row[rank]}, {to, diagram->row[rank]}};
  g_autofree char *pos = picture_lines(ends, 2);
  picture_edge(diagram->picture, "ranks", "ranks", "class", "rank", "pos", pos, "color", "#444444",
               "penwidth", "1.1", "arrowhead", "none", "tooltip", tooltip, NULL);
}

static void paint_rank(struct diagram *diagram, int rank)
{
  double solid = LEFT - 14;
  for (unsigned i = 0; i < diagram->history->spans->len; i++) {
    const struct span *span = &g_array_index(diagram->history->spans, struct span, i);
    if (span->rank != rank || (span->kind != SPAN_DOWN && span->kind != SPAN_RESTORING))
      continue;
    bool down = span->kind == SPAN_DOWN;
    struct point ends[] = {{spacetime_x(diagram, span->from) + (down ? 5 : 0), diagram->row[rank]},
                           {spacetime_x(diagram, span->to), diagram->row[rank]}};
    spacetime_paint(diagram, down ? STROKE_DOWN : STROKE_RESTORING, "ranks", "ranks", ends, 2,
                    down ? "down" : "restoring", NULL);
    paint_solid(diagram, rank, solid, spacetime_x(diagram, span->from));
    solid = ends[1].x;
  }
  paint_solid(diagram, rank, solid, diagram->right);
  g_autofree char *node = g_strdup_printf("rank %d", trace_file_rank(diagram->trace, rank));
  g_autofree char *again = g_strdup_printf("%s again", node);
  struct point at = {LEFT - 18 - picture_text_width(node, 10), diagram->row[rank]};
  picture_text(diagram->picture, node, at, node, 10, "black", "name");
  if (diagram->right > WIDE)
    picture_text(diagram->picture, again, (struct point){diagram->right + 4, at.y}, node, 10,
                 "black", "name");
}

static void paint_dispatcher(struct diagram *diagram)
{
  double y = diagram->row[DISPATCHER];
  struct point ends[] = {{LEFT - 14, y}, {diagram->right, y}};
  g_autofree char *pos = picture_lines(ends, 2);
  picture_edge(diagram->picture, "ranks", "ranks", "class", "dispatcher", "pos", pos, "color",
               "#bbbbbb", "penwidth", "0.6", "arrowhead", "none", "tooltip", "dispatcher", NULL);
  struct point at = {LEFT - 20 - picture_text_width("dispatcher", TEXT), y};
  picture_text(diagram->picture, "dispatcher", at, "dispatcher", TEXT, "#6e6e6e", "name");
}

/* --- recovery lines --- */

static const char *cut_color(gint64 checkpoint)
{
  return CUTS[(gsize)MAX(checkpoint - 1, 0) % G_N_ELEMENTS(CUTS)];
}

static void paint_cut(struct diagram *diagram, const struct cut *cut)
{
  g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct point));
  for (int rank = 0; rank < diagram->trace->ranks; rank++)
    if (cut->at[rank] != NOWHERE) {
      struct point at = spacetime_point(diagram, cut->at[rank]);
      g_array_append_val(points, at);
    }
  if (points->len < 2)
    return;
  /* The line goes a little past its first and last rank, so that it visibly cuts all ranks. Its
   * name stands below the arcs. */
  struct point *first = &g_array_index(points, struct point, 0);
  struct point above = {first->x, diagram->row[0] - 14};
  struct point below = g_array_index(points, struct point, points->len - 1);
  bool whole = cut->at[diagram->trace->ranks - 1] != NOWHERE;
  below.y = whole ? diagram->y - 16 : below.y + 16;
  g_array_prepend_val(points, above);
  g_array_append_val(points, below);
  g_autofree char *text = g_strdup_printf("recovery line %" G_GINT64_FORMAT "%s", cut->checkpoint,
                                          cut->committed ? "" : " (not committed)");
  const char *color = cut_color(cut->checkpoint);
  spacetime_paint(diagram, cut->committed ? STROKE_CUT : STROKE_CUT_OPEN, "cuts", "cuts",
                  (const struct point *)(void *)points->data, points->len, text, color);
  double width = picture_text_width(text, TEXT) + 8;
  struct point at = {below.x - width / 2, below.y + 6};
  g_autofree char *node = spacetime_fresh_name(diagram);
  picture_text(diagram->picture, node, at, text, TEXT, color, "cut");
  spacetime_take(diagram, (struct rectangle){at.x, at.y - 5, at.x + width, at.y + 5});
}

/* --- arcs along one rank --- */

static void paint_rollbacks(struct diagram *diagram)
{
  for (unsigned i = 0; i < diagram->history->rollbacks->len; i++) {
    const struct rollback *back = &g_array_index(diagram->history->rollbacks, struct rollback, i);
    if (back->to == NOWHERE)
      continue;
    double length = spacetime_x(diagram, back->from) - spacetime_x(diagram, back->to);
    g_autofree char *tooltip = g_strdup_printf("rank %d rolls back to checkpoint %" G_GINT64_FORMAT,
                                               back->rank, back->checkpoint);
    spacetime_paint_arc(diagram, STROKE_ROLLBACK, back->from, back->to,
                        spacetime_rollback_depth(length), tooltip);
  }
}

static void paint_replays(struct diagram *diagram)
{
  for (unsigned i = 0; i < diagram->history->replays->len; i++) {
    const struct replay *replay = &g_array_index(diagram->history->replays, struct replay, i);
    if (!diagram->shown[replay->delivered])
      continue;
    g_autofree char *tooltip =
        g_strdup_printf("from the log: slot %" G_GINT64_FORMAT ", sent by %" G_GINT64_FORMAT,
                        replay->slot, replay->peer);
    if (replay->kept != NOWHERE && diagram->shown[replay->kept]) {
      double length = spacetime_x(diagram, replay->delivered) - spacetime_x(diagram, replay->kept);
      spacetime_paint_arc(diagram, STROKE_REPLAY, replay->kept, replay->delivered,
                          spacetime_replay_depth(length), tooltip);
      continue;
    }
    struct point at = spacetime_point(diagram, replay->delivered);
    struct point stub[] = {{at.x - 10, at.y + 16}, {at.x - 1, at.y + MARK}};
    g_autofree char *node = spacetime_node(diagram, replay->delivered);
    spacetime_paint(diagram, STROKE_REPLAY, node, node, stub, 2, tooltip, NULL);
  }
}

/* --- collective calls --- */

/* Returns whether a rank makes a collective call there, and does not have its result from a log. */
static bool makes_call(const struct trace_line *line)
{
  const struct trace_item *given = trace_line_action(line, "deliver", NULL);
  return trace_item_is(&line->event, "collective") &&
         (!given || trace_item_number(given, "slot", 0) == 0);
}

static bool is_same_call(const struct trace_item *a, const struct trace_item *b)
{
  return trace_item_number(a, "call", 0) == trace_item_number(b, "call", 0) &&
         trace_item_number(a, "comm", 0) == trace_item_number(b, "comm", 0);
}

/* Returns the last line before this one in which another rank has made the same collective call.
 * Looks back no further than to the last start of this rank, or to its own last call of this kind.
 * Returns NOWHERE if there is no such line. */
static int find_call(const struct trace_file *trace, int index)
{
  const struct trace_line *line = trace_file_line(trace, (unsigned)index);
  for (int i = index - 1; i >= 0; i--) {
    const struct trace_line *other = trace_file_line(trace, (unsigned)i);
    bool same = makes_call(other) && is_same_call(&line->event, &other->event);
    bool own = other->rank == line->rank;
    if (own && (same || trace_item_is(&other->event, "start")))
      return NOWHERE;
    if (same)
      return i;
  }
  return NOWHERE;
}

/* Joins what several ranks do as one collective call. */
static void paint_calls(struct diagram *diagram)
{
  for (unsigned i = 0; i < diagram->trace->lines->len; i++) {
    const struct trace_line *line = trace_file_line(diagram->trace, i);
    int other = diagram->shown[i] && makes_call(line) ? find_call(diagram->trace, (int)i) : NOWHERE;
    if (other == NOWHERE || !diagram->shown[other])
      continue;
    struct point ends[] = {spacetime_point(diagram, other), spacetime_point(diagram, (int)i)};
    g_autofree char *from = spacetime_node(diagram, other);
    g_autofree char *to = spacetime_node(diagram, (int)i);
    g_autofree char *tooltip = g_strdup_printf("collective call %" G_GINT64_FORMAT,
                                               trace_item_number(&line->event, "call", 0));
    spacetime_paint(diagram, STROKE_CALL, from, to, ends, 2, tooltip, NULL);
  }
}

/* --- events --- */

/* Lists the marks of events. An event gets the first entry that fits the event or one of its
 * actions. The last entry fits all events. */
static const struct mark {
  const char *name, *shape, *size, *fill, *color, *turn;
} MARKS[] = {
    /* a capture has the colour of its recovery line */
    {"captured", "square", "0.115", NULL, NULL, "0"},
    {"committed", "diamond", "0.15", "#1261a8", "#1261a8", "0"},
    {"durable", "square", "0.085", "white", "#1261a8", "0"},
    {"give-up", "octagon", "0.14", "#d00000", "#d00000", "0"},
    {"roll-back", "triangle", "0.15", "#c1121f", "#c1121f", "90"},
    {"start", "triangle", "0.13", "#444444", "#444444", "-90"},
    {"timer", "circle", "0.1", "white", "black", "0"},
    {"choice", "diamond", "0.1", "white", "black", "0"},
    {"finished", "square", "0.085", "black", "black", "0"},
    {"detected", "circle", "0.075", "#d00000", "#d00000", "0"},
    {"collective", "hexagon", "0.11", "white", "black", "0"},
    {"other", "circle", "0.05", "#222222", "#222222", "0"},
};

/* RING is drawn around the step that violates a property. */
static const struct mark RING = {"violated", "circle", "0.2", "#ffffff00", "#d00000", "0"};

static const struct mark *mark_of(const struct trace_line *line)
{
  unsigned i = 0;
  while (i + 1 < G_N_ELEMENTS(MARKS) && !trace_item_is(&line->event, MARKS[i].name) &&
         !trace_line_action(line, MARKS[i].name, NULL))
    i++;
  return &MARKS[i];
}

static void paint_crash(struct diagram *diagram, const char *layer, struct point at,
                        const char *text)
{
  struct point strokes[2][2] = {{{at.x - 4.5, at.y - 4.5}, {at.x + 4.5, at.y + 4.5}},
                                {{at.x - 4.5, at.y + 4.5}, {at.x + 4.5, at.y - 4.5}}};
  for (unsigned i = 0; i < 2; i++)
    spacetime_paint(diagram, STROKE_CRASH, layer, layer, strokes[i], 2, text, NULL);
}

static void paint_event(struct diagram *diagram, int index)
{
  const struct trace_line *line = trace_file_line(diagram->trace, (unsigned)index);
  const struct mark *mark = mark_of(line);
  struct point at = spacetime_point(diagram, index);
  if (!diagram->shown[index] || (line->rank == DISPATCHER && !diagram->dispatcher))
    return;
  bool hidden = trace_item_is(&line->event, "crash");
  if (hidden)
    paint_crash(diagram, "crashes", at, line->text);
  else
    diagram->marked |= 1u << (mark - MARKS);
  const char *color = cut_color(trace_item_number(&line->event, "checkpoint", 1));
  g_autofree char *node = spacetime_node(diagram, index);
  g_autofree char *pos = picture_pos(at);
  g_autofree char *id = g_strdup_printf("line-%u", line->number);
  g_autofree char *class = g_strdup_printf("event %s", line->event.name);
  picture_node(diagram->picture, node, "shape", mark->shape, "style", hidden ? "invis" : "filled",
               "fixedsize", "true", "width", mark->size, "height", mark->size, "fillcolor",
               mark->fill ? mark->fill : color, "color", mark->color ? mark->color : color,
               "orientation", mark->turn, "penwidth", "0.8", "pos", pos, "id", id, "class", class,
               "tooltip", line->text, NULL);
}

/* Draws a ring around the last step of a counterexample, which violates a property. */
static void paint_ring(struct diagram *diagram)
{
  const struct trace_file *trace = diagram->trace;
  int last = (int)trace->lines->len - 1;
  if (trace->timed || trace->violations->len == 0 || last < 0 || !diagram->shown[last])
    return;
  const struct trace_line *line = trace_file_line(trace, (unsigned)last);
  if (line->rank == DISPATCHER && !diagram->dispatcher)
    return;
  g_autofree char *pos = picture_pos(spacetime_point(diagram, last));
  picture_node(diagram->picture, "ring", "shape", RING.shape, "style", "filled", "fixedsize",
               "true", "width", RING.size, "height", RING.size, "fillcolor", RING.fill, "color",
               RING.color, "penwidth", "1.6", "pos", pos, "class", RING.name, "tooltip", RING.name,
               NULL);
  diagram->ringed = true;
}

static const char *label_color(const struct trace_line *line)
{
  if (trace_item_is(&line->event, "captured"))
    return cut_color(trace_item_number(&line->event, "checkpoint", 1));
  bool bad = trace_item_is(&line->event, "crash") || trace_item_is(&line->event, "detected") ||
             trace_line_action(line, "roll-back", NULL) || trace_line_action(line, "give-up", NULL);
  return bad ? "#c1121f" : "#222222";
}

static struct rectangle label_rectangle(const struct diagram *diagram, const struct label *label)
{
  struct point at = spacetime_point(diagram, label->line);
  double middle = at.y - 11 - LEVEL * label->level, half = spacetime_label_width(label) / 2;
  return (struct rectangle){at.x - half, middle - 5, at.x + half, middle + 5};
}

static void paint_label(struct diagram *diagram, const struct label *label)
{
  struct rectangle box = label_rectangle(diagram, label);
  const struct trace_line *line = trace_file_line(diagram->trace, (unsigned)label->line);
  struct point at = {(box.left + box.right) / 2, (box.top + box.bottom) / 2};
  struct point lead[] = {{at.x, box.bottom}, {at.x, diagram->row[line->rank] - 4}};
  g_autofree char *node = spacetime_fresh_name(diagram);
  g_autofree char *lead_pos = picture_lines(lead, 2);
  if (label->level > 0)
    picture_edge(diagram->picture, "leads", "leads", "class", "lead", "pos", lead_pos, "color",
                 "#b0b0b0", "penwidth", "0.4", "arrowhead", "none", NULL);
  g_autofree char *pos = picture_pos(at);
  g_autofree char *width = picture_number((box.right - box.left) / 72);
  picture_node(diagram->picture, node, "shape", "box", "style", "filled", "color", "#ffffff00",
               "fillcolor", "#ffffffd0", "fixedsize", "true", "width", width, "height", "0.12",
               "margin", "0,0", "label", label->text, "fontsize", "8", "fontcolor",
               label_color(line), "pos", pos, "class", "label", "tooltip", line->text, NULL);
}

/* --- around the diagram --- */

static void paint_title(struct diagram *diagram)
{
  const struct trace_file *trace = diagram->trace;
  g_autofree char *text = g_strdup_printf(
      "%s, %d rank%s%s%s", trace->protocol ? trace->protocol : "trace", trace->ranks,
      trace->ranks == 1 ? "" : "s", trace->host ? ", " : "", trace->host ? trace->host : "");
  picture_text(diagram->picture, "title", (struct point){0, 0}, text, 13, "black", "title");
}

/* Underlines the moves that repeat for ever. */
static void paint_again(struct diagram *diagram)
{
  int first = diagram->trace->again;
  if (first < 0)
    return;
  double half = diagram->step / 2;
  struct point ends[] = {{spacetime_x(diagram, first) - half, diagram->y - 12},
                         {diagram->right - half, diagram->y - 12}};
  spacetime_paint(diagram, STROKE_AGAIN, "bands", "bands", ends, 2, spacetime_legend(STROKE_AGAIN),
                  NULL);
  diagram->y += 6;
}

static double picture_width(const struct diagram *diagram)
{
  return MAX(diagram->right, NARROWEST);
}

static void paint_sample(struct diagram *diagram, enum stroke_kind kind, struct point at)
{
  struct point line[] = {at, {at.x + (kind == STROKE_SUPPRESSED ? 16 : 24), at.y}};
  if (kind == STROKE_CRASH)
    paint_crash(diagram, "legend", (struct point){at.x + 14, at.y}, "crash");
  else
    spacetime_paint(diagram, kind, "legend", "legend", line, 2, spacetime_legend(kind), NULL);
}

static void paint_marked(struct diagram *diagram, const struct mark *mark, struct point at)
{
  g_autofree char *node = spacetime_fresh_name(diagram),
                  *pos = picture_pos((struct point){at.x + 20, at.y});
  const char *color = mark->color ? mark->color : cut_color(1);
  /* the ring itself is too large for the legend's row */
  const char *size = mark == &RING ? "0.13" : mark->size;
  picture_node(diagram->picture, node, "shape", mark->shape, "style", "filled", "fixedsize", "true",
               "width", size, "height", size, "fillcolor", mark->fill ? mark->fill : color, "color",
               color, "orientation", mark->turn, "penwidth", "0.8", "pos", pos, "class", "legend",
               "tooltip", words_find(words_marks, mark->name)->text, NULL);
}

/* Adds an entry of the legend at the next place. Returns the place after that entry. */
static struct point paint_entry(struct diagram *diagram, const char *text, struct point *next)
{
  double width = 36 + picture_text_width(text, TEXT) + 14;
  if (next->x > 0 && next->x + width > picture_width(diagram))
    *next = (struct point){0, next->y + 14};
  struct point at = *next;
  g_autofree char *node = spacetime_fresh_name(diagram);
  picture_text(diagram->picture, node, (struct point){at.x + 28, at.y}, text, TEXT, "#333333",
               "legend");
  next->x += width;
  return at;
}

static void paint_legend(struct diagram *diagram)
{
  struct point next = {0, diagram->y};
  for (unsigned i = 0; i < STROKES; i++)
    if (diagram->used[i])
      paint_sample(diagram, i, paint_entry(diagram, spacetime_legend(i), &next));
  for (unsigned i = 0; i < G_N_ELEMENTS(MARKS); i++)
    if (diagram->marked & 1u << i)
      paint_marked(diagram, &MARKS[i],
                   paint_entry(diagram, words_find(words_marks, MARKS[i].name)->text, &next));
  if (diagram->ringed)
    paint_marked(diagram, &RING,
                 paint_entry(diagram, words_find(words_marks, RING.name)->text, &next));
  diagram->y = next.y + 16;
}

/* Breaks a text into lines that fit, and paints them. */
static void paint_paragraph(struct diagram *diagram, const char *text, double size,
                            const char *color, const char *class)
{
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  GString *line = g_string_new(NULL);
  for (unsigned i = 0; words[i] != NULL; i++) {
    g_string_append_printf(line, "%s%s", line->len > 0 ? " " : "", words[i]);
    g_autofree char *longer = g_strconcat(line->str, " ", words[i + 1] ? words[i + 1] : "", NULL);
    if (words[i + 1] != NULL && picture_text_width(longer, size) < picture_width(diagram) - 16)
      continue;
    g_autofree char *node = spacetime_fresh_name(diagram);
    picture_text(diagram->picture, node, (struct point){0, diagram->y}, line->str, size, color,
                 class);
    diagram->y += 1.45 * size;
    g_string_truncate(line, 0);
  }
  g_string_free(line, TRUE);
}

static void paint_left_out(struct diagram *diagram)
{
  if (diagram->left_out->len > 0) {
    g_autofree char *text = g_strdup_printf("Left out: %s.", diagram->left_out->str);
    paint_paragraph(diagram, text, TEXT, "#555555", "left-out");
  }
  if (diagram->unlabelled > 0) {
    g_autofree char *text =
        g_strdup_printf("%u control message%s without a name for lack of room.",
                        diagram->unlabelled, diagram->unlabelled == 1 ? "" : "s");
    paint_paragraph(diagram, text, TEXT, "#555555", "left-out");
  }
}

static void paint_violations(struct diagram *diagram)
{
  for (unsigned i = 0; i < diagram->trace->violations->len; i++) {
    g_autofree char *text =
        narration_violation(&g_array_index(diagram->trace->violations, struct trace_violation, i));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    diagram->y += 4;
    paint_paragraph(diagram, lines[0], 11, "#d00000", "violation");
    if (lines[1])
      paint_paragraph(diagram, lines[1], TEXT, "#333333", "rule");
  }
}

static void paint_all(struct diagram *diagram)
{
  static const char *const LAYERS[] = {"bands", "cuts", "ranks", "leads", "crashes", "legend"};
  const struct history *history = diagram->history;
  for (unsigned i = 0; i < G_N_ELEMENTS(LAYERS); i++)
    picture_layer(diagram->picture, LAYERS[i]);
  paint_title(diagram);
  paint_bands(diagram);
  for (unsigned i = 0; i < history->cuts->len; i++)
    paint_cut(diagram, &g_array_index(history->cuts, struct cut, i));
  for (int rank = 0; rank < diagram->trace->ranks; rank++)
    paint_rank(diagram, rank);
  if (diagram->dispatcher)
    paint_dispatcher(diagram);
  for (unsigned i = 0; i < diagram->labels->len; i++)
    spacetime_take(diagram,
                   label_rectangle(diagram, &g_array_index(diagram->labels, struct label, i)));
  for (unsigned i = 0; i < diagram->trace->lines->len; i++)
    paint_event(diagram, (int)i);
  paint_ring(diagram);
  paint_rollbacks(diagram);
  paint_replays(diagram);
  paint_calls(diagram);
  for (unsigned i = 0; i < history->messages->len; i++)
    spacetime_paint_message(diagram, &g_array_index(history->messages, struct message, i));
  for (unsigned i = 0; i < diagram->labels->len; i++)
    paint_label(diagram, &g_array_index(diagram->labels, struct label, i));
  spacetime_paint_axis(diagram);
  paint_again(diagram);
  paint_legend(diagram);
  paint_left_out(diagram);
  paint_violations(diagram);
}

struct picture *spacetime_draw(const struct history *history, unsigned outside)
{
  const struct trace_file *trace = history->trace;
  struct diagram diagram = {.history = history,
                            .trace = trace,
                            .picture = picture_new("space-time"),
                            .shown = g_new(bool, trace->lines->len),
                            .column = g_new(int, trace->lines->len + 1),
                            .left_out = g_string_new(NULL),
                            .labels = g_array_new(FALSE, FALSE, sizeof(struct label)),
                            .taken = g_array_new(FALSE, FALSE, sizeof(struct rectangle))};
  g_autofree double *rows = g_new0(double, (gsize)trace->ranks + 1);
  diagram.row = rows + 1;
  g_array_set_clear_func(diagram.labels, spacetime_clear_label);
  spacetime_select_columns(&diagram);
  if (outside)
    g_string_append_printf(diagram.left_out, "%s%u messages with one end outside of this part",
                           diagram.left_out->len ? ", " : "", outside);
  spacetime_set_columns(&diagram);
  spacetime_set_rows(&diagram);
  paint_all(&diagram);
  g_array_unref(diagram.labels);
  g_array_unref(diagram.taken);
  g_string_free(diagram.left_out, TRUE);
  g_free(diagram.shown);
  g_free(diagram.column);
  return diagram.picture;
}
