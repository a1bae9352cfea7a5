/* Defines the calls of one-sided communication in which both sides take part (window.h). */
#include "sim/host/rank/node_memory.h"
#include "sim/host/step/matching.h"
#include "sim/mpi/calls/windows.h"
#include "sim/mpi/collectives/collectives.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/p2p/requests.h"
#include "sim/mpi/windows/window.h"
#include "sim/mpi/windows/window_passive.h"

#include <string.h>

/* ---- making ---- */

int window_create(struct rank *r, void *base, MPI_Aint size, int unit, int flavor, MPI_Info info,
                  MPI_Comm comm, MPI_Win *made)
{
  MPI_Comm own;
  struct comm *parent = comm_within(r, comm);
  *made = MPI_WIN_NULL;
  if (size < 0 || unit < 1)
    return comm_error(r, parent, size < 0 ? MPI_ERR_SIZE : MPI_ERR_DISP);
  int error = comm_split(r, parent, 0, parent->rank, &own);
  if (error)
    return error;
  struct window *window = rank_alloc(r, sizeof *window);
  *window = (struct window){.comm = comm_of(r, own),
                            .base = base,
                            .size = size,
                            .unit = unit,
                            .flavor = flavor,
                            .model = MPI_WIN_UNIFIED,
                            .info = MPI_INFO_NULL};
  size_t targets = (size_t)window->comm->size;
  window->first = rank_alloc(r, targets * sizeof(struct access *));
  window->last = rank_alloc(r, targets * sizeof(struct access *));
  if (info != MPI_INFO_NULL)
    MPI_Info_dup(info, &window->info);
  window->comm->window = window;
  window_passive_begin(r, window);
  *made = window_handle(window);
  return MPI_SUCCESS;
}

WRAP_CALL(Win_create, (base, size, unit, info, comm, window),
          window_create(r, base, size, unit, MPI_WIN_FLAVOR_CREATE, info, comm, window))

int window_allocate(struct rank *r, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                    void *where, MPI_Win *made)
{
  void *base = rank_alloc(r, (size_t)MAX(size, 1));
  int error = window_create(r, base, size, unit, MPI_WIN_FLAVOR_ALLOCATE, info, comm, made);
  memcpy(where, &base, sizeof base);
  return error;
}

WRAP_CALL(Win_allocate, (size, unit, info, comm, where, window),
          window_allocate(r, size, unit, info, comm, where, window))

WRAP_CALL(Win_create_dynamic, (info, comm, window),
          window_create(r, NULL, 0, 1, MPI_WIN_FLAVOR_DYNAMIC, info, comm, window))

static int attach(struct rank *r, struct window *window, void *base, MPI_Aint size)
{
  bool dynamic = window->flavor == MPI_WIN_FLAVOR_DYNAMIC;
  int error = !dynamic                               ? MPI_ERR_RMA_FLAVOR
              : size < 0                             ? MPI_ERR_SIZE
              : window_attach(r, window, base, size) ? MPI_SUCCESS
                                                     : MPI_ERR_RMA_ATTACH;
  return comm_error(r, window->comm, error);
}

LOOK_UP_CALL(Win_attach, (window, base, size), attach(r, window_of(r, window), base, size))

static int detach(struct rank *r, struct window *window, const void *base)
{
  bool detached = window_detach(window, base);
  return comm_error(r, window->comm, detached ? MPI_SUCCESS : MPI_ERR_RMA_ATTACH);
}

LOOK_UP_CALL(Win_detach, (window, base), detach(r, window_of(r, window), base))

/* Frees a window, after the epochs of all members. */
static int release(struct rank *r, MPI_Win *handle)
{
  struct window *window = window_of(r, *handle);
  struct comm *comm = window->comm;
  int *all = rank_alloc(r, ((size_t)comm->size + 1) * sizeof *all);
  int error = collective_allgather(r, &all[comm->size], 1, MPI_INT, all, 1, MPI_INT, comm);
  rank_free(all);
  window_passive_end(r, window);
  window_delete_attributes(r, window);
  if (window->sharing)
    sharing_end(r, window->sharing);
  else if (window->flavor == MPI_WIN_FLAVOR_ALLOCATE || window->flavor == MPI_WIN_FLAVOR_SHARED)
    rank_free(window->base);
  window->freed = true;
  comm_release(r, comm);
  *handle = MPI_WIN_NULL;
  return comm_error(r, comm, error);
}

WRAP_CALL(Win_free, (window), release(r, window))

/* ---- accesses ---- */

#define ITEMS(AT, COUNT, TYPE)                                                                     \
  (struct items)                                                                                   \
  {                                                                                                \
    (void *)(uintptr_t)(AT), (COUNT), (TYPE)                                                       \
  }
static const struct items NOTHING = {.count = 0};

static int begin_access(struct rank *r, MPI_Win handle, enum access_kind kind, int target,
                        MPI_Aint at, struct items there, MPI_Op op, struct items given,
                        struct items compared, struct items fetched)
{
  struct window *window = window_of(r, handle);
  int error = window_access(r, window, kind, target, at, there.count, there.type, op, given,
                            compared, fetched);
  return comm_error(r, window->comm, error);
}

WRAP_CALL(Put, (from, count, type, target, at, target_count, target_type, window),
          begin_access(r, window, ACCESS_PUTS, target, at, ITEMS(NULL, target_count, target_type),
                       MPI_OP_NULL, ITEMS(from, count, type), NOTHING, NOTHING))
WRAP_CALL(Get, (to, count, type, target, at, target_count, target_type, window),
          begin_access(r, window, ACCESS_GETS, target, at, ITEMS(NULL, target_count, target_type),
                       MPI_OP_NULL, NOTHING, NOTHING, ITEMS(to, count, type)))
WRAP_CALL(Accumulate, (from, count, type, target, at, target_count, target_type, op, window),
          begin_access(r, window, ACCESS_COMBINES, target, at,
                       ITEMS(NULL, target_count, target_type), op, ITEMS(from, count, type),
                       NOTHING, NOTHING))

/* If the operation is MPI_NO_OP, the operand has no meaning. */
WRAP_CALL(Get_accumulate,
          (from, count, type, to, to_count, to_type, target, at, target_count, target_type, op,
           window),
          begin_access(r, window, ACCESS_FETCHES, target, at,
                       ITEMS(NULL, target_count, target_type), op,
                       op == MPI_NO_OP ? NOTHING : ITEMS(from, count, type), NOTHING,
                       ITEMS(to, to_count, to_type)))
WRAP_CALL(Fetch_and_op, (from, to, type, target, at, op, window),
          begin_access(r, window, ACCESS_FETCHES, target, at, ITEMS(NULL, 1, type), op,
                       op == MPI_NO_OP ? NOTHING : ITEMS(from, 1, type), NOTHING,
                       ITEMS(to, 1, type)))
WRAP_CALL(Compare_and_swap, (from, compared, to, type, target, at, window),
          begin_access(r, window, ACCESS_SWAPS, target, at, ITEMS(NULL, 1, type), MPI_OP_NULL,
                       ITEMS(from, 1, type), ITEMS(compared, 1, type), ITEMS(to, 1, type)))

/* ---- the same with a request: sent at once, together with kept accesses to that target ---- */

static int begin_request(struct rank *r, MPI_Win handle, enum access_kind kind, int target,
                         MPI_Aint at, struct items there, MPI_Op op, struct items given,
                         struct items fetched, MPI_Request *request)
{
  struct window *window = window_of(r, handle);
  *request = MPI_REQUEST_NULL;
  int error = window_has_epoch(window, target) ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
  if (!error)
    error = window_access(r, window, kind, target, at, there.count, there.type, op, given, NOTHING,
                          fetched);
  return error ? comm_error(r, window->comm, error)
               : began(window_send(r, window, target), request);
}

WRAP_CALL(Rput, (from, count, type, target, at, target_count, target_type, window, request),
          begin_request(r, window, ACCESS_PUTS, target, at, ITEMS(NULL, target_count, target_type),
                        MPI_OP_NULL, ITEMS(from, count, type), NOTHING, request))
WRAP_CALL(Rget, (to, count, type, target, at, target_count, target_type, window, request),
          begin_request(r, window, ACCESS_GETS, target, at, ITEMS(NULL, target_count, target_type),
                        MPI_OP_NULL, NOTHING, ITEMS(to, count, type), request))
WRAP_CALL(Raccumulate,
          (from, count, type, target, at, target_count, target_type, op, window, request),
          begin_request(r, window, ACCESS_COMBINES, target, at,
                        ITEMS(NULL, target_count, target_type), op, ITEMS(from, count, type),
                        NOTHING, request))
WRAP_CALL(Rget_accumulate,
          (from, count, type, to, to_count, to_type, target, at, target_count, target_type, op,
           window, request),
          begin_request(r, window, ACCESS_FETCHES, target, at,
                        ITEMS(NULL, target_count, target_type), op,
                        op == MPI_NO_OP ? NOTHING : ITEMS(from, count, type),
                        ITEMS(to, to_count, to_type), request))

/* ---- messages ---- */

/* Holds the messages that are exchanged with one other rank. It lies in the arena. */
struct exchange {
  int out_bytes, in_bytes, out_answer_bytes, in_answer_bytes;
  char *out, *in, *out_answer, *in_answer;
  struct request *sent, *received, *answer_sent, *answer_received;
};

static struct request *put(struct rank *r, const void *from, int bytes, int to, enum window_tag tag,
                           struct comm *comm)
{
  return bytes > 0 ? p2p_send(r, from, bytes, MPI_BYTE, to, (int)tag, comm, 0) : NULL;
}

static struct request *take(struct rank *r, void *to, int bytes, int from, enum window_tag tag,
                            struct comm *comm)
{
  return bytes > 0 ? p2p_receive(r, to, bytes, MPI_BYTE, from, (int)tag, comm, 0) : NULL;
}

static int finish(struct rank *r, struct request **request)
{
  int error = *request ? window_finish(r, *request, MPI_STATUS_IGNORE) : MPI_SUCCESS;
  *request = NULL;
  return error;
}

/* Begins the origin's part: the origin sends its accesses to the target, and awaits the data that
 * they fetch. */
static void begin_origin(struct rank *r, struct window *window, int target, struct exchange *with)
{
  with->out_bytes = window_bytes(window, target);
  with->in_answer_bytes = window_answer_bytes(window, target);
  with->out = window_pack(r, window, target, with->out_bytes, 0);
  with->in_answer = rank_alloc(r, (size_t)with->in_answer_bytes);
  with->answer_received =
      take(r, with->in_answer, with->in_answer_bytes, target, TAG_ANSWER, window->comm);
  with->sent = put(r, with->out, with->out_bytes, target, TAG_ACCESSES, window->comm);
}

static int end_origin(struct rank *r, struct window *window, int target, struct exchange *with)
{
  int error = finish(r, &with->sent), answered = finish(r, &with->answer_received);
  accesses_finish(window_take(window, target), with->in_answer);
  rank_free(with->out);
  rank_free(with->in_answer);
  return error ? error : answered;
}

/* Begins the target's part: the target receives accesses. answer() carries them out. */
static void begin_target(struct rank *r, struct window *window, int origin, struct exchange *with)
{
  with->in = rank_alloc(r, (size_t)with->in_bytes);
  with->received = take(r, with->in, with->in_bytes, origin, TAG_ACCESSES, window->comm);
}

static int answer(struct rank *r, struct window *window, int origin, struct exchange *with)
{
  int error = finish(r, &with->received);
  if (error)
    return error;
  with->out_answer_bytes = window_answer_of(with->in, with->in_bytes);
  with->out_answer = rank_alloc(r, (size_t)with->out_answer_bytes);
  window_carry_out(r, window, with->in, with->in_bytes, with->out_answer);
  with->answer_sent =
      put(r, with->out_answer, with->out_answer_bytes, origin, TAG_ANSWER, window->comm);
  return MPI_SUCCESS;
}

static int end_target(struct rank *r, struct exchange *with)
{
  int error = finish(r, &with->answer_sent);
  rank_free(with->in);
  rank_free(with->out_answer);
  return error;
}

/* ---- fences ---- */

/* Tells every rank how many bytes it will get from each other rank. Then the accesses are sent.
 * They are carried out in the order of the ranks of their origins. */
static int fence(struct rank *r, struct window *window)
{
  struct comm *comm = window->comm;
  int size = comm->size, me = comm->rank;
  int *bytes = rank_alloc(r, 2 * (size_t)size * sizeof *bytes), *in_bytes = bytes + size;
  for (int i = 0; i < size; i++)
    bytes[i] = i == me ? 0 : window_bytes(window, i);
  int error = collective_alltoall(r, EQUAL(bytes, 1, MPI_INT), EQUAL(in_bytes, 1, MPI_INT), comm);
  struct exchange *with = rank_alloc(r, (size_t)size * sizeof *with);
  for (int i = 0; i < size && !error; i++)
    if (i != me) {
      with[i].in_bytes = in_bytes[i];
      begin_target(r, window, i, &with[i]);
      begin_origin(r, window, i, &with[i]);
    }
  for (int i = 0; i < size && !error; i++)
    if (i == me)
      window_access_own(r, window);
    else
      error = answer(r, window, i, &with[i]);
  for (int i = 0; i < size && !error; i++)
    if (i != me)
      error = end_origin(r, window, i, &with[i]);
  for (int i = 0; i < size && !error; i++)
    if (i != me)
      error = end_target(r, &with[i]);
  rank_free(with);
  rank_free(bytes);
  return comm_error(r, comm, error);
}

WRAP_CALL(Win_fence, (assertions, window), fence(r, window_of(r, window)))

/* ---- post, start, complete, wait ---- */

static int *ranks_of(struct rank *r, const struct comm *comm, MPI_Group group, int *count)
{
  PMPI_Group_size(group, count);
  int *ranks = rank_alloc(r, (size_t)(*count + 1) * sizeof *ranks);
  ranks_in_group(group, *count, ranks);
  for (int i = 0; i < *count; i++) {
    ranks[i] = request_source(comm, ranks[i]);
    if (ranks[i] == comm->size)
      die(DIE_INPUT, "rank %d: the group is not one of its window", r->index);
  }
  return ranks;
}

static int post(struct rank *r, struct window *window, MPI_Group group)
{
  char *nothing = rank_alloc(r, 1);
  int error = MPI_SUCCESS;
  window->exposure = ranks_of(r, window->comm, group, &window->exposures);
  for (int i = 0; i < window->exposures && !error; i++)
    if (window->exposure[i] != window->comm->rank)
      error = p2p_finish(r,
                         p2p_send(r, nothing, 1, MPI_BYTE, window->exposure[i], TAG_POSTED,
                                  window->comm, P2P_BUFFERED),
                         MPI_STATUS_IGNORE);
  rank_free(nothing);
  return comm_error(r, window->comm, error);
}

WRAP_CALL(Win_post, (group, assertions, window), post(r, window_of(r, window), group))

static int await_post(struct rank *r, const struct window *window, int target)
{
  char *nothing = rank_alloc(r, 1);
  struct request *posted = take(r, nothing, 1, target, TAG_POSTED, window->comm);
  int error = finish(r, &posted);
  rank_free(nothing);
  return error;
}

static int await_posts(struct rank *r, const struct window *window)
{
  int error = MPI_SUCCESS;
  for (int i = 0; i < window->accesses && !error; i++)
    if (window->access[i] != window->comm->rank)
      error = await_post(r, window, window->access[i]);
  return error;
}

static int start(struct rank *r, struct window *window, MPI_Group group)
{
  window->access = ranks_of(r, window->comm, group, &window->accesses);
  if (!window->sharing)
    return MPI_SUCCESS;
  window->posted = true; /* from here on, the program reads and writes the memory of its targets */
  return comm_error(r, window->comm, await_posts(r, window));
}

WRAP_CALL(Win_start, (group, assertions, window), start(r, window_of(r, window), group))

/* Sends accesses to all targets before the origin waits for an answer. */
static int complete(struct rank *r, struct window *window)
{
  struct comm *comm = window->comm;
  int error = MPI_SUCCESS, count = window->accesses;
  if (!window->access)
    return comm_error(r, comm, MPI_ERR_RMA_SYNC);
  struct exchange *with = rank_alloc(r, (size_t)count * sizeof *with);
  for (int i = 0; i < count && !error; i++) {
    int target = window->access[i];
    if (target == comm->rank) {
      window_access_own(r, window);
      continue;
    }
    error = window->posted ? MPI_SUCCESS : await_post(r, window, target);
    if (error)
      break;
    begin_origin(r, window, target, &with[i]);
    with[i].received = put(r, &with[i].out_bytes, sizeof(int), target, TAG_BYTES, comm);
  }
  for (int i = 0; i < count && !error; i++)
    if (window->access[i] != comm->rank) {
      error = finish(r, &with[i].received);
      error = error ? error : end_origin(r, window, window->access[i], &with[i]);
    }
  rank_free(with);
  rank_free(window->access);
  window->access = NULL;
  window->posted = false;
  return comm_error(r, comm, error);
}

WRAP_CALL(Win_complete, (window), complete(r, window_of(r, window)))

static int wait(struct rank *r, struct window *window)
{
  struct comm *comm = window->comm;
  int error = MPI_SUCCESS, count = window->exposures;
  if (!window->exposure)
    return comm_error(r, comm, MPI_ERR_RMA_SYNC);
  struct exchange *with = rank_alloc(r, (size_t)count * sizeof *with);
  for (int i = 0; i < count && !error; i++) {
    int origin = window->exposure[i];
    if (origin == comm->rank)
      continue;
    with[i].received = take(r, &with[i].in_bytes, sizeof(int), origin, TAG_BYTES, comm);
    error = finish(r, &with[i].received);
    if (error)
      break;
    begin_target(r, window, origin, &with[i]);
    error = answer(r, window, origin, &with[i]);
  }
  for (int i = 0; i < count && !error; i++)
    if (window->exposure[i] != comm->rank)
      error = end_target(r, &with[i]);
  rank_free(with);
  rank_free(window->exposure);
  window->exposure = NULL;
  return comm_error(r, comm, error);
}

WRAP_CALL(Win_wait, (window), wait(r, window_of(r, window)))

/* Returns whether all origins have said how many bytes their accesses have. */
static bool all_have_completed(const struct rank *r, const struct window *window)
{
  struct found found;
  for (int i = 0; i < window->exposures; i++) {
    int origin = window->exposure[i];
    if (origin != window->comm->rank &&
        !matching_probe(r, window->comm->member[origin], TAG_BYTES,
                        matching_context(window->comm, false), &found))
      return false;
  }
  return true;
}

static int test(struct rank *r, struct window *window, int *flag)
{
  if (!window->exposure)
    return comm_error(r, window->comm, MPI_ERR_RMA_SYNC);
  *flag = (int)host_choose(r, all_have_completed(r, window), 2);
  if (*flag)
    return wait(r, window);
  requests_not_yet(r, POLL_TEST);
  return MPI_SUCCESS;
}

WRAP_CALL(Win_test, (window, flag), test(r, window_of(r, window), flag))
