/* Declares recline's own collectives (own_collectives.c), with the arguments of MPI and blocks
 * (buffers.h). They return MPI_SUCCESS. */
#ifndef RECLINE_OWN_COLLECTIVES_H
#define RECLINE_OWN_COLLECTIVES_H

#include "sim/host/rank/rank.h"

int own_barrier(struct rank *r, struct comm *comm);
int own_broadcast(struct rank *r, void *buffer, int count, MPI_Datatype type, int root,
                  struct comm *comm);
int own_reduce(struct rank *r, const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
               int root, struct comm *comm);
int own_allreduce(struct rank *r, const void *out, void *in, int count, MPI_Datatype type,
                  MPI_Op op, struct comm *comm);
int own_scan(struct rank *r, const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
             struct comm *comm, bool exclusive);
int own_gather(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
               struct blocks in, int root, struct comm *comm);
int own_scatter(struct rank *r, struct blocks out, void *in, int in_count, MPI_Datatype in_type,
                int root, struct comm *comm);
int own_allgather(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                  struct blocks in, struct comm *comm);
int own_alltoall(struct rank *r, struct blocks out, struct blocks in, struct comm *comm);
int own_reduce_scatter(struct rank *r, const void *out, void *in, const int *counts, int count,
                       MPI_Datatype type, MPI_Op op, struct comm *comm);

#endif
