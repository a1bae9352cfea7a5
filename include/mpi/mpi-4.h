/* Declares the calls of MPI 4 that SMPI does not have. mpi.h includes this file. The layer defines
 * the calls, so they exist in runs only; under plain smpirun each of them ends the program and
 * names the call. wrappers.awk reads the declarations. */
#ifndef RECLINE_MPI_4_H
#define RECLINE_MPI_4_H

/* SimGrid 4.0 declares some of these calls. This file declares them as MPI does, unless SMPI's
 * header has come before. */
#ifndef SMPI_H
#define RECLINE_NAMES_MPI_4
#define MPI_Isendrecv smpi_isendrecv
#define MPI_Isendrecv_replace smpi_isendrecv_replace
#define MPI_Psend_init smpi_psend_init
#define MPI_Precv_init smpi_precv_init
#define MPI_Pready smpi_pready
#define MPI_Pready_range smpi_pready_range
#define MPI_Pready_list smpi_pready_list
#define MPI_Parrived smpi_parrived
#include <smpi/smpi.h>
#undef MPI_Isendrecv
#undef MPI_Isendrecv_replace
#undef MPI_Psend_init
#undef MPI_Precv_init
#undef MPI_Pready
#undef MPI_Pready_range
#undef MPI_Pready_list
#undef MPI_Parrived
#endif
#include <simgrid/version.h>

typedef struct recline_session *MPI_Session;
typedef void MPI_Session_errhandler_function(MPI_Session *, int *, ...);
typedef void MPI_User_function_c(void *invec, void *inoutvec, MPI_Count *len,
                                 MPI_Datatype *datatype);
typedef int MPI_Datarep_conversion_function_c(void *userbuf, MPI_Datatype datatype, MPI_Count count,
                                              void *filebuf, MPI_Offset position,
                                              void *extra_state);
#undef MPI_CONVERSION_FN_NULL_C
#define MPI_CONVERSION_FN_NULL_C ((MPI_Datarep_conversion_function_c *)0)
#define MPI_SESSION_NULL ((MPI_Session)0)
#define MPI_ERR_SESSION 1012
#undef MPI_ERR_PROC_ABORTED
#define MPI_ERR_PROC_ABORTED 1013
#undef MPI_ERR_VALUE_TOO_LARGE
#define MPI_ERR_VALUE_TOO_LARGE 1014
#undef MPI_ERRORS_ABORT
#define MPI_ERRORS_ABORT MPI_ERRORS_ARE_FATAL /* an error always ends the job of all ranks */
#undef MPI_F_STATUS_SIZE
#define MPI_F_STATUS_SIZE 5
#undef MPI_F_SOURCE
#define MPI_F_SOURCE 0
#undef MPI_F_TAG
#define MPI_F_TAG 1
#undef MPI_F_ERROR
#define MPI_F_ERROR 2

/* Describes the type MPI_Status of Fortran 2008. All three forms of a status are the same integers
 * (MPI 4.0, 19.3.5). */
typedef MPI_Status MPI_F08_status;

#ifdef __cplusplus
extern "C" {
#endif
/* Fortran passes the address of one of the two to ignore statuses */
extern int mpi_status_ignore_, mpi_statuses_ignore_;
#ifdef __cplusplus
}
#endif
#undef MPI_F_STATUS_IGNORE
#define MPI_F_STATUS_IGNORE (&mpi_status_ignore_)
#undef MPI_F_STATUSES_IGNORE
#define MPI_F_STATUSES_IGNORE (&mpi_statuses_ignore_)
#define MPI_F08_STATUS_IGNORE ((MPI_F08_status *)&mpi_status_ignore_)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status *)&mpi_statuses_ignore_)
#define MPI_MAX_PSET_NAME_LEN 256
#define MPI_MAX_STRINGTAG_LEN 256
#undef MPI_COMM_TYPE_HW_GUIDED
#define MPI_COMM_TYPE_HW_GUIDED 2
#undef MPI_COMM_TYPE_HW_UNGUIDED
#define MPI_COMM_TYPE_HW_UNGUIDED 3

#ifdef __cplusplus
extern "C" {
#endif

#if defined RECLINE_NAMES_MPI_4 || SIMGRID_VERSION_MAJOR < 4
/* These calls send and receive at once, with one request. */
MPI_CALL(XBT_PUBLIC int, MPI_Isendrecv,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
          void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
          MPI_Comm comm, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Isendrecv_replace,
         (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
          int recvtag, MPI_Comm comm, MPI_Request *request));

/* These calls are for partitioned messages. */
MPI_CALL(XBT_PUBLIC int, MPI_Psend_init,
         (const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
          int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Precv_init,
         (void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag,
          MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Pready, (int partition, MPI_Request request));
MPI_CALL(XBT_PUBLIC int, MPI_Pready_range,
         (int partition_low, int partition_high, MPI_Request request));
MPI_CALL(XBT_PUBLIC int, MPI_Pready_list,
         (int length, const int *array_of_partitions, MPI_Request request));
MPI_CALL(XBT_PUBLIC int, MPI_Parrived, (MPI_Request request, int partition, int *flag));
#endif

/* These calls are for persistent collectives. */
MPI_CALL(XBT_PUBLIC int, MPI_Barrier_init, (MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Bcast_init,
         (void *buf, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
          MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Gather_init,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Gatherv_init,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
          const int *recvcounts, const int *displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
          MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Scatter_init,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Scatterv_init,
         (const void *sendbuf, const int *sendcounts, const int *displs, MPI_Datatype sendtype,
          void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
          MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Allgather_init,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Allgatherv_init,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
          const int *recvcounts, const int *displs, MPI_Datatype recvtype, MPI_Comm comm,
          MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Alltoall_init,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Alltoallv_init,
         (const void *sendbuf, const int *sendcounts, const int *senddisps, MPI_Datatype sendtype,
          void *recvbuf, const int *recvcounts, const int *recvdisps, MPI_Datatype recvtype,
          MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Alltoallw_init,
         (const void *sendbuf, const int *sendcnts, const int *sdispls,
          const MPI_Datatype *sendtypes, void *recvbuf, const int *recvcnts, const int *rdispls,
          const MPI_Datatype *recvtypes, MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Reduce_init,
         (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
          MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Allreduce_init,
         (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Reduce_scatter_init,
         (const void *sendbuf, void *recvbuf, const int *recvcounts, MPI_Datatype datatype,
          MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Reduce_scatter_block_init,
         (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Scan_init,
         (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Exscan_init,
         (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Neighbor_allgather_init,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Neighbor_allgatherv_init,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
          const int *recvcounts, const int *displs, MPI_Datatype recvtype, MPI_Comm comm,
          MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Neighbor_alltoall_init,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Neighbor_alltoallv_init,
         (const void *sendbuf, const int *sendcounts, const int *senddisps, MPI_Datatype sendtype,
          void *recvbuf, const int *recvcounts, const int *recvdisps, MPI_Datatype recvtype,
          MPI_Comm comm, MPI_Info info, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Neighbor_alltoallw_init,
         (const void *sendbuf, const int *sendcnts, const MPI_Aint *sdispls,
          const MPI_Datatype *sendtypes, void *recvbuf, const int *recvcnts,
          const MPI_Aint *rdispls, const MPI_Datatype *recvtypes, MPI_Comm comm, MPI_Info info,
          MPI_Request *request));

/* These calls are for communicators and infos. */
MPI_CALL(XBT_PUBLIC int, MPI_Comm_idup_with_info,
         (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPI_Info_create_env, (int argc, char **argv, MPI_Info *info));
MPI_CALL(XBT_PUBLIC int, MPI_Info_get_string,
         (MPI_Info info, const char *key, int *buflen, char *value, int *flag));

/* These calls are for statuses of Fortran. */
MPI_CALL(XBT_PUBLIC int, MPI_Status_c2f08,
         (const MPI_Status *c_status, MPI_F08_status *f08_status));
MPI_CALL(XBT_PUBLIC int, MPI_Status_f082c,
         (const MPI_F08_status *f08_status, MPI_Status *c_status));
MPI_CALL(XBT_PUBLIC int, MPI_Status_f2f08, (const MPI_Fint *f_status, MPI_F08_status *f08_status));
MPI_CALL(XBT_PUBLIC int, MPI_Status_f082f, (const MPI_F08_status *f08_status, MPI_Fint *f_status));

/* The next calls have large counts and cannot be built from calls that count by int. They are
 * refused. */
MPI_CALL(XBT_PUBLIC int, MPI_Op_create_c,
         (MPI_User_function_c * function, int commute, MPI_Op *op));
MPI_CALL(XBT_PUBLIC int, MPI_Type_get_envelope_c,
         (MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses,
          MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner));
MPI_CALL(XBT_PUBLIC int, MPI_Type_get_contents_c,
         (MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
          MPI_Count max_large_counts, MPI_Count max_datatypes, int *array_of_integers,
          MPI_Aint *array_of_addresses, MPI_Count *array_of_large_counts,
          MPI_Datatype *array_of_datatypes));
MPI_CALL(XBT_PUBLIC int, MPI_Type_create_darray_c,
         (int size, int rank, int ndims, const MPI_Count *array_of_gsizes,
          const int *array_of_distribs, const int *array_of_dargs, const int *array_of_psizes,
          int order, MPI_Datatype oldtype, MPI_Datatype *newtype));

/* These calls are for sessions. */
MPI_CALL(XBT_PUBLIC int, MPI_Session_init,
         (MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session));
MPI_CALL(XBT_PUBLIC int, MPI_Session_finalize, (MPI_Session * session));
MPI_CALL(XBT_PUBLIC int, MPI_Session_get_num_psets,
         (MPI_Session session, MPI_Info info, int *npset_names));
MPI_CALL(XBT_PUBLIC int, MPI_Session_get_nth_pset,
         (MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name));
MPI_CALL(XBT_PUBLIC int, MPI_Session_get_info, (MPI_Session session, MPI_Info *info_used));
MPI_CALL(XBT_PUBLIC int, MPI_Session_get_pset_info,
         (MPI_Session session, const char *pset_name, MPI_Info *info));
MPI_CALL(XBT_PUBLIC int, MPI_Session_set_errhandler,
         (MPI_Session session, MPI_Errhandler errhandler));
MPI_CALL(XBT_PUBLIC int, MPI_Session_get_errhandler,
         (MPI_Session session, MPI_Errhandler *errhandler));
MPI_CALL(XBT_PUBLIC int, MPI_Session_create_errhandler,
         (MPI_Session_errhandler_function * function, MPI_Errhandler *errhandler));
MPI_CALL(XBT_PUBLIC int, MPI_Session_call_errhandler, (MPI_Session session, int errorcode));
MPI_CALL(XBT_PUBLIC int, MPI_Group_from_session_pset,
         (MPI_Session session, const char *pset_name, MPI_Group *newgroup));
MPI_CALL(XBT_PUBLIC int, MPI_Comm_create_from_group,
         (MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler,
          MPI_Comm *newcomm));
MPI_CALL(XBT_PUBLIC int, MPI_Intercomm_create_from_groups,
         (MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader,
          const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newintercomm));

#ifdef __cplusplus
}
#endif
#endif
