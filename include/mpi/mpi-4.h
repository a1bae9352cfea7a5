/* Calls of MPI 4 that SMPI does not have. mpi.h includes this file; the layer defines the calls, so
 * they exist in runs only: under plain smpirun each ends the program with its name. wrappers.awk
 * reads the declarations. */
#ifndef RECLINE_MPI_4_H
#define RECLINE_MPI_4_H

/* SimGrid 4.0 declares some of them, which this file declares as MPI does. */
#ifndef SMPI_H
#define MPI_Isendrecv smpi_isendrecv
#define MPI_Isendrecv_replace smpi_isendrecv_replace
#include <smpi/smpi.h>
#undef MPI_Isendrecv
#undef MPI_Isendrecv_replace
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Both at once, with one request. */
MPI_CALL(XBT_PUBLIC int, MPI_Isendrecv,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
          void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
          MPI_Comm comm, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Isendrecv_replace,
         (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
          int recvtag, MPI_Comm comm, MPI_Request *request));

#ifdef __cplusplus
}
#endif
#endif
