/* Keeps the clock from which all clocks that a program can read take their time.
 *
 * A clock's time depends on the schedule, so reading a clock is a decision of the program, like the
 * outcome of a test: a program that runs again must read the same time, or it might take another
 * path and send other messages. A program that polls reads its clock thousands of times between two
 * messages. So a reading tells the protocol the time only if the time does not follow from the
 * program's actions and from earlier readings:
 *
 *     derived = the last reading plus the time of all that the program has done since then:
 *               readings, polls that find nothing, computation, sleep
 *     outcome = 0: the clock shows the derived time, from which simulated time differs by less than
 *               a nanosecond. Otherwise `outcome` is the upper half of the simulated time, as a
 *               double, and the outcome of a second choice is the lower half
 *
 * So equal outcomes give equal readings. An outcome is other than 0 only if the program has waited
 * (for a message, a checkpoint, a shared core). A loop of polls and readings makes equal outcomes
 * in a row, which protocols log as one entry. Readings never go backwards. */
#ifndef RECLINE_PROGRAM_CLOCK_H
#define RECLINE_PROGRAM_CLOCK_H

#include "sim/host/rank/rank.h"

/* Adds the `seconds` that the program's last operation takes, whenever and wherever it is done. */
void program_clock_passes(struct rank *, double seconds);

/* Adds the time of a computation, on the node on which the rank was first. */
void program_clock_computes(struct rank *, double flops);

/* Returns what the clock shows at simulated time `now`, in seconds. This is the derived time,
 * mpi->clock.derived, if that is near `now`. */
double program_clock_reading(const struct rank *, double now);

/* Sets the clock to `reading`, unless the clock would go backwards. Returns what the clock
 * shows. */
double program_clock_read(struct rank *, double reading);

/* Forgets earlier readings, so that no time follows from them. At the application level this must
 * be called wherever a restarted program may continue. */
void program_clock_forget(struct rank *);

#endif
