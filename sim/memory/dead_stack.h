/* Clears the stack of a rank below the frames in use. A program that reads a local variable before
 * writing to it finds remains of earlier calls. Remains of calls of the layer depend on time and
 * would differ when the program runs again, so the layer clears them (sim/host/rank/program_clock.h
 * has the same rule for clocks). */
#ifndef RECLINE_DEAD_STACK_H
#define RECLINE_DEAD_STACK_H

struct image_source;

/* Clears the remains of functions that the caller has called, from the caller's frame down to the
 * first 4096 bytes in a row that are zero. Does nothing if the argument is NULL. */
void dead_stack_clear(const struct image_source *);

/* Gives the whole pages below `frame` back to the system, except for one page that is left for
 * functions that the caller calls. An image does not hold these pages, so they must be the same
 * after a capture and after a restore. */
void dead_stack_discard(const struct image_source *, char *frame);

#endif
