/* Draws a campaign with gnuplot. The x axis is the first sweep whose values are two or more
 * numbers. Each combination of values of the other sweeps has a curve with its confidence band.
 * Without such a sweep each cell has a bar with its confidence interval. */
#ifndef RECLINE_BANDS_H
#define RECLINE_BANDS_H

#include "command/campaign/table.h"

struct figure {
  int field;
  /* mean in seconds by theory, as gnuplot's expression over x, or NULL if there is none */
  const char *extra;
  const char *title; /* title of the figure, or NULL if there is none */
  /* seconds, to which the right axis refers, or NAN if there is no such axis */
  double failure_free;
  /* in a sweep over times: the value that is best by theory, in seconds, or 0 if there is none */
  double theory;
};

/* Writes figure.gp, data included, into `folder`, and lets gnuplot draw figure.svg there. Times
 * have a unit that is easy to read. A single curve over times gets marks at its least value and at
 * values that are not measurably worse. */
bool bands_draw(const struct table *, const struct figure *, const char *folder, GError **error);

/* Lets gnuplot run `script` in `folder`. */
bool bands_gnuplot(const char *folder, const char *script, GError **error);

#endif
