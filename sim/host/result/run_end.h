/* The end of a run: its result, and runs that end before their programs do. */
#ifndef RECLINE_RUN_END_H
#define RECLINE_RUN_END_H

#include "world/result/result.h"

struct rank;

/* Judges the end of the run and writes the result, with this verdict, to the file named by the
 * environment variable RECLINE_RESULT. `why`, copied, may be NULL. */
void run_report(enum run_verdict, const char *why);

/* The same, and ends the process. */
_Noreturn void run_stop(enum run_verdict, const char *why);

/* The same: the run is lost, as a rank has no image of the checkpoint that it has to go back to. */
_Noreturn void run_stop_without_image(void);

/* The same: what it has to start from, an image or the log behind it, was lost with the storage on
 * which it lay; the result says which that was, and what survives such failures. */
_Noreturn void run_stop_by_loss(const struct rank *, bool is_log);

/* The programs wait for what never comes: the run is lost, and `deadlock` is violated. Returns when
 * all programs have finished. A step of the protocol may be under way, whose messages are not sent
 * yet. */
void run_waits(void);

/* The same where nothing can happen any more: what the protocol was to get has come, or the host
 * has lost it (exit code 3). */
void run_stuck(void);

#endif
