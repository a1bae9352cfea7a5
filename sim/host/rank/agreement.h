/* Agreement among the members of a communicator in spite of failures, for MPIX_Comm_agree and
 * MPIX_Comm_shrink: the early returning agreement of Herault et al., "Practical scalable consensus
 * for pseudo-synchronous distributed systems" (SC 2015), in messages over the simulated network.
 *
 * Members form a binomial tree. What they contribute goes UP as soon as all children have
 * contributed; the root decides; the decision goes DOWN, and each member returns when it has it.
 * Who learns of a failure takes the nearest ancestor that lives as its parent (where none does, the
 * first member that lives, which becomes the root), and contributes again there; who gets a child
 * that way ASKs it. Contributions may be counted twice: all operations are idempotent. Members
 * answer in MPI calls, also after they have returned.
 *
 * A root that dies may have decided, and told some: its decision is kept where the next root finds
 * it, so that agreement is uniform also for those who have died since. */
#ifndef RECLINE_AGREEMENT_H
#define RECLINE_AGREEMENT_H

#include "sim/host/rank/rank.h"

/* The same at all members. */
struct decision {
  int flag;     /* of all who have contributed, bit by bit and */
  bool unknown; /* some have failed whom not all of them have acknowledged */
  bool *failed; /* by rank in the communicator */
};

struct agreement;

/* The next one of this rank on the communicator. It goes on whenever a message or the news of a
 * failure comes, and stays until the run ends. */
struct agreement *agreement_begin(struct rank *, struct comm *, int flag);

/* NULL: it is not over. */
const struct decision *agreement_decision(const struct agreement *);

/* A message of an agreement has come; the rank has heard of a failure. */
void agreement_take(struct rank *, const struct message *);
void agreements_note_failure(struct rank *);

#endif
