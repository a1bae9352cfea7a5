/* Declares the functions of the shared library physics.cc that deck.c calls. */
#ifndef PHYSICS_H
#define PHYSICS_H

#ifdef __cplusplus
extern "C" {
#endif

void physics_begin(int cells, int rank);
/* Makes one step: each cell is scaled, and what comes in is added to it. Returns what leaves. */
long physics_step(long inflow, long scale);
long physics_sum(void);
int physics_steps(void); /* number of steps so far; -1: parts of the library disagree about it */

#ifdef __cplusplus
}
#endif
#endif
