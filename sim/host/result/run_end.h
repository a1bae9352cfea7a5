/* Ends a run: judges it, writes its result, and ends runs whose programs do not end. */
#ifndef RECLINE_RUN_END_H
#define RECLINE_RUN_END_H

#include "world/result/result.h"

struct rank;

/* Judges the end of the run and writes the result, with this verdict, to the file named by the
 * environment variable RECLINE_RESULT. `why`, copied, may be NULL. */
void run_report(enum run_verdict, const char *why);

/* Does what run_report() does, and ends the process. */
_Noreturn void run_stop(enum run_verdict, const char *why);

/* Ends the process, because the run is lost: a rank has no image of the checkpoint to which it must
 * go back. */
_Noreturn void run_stop_without_image(void);

/* Ends the process, because the image or log from which a rank must start was lost with its
 * storage. The result names that storage, and kinds of storage that survive such failures. */
_Noreturn void run_stop_by_loss(const struct rank *, bool is_log);

/* Ends the process, because programs wait for something that never comes: the run is lost, and
 * `deadlock` is violated. Returns only if all programs have finished. A step of the protocol may be
 * under way, whose messages are not sent yet. */
void run_waits(void);

/* Does the same, because nothing can happen any more. If a message for the protocol is still
 * missing, the host has lost it (exit code 3). */
void run_stuck(void);

#endif
