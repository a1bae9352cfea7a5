/* The picture of a campaign, drawn by gnuplot: over the first sweep whose values are numbers, a
 * curve with its confidence band for each combination of the others; without such a sweep a bar
 * with its confidence interval for each cell. */
#ifndef RECLINE_BANDS_H
#define RECLINE_BANDS_H

#include "command/campaign/table.h"

/* Writes figure.gp in `folder`, data included, and lets gnuplot draw figure.svg there. `extra`:
 * another curve over the axis, in gnuplot's words; NULL: none. */
bool bands_draw(const struct table *, int field, const char *extra, const char *folder,
                GError **error);

/* Lets gnuplot run that script in its folder. */
bool bands_gnuplot(const char *folder, const char *script, GError **error);

#endif
