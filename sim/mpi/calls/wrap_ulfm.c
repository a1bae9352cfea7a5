/* Defines the calls of User-Level Failure Mitigation (sim/host/rank/faults.h), by which a program
 * repairs itself.
 */
#include "include/mpi-ext.h"
#include "sim/host/rank/agreement.h"
#include "sim/host/rank/communicators.h"
#include "sim/host/rank/faults.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/types/type_reuse.h"

_Static_assert((int)MPIX_ERR_PROC_FAILED == (int)FAULT_PROC_FAILED &&
                   (int)MPIX_ERR_PROC_FAILED_PENDING == (int)FAULT_PROC_FAILED_PENDING &&
                   (int)MPIX_ERR_REVOKED == (int)FAULT_REVOKED &&
                   MPI_ERR_LASTCODE < FAULT_PROC_FAILED,
               "the classes of errors have numbers of their own");

void repair_refuse(const char *name)
{
  die(DIE_INPUT, "%s is not handled here, expected protocol.name: none and recovery.runtime: ulfm",
      name);
}

#define REPAIR_CALL(NAME, ARGUMENTS, ...)                                                          \
  int NAME(PARAMETERS_##NAME ARGUMENTS)                                                            \
  {                                                                                                \
    if (!layer.repairs)                                                                            \
      repair_refuse(#NAME);                                                                        \
    WRAP((__VA_ARGS__), MPI_ERR_OTHER);                                                            \
  }

/* ---- revoking ---- */

static int revoke_comm(struct rank *r, const struct comm *comm)
{
  faults_revoke(r, comm->number);
  return MPI_SUCCESS;
}

static int tell(int *where, int what)
{
  *where = what;
  return MPI_SUCCESS;
}

REPAIR_CALL(MPIX_Comm_revoke, (comm), revoke_comm(r, comm_of(r, comm)))
REPAIR_CALL(MPIX_Comm_is_revoked, (comm, flag),
            tell(flag, faults_is_revoked(r, comm_of(r, comm)->number)))

/* ---- failures that this rank knows of ---- */

/* Makes the group of the first `most` members that have failed. */
static int failed_group(struct rank *r, const struct comm *comm, int most, MPI_Group *group)
{
  int *failed = rank_alloc(r, (size_t)comm->size * sizeof *failed);
  int count = MIN(faults_failed(r, comm, failed), most);
  int result = group_of_ranks(count, failed, group);
  rank_free(failed);
  return result;
}

static int acknowledge(struct rank *r, struct comm *comm, int most)
{
  int count = faults_failed(r, comm, NULL);
  comm->acknowledged = MAX(comm->acknowledged, MIN(most, count));
  return comm->acknowledged;
}

static int failure_ack(struct rank *r, struct comm *comm)
{
  acknowledge(r, comm, comm->size);
  return MPI_SUCCESS;
}

static int get_acked(struct rank *r, const struct comm *comm, MPI_Group *failed)
{
  return failed_group(r, comm, comm->acknowledged, failed);
}

static int get_failed(struct rank *r, const struct comm *comm, MPI_Group *failed)
{
  return failed_group(r, comm, comm->size, failed);
}

REPAIR_CALL(MPIX_Comm_failure_ack, (comm), failure_ack(r, comm_of(r, comm)))
REPAIR_CALL(MPIX_Comm_failure_get_acked, (comm, failed), get_acked(r, comm_of(r, comm), failed))
REPAIR_CALL(MPIX_Comm_get_failed, (comm, failed), get_failed(r, comm_of(r, comm), failed))
REPAIR_CALL(MPIX_Comm_ack_failed, (comm, most, acknowledged),
            tell(acknowledged, acknowledge(r, comm_of(r, comm), most)))

/* ---- agreeing ---- */

static bool is_over(const struct rank *r, const void *agreement)
{
  (void)r;
  return agreement_decision(agreement);
}

static int agree(struct rank *r, struct comm *comm, int *flag)
{
  struct agreement *agreement = agreement_begin(r, comm, *flag);
  host_wait(r, is_over, agreement);
  const struct decision *decision = agreement_decision(agreement);
  *flag = decision->flag;
  return comm_error(r, comm, decision->unknown ? FAULT_PROC_FAILED : MPI_SUCCESS);
}

REPAIR_CALL(MPIX_Comm_agree, (comm, flag), agree(r, comm_within(r, comm), flag))

/* Describes the work that remains when the decision for a request has come. */
struct awaited {
  struct request *request;
  int *flag;         /* in MPIX_Comm_iagree: the program's flag; otherwise NULL */
  struct comm *left; /* in MPIX_Comm_ishrink: the communicator to be filled; otherwise NULL */
  int number;        /* the number of the agreement */
};

/* Begins an agreement whose decision `take` handles. `what` has either the flag or the
 * communicator. */
static int begin_agreement(struct rank *r, struct comm *comm, struct awaited what,
                           void (*take)(struct rank *, void *), MPI_Request *handle)
{
  struct awaited *awaited = rank_alloc(r, sizeof *awaited);
  *awaited = what;
  awaited->request = p2p_whole(r, 0);
  awaited->request->comm = comm;
  comm->requests++;
  awaited->request->whole.agreement = agreement_begin(r, comm, what.flag ? *what.flag : 0);
  awaited->number = comm->agreements;
  p2p_conclude_with(awaited->request, take, awaited);
  return began(awaited->request, handle);
}

static void take_flag(struct rank *r, void *rest)
{
  (void)r;
  const struct awaited *awaited = rest;
  const struct decision *decision = agreement_decision(awaited->request->whole.agreement);
  *awaited->flag = decision->flag;
  awaited->request->status.MPI_ERROR = decision->unknown ? FAULT_PROC_FAILED : MPI_SUCCESS;
}

REPAIR_CALL(MPIX_Comm_iagree, (comm, flag, request),
            begin_agreement(r, comm_within(r, comm), (struct awaited){.flag = flag}, take_flag,
                            request))

/* ---- shrinking ---- */

/* Makes `left` the communicator of those members that have not failed, in their old order. `number`
 * is the number of the agreement on these members. */
static void fill(struct comm *left, struct comm *comm, const bool *failed, int number)
{
  left->size = 0;
  for (int i = 0; i < comm->size; i++) {
    if (i == comm->rank)
      left->rank = left->size;
    if (!failed[i])
      left->member[left->size++] = comm->member[i];
  }
  left->number = communicator_number(comm, -number, COLOUR_SHRUNK, left);
  left->errors = comm->errors;
}

static int shrink(struct rank *r, struct comm *comm, MPI_Comm *made)
{
  struct agreement *agreement = agreement_begin(r, comm, 0);
  int number = comm->agreements;
  host_wait(r, is_over, agreement);
  struct comm *left = comm_new(r, comm->size);
  fill(left, comm, agreement_decision(agreement)->failed, number);
  *made = comm_handle(left);
  return MPI_SUCCESS;
}

REPAIR_CALL(MPIX_Comm_shrink, (comm, newcomm), shrink(r, comm_within(r, comm), newcomm))

static void take_left(struct rank *r, void *rest)
{
  (void)r;
  const struct awaited *awaited = rest;
  const struct request *request = awaited->request;
  fill(awaited->left, request->comm, agreement_decision(request->whole.agreement)->failed,
       awaited->number);
}

/* Begins to make a communicator of the members that have not failed. Its handle is made at once,
 * because Fortran needs a number for it. */
static int begin_shrinking(struct rank *r, struct comm *comm, MPI_Comm *made, MPI_Request *handle)
{
  struct comm *left = comm_new(r, comm->size);
  *made = comm_handle(left);
  return begin_agreement(r, comm, (struct awaited){.left = left}, take_left, handle);
}

REPAIR_CALL(MPIX_Comm_ishrink, (comm, newcomm, request),
            begin_shrinking(r, comm_within(r, comm), newcomm, request))
