/* Declares what the files of the space-time diagram share: spacetime_layout.c computes positions,
 * spacetime.c paints, and spacetime_strokes.c has the kinds of lines. */
#ifndef RECLINE_SPACETIME_INSIDE_H
#define RECLINE_SPACETIME_INSIDE_H

#include "plots/spacetime.h"

enum { COLUMNS_MAX = 400, TEXT = 8, SMALL = 7 };

#define LEFT 66.0       /* x of the first column */
#define LEVEL 10.0      /* height of a level of texts */
#define MARK 3.2        /* radius of the space around an event that arrows leave free */
#define NARROWEST 470.0 /* width of the legend */
#define WIDE 1200.0     /* from this width on, ranks are named at both ends */

enum stroke_kind {
  STROKE_MESSAGE,
  STROKE_LATE,
  STROKE_EARLY,
  STROKE_CONTROL,
  STROKE_FLIGHT,
  STROKE_CONTROL_FLIGHT,
  STROKE_DISCARDED,
  STROKE_SUPPRESSED,
  STROKE_OFFENDS,
  STROKE_REPLAY,
  STROKE_CUT,
  STROKE_CUT_OPEN,
  STROKE_CALL,
  STROKE_ROLLBACK,
  STROKE_CRASH,
  STROKE_DOWN,
  STROKE_RESTORING,
  STROKE_UNDONE,
  STROKE_HELD,
  STROKE_AGAIN,
  STROKES
};

/* Describes how a kind of line is drawn, and its name in words_marks. */
struct stroke {
  const char *class, *mark, *color, *style, *width, *head;
  double length; /* length of the head, in points */
};

extern const struct stroke spacetime_strokes[STROKES];

/* Returns the text of a kind of line in the legend. */
const char *spacetime_legend(enum stroke_kind kind);

struct rectangle {
  double left, top, right, bottom;
};

/* Describes a text above an event. */
struct label {
  int line;
  unsigned level;
  char *text;
};

struct diagram {
  const struct history *history;
  const struct trace_file *trace;
  struct picture *picture;
  bool *shown; /* by line of the trace: whether it is shown */
  int *column; /* by line of the trace, and one past the last: the number of columns before it */
  GString *left_out; /* sentences for the legend that say what is left out */
  bool shares;       /* several lines may be in one column */
  double step;       /* width of a column */
  double right;      /* x at which the lines of ranks end */
  double *row;       /* y of each rank; row[-1] is the dispatcher's */
  bool dispatcher;   /* the dispatcher has a row */
  GArray *labels;    /* struct label */
  GArray *taken;     /* struct rectangle: the places that texts take */
  bool used[STROKES];
  bool ringed;         /* the ring around the step that violates a property is drawn */
  unsigned marked;     /* kinds of events that are marked, one bit each */
  unsigned names;      /* number of nodes whose names are made up */
  unsigned unlabelled; /* number of control messages without a name for lack of room */
  double y;            /* y at which the next thing below the ranks goes */
};

/* Draws a line of that kind through the points, between two nodes, in `color`, or in the kind's own
 * colour if `color` is NULL. */
void spacetime_paint(struct diagram *, enum stroke_kind, const char *tail, const char *head,
                     const struct point *points, unsigned count, const char *tooltip,
                     const char *color);

/* Selects the lines of the trace that are shown; `left_out` describes the others. */
void spacetime_select_columns(struct diagram *diagram);

/* These functions set the places of columns and, called next, of rows, with labels above the rows
 * and arcs below. */
void spacetime_set_columns(struct diagram *diagram);
void spacetime_set_rows(struct diagram *diagram);

/* These functions return the x of line number `line` of the trace, and its point on the row of its
 * rank. */
double spacetime_x(const struct diagram *diagram, int line);
struct point spacetime_point(const struct diagram *diagram, int line);

/* Draws the axis of steps or seconds, below the last rank. */
void spacetime_paint_axis(struct diagram *diagram);

/* Draws an arrow from the message's send to its receipt, with its name or number. */
void spacetime_paint_message(struct diagram *, const struct message *);

/* Draws an arc below the row of a rank, from one line of the trace to another. */
void spacetime_paint_arc(struct diagram *, enum stroke_kind, int from, int to, double depth,
                         const char *tooltip);

/* These functions return the name of the node of a line of the trace, and a made-up name for a node
 * that has no other. The caller frees the names with g_free(). */
char *spacetime_node(const struct diagram *, int line);
char *spacetime_fresh_name(struct diagram *);

/* Marks the place of a text as taken. */
void spacetime_take(struct diagram *, struct rectangle);

double spacetime_label_width(const struct label *label);
void spacetime_clear_label(gpointer data);

/* These functions return how far an arc of that length reaches below the row. */
double spacetime_rollback_depth(double length);
double spacetime_replay_depth(double length);

#endif
