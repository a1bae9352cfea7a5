/* The table of the kinds of lines in the space-time diagram (spacetime.c). */
#include "plots/spacetime_inside.h"

const struct stroke spacetime_strokes[STROKES] = {
    [STROKE_MESSAGE] = {"message", "message", "#222222", "solid", "1", "normal", 6},
    [STROKE_LATE] = {"message late", "late: crosses the recovery line forwards", "#d97700", "solid",
                     "1.8", "normal", 6},
    [STROKE_EARLY] = {"message early", "early: crosses it backwards", "#b5179e", "solid", "1.8",
                      "normal", 6},
    [STROKE_CONTROL] = {"control", "control message", "#8a8a8a", "dashed", "0.7", "vee", 5},
    [STROKE_FLIGHT] = {"message flight", "message never received", "#222222", "solid", "1", "odot",
                       4.8},
    [STROKE_CONTROL_FLIGHT] = {"control flight", "control message never received", "#8a8a8a",
                               "dashed", "0.7", "odot", 4.8},
    [STROKE_DISCARDED] = {"message discarded", "received again, discarded", "#222222", "solid", "1",
                          "onormal", 6},
    [STROKE_SUPPRESSED] = {"suppressed", "send suppressed", "#222222", "solid", "1.2", "tee", 1.5},
    [STROKE_REPLAY] = {"replay", "delivered from the log", "#00705a", "dotted", "1.4", "vee", 5},
    [STROKE_CUT] = {"cut", "recovery line, committed (each has its colour)", "#1261a8", "solid",
                    "2", "none", 0},
    [STROKE_CUT_OPEN] = {"cut open", "recovery line, not committed", "#1261a8", "dashed", "1.6",
                         "none", 0},
    [STROKE_ROLLBACK] = {"rollback", "rollback", "#c1121f", "solid", "1", "vee", 5},
    [STROKE_CRASH] = {"crash", "crash", "#d00000", "solid", "2", "none", 0},
    [STROKE_DOWN] = {"down", "down", "#d00000", "dotted", "0.8", "none", 0},
    [STROKE_RESTORING] = {"restoring", "restoring", "#777777", "dotted", "0.8", "none", 0},
    [STROKE_UNDONE] = {"undone", "work undone", "#f6d5d5", "solid", "7", "none", 0},
    [STROKE_HELD] = {"held", "program held", "#cfdcf0", "solid", "7", "none", 0},
    [STROKE_AGAIN] = {"again", "comes again and again", "#c1121f", "solid", "2", "normal", 6},
};

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
