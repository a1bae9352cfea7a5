/* The picture of a campaign, drawn by gnuplot: over the first sweep whose values are numbers, a
 * curve with its confidence band for each combination of the others; without such a sweep a bar
 * with its confidence interval for each cell. */
#ifndef RECLINE_BANDS_H
#define RECLINE_BANDS_H

#include "command/campaign/table.h"

struct figure {
  int field;
  const char *extra;   /* an expression of gnuplot over x: the mean in seconds by theory; NULL */
  const char *title;   /* NULL: none */
  double failure_free; /* seconds; the axis to the right is relative to it; NAN: there is none */
};

/* Writes figure.gp in `folder`, data included, and has gnuplot draw figure.svg there. Times are in
 * the unit in which they are easily read; with one curve over times its least value, and the values
 * that are not measurably worse, are marked. */
bool bands_draw(const struct table *, const struct figure *, const char *folder, GError **error);

/* Lets gnuplot run that script in its folder. */
bool bands_gnuplot(const char *folder, const char *script, GError **error);

#endif
