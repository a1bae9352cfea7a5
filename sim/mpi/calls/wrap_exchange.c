/* Defines MPI_Isendrecv (MPI 4): one request sends and receives. Its status is the status of the
 * receive. */
#include "include/mpi/mpi-4.h"
#include "sim/host/step/host.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/wrap.h"

static struct request *both(struct rank *r, struct request *send, struct request *receive)
{
  struct request *whole = p2p_whole(r, 2);
  p2p_add(whole, send);
  p2p_add(whole, receive);
  return whole;
}

static struct request *begin_exchange(struct rank *r, const void *out, int out_count,
                                      MPI_Datatype out_type, int to, int out_tag, void *in,
                                      int in_count, MPI_Datatype in_type, int from, int in_tag,
                                      struct comm *comm)
{
  struct request *send = p2p_send(r, out, out_count, out_type, to, out_tag, comm, 0);
  host_answer_door(r);
  return both(r, send, p2p_receive(r, in, in_count, in_type, from, in_tag, comm, 0));
}

static struct request *begin_exchange_in_place(struct rank *r, void *buffer, int count,
                                               MPI_Datatype type, int to, int out_tag, int from,
                                               int in_tag, struct comm *comm)
{
  struct request *send = p2p_send(r, buffer, count, type, to, out_tag, comm, P2P_REUSED);
  host_answer_door(r);
  return both(r, send, p2p_receive(r, buffer, count, type, from, in_tag, comm, 0));
}

NEW_CALL(Isendrecv,
         (out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm,
          request),
         began(begin_exchange(r, out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
                              in_tag, comm_of(r, comm)),
               request))
NEW_CALL(Isendrecv_replace, (buffer, count, type, to, out_tag, from, in_tag, comm, request),
         began(begin_exchange_in_place(r, buffer, count, type, to, out_tag, from, in_tag,
                                       comm_of(r, comm)),
               request))
