/* Declares the functions of the shared library physics.cc that deck.c calls. */
#ifndef PHYSICS_H
#define PHYSICS_H

#ifdef __cplusplus
extern "C" {
#endif

void physics_begin(int cells, int rank);
/* Makes one step: scales each cell, and adds the incoming value to it. Returns the value that
 * leaves. */
long physics_step(long inflow, long scale);
long physics_sum(void);
/* number of steps so far, or -1 if parts of the library disagree about it */
int physics_steps(void);

#ifdef __cplusplus
}
#endif
#endif
