/* What deck.c calls of the shared library that is made of physics.cc. */
#ifndef PHYSICS_H
#define PHYSICS_H

#ifdef __cplusplus
extern "C" {
#endif

void physics_begin(int cells, int rank);
/* One step: what comes in at the left side, and by how much it is all scaled. What leaves. */
long physics_step(long inflow, long scale);
long physics_sum(void);
int physics_steps(void); /* so far, as each part of the library has counted them */

#ifdef __cplusplus
}
#endif
#endif
