/* Collectives out of the layer's own messages, on the hidden half of a communicator. */
#ifndef RECLINE_COLLECTIVES_H
#define RECLINE_COLLECTIVES_H

#include "layer.h"

int collective_barrier(struct rank *, struct comm *);
int collective_allgather(struct rank *, const void *out, int out_count, MPI_Datatype out_type,
                         void *in, int in_count, MPI_Datatype in_type, struct comm *);

#endif
