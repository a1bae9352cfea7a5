/* Completes requests by their handles, for the wrappers of MPI_Wait and its like and for the
 * algorithms of collectives. */
#ifndef RECLINE_REQUESTS_H
#define RECLINE_REQUESTS_H

#include "sim/host/rank/rank.h"
#include "sim/mpi/layer/p2p.h"

/* The next four functions do what MPI_Wait, MPI_Waitall, MPI_Waitany and MPI_Request_free do. If
 * `collective`, an algorithm of a collective makes the call, with requests of the layer. The choice
 * of the complete request is a decision, unless the protocol handles the collective as a whole. */
int requests_wait(struct rank *, MPI_Request *, MPI_Status *);
int requests_wait_all(struct rank *, int count, MPI_Request *, MPI_Status *);
int requests_wait_all_in_collective(struct rank *, int count, MPI_Request *, MPI_Status *);
int requests_wait_any(struct rank *, int count, MPI_Request *, bool collective, int *index,
                      MPI_Status *);

int requests_free(struct rank *, MPI_Request *);

/* Lets time go by after a poll that has found nothing, because a loop of polls would never end
 * otherwise, and serves requests of other ranks. */
void requests_not_yet(struct rank *, enum poll);

/* Does what MPI_Probe does for the program. */
int requests_await(struct rank *, int from, int tag, struct comm *, MPI_Status *);

/* Does what MPI_Iprobe does, among messages of the program or, if `collective`, of its
 * collectives. */
int requests_probe(struct rank *, int from, int tag, struct comm *, bool collective, int *flag,
                   MPI_Status *);

#endif
