/* Two constants of MPI, for programs and for the layer. SMPI has MPI_ROOT as 0, a rank as well, and
 * MPI_DISTRIBUTE_DFLT_DARG as 3, a number of elements as well. */
#include <smpi/smpi.h>

#undef MPI_ROOT
#define MPI_ROOT (-4)

#undef MPI_DISTRIBUTE_DFLT_DARG
#define MPI_DISTRIBUTE_DFLT_DARG (-5)
