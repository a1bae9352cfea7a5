/* Serves programs that repair themselves by User-Level Failure Mitigation (the chapter that the MPI
 * Forum discusses; Bland et al., "Post-failure recovery of MPI communication capability", IJHPCA
 * 2013): This is for the protocol `none` with `recovery.runtime: ulfm`. A rank that has died stays
 * dead, and its peers get error codes. This file keeps the failures and revocations that each rank
 * knows of, and decides which operations of the rank they end.
 *
 *     failures     the dispatcher tells every rank of a crash, after the time of detection
 *     revocations  MPIX_Comm_revoke, a reliable broadcast: each rank that hears of one for the
 *                  first time tells the ranks at distances 1, 2, 4, ... before and behind it, and
 *                  the next living rank (a binomial graph; Bosilca et al., "Failure detection and
 *                  propagation in HPC systems", SC 2016)
 *
 * Ranks hear of failures and revocations in MPI calls only. An operation does not end at that
 * moment: a wait asks later whether the operation is over, and ends it. */
#ifndef RECLINE_FAULTS_H
#define RECLINE_FAULTS_H

#include "sim/host/rank/rank.h"

/* Lists the error classes, with numbers beyond SMPI's; mpi-ext.h calls them MPIX_ERR_... */
enum fault {
  FAULT_NONE = 0, /* MPI_SUCCESS */
  FAULT_PROC_FAILED = 1001,
  FAULT_PROC_FAILED_PENDING,
  FAULT_REVOKED
};

/* Returns the text of an error of enum fault, or NULL for any other error. */
const char *fault_text(int error);

/* Notes that rank `dead` of the program has died. It must be called when the rank `r` first hears
 * of this death. */
void faults_note_failure(struct rank *, int dead);
/* returns whether the first rank knows that the second rank has failed */
bool faults_has_failed(const struct rank *, int rank);

/* Writes the members that have failed into `failed`, in the order in which this rank has heard of
 * them, and returns their number. `failed` has room for all members, or is NULL if they are only
 * counted.
 */
int faults_failed(const struct rank *, const struct comm *, int *failed);

/* Revokes the communicator: from here on calls on it are interrupted, at this rank at once and soon
 * at all ranks. */
void faults_revoke(struct rank *, int comm);
bool faults_is_revoked(const struct rank *, int comm);

/* Each function returns the error that ends an operation (enum fault), or FAULT_NONE if there is
 * none. The operation is a collective call on the communicator, an operation with `peer` (or
 * RCL_ANY), or a request that has begun or is about to begin. */
int faults_of_collective(const struct rank *, const struct comm *);
int faults_of_peer(const struct rank *, const struct comm *, int peer);
int faults_of_request(const struct rank *, const struct request *);

#endif
