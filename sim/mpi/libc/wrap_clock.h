/* The one time that all clocks of a program tell. */
#ifndef RECLINE_WRAP_CLOCK_H
#define RECLINE_WRAP_CLOCK_H

#include <stdbool.h>

/* Reads it for the program: seconds. False, with `*now` untouched: this is no run under a protocol.
 */
bool clock_simulated(double *now);

#endif
