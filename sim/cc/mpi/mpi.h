/* SMPI's mpi.h, with a MPI_ROOT that is no rank: there it is 0. */
#include <smpi/mpi.h>

#undef MPI_ROOT
#define MPI_ROOT (-4)
