/* Counts restarts that fail (`recovery.attempts`), and gives the run up when no checkpoint is left
 * from which one more restart could be tried. */
#ifndef RECLINE_FALL_BACK_H
#define RECLINE_FALL_BACK_H

/* This function must be called before a detection begins a recovery of all ranks. If that recovery
 * goes to the checkpoint before the last one, the result notes and counts that the last one was
 * given up. Does not return if the recovery cannot go back any further. */
void fall_back_look(void);

#endif
