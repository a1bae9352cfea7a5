/* The one clock behind all clocks that a program can read.
 *
 * What a clock says depends on the schedule, so reading one is a decision of the program, like the
 * outcome of a test: a program that is run again must read the same, or it would take another way
 * and send something else. A program that polls reads its clock thousands of times between two
 * messages, so a reading tells the protocol the time only where the time does not follow from what
 * the program has done and from earlier readings:
 *
 *     derived = the last reading, and how long what the program has done ever since takes: a
 *               reading, a poll that finds nothing, computation, sleep
 *     outcome = 0: the clock says the derived time, from which simulated time differs by less than
 *               a nanosecond; else the upper half of the simulated time, as a double, and a second
 *               outcome is the lower half
 *
 * So readings are the same again where their outcomes are. Only what a program waits for, or what
 * others take from it (a message, a checkpoint, a shared core), makes an outcome other than 0: a
 * loop of polls and readings makes equal outcomes in a row, which protocols log as one entry.
 * Readings never go backwards. */
#ifndef RECLINE_PROGRAM_CLOCK_H
#define RECLINE_PROGRAM_CLOCK_H

#include "sim/host/rank/rank.h"

/* Adds the `seconds` that the program's last operation takes, independent of when and where it is
 * done. */
void program_clock_passes(struct rank *, double seconds);

/* Adds the time of a computation, on the node on which the rank was first. */
void program_clock_computes(struct rank *, double flops);

/* Returns what the clock says at simulated time `now`, in seconds: the derived time,
 * mpi->clock.derived, where it is near. */
double program_clock_reading(const struct rank *, double now);

/* Sets the clock to `reading`, unless that would be backwards. Returns what the clock says. */
double program_clock_read(struct rank *, double reading);

/* From here on nothing follows from earlier readings. To be called where a restarted program may
 * stand, at the application level. */
void program_clock_forget(struct rank *);

#endif
