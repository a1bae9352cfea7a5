/* Replaces calls that sleep, or wait with a time limit, so that they take simulated time.
 *
 * All ranks run on one thread, that of the simulator. If this thread waited in libc, no other rank
 * could run, so nothing that the call waits for could happen. A call that waits for a descriptor, a
 * signal, a lock or a condition therefore looks once, lets its time pass in the simulation, and
 * looks again. Other threads that the program has started wait in libc. Waits without a limit are
 * left to libc. */
#ifndef RECLINE_WRAP_SLEEP_H
#define RECLINE_WRAP_SLEEP_H

#include <stdbool.h>
#include <time.h>

/* sleep_at_once is a time of zero. With it a call of libc looks once and does not wait. */
extern const struct timespec sleep_at_once;

/* Returns whether the time is valid for POSIX: no part is negative, and the nanoseconds are less
 * than a second. */
bool sleep_is_time(const struct timespec *time);

double sleep_seconds(const struct timespec *time);

/* Returns the seconds of `time`, or -1 if `time` is NULL or not valid. In these cases the call
 * waits for ever, or fails, in libc. */
double sleep_seconds_or_none(const struct timespec *time);

/* Lets `seconds` of simulated time pass and returns true, if the caller is the program of a rank
 * between MPI_Init and MPI_Finalize. Otherwise returns false. `name` is the name of the call, in
 * static memory. */
bool sleep_pass(const char *name, double seconds);

/* Returns whether the caller is the program of a rank. If so, sets `*left` to the seconds that are
 * left until the program's clock shows `time`. */
bool sleep_waits(const struct timespec *time, double *left);

/* Returns the time that the machine's clock `clock` will show in `left` seconds. A thread that
 * waits in libc needs it. Without a simulated run, returns `time` itself. */
struct timespec sleep_really(clockid_t clock, const struct timespec *time, double left);

#endif
