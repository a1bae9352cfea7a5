/* Reads the time that all clocks of a program show. */
#ifndef RECLINE_WRAP_CLOCK_H
#define RECLINE_WRAP_CLOCK_H

#include <stdbool.h>

/* Sets `*now` to the time that the program reads, in seconds. Returns false, with `*now` untouched,
 * in a run without a protocol.
 */
bool clock_simulated(double *now);

#endif
