/* How calls that wait until a time take simulated time.
 *
 * A rank runs on the one thread of the simulator, so nothing that it waits for happens while that
 * thread stands still. A call that waits for a descriptor, a signal, a lock or a condition looks
 * whether that is available, lets its time go by in the simulation and looks again. Threads that
 * the program has started really wait for that time. A wait without end is always libc's. */
#ifndef RECLINE_WRAP_SLEEP_H
#define RECLINE_WRAP_SLEEP_H

#include <stdbool.h>
#include <time.h>

/* The time of a look, which is none. */
extern const struct timespec sleep_at_once;

/* Returns whether it is a time as POSIX has it: neither part is negative, less than a second of
 * nanoseconds. */
bool sleep_is_time(const struct timespec *time);

double sleep_seconds(const struct timespec *time);

/* Returns the seconds of `time`; -1 where it is NULL or no time, so that a call waits for ever, or
 * fails, in libc. */
double sleep_seconds_or_none(const struct timespec *time);

/* Returns whether the program of a rank calls, between MPI_Init and MPI_Finalize. Then `seconds` of
 * simulated time have gone by. `name`, of the call, lives for ever. */
bool sleep_pass(const char *name, double seconds);

/* Returns whether the program of a rank calls. `left` is how far away `time` is by its clock, in
 * seconds. */
bool sleep_waits(const struct timespec *time, double *left);

/* Returns the time of the machine by `clock` that is `left` seconds ahead, for a thread that really
 * waits in libc; `time` itself where no run is simulated. */
struct timespec sleep_really(clockid_t clock, const struct timespec *time, double left);

#endif
