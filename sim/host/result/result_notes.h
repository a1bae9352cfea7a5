/* Notes that a run must add to its figures, as texts of the result: values that the platform does
 * not give and that were assumed, checkpoints that were asked for and never taken, failures that
 * did not strike. */
#ifndef RECLINE_RESULT_NOTES_H
#define RECLINE_RESULT_NOTES_H

#include "protocols/protocol.h"
#include "world/scenario/scenario.h"

/* Counts the events of any rank at which checkpoints could have been taken. */
void notes_event(const struct rcl_event *);

/* Counts that the point of a failure has come once more. */
unsigned notes_point(const struct failure *);

/* Notes that a failure has struck, or could not, as the victim ... (a static text, "was down"). */
void notes_struck(const struct failure *);
void notes_missed(const struct failure *, const char *why);

/* Adds the notes to the result, at the end of the run. */
void notes_report(void);

#endif
