/* Declares nonblocking collectives (wrap_nonblocking.c), with the arguments of MPI and blocks
 * (buffers.h). Each function returns the request of the operation: `whole`, a persistent request
 * that MPI_Start has begun, or a new request if `whole` is NULL. */
#ifndef RECLINE_NONBLOCKING_H
#define RECLINE_NONBLOCKING_H

#include "sim/host/rank/rank.h"

struct request *nonblocking_barrier(struct rank *, struct comm *, struct request *whole);
struct request *nonblocking_broadcast(struct rank *, void *buffer, int count, MPI_Datatype,
                                      int root, struct comm *, struct request *whole);
struct request *nonblocking_gather(struct rank *, const void *out, int count, MPI_Datatype,
                                   struct blocks in, int root, struct comm *,
                                   struct request *whole);
struct request *nonblocking_scatter(struct rank *, struct blocks out, void *in, int count,
                                    MPI_Datatype, int root, struct comm *, struct request *whole);
struct request *nonblocking_allgather(struct rank *, const void *out, int count, MPI_Datatype,
                                      struct blocks in, struct comm *, struct request *whole);
struct request *nonblocking_alltoall(struct rank *, struct blocks out, struct blocks in,
                                     struct comm *, struct request *whole);
struct request *nonblocking_reduce(struct rank *, const void *out, void *in, int count,
                                   MPI_Datatype, MPI_Op, int root, struct comm *,
                                   struct request *whole);
struct request *nonblocking_allreduce(struct rank *, const void *out, void *in, int count,
                                      MPI_Datatype, MPI_Op, struct comm *, struct request *whole);
struct request *nonblocking_scan(struct rank *, const void *out, void *in, int count, MPI_Datatype,
                                 MPI_Op, struct comm *, bool exclusive, struct request *whole);

/* `counts` has one count for each rank; if `counts` is NULL, each rank has the count `count`. */
struct request *nonblocking_reduce_scatter(struct rank *, const void *out, void *in,
                                           const int *counts, int count, MPI_Datatype, MPI_Op,
                                           struct comm *, struct request *whole);

/* Exchanges blocks between the neighbours of a topology (wrap_neighbours.c). The number of
 * neighbours to which a rank sends may differ from the number from which it receives. */
struct request *nonblocking_neighbours(struct rank *, struct blocks out, struct blocks in,
                                       struct comm *, struct request *whole);

#endif
