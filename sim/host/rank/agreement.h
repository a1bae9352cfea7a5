/* Agreement among the members of a communicator in spite of failures, for MPIX_Comm_agree and
 * MPIX_Comm_shrink: the early returning agreement of Herault et al., "Practical scalable consensus
 * for pseudo-synchronous distributed systems" (SC 2015), in messages over the simulated network.
 *
 * Members form a binomial tree. Contributions go UP as soon as all children have contributed; the
 * root decides; the decision goes DOWN, and each member returns when it has it. A member that
 * learns of a failure takes its nearest living ancestor as its parent (if there is none, the first
 * living member, which becomes the root), and contributes again there; a member that gets a child
 * in this way ASKs it. Contributions may be counted twice: all operations are idempotent. Members
 * answer in MPI calls, also after they have returned.
 *
 * A root that dies may have decided and told some members: its decision is kept where the next root
 * finds it, so that agreement is uniform also for members that have died since. */
#ifndef RECLINE_AGREEMENT_H
#define RECLINE_AGREEMENT_H

#include "sim/host/rank/rank.h"

/* The same at all members. */
struct decision {
  int flag;     /* bitwise AND of the flags of all that have contributed */
  bool unknown; /* some members have failed that not all have acknowledged */
  bool *failed; /* by rank in the communicator */
};

struct agreement;

/* Begins the next agreement of this rank on the communicator. It makes progress whenever a message
 * or the news of a failure comes, and stays until the run ends. */
struct agreement *agreement_begin(struct rank *, struct comm *, int flag);

/* Returns the decision; NULL: the agreement is not over. */
const struct decision *agreement_decision(const struct agreement *);

/* To be called when a message of an agreement has come, and when the rank has heard of a failure.
 */
void agreement_take(struct rank *, const struct message *);
void agreements_note_failure(struct rank *);

#endif
