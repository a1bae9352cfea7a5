/* Whether mpirun or srun has started this process, with others; and the way to them. */
#ifndef RECLINE_LAUNCHER_H
#define RECLINE_LAUNCHER_H

#include "verify/distribute/process_transport.h"

/* What the launcher says in the environment, before MPI is asked: mpirun of Open MPI, mpiexec of
 * MPICH, srun. `size` is 1 where there is none. */
struct launch {
  unsigned rank, size;
  unsigned here; /* how many of them are on this machine */
};

struct launch launch_read(void);

/* Initialises MPI. NULL and *wrong where that cannot be: a text that expects something, the
 * caller's to free(). Once in a process, in the one that goes on to use it. */
const struct transport *launch_connect(const struct launch *, char **wrong);

#endif
