/* Defines the calls of communicators. The program's handles are addresses of struct comm in the
 * arena; only MPI_COMM_WORLD is SMPI's. A communicator gets its number by the call that makes it
 * (communicators.h), so that a rollback and a replay give the same communicators.
 *
 * A communicator that all its members have freed is used again for the next communicator of the
 * same members in the same order. The number stays, and the count of calls goes on, so protocols,
 * logs and checkpoints see one communicator. In the call that makes the next communicator, the
 * members tell each other which communicators they have freed. These lists consist of data of the
 * program only, so a rollback restores them. */
#include "sim/mpi/layer/comm.h"

#include "include/mpi/mpi-4.h"
#include "sim/host/rank/communicators.h"
#include "sim/host/rank/node_memory.h"
#include "sim/host/storage/application.h"
#include "sim/mpi/calls/nonblocking.h"
#include "sim/mpi/collectives/collectives.h"
#include "sim/mpi/fortran/fortran.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/types/type_reuse.h"

#include <stdlib.h>
#include <string.h>

MPI_Comm smpi_process_comm_self(void)
{
  BEHIND(smpi_process_comm_self)
  LOOK_UP(comm_handle(&r->mpi->self), smpi_process_comm_self_next());
}

/* ---- looking up ---- */

static int tell(int *where, int what)
{
  *where = what;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Comm_rank, (comm, rank), tell(rank, comm_of(r, comm)->rank))
LOOK_UP_CALL(Comm_size, (comm, size), tell(size, comm_of(r, comm)->size))

/* SMPI's group of the world also contains the dispatcher. So groups are made from the members of
 * the communicator. */
static int group_of(struct rank *r, MPI_Comm handle, MPI_Group *group)
{
  const struct comm *comm = comm_of(r, handle);
  return group_of_ranks(comm->size, comm->member, group);
}

LOOK_UP_CALL(Comm_group, (comm, group), group_of(r, comm, group))

static bool is_member(const struct comm *comm, int rank)
{
  for (int i = 0; i < comm->size; i++)
    if (comm->member[i] == rank)
      return true;
  return false;
}

static int compare_groups(const struct comm *a, const struct comm *b)
{
  bool same_order = true;
  if (a->size != b->size)
    return MPI_UNEQUAL;
  for (int i = 0; i < a->size; i++) {
    same_order &= a->member[i] == b->member[i];
    if (!is_member(b, a->member[i]))
      return MPI_UNEQUAL;
  }
  return same_order ? MPI_CONGRUENT : MPI_SIMILAR;
}

static int compare(const struct comm *a, const struct comm *b, int *result)
{
  if (a == b) {
    *result = MPI_IDENT;
  } else if (!a->remote != !b->remote) {
    *result = MPI_UNEQUAL;
  } else {
    int local = compare_groups(a, b);
    int remote = a->remote ? compare_groups(a->remote, b->remote) : MPI_CONGRUENT;
    *result = local == MPI_CONGRUENT || remote == MPI_UNEQUAL ? remote : local;
  }
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Comm_compare, (a, b, result), compare(comm_of(r, a), comm_of(r, b), result))

LOOK_UP_CALL(Comm_test_inter, (comm, flag), tell(flag, comm_of(r, comm)->remote != NULL))

/* ---- making ---- */

enum { AGAIN_MAX = 12 };

/* Describes the contribution of one member when a communicator is made. */
struct share {
  int colour, key;
  /* numbers of communicators that the member has freed, followed by 0 */
  uint16_t again[AGAIN_MAX];
};

struct comm *comm_new(struct rank *r, int size)
{
  struct comm *comm = rank_alloc(r, sizeof *comm);
  comm->member = rank_alloc(r, (size_t)size * sizeof *comm->member);
  comm->size = size;
  return comm;
}

/* Returns the members with this rank's colour, sorted by key and then by their old rank. Members
 * that are among the first `*first` of the parent come before all others. `*first` becomes the
 * number of such members. */
static struct comm *chosen(struct rank *r, const struct comm *parent, const struct share *shares,
                           int *first)
{
  int colour = shares[parent->rank].colour, size = 0, before = 0;
  for (int i = 0; i < parent->size; i++)
    size += shares[i].colour == colour;
  struct comm *comm = comm_new(r, size);
  int *keys = rank_alloc(r, (size_t)size * sizeof *keys);
  int count = 0;
  for (int i = 0; i < parent->size; i++) {
    if (shares[i].colour != colour)
      continue;
    if (i < *first)
      before++;
    int place = count++, least = i < *first ? 0 : before;
    for (; place > least && keys[place - 1] > shares[i].key; place--) {
      keys[place] = keys[place - 1];
      comm->member[place] = comm->member[place - 1];
    }
    keys[place] = shares[i].key;
    comm->member[place] = parent->member[i];
  }
  rank_free(keys);
  for (int i = 0; i < size; i++)
    if (comm->member[i] == r->index)
      comm->rank = i;
  *first = before;
  return comm;
}

static void drop(struct comm *comm)
{
  rank_free(comm->member);
  rank_free(comm);
}

/* ---- using again ---- */

void comm_release(struct rank *r, struct comm *comm)
{
  comm->freed = true; /* requests may still name the communicator */
  if (layer.repairs)  /* the communicator may be revoked */
    return;
  if (comm->remote) {
    if (comm->requests == 0)
      comm_release(r, comm->both);
    return;
  }
  comm->next = r->mpi->freed;
  r->mpi->freed = comm;
}

/* Offers communicators that this rank has freed. Communicators of the same parent and colour come
 * first. */
static void offer_again(const struct rank *r, const struct comm *parent, struct share *own)
{
  int count = 0;
  for (int other = 0; other < 2; other++)
    for (const struct comm *each = r->mpi->freed; each && count < AGAIN_MAX; each = each->next)
      if (each->requests == 0 && each->size <= parent->size &&
          other == (each->parent != parent->number || each->colour != own->colour))
        own->again[count++] = (uint16_t)each->number;
}

static bool is_offered(const struct share *share, int number)
{
  for (int i = 0; i < AGAIN_MAX; i++)
    if (share->again[i] == number)
      return true;
  return false;
}

static bool all_offer(const struct comm *parent, const struct share *shares, int colour, int number)
{
  for (int i = 0; i < parent->size; i++)
    if (shares[i].colour == colour && !is_offered(&shares[i], number))
      return false;
  return true;
}

/* Returns a freed communicator with the same members that all members offer, and takes it out of
 * the list of freed communicators. If there are several, takes the one with the least number.
 * Returns NULL if there is none. */
static struct comm *take_again(struct rank *r, const struct comm *parent,
                               const struct share *shares, const struct comm *comm)
{
  struct comm **place = NULL, *again;
  int colour = shares[parent->rank].colour;
  for (struct comm **each = &r->mpi->freed; *each; each = &(*each)->next)
    if ((*each)->size == comm->size && (!place || (*each)->number < (*place)->number) &&
        all_offer(parent, shares, colour, (*each)->number) &&
        memcmp((*each)->member, comm->member, (size_t)comm->size * sizeof *comm->member) == 0)
      place = each;
  if (!place)
    return NULL;
  again = *place;
  *place = again->next;
  rank_free(again->name);
  *again = (struct comm){.number = again->number,
                         .size = again->size,
                         .rank = again->rank,
                         .member = again->member,
                         .calls = again->calls,
                         .duplicates = again->duplicates,
                         .persistent = again->persistent,
                         .channels = again->channels,
                         .groups = again->groups,
                         .nodes = again->nodes};
  return again;
}

/* Gives a communicator its number, or returns a communicator that is used again instead. `call` is
 * the number of the call that makes it. */
static struct comm *numbered(struct rank *r, const struct comm *parent, int call,
                             const struct share *shares, struct comm *comm)
{
  struct comm *again = take_again(r, parent, shares, comm);
  if (again) {
    drop(comm);
    comm = again;
  } else {
    comm->number = communicator_number(parent, call, shares[parent->rank].colour, comm);
  }
  comm->parent = parent->number;
  comm->colour = shares[parent->rank].colour;
  return comm;
}

/* Returns the communicator over which a split of `comm` exchanges data. */
static struct comm *all_of(struct comm *comm)
{
  return comm->remote ? comm->both : comm;
}

/* Returns the communicator that the members have made of `comm`, from their contributions to that
 * call. */
static MPI_Comm made_of(struct rank *r, struct comm *comm, int call, const struct share *shares)
{
  const struct comm *parent = all_of(comm);
  int first = comm->remote ? comm_first_group(comm) : 0;
  struct comm *made = chosen(r, parent, shares, &first);
  if (comm->remote && (first == 0 || first == made->size)) {
    drop(made);
    return MPI_COMM_NULL;
  }
  made = numbered(r, parent, call, shares, made);
  made->errors = comm->errors;
  if (parent->size > 1 && !layer.repairs)
    host_member(r, made->number);
  application_made(r, made, shares[parent->rank].key);
  return comm_handle(comm->remote ? comm_between(r, made, first) : made);
}

/* At a restart, tells the communicator that the same call had made. */
static int made_again(struct rank *r, const struct comm *parent, int colour, int key,
                      MPI_Comm *made)
{
  *made = colour == MPI_UNDEFINED ? MPI_COMM_NULL
                                  : comm_handle(application_again(r, parent, colour, key));
  return MPI_SUCCESS;
}

int comm_split(struct rank *r, struct comm *comm, int colour, int key, MPI_Comm *made)
{
  struct comm *parent = all_of(comm);
  if (application_restarts(r))
    return made_again(r, parent, colour, key, made);
  struct share *shares = rank_alloc(r, (size_t)parent->size * sizeof *shares);
  struct share *own = rank_alloc(r, sizeof *own);
  *own = (struct share){.colour = colour, .key = key};
  offer_again(r, parent, own);
  r->mpi->makes_comm = colour != MPI_UNDEFINED;
  int error =
      collective_allgather(r, own, sizeof *own, MPI_BYTE, shares, sizeof *own, MPI_BYTE, parent);
  *made = MPI_COMM_NULL;
  if (!error && colour != MPI_UNDEFINED)
    *made = made_of(r, comm, parent->calls, shares);
  r->mpi->makes_comm = false;
  rank_free(own);
  rank_free(shares);
  return comm_error(r, comm, error);
}

WRAP_CALL(Comm_split, (comm, colour, key, made), comm_split(r, comm_of(r, comm), colour, key, made))

static int release(struct rank *r, MPI_Comm *handle)
{
  struct comm *comm = comm_of(r, *handle);
  if (comm == &r->mpi->world || comm == &r->mpi->self)
    return MPI_ERR_COMM;
  comm_delete_attributes(r, *handle);
  comm_release(r, comm);
  *handle = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

/* Duplicates a communicator, with its topology and with the attributes that are to be copied. */
static int duplicate(struct rank *r, MPI_Comm handle, MPI_Comm *made)
{
  struct comm *comm = comm_of(r, handle);
  int error = comm_split(r, comm, 0, comm->rank, made);
  if (error)
    return error;
  comm_of(r, *made)->topology = comm->topology;
  int result = comm_copy_attributes(r, handle, *made);
  if (result == MPI_SUCCESS)
    return MPI_SUCCESS;
  release(r, made);
  return comm_error(r, comm, result);
}

WRAP_CALL(Comm_dup, (comm, made), duplicate(r, comm, made))
WRAP_CALL(Comm_dup_with_info, (comm, info, made), duplicate(r, comm, made))

/* Holds what completes MPI_Comm_idup when all members have begun it. */
struct duplication {
  struct comm *comm;
  struct share *shares;
  int call;
  MPI_Comm *made;
  int *fortran; /* the place for Fortran's handle of the communicator, or NULL */
};

static void made_duplicate(struct rank *r, void *rest)
{
  const struct duplication *duplication = rest;
  struct comm *comm = duplication->comm;
  host_ready(r); /* the rank may have crashed while it was charged for received messages */
  *duplication->made = made_of(r, comm, duplication->call, duplication->shares + 1);
  comm_of(r, *duplication->made)->topology = comm->topology;
  rank_free(duplication->shares);
  comm_copy_attributes(r, comm == &r->mpi->world ? MPI_COMM_WORLD : comm_handle(comm),
                       *duplication->made);
  if (duplication->fortran) {
    fortran_put_comm(r, duplication->fortran, MPI_COMM_NULL, *duplication->made);
    rank_free(duplication->made);
  }
}

/* Begins MPI_Comm_idup. Freed communicators are not used again here, because an offered
 * communicator would have to stay until all members have decided. Calls of MPI_Comm_idup have
 * numbers of their own, from -1 down. */
static int begin_duplicate(struct rank *r, struct comm *comm, MPI_Comm *made, int *fortran,
                           MPI_Request *request)
{
  struct comm *parent = all_of(comm);
  if (application_restarts(r)) {
    *request = handle_of(p2p_whole(r, 0));
    int error = made_again(r, parent, 0, parent->rank, made);
    if (fortran) {
      fortran_put_comm(r, fortran, MPI_COMM_NULL, *made);
      rank_free(made);
    }
    return error;
  }
  struct share *own = rank_alloc(r, ((size_t)parent->size + 1) * sizeof *own), *all = own + 1;
  struct duplication *duplication = rank_alloc(r, sizeof *duplication);
  *duplication = (struct duplication){comm, own, -1 - parent->duplicates++, made, fortran};
  own->key = parent->rank;
  struct request *whole = nonblocking_allgather(r, own, sizeof *own, MPI_BYTE,
                                                EQUAL(all, sizeof *own, MPI_BYTE), parent, NULL);
  p2p_conclude_with(whole, made_duplicate, duplication);
  return began(whole, request);
}

WRAP_CALL(Comm_idup, (comm, made, request),
          begin_duplicate(r, comm_of(r, comm), made, NULL, request))
NEW_CALL(Comm_idup_with_info, (comm, info, made, request),
         begin_duplicate(r, comm_of(r, comm), made, NULL, request))

/* Fortran's handle is an integer, which is made together with the communicator. Until then, C's
 * handle is kept in memory of its own. */
static int begin_duplicate_in_fortran(struct rank *r, const int *comm, int *made, int *request)
{
  MPI_Comm *handle = rank_alloc(r, sizeof *handle);
  MPI_Request handle_of_request;
  int error =
      begin_duplicate(r, comm_of(r, fortran_get_comm(r, comm)), handle, made, &handle_of_request);
  fortran_put_request(r, request, MPI_REQUEST_NULL, handle_of_request);
  return error;
}

static int idup_in_fortran(const int *comm, int *made, int *request)
{
  WRAP(begin_duplicate_in_fortran(r, comm, made, request), fortran_lacks("MPI_Comm_idup"));
}

void mpi_comm_idup_(int *comm, int *made, int *request, int *error)
{
  *error = idup_in_fortran(comm, made, request);
}

void mpi_comm_idup_with_info_(int *comm, int *info, int *made, int *request, int *error)
{
  (void)info; /* hints are not kept */
  *error = idup_in_fortran(comm, made, request);
}

/* Returns whether ranks are to be split by what shares memory (MPI 4.0, 7.4.2). No other hardware
 * is known. So a guided split by another resource makes no communicator, and neither does an
 * unguided split. */
static bool splits_by_memory(int type, MPI_Info info)
{
  char resource[32] = "";
  int known = 0;
  if (type == MPI_COMM_TYPE_HW_GUIDED && info != MPI_INFO_NULL)
    MPI_Info_get(info, (char *)(uintptr_t) "mpi_hw_resource_type", sizeof resource - 1, resource,
                 &known);
  return type == MPI_COMM_TYPE_SHARED || (known && !strcmp(resource, "mpi_shared_memory"));
}

/* Splits by nodes. The number of a node's first rank stands for the node. */
static int split_type(struct rank *r, struct comm *parent, int type, int key, MPI_Info info,
                      MPI_Comm *made)
{
  int colour = 0;
  while (!node_is_shared(colour, r->index))
    colour++;
  if (!splits_by_memory(type, info))
    colour = MPI_UNDEFINED;
  return comm_split(r, parent, colour, key, made);
}

WRAP_CALL(Comm_split_type, (comm, type, key, info, made),
          split_type(r, comm_of(r, comm), type, key, info, made))

/* Makes a communicator of a group, in the group's order. Members of disjoint groups make different
 * communicators, and a rank that is not in its own group takes part without a colour. */
static int create(struct rank *r, struct comm *parent, MPI_Group group, MPI_Comm *made)
{
  int size, key = MPI_UNDEFINED;
  PMPI_Group_size(group, &size);
  for (int i = 0; i < size; i++)
    if (rank_in_group(group, i) == r->index)
      key = i;
  int colour = parent->remote ? 0 : rank_in_group(group, 0);
  return comm_split(r, parent, key == MPI_UNDEFINED ? MPI_UNDEFINED : colour, key, made);
}

struct comm *comm_of_members(struct rank *r, struct comm *parent, int *member, int size)
{
  struct comm *members = rank_alloc(r, sizeof *members), *known = parent->groups;
  *members = (struct comm){.size = size, .rank = MPI_UNDEFINED, .member = member};
  for (int i = 0; i < size; i++)
    if (member[i] == r->index)
      members->rank = i;
  while (known &&
         (known->size != size || memcmp(known->member, member, (size_t)size * sizeof *member) != 0))
    known = known->next;
  if (known || members->rank == MPI_UNDEFINED) {
    drop(members);
    return known;
  }
  members->number = communicator_number(parent, -1, COLOUR_GROUP, members);
  members->errors = parent->errors;
  members->next = parent->groups;
  parent->groups = members;
  if (size > 1 && !layer.repairs && !application_restarts(r))
    host_member(r, members->number);
  return members;
}

static int *members_of(struct rank *r, MPI_Group group, int *size)
{
  PMPI_Group_size(group, size);
  int *member = rank_alloc(r, (size_t)*size * sizeof *member);
  ranks_in_group(group, *size, member);
  return member;
}

/* Makes a communicator of a group in a call of its members only. */
static int create_group(struct rank *r, struct comm *parent, MPI_Group group, MPI_Comm *made)
{
  int size, *member = members_of(r, group, &size);
  struct comm *members = comm_of_members(r, parent, member, size);
  *made = MPI_COMM_NULL;
  return members ? comm_split(r, members, 0, members->rank, made) : MPI_SUCCESS;
}

WRAP_CALL(Comm_create_group, (comm, group, tag, made),
          create_group(r, comm_within(r, comm), group, made))

/* Makes a communicator of a session's group. The parent of the communicator is MPI_COMM_WORLD, but
 * it gets an error handler of its own. */
static int create_from_group(struct rank *r, MPI_Group group, MPI_Errhandler errors, MPI_Comm *made)
{
  int error = create_group(r, &r->mpi->world, group, made);
  if (!error && *made != MPI_COMM_NULL)
    comm_of(r, *made)->errors = errors == MPI_ERRORS_ARE_FATAL ? NULL : errors;
  return error;
}

NEW_CALL(Comm_create_from_group, (group, tag, info, errors, made),
         create_from_group(r, group, errors, made))
WRAP_CALL(Comm_create, (comm, group, made), create(r, comm_of(r, comm), group, made))

/* ---- letting go ---- */

WRAP_CALL(Comm_free, (comm), release(r, comm))
WRAP_CALL(Comm_disconnect, (comm), release(r, comm))

/* Freed operations and freed handles of infos are kept, as types and groups are (type_reuse.h), but
 * are not used again.
 */
LOOK_UP_CALL(Op_free, (op), (*op = MPI_OP_NULL, (void)r, MPI_SUCCESS))
LOOK_UP_CALL(Group_free, (group), (*group = MPI_GROUP_NULL, (void)r, MPI_SUCCESS))
LOOK_UP_CALL(Info_free, (info), (*info = MPI_INFO_NULL, (void)r, MPI_SUCCESS))

/* No process of a run was spawned by other processes, so there is no parent. */
static int get_parent(MPI_Comm *parent)
{
  *parent = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Comm_get_parent, (parent), ((void)r, get_parent(parent)))

/* ---- names and hints ---- */

/* The hints are not kept. */
LOOK_UP_CALL(Comm_set_info, (comm, info), MPI_SUCCESS)
LOOK_UP_CALL(Comm_get_info, (comm, info), PMPI_Info_create(info))

static int set_name(struct rank *r, struct comm *comm, const char *name)
{
  char *kept = rank_alloc(r, MPI_MAX_OBJECT_NAME);
  g_strlcpy(kept, name, MPI_MAX_OBJECT_NAME);
  rank_free(comm->name);
  comm->name = kept;
  return MPI_SUCCESS;
}

static const char *name_of(const struct rank *r, const struct comm *comm)
{
  if (comm->name)
    return comm->name;
  if (comm == &r->mpi->world)
    return "MPI_COMM_WORLD";
  return comm == &r->mpi->self ? "MPI_COMM_SELF" : "";
}

static int get_name(struct rank *r, MPI_Comm comm, char *name, int *length)
{
  *length = (int)g_strlcpy(name, name_of(r, comm_of(r, comm)), MPI_MAX_OBJECT_NAME);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Comm_set_name, (comm, name), set_name(r, comm_of(r, comm), name))
LOOK_UP_CALL(Comm_get_name, (comm, name, length), get_name(r, comm, name, length))
