/* SMPI's mpi.h, with values for what there is a value like others: MPI_ROOT, a rank, and
 * MPI_DISTRIBUTE_DFLT_DARG, a number of elements. */
#include <smpi/mpi.h>

#undef MPI_ROOT
#define MPI_ROOT (-4)

#undef MPI_DISTRIBUTE_DFLT_DARG
#define MPI_DISTRIBUTE_DFLT_DARG (-5)
