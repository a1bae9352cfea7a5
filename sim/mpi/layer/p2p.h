/* Declares functions on requests. The wrappers of point-to-point calls and of collectives share
 * them. */
#ifndef RECLINE_P2P_H
#define RECLINE_P2P_H

#include "sim/host/rank/request.h"

/* Lists properties of requests. REUSED: the buffer may change before the send is complete.
 * IMMEDIATE: a persistent send has the cost of MPI_Isend; without this flag it has the cost of
 * MPI_Send, as under SMPI. SIZED: the buffer of a receive of bytes is made for the message that
 * comes, and the caller frees it. HIDDEN: the message is on the hidden half of the communicator,
 * but no part of a collective. */
enum {
  P2P_BLOCKING = 1,
  P2P_SYNCHRONOUS = 2,
  P2P_BUFFERED = 4,
  P2P_COLLECTIVE = 8,
  P2P_BYPASS = 16,
  P2P_REUSED = 32,
  P2P_IMMEDIATE = 64,
  P2P_SIZED = 128,
  P2P_HIDDEN = 256
};

/* `to` and `from` are ranks in the communicator, MPI_PROC_NULL or MPI_ANY_SOURCE. The requests lie
 * in the arena. */
struct request *p2p_send(struct rank *, const void *buffer, int count, MPI_Datatype, int to,
                         int tag, struct comm *, unsigned flags);
struct request *p2p_receive(struct rank *, void *buffer, int count, MPI_Datatype, int from, int tag,
                            struct comm *, unsigned flags);

/* p2p_prepare() makes a persistent request, which is inactive until p2p_start() starts it, again
 * and again. */
struct request *p2p_prepare(struct rank *, enum request_kind, void *buffer, int count, MPI_Datatype,
                            int peer, int tag, struct comm *, unsigned flags);
void p2p_start(struct rank *, struct request *);

/* p2p_whole() makes one request of up to `parts` messages; p2p_add() adds each message when it is
 * begun. The call that completes the request does the rest of the work. */
struct request *p2p_whole(struct rank *, int parts);
void p2p_add(struct request *whole, struct request *part);

/* p2p_persistent() makes a request of several messages that is persistent and inactive. It takes
 * ownership of the recipe, which must lie in the arena. Each start calls the recipe's `begin`,
 * which makes room for the parts by p2p_make_room() and begins them. */
struct request *p2p_persistent(struct rank *, struct comm *, struct recipe *);
void p2p_make_room(struct rank *, struct request *whole, int parts);

void p2p_conclude_with(struct request *whole, void (*conclude)(struct rank *, void *rest),
                       void *rest);

/* Waits until the request is complete. A request that a failure has ended is complete with an
 * error; but a receive from any rank stays pending, and the result is FAULT_PROC_FAILED_PENDING. In
 * all other cases the result is MPI_SUCCESS. */
int p2p_wait(struct rank *, struct request *);

/* Waits for a request and takes it back (request_retire), however it ended. */
int p2p_finish(struct rank *, struct request *, MPI_Status *);

/* Takes the time of a poll that finds nothing, which the platform gives by smpi/test and
 * smpi/iprobe. Returns that time, in seconds. */
enum poll { POLL_TEST, POLL_PROBE, POLLS };
double p2p_poll_cost(enum poll);

#endif
