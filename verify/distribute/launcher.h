/* Tells whether mpirun or srun has started this process together with others, and connects them. */
#ifndef RECLINE_LAUNCHER_H
#define RECLINE_LAUNCHER_H

#include "verify/distribute/process_transport.h"

/* Reads from the environment, before MPI is used, what the launcher says: mpirun of Open MPI,
 * mpiexec of MPICH, srun. `size` is 1 where there is no launcher. */
struct launch {
  unsigned rank, size;
  unsigned here; /* number of the processes that are on this machine */
};

struct launch launch_read(void);

/* Initialises MPI; to be called once, in the process that will use it. Where that fails, returns
 * NULL and sets *wrong to a text `what, expected what`, which the caller frees with free(). */
const struct transport *launch_connect(const struct launch *, char **wrong);

#endif
