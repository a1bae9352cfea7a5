/* Collects the notes that a run must add to its figures, as texts of the result. They tell of
 * values that were assumed because the platform does not give them, of checkpoints that were
 * requested and never taken, and of failures that did not strike. */
#ifndef RECLINE_RESULT_NOTES_H
#define RECLINE_RESULT_NOTES_H

#include "protocols/protocol.h"
#include "world/scenario/scenario.h"

/* Counts an event of any rank if a checkpoint could have been taken at the event. */
void notes_event(const struct rcl_event *);

/* Counts that the run has reached the point of a failure once more. */
unsigned notes_point(const struct failure *);

/* notes_struck() notes that a failure has struck. notes_missed() notes that it could not strike;
 * the reason is a static text that follows the words "the victim", like "was down". */
void notes_struck(const struct failure *);
void notes_missed(const struct failure *, const char *why);

/* Counts and notes that restarts from the checkpoint have failed, and all ranks go back behind it.
 */
void notes_abandoned(uint32_t checkpoint);

/* Notes once that ranks were refused to share memory, and why. */
void notes_unshared(const char *why);

/* Adds the notes to the result, at the end of the run. */
void notes_report(void);

#endif
