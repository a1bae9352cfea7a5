/* Times between failures, drawn from a distribution. Every draw is a function of the seed, of the
 * name of what fails and of the number of the draw: nothing that is added to a platform or a
 * scenario changes the failures of the rest, and two runs with the same seed have the same ones.
 *
 * The generator is SplitMix64 (Steele, Lea, Flood 2014), addressed by its counter.
 */
#ifndef RECLINE_FAILURE_TIMES_H
#define RECLINE_FAILURE_TIMES_H

#include <stdint.h>

#include "world/scenario/scenario.h"

/* The stream of draws of `name`, of the failure with that index in the scenario. */
uint64_t law_stream(uint64_t seed, unsigned index, const char *name);

/* A number between 0 and 1, neither of them. */
double law_uniform(uint64_t stream, uint64_t number);

/* Seconds, in whole nanoseconds and at least one: so that the last bits of a library's functions
 * make no difference. Their mean is the failure's `mtbf`. */
double law_draw(const struct failure *, uint64_t stream, uint64_t number);

/* The same for the time of its repair. */
double law_draw_repair(const struct failure *, uint64_t stream, uint64_t number);

#endif
