/* Does MPI's matching. It matches posted receives, in the order of posting, with messages that have
 * come and that no receive has taken, in the order of arrival. */
#ifndef RECLINE_MATCHING_H
#define RECLINE_MATCHING_H

#include "sim/host/rank/rank.h"

/* Returns the number of a communicator as messages carry it: messages of collectives carry a number
 * that differs from that of messages of the program. */
int matching_context(const struct comm *, bool collective);

/* The next functions change and search the list of posted receives. */
void matching_post(struct mpi_state *, struct request *);
void matching_withdraw(struct mpi_state *, struct request *);
struct request *matching_numbered(const struct mpi_state *, uint32_t number);
struct request *matching_unannounced(const struct mpi_state *);

bool matching_accepts(const struct request *, const struct message *);

/* Returns the receive that gets the message, which is the earliest one that accepts it. Returns
 * NULL if no receive accepts it. */
struct request *matching_receive(const struct mpi_state *, const struct message *);

/* Returns the earliest message that a receive accepts, and sets the receive. Returns NULL if there
 * is none. */
struct message *matching_pair(struct rank *, struct request **);
/* Returns the earliest message from `peer` or RCL_ANY that no receive accepts. */
struct message *matching_unclaimed(struct rank *, int peer);

/* matching_probe() finds the message that a receive with this envelope would get. The protocol
 * keeps that message, or it has just arrived. Returns false if there is none. */
struct found {
  int source, tag;
  uint32_t bytes;
};
bool matching_probe(const struct rank *, int peer, int tag, int context, struct found *);

#endif
