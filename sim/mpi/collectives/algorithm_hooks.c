/* Carries out calls of SMPI's collective algorithms in the layer: each hook leaves the algorithm,
 * makes a call of the layer on the hidden half of the communicator, and enters the algorithm
 * again. */
#include "sim/mpi/collectives/algorithms.h"

#include "sim/host/rank/faults.h"
#include "sim/host/rank/typemap.h"
#include "sim/host/step/collective_messages.h"
#include "sim/host/step/matching.h"
#include "sim/mpi/collectives/collectives.h"
#include "sim/mpi/collectives/own_collectives.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/smpi_hooks.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/p2p/requests.h"
#include "sim/mpi/types/datatype.h"
#include "sim/mpi/types/op.h"
#include "sim/net/placement.h"

#include <stdlib.h>

enum { PART_TAGS = 1 << 20 }; /* the tags of SMPI's algorithms have a smaller magnitude */

void algorithms_make_tables(struct rank *r)
{
  int out = 0, in = 0, one = 1, start = 0;
  struct comm *self = &r->mpi->self;
  algorithm_in_arena(false);
  algorithm_barrier(r, self);
  algorithm_bcast(r, &out, 1, MPI_INT, 0, self);
  algorithm_reduce(r, &out, &in, 1, MPI_INT, MPI_SUM, 0, self);
  algorithm_allreduce(r, &out, &in, 1, MPI_INT, MPI_SUM, self);
  algorithm_gather(r, &out, 1, MPI_INT, &in, 1, MPI_INT, 0, self);
  algorithm_scatter(r, &out, 1, MPI_INT, &in, 1, MPI_INT, 0, self);
  algorithm_allgather(r, &out, 1, MPI_INT, &in, 1, MPI_INT, self);
  algorithm_allgatherv(r, &out, 1, MPI_INT, &in, &one, &start, MPI_INT, self);
  algorithm_alltoall(r, &out, 1, MPI_INT, &in, 1, MPI_INT, self);
  algorithm_alltoallv(r, &out, &one, &start, MPI_INT, &in, &one, &start, MPI_INT, self);
  algorithm_reduce_scatter(r, &out, &in, &one, MPI_INT, MPI_SUM, self);
  algorithm_in_arena(true);
}

static bool inside(void)
{
  struct rank *r = rank_self();
  return r && r->mpi->algorithm;
}

/* Returns the rank whose algorithm calls, and leaves the algorithm. */
static struct rank *leave(void)
{
  struct rank *r = rank_self();
  algorithm_leave(r);
  host_answer_door(r);
  return r;
}

/* Enters the algorithm again, unless a member has failed meanwhile or the communicator was revoked.
 */
static void enter_again(struct rank *r)
{
  struct call *call = &r->mpi->call;
  if (call->inside && !call->error)
    call->error = faults_of_collective(r, call->site.comm);
  if (call->error)
    algorithm_give_up();
  algorithm_enter(r);
}

/* ---- arguments ---- */

static struct comm *comm_behind(MPI_Comm handle)
{
  return (struct comm *)(void *)handle;
}

/* Returns the first tag of a collective whose messages bypass the protocol. */
static int first_tag(const struct rank *r, const struct comm *comm)
{
  return call_tag(r, (r->mpi->call.ahead ? TAG_SELECTED_WORDS : TAG_SELECTED) +
                         comm->part * SELECTED_TAGS);
}

/* Returns the layer's tag for a tag of an algorithm. SMPI's tags of collectives are negative. The
 * communicator of a node, and the communicator of the nodes' leaders, are parts of another
 * communicator and have the same number as that communicator. So tags on these two lie higher. */
static int tag_of(const struct rank *r, int tag, const struct comm *comm)
{
  if (r->mpi->call.inside)
    return first_tag(r, comm) + abs(tag) % SELECTED_TAGS;
  if (tag == MPI_ANY_TAG)
    return tag;
  return (tag < 0 ? -tag : tag + PART_TAGS) + 2 * comm->part * PART_TAGS;
}

static unsigned kind_of(const struct rank *r)
{
  return r->mpi->call.inside ? P2P_BYPASS : P2P_COLLECTIVE;
}

/* ---- messages ---- */

static struct request *begin_send(struct rank *r, const void *buffer, int count, MPI_Datatype type,
                                  int to, int tag, MPI_Comm handle, unsigned flags)
{
  struct comm *comm = comm_behind(handle);
  return p2p_send(r, buffer, count, type, to, tag_of(r, tag, comm), comm, kind_of(r) | flags);
}

static struct request *begin_receive(struct rank *r, void *buffer, int count, MPI_Datatype type,
                                     int from, int tag, MPI_Comm handle)
{
  struct comm *comm = comm_behind(handle);
  return p2p_receive(r, buffer, count, type, from, tag_of(r, tag, comm), comm, kind_of(r));
}

static MPI_Request hook_isend(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                              MPI_Comm comm)
{
  struct rank *r = leave();
  struct request *request = begin_send(r, buffer, count, type, to, tag, comm, 0);
  enter_again(r);
  return handle_of(request);
}

static MPI_Request hook_irecv(void *buffer, int count, MPI_Datatype type, int from, int tag,
                              MPI_Comm comm)
{
  struct rank *r = leave();
  struct request *request = begin_receive(r, buffer, count, type, from, tag, comm);
  enter_again(r);
  return handle_of(request);
}

static MPI_Request prepare(enum request_kind kind, void *buffer, int count, MPI_Datatype type,
                           int peer, int tag, MPI_Comm handle)
{
  struct rank *r = leave();
  struct comm *comm = comm_behind(handle);
  struct request *request = p2p_prepare(r, kind, buffer, count, type, peer, tag_of(r, tag, comm),
                                        comm, kind_of(r) | P2P_IMMEDIATE);
  enter_again(r);
  return handle_of(request);
}

static MPI_Request hook_isend_init(const void *buffer, int count, MPI_Datatype type, int to,
                                   int tag, MPI_Comm comm)
{
  return prepare(REQUEST_SEND, (void *)(uintptr_t)buffer, count, type, to, tag, comm);
}

static MPI_Request hook_irecv_init(void *buffer, int count, MPI_Datatype type, int from, int tag,
                                   MPI_Comm comm)
{
  return prepare(REQUEST_RECEIVE, buffer, count, type, from, tag, comm);
}

static void hook_send(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                      MPI_Comm comm)
{
  struct rank *r = leave();
  p2p_finish(r, begin_send(r, buffer, count, type, to, tag, comm, P2P_BLOCKING), MPI_STATUS_IGNORE);
  enter_again(r);
}

static void hook_recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                      MPI_Status *status)
{
  struct rank *r = leave();
  p2p_finish(r, begin_receive(r, buffer, count, type, from, tag, comm), status);
  enter_again(r);
}

/* Begins the send first, as SMPI does. */
static void hook_sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to,
                          int out_tag, void *in, int in_count, MPI_Datatype in_type, int from,
                          int in_tag, MPI_Comm comm, MPI_Status *status)
{
  struct rank *r = leave();
  if (to == comm_behind(comm)->rank && from == to) {
    elements_copy(out, out_count, out_type, in, in_count, in_type);
  } else {
    struct request *send = begin_send(r, out, out_count, out_type, to, out_tag, comm, 0);
    host_answer_door(r);
    struct request *receive = begin_receive(r, in, in_count, in_type, from, in_tag, comm);
    p2p_finish(r, send, MPI_STATUS_IGNORE);
    p2p_finish(r, receive, status);
  }
  enter_again(r);
}

static void hook_startall(int count, MPI_Request *requests)
{
  for (int i = 0; i < count; i++) {
    struct rank *r = leave();
    p2p_start(r, request_of(requests[i]));
    enter_again(r);
  }
}

static struct group *group_of(MPI_Request);
static void wait_group(struct group *);
static void free_group(struct group *);

static int hook_wait(MPI_Request *request, MPI_Status *status)
{
  struct group *group = group_of(*request);
  if (group) {
    wait_group(group);
    free_group(group);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  struct rank *r = leave();
  int result = requests_wait(r, request, status);
  enter_again(r);
  return result;
}

static int hook_waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
  struct rank *r = leave();
  int result = requests_wait_all_in_collective(r, count, requests, statuses);
  enter_again(r);
  return result;
}

static int hook_waitany(int count, MPI_Request *requests, MPI_Status *status)
{
  struct rank *r = leave();
  int index;
  requests_wait_any(r, count, requests, true, &index, status);
  enter_again(r);
  return index;
}

static void hook_unref(MPI_Request *request)
{
  if (group_of(*request)) {
    free_group(group_of(*request));
  } else if (*request) {
    struct rank *r = leave();
    requests_free(r, request);
    enter_again(r);
  }
  *request = MPI_REQUEST_NULL;
}

static void hook_iprobe(int from, int tag, MPI_Comm handle, int *flag, MPI_Status *status)
{
  struct rank *r = leave();
  struct comm *comm = comm_behind(handle);
  if (!r->mpi->call.inside) {
    requests_probe(r, from, tag_of(r, tag, comm), comm, true, flag, status);
  } else {
    int peer = from == MPI_ANY_SOURCE ? RCL_ANY : comm->member[from];
    bool any = tag == MPI_ANY_TAG;
    *flag = bypass_has(r, peer, matching_context(comm, true),
                       any ? first_tag(r, comm) : tag_of(r, tag, comm), any ? SELECTED_TAGS : 1);
    if (!*flag) {
      p2p_poll_cost(POLL_PROBE);
      host_poll(r);
    }
  }
  enter_again(r);
}

/* ---- communicators ---- */

static int hook_comm_rank(MPI_Comm comm)
{
  return comm_behind(comm)->rank;
}

static int hook_comm_size(MPI_Comm comm)
{
  return comm_behind(comm)->size;
}

/* Makes a communicator of the ranks of `comm` for which `is_in` holds. */
static struct comm part_of(struct rank *r, const struct comm *comm, int part,
                           bool (*is_in)(const struct comm *, int rank))
{
  struct comm made = {.number = comm->number, .part = part, .rank = MPI_UNDEFINED};
  made.member = rank_alloc(r, (size_t)comm->size * sizeof *made.member);
  for (int i = 0; i < comm->size; i++)
    if (is_in(comm, i)) {
      if (i == comm->rank)
        made.rank = made.size;
      made.member[made.size++] = comm->member[i];
    }
  return made;
}

static bool is_here(const struct comm *comm, int rank)
{
  return strcmp(node_of(comm->member[rank]), node_of(comm->member[comm->rank])) == 0;
}

static bool leads(const struct comm *comm, int rank)
{
  int first = 0;
  while (strcmp(node_of(comm->member[first]), node_of(comm->member[rank])) != 0)
    first++;
  return first == rank;
}

/* Returns whether the ranks of this node follow each other in the communicator. */
static int are_neighbours(const struct comm *comm, const struct comm *here)
{
  int first = 0;
  while (comm->member[first] != here->member[0])
    first++;
  for (int i = 1; i < here->size; i++)
    if (first + i >= comm->size || comm->member[first + i] != here->member[i])
      return false;
  return true;
}

/* Sends the messages by which SMPI finds out which ranks share a node. They are sent at the same
 * point as in SMPI, so that they take the same time. */
static void hook_init_smp(MPI_Comm handle)
{
  struct rank *r = leave();
  struct comm *comm = comm_behind(handle);
  struct nodes *nodes = rank_alloc(r, sizeof *nodes);
  nodes->here = part_of(r, comm, 2, is_here);
  nodes->leaders = part_of(r, comm, 1, leads);
  nodes->leader = rank_alloc(r, (size_t)comm->size * sizeof *nodes->leader);
  nodes->ranks = rank_alloc(r, (size_t)nodes->leaders.size * sizeof *nodes->ranks);
  int leader = nodes->here.member[0], ranks = nodes->here.size;
  algorithm_ring(r, &leader, nodes->leader, comm);
  if (nodes->here.rank == 0) {
    algorithm_ring(r, &ranks, nodes->ranks, &nodes->leaders);
    nodes->uniform = true;
    for (int i = 0; i < nodes->leaders.size; i++)
      nodes->uniform &= nodes->ranks[i] == nodes->ranks[0];
  }
  algorithm_spread(r, &nodes->uniform, &nodes->here);
  int blocked = are_neighbours(comm, &nodes->here);
  algorithm_all(r, &blocked, &nodes->blocked, comm);
  comm->nodes = nodes;
  enter_again(r);
}

/* Until the nodes are known, they count as uniform and as not blocked, as they do in SMPI. */
static const struct nodes *nodes_of(MPI_Comm handle)
{
  static const struct nodes unknown = {.uniform = true};
  const struct nodes *nodes = comm_behind(handle)->nodes;
  return nodes ? nodes : &unknown;
}

static MPI_Comm hook_leaders_comm(MPI_Comm handle)
{
  struct nodes *nodes = comm_behind(handle)->nodes;
  return nodes ? algorithm_comm(&nodes->leaders) : MPI_COMM_NULL;
}

static MPI_Comm hook_intra_comm(MPI_Comm handle)
{
  struct nodes *nodes = comm_behind(handle)->nodes;
  return nodes ? algorithm_comm(&nodes->here) : MPI_COMM_NULL;
}

static int *hook_leaders_map(MPI_Comm comm)
{
  return nodes_of(comm)->leader;
}

static int *hook_ranks_of_nodes(MPI_Comm comm)
{
  return nodes_of(comm)->ranks;
}

static int hook_is_uniform(MPI_Comm comm)
{
  return nodes_of(comm)->uniform;
}

static int hook_is_blocked(MPI_Comm comm)
{
  return nodes_of(comm)->blocked;
}

static int hook_is_smp_comm(MPI_Comm comm)
{
  return comm_behind(comm)->part != 0;
}

/* Returns the communicator, which stands for its group. Algorithms use the group only to find the
 * rank of an actor. Here, the number of an actor is its rank in the program. */
static MPI_Group hook_group(MPI_Comm comm)
{
  return (MPI_Group)(void *)comm;
}

static int hook_group_rank(MPI_Group group, long actor)
{
  const struct comm *comm = (const struct comm *)(const void *)group;
  for (int i = 0; i < comm->size; i++)
    if (comm->member[i] == actor)
      return i;
  return MPI_UNDEFINED;
}

/* ---- other objects ---- */

/* The simulator owns these datatypes and never frees one, because a rollback may lead back to a
 * moment at which the type is in use. An algorithm makes the same types in each call and on each
 * rank, so this table has them all. */
static GArray *indexed_types; /* MPI_Datatype */

static bool is_indexed(const struct typemap *map, const int *integers, int count, MPI_Datatype old)
{
  return map->integers == count && map->type[0] == old &&
         memcmp(map->integer, integers, (size_t)count * sizeof *integers) == 0;
}

static int find_indexed(const int *integers, int count, MPI_Datatype old, MPI_Datatype *made)
{
  if (!indexed_types)
    indexed_types = g_array_new(FALSE, FALSE, sizeof *made);
  for (guint i = 0; i < indexed_types->len; i++) {
    *made = g_array_index(indexed_types, MPI_Datatype, i);
    if (is_indexed(typemap_of(*made), integers, count, old))
      return MPI_SUCCESS;
  }
  int result = typemap_make(&(struct typemap_recipe){.combiner = MPI_COMBINER_INDEXED,
                                                     .integers = count,
                                                     .types = 1,
                                                     .integer = integers,
                                                     .type = &old},
                            made);
  if (result == MPI_SUCCESS)
    g_array_append_val(indexed_types, *made);
  return result;
}

static int indexed_type(int count, const int *lengths, const int *places, MPI_Datatype old,
                        MPI_Datatype *made)
{
  int *integers = g_new(int, 1 + 2 * (gsize)count);
  integers[0] = count;
  memcpy(integers + 1, lengths, (size_t)count * sizeof *lengths);
  memcpy(integers + 1 + count, places, (size_t)count * sizeof *places);
  int result = find_indexed(integers, 1 + 2 * count, old, made);
  g_free(integers);
  return result;
}

static int hook_create_indexed(int count, const int *lengths, const int *places, MPI_Datatype old,
                               MPI_Datatype *made)
{
  struct rank *r = rank_self();
  algorithm_leave(r);
  int result = indexed_type(count, lengths, places, old, made);
  algorithm_enter(r);
  return result;
}

/* Copies items. The copy is made within the rank and does not concern the protocol, so this hook
 * does not leave the algorithm.
 */
static int hook_copy_items(const void *from, int from_count, MPI_Datatype from_type, void *to,
                           int to_count, MPI_Datatype to_type)
{
  MPI_Count given = from_count * typemap_of(from_type)->size;
  if (from != to)
    elements_copy(from, from_count, from_type, to, to_count, to_type);
  return given > to_count * typemap_of(to_type)->size ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/* Applies an operation. If it is an operation of the program, SMPI calls the program's function. */
static void hook_apply(MPI_Op op, const void *before, void *into, const int *count,
                       MPI_Datatype type)
{
  if (op_apply(op, before, into, *count, type))
    return;
  struct rank *r = rank_self();
  r->mpi->algorithm = false;
  PMPI_Reduce_local(before, into, *count, type, op);
  r->mpi->algorithm = true;
}

static void hook_unref_type(MPI_Datatype type)
{
  (void)type;
}

/* Refuses one-sided communication of algorithms, because the layer does not carry it out by
 * messages. */
static void hook_window(MPI_Win window, void *base, MPI_Aint size, int unit, MPI_Info info,
                        MPI_Comm comm, bool allocated, bool dynamic)
{
  (void)window, (void)base, (void)size, (void)unit, (void)info;
  (void)comm, (void)allocated, (void)dynamic;
  layer_enter();
  die(DIE_INPUT, "the selected algorithm makes a window, expected one that sends messages");
}

/* ---- nonblocking collectives, which some algorithms begin and wait for ---- */

/* Describes the request of such a collective. It lies in the memory that SMPI has allocated for a
 * request of its own. */
struct group {
  const char *mark; /* group_mark, which a struct request does not have */
  int count;
  MPI_Request *part;
};

static const char group_mark[] = "group";

static struct group *group_of(MPI_Request request)
{
  struct group *group = (struct group *)(void *)request;
  return group && group->mark == group_mark ? group : NULL;
}

static void hook_request(MPI_Request request, const void *buffer, int count, MPI_Datatype type,
                         long from, long to, int tag, MPI_Comm comm, unsigned flags, MPI_Op op)
{
  (void)buffer, (void)count, (void)type, (void)from, (void)to, (void)tag, (void)comm, (void)flags;
  if (op != MPI_OP_NULL && op != MPI_REPLACE)
    die(DIE_BREACH, "an algorithm of SMPI begins a nonblocking reduction");
  *(struct group *)(void *)request = (struct group){.mark = group_mark};
}

static MPI_Request *copy_of(MPI_Request *const *vector, int *count)
{
  *count = (int)(vector[1] - vector[0]);
  MPI_Request *copy = malloc((size_t)*count * sizeof *copy + 1);
  memcpy(copy, vector[0], (size_t)*count * sizeof *copy);
  return copy;
}

static void hook_start_nbc(MPI_Request request, MPI_Request **vector)
{
  struct group *group = group_of(request);
  group->part = copy_of(vector, &group->count);
  hook_startall(group->count, group->part);
}

/* Hands the requests of the parts over to the algorithm, which frees them. */
static void *hook_nbc_requests(MPI_Request **vector, MPI_Request request)
{
  struct group *group = group_of(request);
  MPI_Request *part[2] = {group->part, group->part + group->count};
  vector[0] = copy_of(part, &group->count);
  vector[1] = vector[2] = vector[0] + group->count;
  group->count = 0;
  return vector;
}

static void wait_group(struct group *group)
{
  hook_waitall(group->count, group->part, MPI_STATUSES_IGNORE);
  for (int i = 0; i < group->count; i++)
    hook_unref(&group->part[i]);
  group->count = 0;
}

static void free_group(struct group *group)
{
  free(group->part);
  free(group);
}

static int hook_ireduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
                        int root, MPI_Comm comm, MPI_Request *request, int external)
{
  (void)external;
  struct rank *r = leave();
  own_reduce(r, out, in, count, type, op, root, comm_behind(comm));
  *request = MPI_REQUEST_NULL;
  enter_again(r);
  return MPI_SUCCESS;
}

void algorithms_begin(void)
{
#define HOOK(RESULT, RETURN, NAME, SYMBOL, PARAMETERS, ARGUMENTS) .NAME = hook_##NAME,
  static const struct smpi_hooks hooks = {.inside = inside, SMPI_HOOKS(HOOK)};
  if (!smpi_hooks_set(&hooks))
    die(DIE_INPUT, "librecline_smpi.so is not preloaded: collectives cannot be seen");
}
