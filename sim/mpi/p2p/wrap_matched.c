/* Defines matched probes. The protocol sees a matched probe as a probe, followed by a receive from
 * the source that was found. A program without matched probes makes these two calls itself. The
 * message is taken into the arena when it is matched, so that a rollback of the program restores
 * it. MPI_Mrecv only copies the message. A message handle is the address of the receive. */
#include "sim/host/rank/request.h"
#include "sim/mpi/fortran/fortran.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/p2p/requests.h"

/* Returns the receive of a message handle, or NULL if the handle is MPI_MESSAGE_NO_PROC, which in
 * SMPI equals MPI_MESSAGE_NULL. */
static struct request *receive_of(struct rank *r, MPI_Message message)
{
  struct request *receive = message;
  if (receive && (heap_owner(receive) != r->index || !receive->sized))
    die(DIE_INPUT, "rank %d: not a message", r->index);
  return receive;
}

/* Receives the first message from the found source that the probe accepts. If the probe takes any
 * tag, the protocol is told the tag that was found. */
static int take(struct rank *r, int tag, struct comm *comm, const MPI_Status *found,
                MPI_Message *message, MPI_Status *status)
{
  *message = MPI_MESSAGE_NO_PROC;
  if (status != MPI_STATUS_IGNORE)
    *status = *found;
  if (found->MPI_SOURCE == MPI_PROC_NULL)
    return MPI_SUCCESS;
  struct request *receive =
      p2p_receive(r, NULL, 0, MPI_BYTE, found->MPI_SOURCE, tag, comm, P2P_SIZED);
  int failed = p2p_wait(r, receive);
  if (failed || receive->status.MPI_ERROR)
    return comm_error(r, comm, p2p_finish(r, receive, MPI_STATUS_IGNORE));
  *message = receive;
  if (status != MPI_STATUS_IGNORE)
    *status = receive->status;
  return MPI_SUCCESS;
}

static int probe(struct rank *r, int from, int tag, struct comm *comm, MPI_Message *message,
                 MPI_Status *status)
{
  MPI_Status found = {.MPI_SOURCE = from};
  int error = requests_await(r, from, tag, comm, &found);
  return error ? error : take(r, tag, comm, &found, message, status);
}

static int poll(struct rank *r, int from, int tag, struct comm *comm, int *flag,
                MPI_Message *message, MPI_Status *status)
{
  MPI_Status found = {.MPI_SOURCE = from};
  *flag = from == MPI_PROC_NULL;
  int error = MPI_SUCCESS;
  if (!*flag)
    error = requests_probe(r, from, tag, comm, false, flag, &found);
  else
    request_empty_status(&found), found.MPI_SOURCE = MPI_PROC_NULL;
  return error || !*flag ? error : take(r, tag, comm, &found, message, status);
}

/* Makes a request that takes over the matched message, and so is complete at once. */
static struct request *receive(struct rank *r, void *buffer, int count, MPI_Datatype type,
                               MPI_Message *message)
{
  struct request *matched = receive_of(r, *message);
  struct comm *comm = matched ? matched->comm : &r->mpi->self;
  struct request *request =
      p2p_prepare(r, REQUEST_RECEIVE, buffer, count, type, MPI_PROC_NULL, 0, comm, 0);
  *message = MPI_MESSAGE_NULL;
  request->persistent = false;
  if (matched) {
    fortran_forget_message(r, matched);
    request_hand_over(matched, request);
    return request;
  }
  r->mpi->pending++;
  request_empty_status(&request->status);
  request->status.MPI_SOURCE = MPI_PROC_NULL;
  request->done = true;
  return request;
}

static int receive_now(struct rank *r, void *buffer, int count, MPI_Datatype type,
                       MPI_Message *message, MPI_Status *status)
{
  struct request *request = receive(r, buffer, count, type, message);
  struct comm *comm = request->comm;
  return comm_error(r, comm, p2p_finish(r, request, status));
}

WRAP_CALL(Mprobe, (from, tag, comm, message, status),
          probe(r, from, tag, comm_of(r, comm), message, status))
WRAP_CALL(Improbe, (from, tag, comm, flag, message, status),
          poll(r, from, tag, comm_of(r, comm), flag, message, status))
WRAP_CALL(Mrecv, (buffer, count, type, message, status),
          receive_now(r, buffer, count, type, message, status))
WRAP_CALL(Imrecv, (buffer, count, type, message, request),
          began(receive(r, buffer, count, type, message), request))
