/* Contains the table of the kinds of lines in the space-time diagram (spacetime.c), and the
 * functions that paint these lines. */
#include "plots/spacetime_inside.h"
#include "plots/words.h"

const struct stroke spacetime_strokes[STROKES] = {
    [STROKE_MESSAGE] = {"message", "message", "#222222", "solid", "1", "normal", 6},
    [STROKE_LATE] = {"message late", "late", "#d97700", "solid", "1.8", "normal", 6},
    [STROKE_EARLY] = {"message early", "early", "#b5179e", "solid", "1.8", "normal", 6},
    [STROKE_CONTROL] = {"control", "control", "#8a8a8a", "dashed", "0.7", "vee", 5},
    [STROKE_FLIGHT] = {"message flight", "flight", "#222222", "solid", "1", "odot", 4.8},
    [STROKE_CONTROL_FLIGHT] = {"control flight", "control flight", "#8a8a8a", "dashed", "0.7",
                               "odot", 4.8},
    [STROKE_DISCARDED] = {"message discarded", "discarded", "#222222", "solid", "1", "onormal", 6},
    [STROKE_SUPPRESSED] = {"suppressed", "suppressed", "#222222", "solid", "1.2", "tee", 1.5},
    [STROKE_OFFENDS] = {"offends", "offends", "#ff9b94", "solid", "4.5", "none", 0},
    [STROKE_REPLAY] = {"replay", "replay", "#00705a", "dotted", "1.4", "vee", 5},
    [STROKE_CUT] = {"cut", "cut", "#1261a8", "solid", "2", "none", 0},
    [STROKE_CUT_OPEN] = {"cut open", "open", "#1261a8", "dashed", "1.6", "none", 0},
    [STROKE_CALL] = {"call", "call", "#222222", "dotted", "1.4", "none", 0},
    [STROKE_ROLLBACK] = {"rollback", "rollback", "#c1121f", "solid", "1", "vee", 5},
    [STROKE_CRASH] = {"crash", "crash", "#d00000", "solid", "2", "none", 0},
    [STROKE_DOWN] = {"down", "down", "#d00000", "dotted", "0.8", "none", 0},
    [STROKE_RESTORING] = {"restoring", "restoring", "#6e6e6e", "dotted", "0.8", "none", 0},
    [STROKE_UNDONE] = {"undone", "undone", "#f6d5d5", "solid", "7", "none", 0},
    [STROKE_HELD] = {"held", "held", "#cfdcf0", "solid", "7", "none", 0},
    [STROKE_AGAIN] = {"again", "again", "#c1121f", "solid", "2", "normal", 6},
};

const char *spacetime_legend(enum stroke_kind kind)
{
  return words_find(words_marks, spacetime_strokes[kind].mark)->text;
}

void spacetime_paint(struct diagram *diagram, enum stroke_kind kind, const char *tail,
                     const char *head, const struct point *points, unsigned count,
                     const char *tooltip, const char *color)
{
  const struct stroke *stroke = &spacetime_strokes[kind];
  g_autofree char *pos = stroke->length > 0 ? picture_arrow(points, count, stroke->length)
                                            : picture_lines(points, count);
  diagram->used[kind] = true;
  const char *class = g_str_equal(tail, "legend") ? "legend" : stroke->class;
  picture_edge(diagram->picture, tail, head, "class", class, "pos", pos, "color",
               color != NULL ? color : stroke->color, "style", stroke->style, "penwidth",
               stroke->width, "arrowhead", stroke->head, "tooltip", tooltip, NULL);
}

char *spacetime_node(const struct diagram *diagram, int line)
{
  return g_strdup_printf("line %u", trace_file_line(diagram->trace, (unsigned)line)->number);
}

/* Makes a name for a node that has no other name. */
char *spacetime_fresh_name(struct diagram *diagram)
{
  return g_strdup_printf("text %u", ++diagram->names);
}

void spacetime_take(struct diagram *diagram, struct rectangle rectangle)
{
  g_array_append_val(diagram->taken, rectangle);
}

void spacetime_paint_arc(struct diagram *diagram, enum stroke_kind kind, int from, int to,
                         double depth, const char *tooltip)
{
  struct point tail = spacetime_point(diagram, from), head = spacetime_point(diagram, to);
  double lean = (head.x - tail.x) * 0.15;
  struct point curve[] = {{tail.x, tail.y + 3},
                          {tail.x + lean, tail.y + depth},
                          {head.x - lean, head.y + depth},
                          {head.x, head.y + MARK + 1}};
  g_autofree char *tail_node = spacetime_node(diagram, from);
  g_autofree char *head_node = spacetime_node(diagram, to);
  spacetime_paint(diagram, kind, tail_node, head_node, curve, 4, tooltip, NULL);
}
