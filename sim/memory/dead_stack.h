/* The stack of a rank below the frames in use. In locals that nobody has written a program finds
 * there what earlier calls have left. What calls of the layer leave depends on the time, and would
 * differ when the program runs again; so the layer clears it (sim/host/rank/program_clock.h has the
 * same rule for clocks). */
#ifndef RECLINE_DEAD_STACK_H
#define RECLINE_DEAD_STACK_H

struct image_source;

/* Clears what the callees of the caller have left: from its frame down to the first 4096 bytes in a
 * row that are zero. NULL: nothing. */
void dead_stack_clear(const struct image_source *);

/* Gives all whole pages below `frame` back to the system, but for one, in which the caller's
 * callees have theirs: what an image does not hold must be the same behind its capture and its
 * restore. */
void dead_stack_discard(const struct image_source *, char *frame);

#endif
