/* What a run must say of itself beside its figures, as texts of the result: what the platform does
 * not give and was assumed, checkpoints that were asked for and never taken, failures that did not
 * strike. */
#ifndef RECLINE_RESULT_NOTES_H
#define RECLINE_RESULT_NOTES_H

#include "protocols/protocol.h"
#include "world/scenario/scenario.h"

/* An event of any rank: where checkpoints could have been taken. */
void notes_event(const struct rcl_event *);

/* The point of a failure has come once more: how often so far. */
unsigned notes_point(const struct failure *);

/* A failure has struck, or could not, as the victim ... (a static text, "was down"). */
void notes_struck(const struct failure *);
void notes_missed(const struct failure *, const char *why);

/* Adds them to the result, at the end of the run. */
void notes_report(void);

#endif
