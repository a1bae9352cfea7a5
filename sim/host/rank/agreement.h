/* Makes the members of a communicator agree in spite of failures, for MPIX_Comm_agree and
 * MPIX_Comm_shrink: the early returning agreement of Herault et al., "Practical scalable consensus
 * for pseudo-synchronous distributed systems" (SC 2015), in messages over the simulated network.
 *
 * Members form a binomial tree. Contributions go UP as soon as all children have contributed; the
 * root decides; the decision goes DOWN, and each member returns when the decision has come. A
 * member that learns of a failure takes its nearest living ancestor as its parent or, if there is
 * none, the first living member, which becomes the root. It contributes again there. A member that
 * gets a child in this way ASKs the child for its contribution. A contribution may be counted twice
 * without harm, because all operations are idempotent. Members answer in MPI calls, even after
 * their own agreement has returned.
 *
 * A root that dies may have told its decision to some members. So the decision is kept where the
 * next root finds it. Thus all members return the same decision, including members that died after
 * they had returned. */
#ifndef RECLINE_AGREEMENT_H
#define RECLINE_AGREEMENT_H

#include "sim/host/rank/rank.h"

/* Holds the decision, which is the same at all members. */
struct decision {
  int flag;     /* bitwise AND of the flags of all members that have contributed */
  bool unknown; /* some members have failed, and not all members have acknowledged these failures */
  bool *failed; /* by rank in the communicator */
};

struct agreement;

/* Begins the next agreement of this rank on the communicator. The agreement makes progress whenever
 * a message or the news of a failure comes. Its memory stays until the run ends. */
struct agreement *agreement_begin(struct rank *, struct comm *, int flag);

/* Returns the decision, or NULL if the agreement is not over. */
const struct decision *agreement_decision(const struct agreement *);

/* agreement_take() must be called when a message of an agreement has come,
 * agreements_note_failure() when the rank has heard of a failure. */
void agreement_take(struct rank *, const struct message *);
void agreements_note_failure(struct rank *);

#endif
