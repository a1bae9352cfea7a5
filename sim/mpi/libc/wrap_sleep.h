/* Makes calls that wait until a time take simulated time.
 *
 * A rank runs on the one thread of the simulator, so nothing that it waits for happens while that
 * thread stands still. A call that waits for a descriptor, a signal, a lock or a condition looks
 * once, lets its time pass in the simulation, and looks again. Threads that the program has started
 * really wait for that time. Waits without a limit are left to libc. */
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

/* Returns the seconds of `time`, or -1 if `time` is NULL or not valid. In these cases the call
 * waits for ever, or fails, in libc. */
double sleep_seconds_or_none(const struct timespec *time);

/* Returns whether the caller is the program of a rank, between MPI_Init and MPI_Finalize. If so,
 * `seconds` of simulated time have passed. `name` is the name of the call, and static. */
bool sleep_pass(const char *name, double seconds);

/* Returns whether the caller is the program of a rank. Sets `*left` to the seconds until `time` by
 * the program's clock. */
bool sleep_waits(const struct timespec *time, double *left);

/* Returns the time by the machine's clock `clock` that is `left` seconds ahead, for a thread that
 * really waits in libc. Without a simulated run, returns `time` itself. */
struct timespec sleep_really(clockid_t clock, const struct timespec *time, double left);

#endif
