/* Lets calls that wait until a time take simulated time.
 *
 * A rank runs on the one thread of the simulator, so nothing that it waits for happens while that
 * thread stands still. A call that waits for a descriptor, a signal, a lock or a condition looks
 * once, lets its time go by in the simulation, and looks again. Threads that the program has
 * started really wait for that time. A wait without end is always libc's. */
#ifndef RECLINE_WRAP_SLEEP_H
#define RECLINE_WRAP_SLEEP_H

#include <stdbool.h>
#include <time.h>

/* sleep_at_once is a time of zero, for a look without a wait. */
extern const struct timespec sleep_at_once;

/* Returns whether the time is valid for POSIX: no part is negative, and the nanoseconds are less
 * than a second. */
bool sleep_is_time(const struct timespec *time);

double sleep_seconds(const struct timespec *time);

/* Returns the seconds of `time`, or -1 if it is NULL or not valid, so the call waits for ever, or
 * fails, in libc. */
double sleep_seconds_or_none(const struct timespec *time);

/* Returns whether the caller is the program of a rank, between MPI_Init and MPI_Finalize. If it is,
 * `seconds` of simulated time have gone by. `name` is the name of the call, and static. */
bool sleep_pass(const char *name, double seconds);

/* Returns whether the caller is the program of a rank. Sets `*left` to how far away `time` is by
 * the program's clock, in seconds. */
bool sleep_waits(const struct timespec *time, double *left);

/* Returns the machine's time by `clock` that is `left` seconds ahead, for a thread that really
 * waits in libc. Without a simulated run, returns `time` itself. */
struct timespec sleep_really(clockid_t clock, const struct timespec *time, double left);

#endif
