/* Writes numbers for people, without exponents. The caller frees the texts. */
#ifndef RECLINE_NUMBERS_H
#define RECLINE_NUMBERS_H

/* Returns a number with that many significant digits. */
char *number_digits(double value, int digits);

/* Returns a share as a percentage: "0.28 %", "12 %". */
char *number_percent(double share);

/* Returns the half width of a confidence interval with three digits, or "0" if it is so small that
 * seven digits of the mean do not show it. */
char *number_half(double mean, double half);

/* Returns a change in per cent with its sign and two digits after the point, "+1.20", "0.00". */
char *number_change(double share);

#endif
