/* Tells whether mpirun or srun has started this process together with others, and connects them. */
#ifndef RECLINE_LAUNCHER_H
#define RECLINE_LAUNCHER_H

#include "verify/distribute/process_transport.h"

/* Reads what the launcher (Open MPI's mpirun, MPICH's mpiexec, srun) says in the environment,
 * before MPI is used. `size` is 1 if there is no launcher. */
struct launch {
  unsigned rank, size;
  unsigned here; /* number of processes on this machine */
};

struct launch launch_read(void);

/* Initialises MPI. It must be called once, in the process that will use MPI. On failure returns
 * NULL and sets *wrong to a text `what, expected what`, which the caller frees with free(). */
const struct transport *launch_connect(const struct launch *, char **wrong);

#endif
