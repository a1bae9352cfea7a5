/* If the host is on, refuses MPI calls that would pass messages without the protocol. */
#include "mpi/real_host.h"

#define REFUSED(CALL, PARAMETERS, ...)                                                             \
  int MPI_##CALL PARAMETERS                                                                        \
  {                                                                                                \
    if (real_is_on())                                                                              \
      real_refuse("MPI_" #CALL, "a call that docs/mpi-host.md lists");                             \
    return PMPI_##CALL(__VA_ARGS__);                                                               \
  }

REFUSED(Ssend, (const void *b, int n, MPI_Datatype t, int r, int g, MPI_Comm c), b, n, t, r, g, c)
REFUSED(Bsend, (const void *b, int n, MPI_Datatype t, int r, int g, MPI_Comm c), b, n, t, r, g, c)
REFUSED(Rsend, (const void *b, int n, MPI_Datatype t, int r, int g, MPI_Comm c), b, n, t, r, g, c)
REFUSED(Issend, (const void *b, int n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request *q), b,
        n, t, r, g, c, q)
REFUSED(Send_init, (const void *b, int n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request *q),
        b, n, t, r, g, c, q)
REFUSED(Recv_init, (void *b, int n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request *q), b, n,
        t, r, g, c, q)
REFUSED(Sendrecv_replace,
        (void *b, int n, MPI_Datatype t, int r, int g, int s, int h, MPI_Comm c, MPI_Status *u), b,
        n, t, r, g, s, h, c, u)
REFUSED(Probe, (int s, int g, MPI_Comm c, MPI_Status *u), s, g, c, u)
REFUSED(Iprobe, (int s, int g, MPI_Comm c, int *f, MPI_Status *u), s, g, c, f, u)
REFUSED(Mprobe, (int s, int g, MPI_Comm c, MPI_Message *m, MPI_Status *u), s, g, c, m, u)
REFUSED(Improbe, (int s, int g, MPI_Comm c, int *f, MPI_Message *m, MPI_Status *u), s, g, c, f, m,
        u)
REFUSED(Waitany, (int n, MPI_Request q[], int *i, MPI_Status *u), n, q, i, u)
REFUSED(Waitsome, (int n, MPI_Request q[], int *o, int i[], MPI_Status u[]), n, q, o, i, u)
REFUSED(Testany, (int n, MPI_Request q[], int *i, int *f, MPI_Status *u), n, q, i, f, u)
REFUSED(Testall, (int n, MPI_Request q[], int *f, MPI_Status u[]), n, q, f, u)
REFUSED(Testsome, (int n, MPI_Request q[], int *o, int i[], MPI_Status u[]), n, q, o, i, u)
REFUSED(Ibarrier, (MPI_Comm c, MPI_Request *q), c, q)
REFUSED(Ibcast, (void *b, int n, MPI_Datatype t, int r, MPI_Comm c, MPI_Request *q), b, n, t, r, c,
        q)
REFUSED(Ireduce,
        (const void *b, void *d, int n, MPI_Datatype t, MPI_Op o, int r, MPI_Comm c,
         MPI_Request *q),
        b, d, n, t, o, r, c, q)
REFUSED(Iallreduce,
        (const void *b, void *d, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request *q), b, d,
        n, t, o, c, q)
REFUSED(Scan, (const void *b, void *d, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), b, d, n, t, o,
        c)
REFUSED(Exscan, (const void *b, void *d, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), b, d, n, t,
        o, c)
REFUSED(Reduce_scatter,
        (const void *b, void *d, const int n[], MPI_Datatype t, MPI_Op o, MPI_Comm c), b, d, n, t,
        o, c)
REFUSED(Gatherv,
        (const void *b, int n, MPI_Datatype t, void *d, const int m[], const int p[],
         MPI_Datatype u, int r, MPI_Comm c),
        b, n, t, d, m, p, u, r, c)
REFUSED(Scatter,
        (const void *b, int n, MPI_Datatype t, void *d, int m, MPI_Datatype u, int r, MPI_Comm c),
        b, n, t, d, m, u, r, c)
REFUSED(Scatterv,
        (const void *b, const int n[], const int p[], MPI_Datatype t, void *d, int m,
         MPI_Datatype u, int r, MPI_Comm c),
        b, n, p, t, d, m, u, r, c)
REFUSED(Allgatherv,
        (const void *b, int n, MPI_Datatype t, void *d, const int m[], const int p[],
         MPI_Datatype u, MPI_Comm c),
        b, n, t, d, m, p, u, c)
REFUSED(Alltoall,
        (const void *b, int n, MPI_Datatype t, void *d, int m, MPI_Datatype u, MPI_Comm c), b, n, t,
        d, m, u, c)
REFUSED(Alltoallv,
        (const void *b, const int n[], const int p[], MPI_Datatype t, void *d, const int m[],
         const int q[], MPI_Datatype u, MPI_Comm c),
        b, n, p, t, d, m, q, u, c)
