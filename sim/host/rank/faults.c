#include "sim/host/rank/faults.h"

#include "sim/host/rank/communicators.h"
#include "sim/net/transport.h"

struct faults {
  /* int: failed ranks of the program, in the order in which this rank has heard of the failures */
  GArray *failed;
  bool *has_failed;    /* by rank of the program: whether it is in `failed` */
  GHashTable *revoked; /* set of the numbers of revoked communicators */
};

const char *fault_text(int error)
{
  switch (error) {
  case FAULT_PROC_FAILED:
    return "MPIX_ERR_PROC_FAILED: a process has failed";
  case FAULT_PROC_FAILED_PENDING:
    return "MPIX_ERR_PROC_FAILED_PENDING: a process has failed that could have been the sender";
  case FAULT_REVOKED:
    return "MPIX_ERR_REVOKED: the communicator was revoked";
  default:
    return NULL;
  }
}

static struct faults *faults_to_edit(struct rank *r)
{
  if (!r->faults) {
    r->faults = g_new0(struct faults, 1);
    r->faults->failed = g_array_new(FALSE, FALSE, sizeof(int));
    r->faults->has_failed = g_new0(bool, (gsize)layer.ranks);
    r->faults->revoked = g_hash_table_new(NULL, NULL);
  }
  return r->faults;
}

/* ---- revocations ---- */

enum { REVOKE_BYTES = 16 };

static void tell(struct rank *r, int peer, int comm)
{
  if (r->dead || peer == r->index || faults_has_failed(r, peer))
    return;
  struct message *message = message_new(MESSAGE_REVOKE, r->index, peer);
  message->comm = comm;
  transport_send(r->transport, message, REVOKE_BYTES, false);
}

/* Tells the next living member of the revocation. Each member does that, so all members hear of the
 * revocation, however many fail. */
static void tell_next(struct rank *r, const struct members *members, int place, int comm)
{
  int next = (place + 1) % members->size;
  while (next != place && faults_has_failed(r, members->member[next]))
    next = (next + 1) % members->size;
  tell(r, members->member[next], comm);
}

static int place_in(const struct members *members, int rank)
{
  int place = 0;
  while (members->member[place] != rank)
    place++;
  return place;
}

void faults_revoke(struct rank *r, int comm)
{
  const struct members *members = communicator_members(comm);
  if (!g_hash_table_add(faults_to_edit(r)->revoked, GINT_TO_POINTER(comm)) || !members)
    return;
  int size = members->size, place = place_in(members, r->index);
  for (int distance = 1; distance < size; distance *= 2) {
    int behind = (place + distance) % size, before = (place - distance + size) % size;
    tell(r, members->member[behind], comm);
    if (before != behind)
      tell(r, members->member[before], comm);
  }
  if (size > 1 && faults_has_failed(r, members->member[(place + 1) % size]))
    tell_next(r, members, place, comm);
}

bool faults_is_revoked(const struct rank *r, int comm)
{
  return r->faults && g_hash_table_contains(r->faults->revoked, GINT_TO_POINTER(comm));
}

/* ---- failures ---- */

static int by_number(gconstpointer a, gconstpointer b)
{
  return GPOINTER_TO_INT(a) - GPOINTER_TO_INT(b);
}

void faults_note_failure(struct rank *r, int dead)
{
  struct faults *faults = faults_to_edit(r);
  if (faults->has_failed[dead])
    return;
  faults->has_failed[dead] = true;
  g_array_append_val(faults->failed, dead);
  g_autoptr(GList) revoked = g_list_sort(g_hash_table_get_keys(faults->revoked), by_number);
  for (const GList *item = revoked; item; item = item->next) {
    int comm = GPOINTER_TO_INT(item->data);
    const struct members *members = communicator_members(comm);
    if (members && communicator_has(NULL, comm, dead))
      tell_next(r, members, place_in(members, r->index), comm);
  }
}

bool faults_has_failed(const struct rank *r, int rank)
{
  return r->faults && rank >= 0 && r->faults->has_failed[rank];
}

int faults_failed(const struct rank *r, const struct comm *comm, int *failed)
{
  int count = 0;
  for (guint i = 0; r->faults && i < r->faults->failed->len; i++) {
    int rank = g_array_index(r->faults->failed, int, i);
    if (!communicator_has(NULL, comm->number, rank))
      continue;
    if (failed)
      failed[count] = rank;
    count++;
  }
  return count;
}

/* ---- operations that failures end ---- */

int faults_of_collective(const struct rank *r, const struct comm *comm)
{
  if (!r->faults)
    return FAULT_NONE;
  if (faults_is_revoked(r, comm->number))
    return FAULT_REVOKED;
  return faults_failed(r, comm, NULL) > 0 ? FAULT_PROC_FAILED : FAULT_NONE;
}

int faults_of_peer(const struct rank *r, const struct comm *comm, int peer)
{
  if (!r->faults)
    return FAULT_NONE;
  if (faults_is_revoked(r, comm->number))
    return FAULT_REVOKED;
  if (peer != RCL_ANY)
    return faults_has_failed(r, peer) ? FAULT_PROC_FAILED : FAULT_NONE;
  return faults_failed(r, comm, NULL) > comm->acknowledged ? FAULT_PROC_FAILED_PENDING : FAULT_NONE;
}

/* A message within a collective call ends with that call. Otherwise the rank could wait for a
 * living peer that has given up the call because of a failure. */
int faults_of_request(const struct rank *r, const struct request *request)
{
  if (!r->faults || request->kind == REQUEST_WHOLE || request->kind == REQUEST_GENERAL)
    return FAULT_NONE;
  if (request->bypass)
    return faults_of_collective(r, r->mpi->call.site.comm);
  return request->collective ? faults_of_collective(r, request->comm)
                             : faults_of_peer(r, request->comm, request->peer);
}
