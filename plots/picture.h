/* Draws pictures: a thin layer over Graphviz.
 *
 * Coordinates are points (1/72 inch), x to the right and y *down*, as in the SVG that comes out.
 */
#ifndef RECLINE_PICTURE_H
#define RECLINE_PICTURE_H

#include <glib.h>
#include <stdbool.h>

struct picture;

struct point {
  double x, y;
};

struct picture *picture_new(const char *title);
void picture_free(struct picture *);

/* These functions set attributes of the whole picture, add a node, and add an edge. Attributes are
 * pairs of Graphviz' names and values; the list ends with NULL. Texts are literal: Graphviz'
 * escapes are escaped, and a newline is a new line. */
void picture_set(struct picture *, ...) G_GNUC_NULL_TERMINATED;
void picture_node(struct picture *, const char *name, ...) G_GNUC_NULL_TERMINATED;
void picture_edge(struct picture *, const char *tail, const char *head, ...) G_GNUC_NULL_TERMINATED;

/* Adds an invisible node for a layer. With a fixed layout, edges are painted in the order of their
 * tails, so an edge that begins at an earlier layer lies under one of a later layer. */
void picture_layer(struct picture *, const char *name);

/* Adds a text whose left end and middle height are at `at`. */
void picture_text(struct picture *, const char *name, struct point at, const char *text,
                  double size, const char *color, const char *class);
double picture_text_width(const char *text, double size);

/* These functions return values of the attribute "pos", which the caller frees: for a node; for an
 * edge of straight lines through `points`; and for an edge that is one curve. The curve has the
 * four `points` as control points, and a head of `length` with its tip on the last point. */
char *picture_pos(struct point);
char *picture_lines(const struct point *points, unsigned count);
char *picture_arrow(const struct point *points, unsigned count, double length);
char *picture_number(double);

/* Lays the picture out with Graphviz' `engine` ("nop2" if positions are given). Sets `data` to the
 * picture in `format` ("svg"), which has `length` bytes and which the caller frees with g_free().
 * Returns false with `error` set. */
bool picture_render(struct picture *, const char *engine, const char *format, char **data,
                    gsize *length, GError **error);

#endif
