/* Draws times between failures from a distribution. Every draw is a function of the seed, of the
 * name of what fails, and of the number of the draw. So an addition to a platform or a scenario
 * does not change the other failures, and two runs with the same seed have the same failures.
 *
 * The generator is SplitMix64 (Steele, Lea, Flood 2014), addressed by its counter. */
#ifndef RECLINE_FAILURE_TIMES_H
#define RECLINE_FAILURE_TIMES_H

#include <stdint.h>

#include "world/scenario/scenario.h"

/* Returns the stream of draws for `name` and for the failure with that index in the scenario. */
uint64_t law_stream(uint64_t seed, unsigned index, const char *name);

/* Returns a number greater than 0 and less than 1. */
double law_uniform(uint64_t stream, uint64_t number);

/* Returns the time to the failure in seconds, as whole nanoseconds and at least one, so that the
 * last bits of a library's functions make no difference. The mean is the failure's `mtbf`. */
double law_draw(const struct failure *, uint64_t stream, uint64_t number);

/* Returns the time of the failure's repair in the same way. */
double law_draw_repair(const struct failure *, uint64_t stream, uint64_t number);

#endif
