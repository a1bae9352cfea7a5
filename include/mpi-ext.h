/* Declares User-Level Failure Mitigation under the names that Open MPI and MPICH have for it. The
 * calls work under `protocol: none` with `recovery.runtime: ulfm`, and are refused elsewhere
 * (docs/run.md). */
#ifndef RECLINE_MPI_EXT_H
#define RECLINE_MPI_EXT_H

#include <smpi/smpi.h>

#define OMPI_HAVE_MPI_EXT_FTMPI 1

/* These are classes of errors, which MPI_Error_class and MPI_Error_string know. */
#define MPIX_ERR_PROC_FAILED 1001
#define MPIX_ERR_PROC_FAILED_PENDING 1002
#define MPIX_ERR_REVOKED 1003
#define MPI_ERR_PROC_FAILED MPIX_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED_PENDING MPIX_ERR_PROC_FAILED_PENDING
#define MPI_ERR_REVOKED MPIX_ERR_REVOKED

/* MPIX_FT is an attribute of communicators. It is 1 where the calls work, and is not set
 * elsewhere. */
#define MPIX_FT (-1001)

#ifdef __cplusplus
extern "C" {
#endif

MPI_CALL(XBT_PUBLIC int, MPIX_Comm_revoke, (MPI_Comm comm));
MPI_CALL(XBT_PUBLIC int, MPIX_Comm_is_revoked, (MPI_Comm comm, int *flag));
MPI_CALL(XBT_PUBLIC int, MPIX_Comm_shrink, (MPI_Comm comm, MPI_Comm *newcomm));
MPI_CALL(XBT_PUBLIC int, MPIX_Comm_ishrink,
         (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPIX_Comm_agree, (MPI_Comm comm, int *flag));
MPI_CALL(XBT_PUBLIC int, MPIX_Comm_iagree, (MPI_Comm comm, int *flag, MPI_Request *request));
MPI_CALL(XBT_PUBLIC int, MPIX_Comm_failure_ack, (MPI_Comm comm));
MPI_CALL(XBT_PUBLIC int, MPIX_Comm_failure_get_acked, (MPI_Comm comm, MPI_Group *failed));
MPI_CALL(XBT_PUBLIC int, MPIX_Comm_get_failed, (MPI_Comm comm, MPI_Group *failed));
MPI_CALL(XBT_PUBLIC int, MPIX_Comm_ack_failed, (MPI_Comm comm, int most, int *acknowledged));

#ifdef __cplusplus
}
#endif
#endif
