/* The stack of a rank below the frames in use. A program finds there, in locals that it has not
 * written, the remains of earlier calls. Remains of calls of the layer depend on time and would
 * differ when the program runs again, so the layer clears them (sim/host/rank/program_clock.h has
 * the same rule for clocks). */
#ifndef RECLINE_DEAD_STACK_H
#define RECLINE_DEAD_STACK_H

struct image_source;

/* Clears the remains of the caller's callees: from its frame down to the first 4096 bytes in a row
 * that are zero. NULL: nothing. */
void dead_stack_clear(const struct image_source *);

/* Gives all whole pages below `frame` back to the system, except one for the frames of the caller's
 * callees: memory that an image does not hold must be the same after its capture and after its
 * restore. */
void dead_stack_discard(const struct image_source *, char *frame);

#endif
