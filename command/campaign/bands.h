/* Draws a campaign with gnuplot. If a sweep has numbers, the first such sweep is the x axis, and
 * each combination of the others has a curve with its confidence band. Otherwise each cell has a
 * bar with its confidence interval. */
#ifndef RECLINE_BANDS_H
#define RECLINE_BANDS_H

#include "command/campaign/table.h"

struct figure {
  int field;
  const char *extra;   /* mean in seconds by theory, as gnuplot's expression over x; NULL: none */
  const char *title;   /* NULL: none */
  double failure_free; /* seconds, to which the right axis refers; NAN: there is no such axis */
  double theory;       /* value of a sweep over times that is best by theory; 0: none */
};

/* Writes figure.gp, data included, into `folder`, and lets gnuplot draw figure.svg there. Times
 * have a unit that is easy to read. A single curve over times gets marks at its least value and at
 * values that are not measurably worse. */
bool bands_draw(const struct table *, const struct figure *, const char *folder, GError **error);

/* Lets gnuplot run that script in its folder. */
bool bands_gnuplot(const char *folder, const char *script, GError **error);

#endif
