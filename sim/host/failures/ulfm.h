/* Models a fault-tolerant MPI runtime under the protocol, if the scenario has such a runtime
 * (`recovery.runtime: ulfm`). The model covers what the runtime does between a failure and the
 * moment at which the protocol's own recovery begins. Its steps are those of User-Level Failure
 * Mitigation (Bland et al., "Post-failure recovery of MPI communication capability", IJHPCA 2013),
 * and each step has its cost.
 *
 *     crash -- detect --> one rank knows -- revoke --> all ranks can know
 *           -- notice --> all ranks are in an MPI call, which tells them; none is disturbed
 *                         while it computes
 *           -- agree  --> who is dead
 *           -- spawn  --> new processes, on spares where there are some
 *           -- rebuild -> shrink, merge, ranks in their order: the protocol goes on
 *
 * The scenario gives some costs for one round; they grow with the logarithm of the number of ranks.
 * If another failure is detected during the repair, the repair begins anew, for all dead ranks
 * together. Without a runtime these steps take no time, ranks are disturbed while they compute, and
 * a rank that has died starts again when its node is repaired. */
#ifndef RECLINE_ULFM_H
#define RECLINE_ULFM_H

#include "sim/host/rank/rank.h"

/* Returns whether the scenario has such a runtime and the program does not repair itself
 * (faults.h). */
bool ulfm_is_modelled(void);

/* Names a rank that is known to be dead in its life `life`. */
struct dead {
  int rank;
  uint32_t life;
};

/* ---- for the dispatcher ---- */

/* Returns the seconds from a crash until all ranks can know of the crash. */
double ulfm_detection(void);

/* Notes that the living rank is told of a failure and must take part in the repair, unless it takes
 * part already. */
void ulfm_await(struct rank *);

/* Notes that the rank is known to be dead in life `life`, and can start again at time `ready` at
 * the earliest. The repair begins when all survivors take part. */
void ulfm_add_failed(int rank, uint32_t life, double ready);

/* Ends the repair with that number. Returns the dead ranks that can be started again (struct dead),
 * valid until ulfm_release(), or NULL if another repair has begun after it. */
const GArray *ulfm_repaired(uint32_t repair);

/* Releases the survivors that wait for the repair, because the dead ranks are being started. */
void ulfm_release(void);

/* ---- for a rank ---- */

/* Makes a rank that has learned of a failure wait until the communicator is repaired, or until it
 * dies itself. Returns at once if no repair waits for the rank. */
void ulfm_join(struct rank *);

#endif
