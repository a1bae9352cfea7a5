/* Defines intercommunicators, which SMPI does not have. In the calls on an intercommunicator, the
 * ranks that the program names belong to the remote group. Both groups, one after the other, also
 * form an internal communicator. Protocols see that communicator, because only it has a number.
 * Calls that make other communicators exchange their data over it. */
#include "sim/host/storage/application.h"
#include "sim/mpi/collectives/collectives.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/types/type_reuse.h"

#include <string.h>

/* ---- making ---- */

/* Describes the remote group by the ranks of its members in the program. */
struct group {
  int *member, size;
};

/* Exchanges the members of the two groups between their leaders. If programs repair themselves,
 * returns an error if the other leader has failed. Failures of other peers do not matter. */
static int meet(struct rank *r, const struct comm *local, int remote_leader, struct comm *peers,
                struct group *remote)
{
  unsigned flags = layer.repairs ? P2P_HIDDEN : P2P_COLLECTIVE;
  struct request *send =
      p2p_send(r, local->member, local->size, MPI_INT, remote_leader, TAG_LEADERS, peers, flags);
  struct request *receive =
      p2p_receive(r, NULL, 0, MPI_BYTE, remote_leader, TAG_LEADERS, peers, flags | P2P_SIZED);
  int sent = p2p_finish(r, send, MPI_STATUS_IGNORE);
  p2p_wait(r, receive);
  remote->member = receive->buffer;
  remote->size = receive->count / (int)sizeof *remote->member;
  int received = p2p_finish(r, receive, MPI_STATUS_IGNORE);
  return received ? received : sent;
}

/* The leader tells all members of the local group the members of the remote group, or that there is
 * an error. */
static int find_remote(struct rank *r, struct comm *local, int leader, MPI_Comm peers,
                       int remote_leader, struct group *remote)
{
  int head[2] = {0, MPI_SUCCESS}; /* size of the remote group, and the error */
  if (local->rank == leader) {
    head[1] = meet(r, local, remote_leader, comm_within(r, peers), remote);
    head[0] = remote->size;
  }
  int error = collective_broadcast(r, head, 2, MPI_INT, leader, local);
  if (error || head[1])
    return error ? error : head[1];
  remote->size = head[0];
  if (!remote->member)
    remote->member = rank_alloc(r, (size_t)remote->size * sizeof *remote->member);
  return collective_broadcast(r, remote->member, remote->size, MPI_INT, leader, local);
}

/* Ends the run if the groups have a member in common. */
static void refuse_overlap(const struct comm *local, const int *remote, int size)
{
  g_autofree bool *is_local = g_new0(bool, (gsize)layer.ranks);
  for (int i = 0; i < local->size; i++)
    is_local[local->member[i]] = true;
  for (int i = 0; i < size; i++)
    if (is_local[remote[i]])
      die(DIE_INPUT, "rank %d is in both groups of an intercommunicator, expected disjoint groups",
          remote[i]);
}

/* Returns both groups, one after the other. */
static int *all_members(struct rank *r, const struct comm *local, const int *remote, int size,
                        bool local_first)
{
  int *member = rank_alloc(r, (size_t)(local->size + size) * sizeof *member);
  memcpy(member + (local_first ? 0 : size), local->member, (size_t)local->size * sizeof *member);
  memcpy(member + (local_first ? local->size : 0), remote, (size_t)size * sizeof *member);
  return member;
}

static void refuse_where_it_cannot_be(void)
{
  if (application_level())
    die(DIE_INPUT, "%s with images at the application level, expected checkpoint.level: system",
        layer.call);
}

static int create(struct rank *r, struct comm *local, int leader, MPI_Comm peers, int remote_leader,
                  MPI_Comm *made)
{
  refuse_where_it_cannot_be();
  struct group remote = {NULL, 0};
  int error = find_remote(r, local, leader, peers, remote_leader, &remote), size = remote.size;
  if (error) {
    rank_free(remote.member);
    return comm_error(r, local, error);
  }
  refuse_overlap(local, remote.member, size);
  bool local_first = local->member[0] < remote.member[0]; /* so both groups use the same order */
  int *member = all_members(r, local, remote.member, size, local_first);
  struct comm *all = comm_of_members(r, &r->mpi->world, member, local->size + size);
  rank_free(remote.member);
  all->errors = local->errors;
  error = comm_split(r, all, 0, all->rank, made);
  if (error)
    return error;
  struct comm *comm = comm_between(r, comm_of(r, *made), local_first ? local->size : size);
  comm->errors = local->errors;
  *made = comm_handle(comm);
  return MPI_SUCCESS;
}

WRAP_CALL(Intercomm_create, (comm, leader, peers, remote_leader, tag, made),
          create(r, comm_within(r, comm), leader, peers, remote_leader, made))

static struct comm *between_of(struct rank *r, MPI_Comm handle)
{
  struct comm *comm = comm_of(r, handle);
  if (!comm->remote)
    die(DIE_INPUT, "rank %d: %s on an intracommunicator, expected an intercommunicator", r->index,
        layer.call);
  return comm;
}

/* Makes a communicator of both groups. If one group passes `high`, its members come after the
 * members of the other group. */
static int merge(struct rank *r, const struct comm *comm, int high, MPI_Comm *made)
{
  comm->both->errors = comm->errors;
  int error = comm_split(r, comm->both, 0, high != 0, made);
  if (!error)
    comm_of(r, *made)->errors = comm->errors;
  return error;
}

WRAP_CALL(Intercomm_merge, (comm, high, made), merge(r, between_of(r, comm), high, made))

/* ---- looking up ---- */

static int remote_size(const struct comm *comm, int *size)
{
  if (!comm->remote)
    return MPI_ERR_COMM;
  *size = comm->remote->size;
  return MPI_SUCCESS;
}

static int remote_group(const struct comm *comm, MPI_Group *group)
{
  return comm->remote ? group_of_ranks(comm->remote->size, comm->remote->member, group)
                      : MPI_ERR_COMM;
}

LOOK_UP_CALL(Comm_remote_size, (comm, size), remote_size(comm_of(r, comm), size))
LOOK_UP_CALL(Comm_remote_group, (comm, group), remote_group(comm_of(r, comm), group))
