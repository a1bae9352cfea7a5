/* Defines point-to-point calls. An inert layer passes these calls on to SMPI. */
#include "sim/host/rank/faults.h"
#include "sim/host/rank/request.h"
#include "sim/host/rank/waits.h"
#include "sim/host/step/host.h"
#include "sim/host/step/matching.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/p2p/requests.h"
#include "sim/mpi/windows/window_passive.h"

/* Waits of the program serve ranks that access a window of this rank (window_passive.h). */

/* ---- sending ---- */

static int send_and_wait(struct rank *r, const void *buffer, int count, MPI_Datatype type, int to,
                         int tag, MPI_Comm comm, unsigned flags)
{
  struct comm *c = comm_of(r, comm);
  struct request *request = p2p_send(r, buffer, count, type, to, tag, c, flags | P2P_BLOCKING);
  return comm_error(r, c, window_finish(r, request, MPI_STATUS_IGNORE));
}

#define SEND_CALL(NAME, FLAGS)                                                                     \
  WRAP_CALL(NAME, (buffer, count, type, to, tag, comm),                                            \
            send_and_wait(r, buffer, count, type, to, tag, comm, FLAGS))

#define ISEND_CALL(NAME, FLAGS)                                                                    \
  WRAP_CALL(NAME, (buffer, count, type, to, tag, comm, request),                                   \
            began(p2p_send(r, buffer, count, type, to, tag, comm_of(r, comm), FLAGS), request))

#define SEND_INIT_CALL(NAME, FLAGS)                                                                \
  WRAP_CALL(NAME, (buffer, count, type, to, tag, comm, request),                                   \
            began(p2p_prepare(r, REQUEST_SEND, (void *)(uintptr_t)buffer, count, type, to, tag,    \
                              comm_of(r, comm), FLAGS),                                            \
                  request))

SEND_CALL(Send, 0)
SEND_CALL(Bsend, P2P_BUFFERED)
SEND_CALL(Rsend, 0)
SEND_CALL(Ssend, P2P_SYNCHRONOUS)
ISEND_CALL(Isend, 0)
ISEND_CALL(Ibsend, P2P_BUFFERED)
ISEND_CALL(Irsend, 0)
ISEND_CALL(Issend, P2P_SYNCHRONOUS)
SEND_INIT_CALL(Send_init, 0)
SEND_INIT_CALL(Bsend_init, P2P_BUFFERED)
SEND_INIT_CALL(Rsend_init, 0)
SEND_INIT_CALL(Ssend_init, P2P_SYNCHRONOUS)

/* ---- receiving ---- */

static int receive_and_wait(struct rank *r, void *buffer, int count, MPI_Datatype type, int from,
                            int tag, MPI_Comm comm, MPI_Status *status)
{
  struct comm *c = comm_of(r, comm);
  int error = window_finish(r, p2p_receive(r, buffer, count, type, from, tag, c, 0), status);
  return comm_error(r, c, error);
}

WRAP_CALL(Recv, (buffer, count, type, from, tag, comm, status),
          receive_and_wait(r, buffer, count, type, from, tag, comm, status))
WRAP_CALL(Irecv, (buffer, count, type, from, tag, comm, request),
          began(p2p_receive(r, buffer, count, type, from, tag, comm_of(r, comm), 0), request))
WRAP_CALL(Recv_init, (buffer, count, type, from, tag, comm, request),
          began(p2p_prepare(r, REQUEST_RECEIVE, buffer, count, type, from, tag, comm_of(r, comm),
                            0),
                request))

/* ---- both ---- */

static int both_end(struct rank *r, struct request *send, struct request *receive,
                    MPI_Status *status, struct comm *comm)
{
  int sent = window_finish(r, send, MPI_STATUS_IGNORE);
  int received = window_finish(r, receive, status);
  return comm_error(r, comm, received ? received : sent);
}

static int exchange(struct rank *r, const void *out, int out_count, MPI_Datatype out_type, int to,
                    int out_tag, void *in, int in_count, MPI_Datatype in_type, int from, int in_tag,
                    MPI_Comm comm, MPI_Status *status)
{
  struct comm *c = comm_of(r, comm);
  struct request *send = p2p_send(r, out, out_count, out_type, to, out_tag, c, 0);
  host_answer_door(r);
  struct request *receive = p2p_receive(r, in, in_count, in_type, from, in_tag, c, 0);
  return both_end(r, send, receive, status, c);
}

WRAP_CALL(Sendrecv,
          (out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm,
           status),
          exchange(r, out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag,
                   comm, status))

/* Exchanges data in one buffer. The receive is posted after the send, and overwrites the data that
 * were sent. */
static int exchange_in_place(struct rank *r, void *buffer, int count, MPI_Datatype type, int to,
                             int out_tag, int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
  struct comm *c = comm_of(r, comm);
  struct request *send = p2p_send(r, buffer, count, type, to, out_tag, c, P2P_REUSED);
  struct request *receive = p2p_receive(r, buffer, count, type, from, in_tag, c, 0);
  return both_end(r, send, receive, status, c);
}

WRAP_CALL(Sendrecv_replace, (buffer, count, type, to, out_tag, from, in_tag, comm, status),
          exchange_in_place(r, buffer, count, type, to, out_tag, from, in_tag, comm, status))

/* ---- probing ---- */

struct probe {
  const struct comm *comm;
  int peer, tag, context;
};

static struct probe probe_for(struct rank *r, const struct comm *comm, int from, int tag,
                              bool collective)
{
  const struct comm *peers = comm_peers(comm);
  if (from != MPI_ANY_SOURCE && (from < 0 || from >= peers->size))
    die(DIE_INPUT, "rank %d probes rank %d of %d", r->index, from, peers->size);
  return (struct probe){.comm = comm,
                        .peer = from == MPI_ANY_SOURCE ? RCL_ANY : peers->member[from],
                        .tag = tag == MPI_ANY_TAG ? RCL_ANY : tag,
                        .context = matching_context(comm, collective)};
}

static bool is_there(const struct rank *r, const void *what)
{
  const struct probe *probe = what;
  struct found found;
  return matching_probe(r, probe->peer, probe->tag, probe->context, &found);
}

/* Returns the error of a probe that ends without a message. */
static int fault_of(const struct rank *r, const struct probe *probe)
{
  int fault = faults_of_peer(r, probe->comm, probe->peer);
  return fault == FAULT_PROC_FAILED_PENDING ? FAULT_PROC_FAILED : fault;
}

static bool is_there_or_fails(const struct rank *r, const void *probe)
{
  return is_there(r, probe) || fault_of(r, probe);
}

static void tell_status(struct rank *r, const struct comm *comm, const struct probe *probe,
                        MPI_Status *status)
{
  struct found found;
  if (status == MPI_STATUS_IGNORE ||
      !matching_probe(r, probe->peer, probe->tag, probe->context, &found))
    return;
  request_empty_status(status);
  status->MPI_SOURCE = request_source(comm, found.source);
  status->MPI_TAG = found.tag;
  status->count = (int)found.bytes;
}

/* Waits for a message. If the probe takes any source, the source is a decision. */
int requests_await(struct rank *r, int from, int tag, struct comm *comm, MPI_Status *status)
{
  if (from == MPI_PROC_NULL) {
    request_empty_status(status);
    if (status != MPI_STATUS_IGNORE)
      status->MPI_SOURCE = MPI_PROC_NULL;
    return MPI_SUCCESS;
  }
  struct probe wanted = probe_for(r, comm, from, tag, false);
  waits_for_message(r, comm, wanted.peer, wanted.tag);
  window_serve_until(r, is_there_or_fails, &wanted);
  host_wait(r, is_there_or_fails, &wanted);
  if (!is_there(r, &wanted))
    return comm_error(r, comm, fault_of(r, &wanted));
  if (wanted.peer == RCL_ANY) {
    struct found found;
    matching_probe(r, RCL_ANY, wanted.tag, wanted.context, &found);
    wanted.peer = (int)host_choose(r, (uint32_t)found.source, (uint32_t)layer.ranks);
    host_wait(r, is_there, &wanted);
  }
  tell_status(r, comm, &wanted, status);
  return MPI_SUCCESS;
}

/* Polls for a message. The outcome of the decision is 0 if there is no message, otherwise 1 + the
 * message's source. */
int requests_probe(struct rank *r, int from, int tag, struct comm *comm, bool collective, int *flag,
                   MPI_Status *status)
{
  struct probe wanted = probe_for(r, comm, from, tag, collective);
  struct found found = {.source = -1};
  matching_probe(r, wanted.peer, wanted.tag, wanted.context, &found);
  uint32_t outcome = host_choose(r, (uint32_t)(found.source + 1), (uint32_t)layer.ranks + 1);
  *flag = outcome != 0;
  if (outcome == 0) {
    requests_not_yet(r, POLL_PROBE);
    return comm_error(r, comm, fault_of(r, &wanted));
  }
  wanted.peer = (int)outcome - 1;
  host_wait(r, is_there, &wanted);
  tell_status(r, comm, &wanted, status);
  return MPI_SUCCESS;
}

static int iprobe(struct rank *r, int from, int tag, struct comm *comm, int *flag,
                  MPI_Status *status)
{
  *flag = 1;
  if (from == MPI_PROC_NULL)
    return requests_await(r, from, tag, comm, status);
  return requests_probe(r, from, tag, comm, false, flag, status);
}

WRAP_CALL(Probe, (from, tag, comm, status), requests_await(r, from, tag, comm_of(r, comm), status))
WRAP_CALL(Iprobe, (from, tag, comm, flag, status),
          iprobe(r, from, tag, comm_of(r, comm), flag, status))
