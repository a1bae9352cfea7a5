/* Defines the calls for windows whose memory the ranks of a node share (node_memory.h). */
#include "sim/host/rank/node_memory.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/result/result_notes.h"
#include "sim/host/storage/application.h"
#include "sim/mpi/calls/windows.h"
#include "sim/mpi/collectives/collectives.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"

#include <string.h>

/* Parts that need not be contiguous begin at multiples of APART bytes. */
enum { APART = 4096 };

/* Returns the reason why ranks cannot share memory in this run, or NULL if they can. */
static char *why_not(void)
{
  if (shadow_independent())
    return g_strdup_printf(
        "%s takes ranks back one by one, and what others have stored into shared "
        "memory does not come again",
        shadow_protocol()->name);
  if (application_level())
    return g_strdup("images at the application level do not hold shared memory, expected "
                    "checkpoint.level: system");
  if (layer.scenario->checkpoint.places == PLACES_PROGRAM)
    return g_strdup("ranks that share memory are captured together, expected checkpoint.places: "
                    "anywhere");
  if (layer.repairs)
    return g_strdup("the program repairs itself, so no rank goes back");
  return NULL;
}

static bool are_on_one_node(const struct comm *comm)
{
  for (int i = 1; i < comm->size; i++)
    if (!node_is_shared(comm->member[0], comm->member[i]))
      return false;
  return true;
}

/* Refuses memory that several ranks would share. Says why in the message that ends the run, or in a
 * note of the result. */
static int refuse(struct rank *r, struct comm *comm, const char *why)
{
  if (!comm->errors)
    die(DIE_INPUT, "rank %d: MPI_ERR_RMA_SHARED: %s", r->index, why);
  notes_unshared(why);
  return comm_error(r, comm, MPI_ERR_RMA_SHARED);
}

/* Describes what a member allocates, as the member tells the other members. */
struct share {
  int64_t size;
  int32_t unit, apart;
};

static bool wants_parts_apart(MPI_Info info)
{
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  if (info != MPI_INFO_NULL)
    MPI_Info_get(info, (char *)(uintptr_t) "alloc_shared_noncontig", MPI_MAX_INFO_VAL, value,
                 &found);
  return found && strcmp(value, "true") == 0;
}

/* Sets the addresses of all members' parts in the memory, which begins at `base`. Returns the
 * number of bytes of all parts together. */
static size_t lay_out(struct window *window, const struct share *all, char *base)
{
  int size = window->comm->size;
  size_t bytes = 0;
  bool apart = false;
  for (int i = 0; i < size; i++)
    apart |= all[i].apart != 0;
  for (int i = 0; i < size; i++) {
    window->part[i] = (struct shared_part){base + bytes, (MPI_Aint)all[i].size, all[i].unit};
    bytes += (size_t)all[i].size;
    if (apart)
      bytes = (bytes + APART - 1) / APART * APART;
  }
  return bytes;
}

/* Makes the memory when all members have told what they allocate. What this function needs after a
 * wait lies in the arena, because the rank may be captured while it waits. */
static void make_memory(struct rank *r, struct window *window, const struct share *all)
{
  int size = window->comm->size;
  size_t *part = rank_alloc(r, (size_t)size * sizeof *part);
  for (int i = 0; i < size; i++)
    part[i] = (size_t)all[i].size;
  host_wait(r, sharing_all_have_started, window->sharing);
  char *base = sharing_make(window->sharing, part, lay_out(window, all, NULL));
  lay_out(window, all, base);
  window->base = window->part[window->comm->rank].base;
  rank_free(part);
  host_wait(r, sharing_is_level, NULL);
}

static int share_memory(struct rank *r, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                        MPI_Win *made)
{
  struct sharing *sharing = sharing_begin(r, comm_within(r, comm));
  int error = window_create(r, NULL, size, unit, MPI_WIN_FLAVOR_SHARED, info, comm, made);
  if (error) {
    sharing_end(r, sharing);
    return error;
  }
  struct window *window = window_of(r, *made);
  size_t members = (size_t)window->comm->size;
  sharing->comm = window->comm->number;
  window->sharing = sharing;
  window->part = rank_alloc(r, members * sizeof *window->part);
  struct share *own = rank_alloc(r, (members + 1) * sizeof *own), *all = own + 1;
  *own = (struct share){size, unit, wants_parts_apart(info)};
  error =
      collective_allgather(r, own, sizeof *own, MPI_BYTE, all, sizeof *own, MPI_BYTE, window->comm);
  if (!error)
    make_memory(r, window, all);
  rank_free(own);
  return comm_error(r, window->comm, error);
}

/* Makes the window of a rank that is alone in its communicator. The memory lies in the arena. */
static int allocate_alone(struct rank *r, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                          void *where, MPI_Win *made)
{
  int error = window_allocate(r, size, unit, info, comm, where, made);
  if (error)
    return error;
  struct window *window = window_of(r, *made);
  window->flavor = MPI_WIN_FLAVOR_SHARED;
  window->part = rank_alloc(r, sizeof *window->part);
  *window->part = (struct shared_part){window->base, size, unit};
  return MPI_SUCCESS;
}

static int allocate_shared(struct rank *r, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                           void *where, MPI_Win *made)
{
  struct comm *parent = comm_within(r, comm);
  *made = MPI_WIN_NULL;
  if (parent->size == 1)
    return allocate_alone(r, size, unit, info, comm, where, made);
  if (!are_on_one_node(parent))
    return comm_error(r, parent, MPI_ERR_RMA_SHARED);
  g_autofree char *why = why_not();
  if (why)
    return refuse(r, parent, why);
  int error = share_memory(r, size, unit, info, comm, made);
  if (!error)
    memcpy(where, &window_of(r, *made)->base, sizeof(char *));
  return error;
}

WRAP_CALL(Win_allocate_shared, (size, unit, info, comm, where, window),
          allocate_shared(r, size, unit, info, comm, where, window))

/* MPI_PROC_NULL stands for the first member that has memory (MPI 4.0, 12.2.3). */
static int query_shared(struct rank *r, struct window *window, int member, MPI_Aint *size,
                        int *unit, void *where)
{
  if (window->flavor != MPI_WIN_FLAVOR_SHARED)
    return comm_error(r, window->comm, MPI_ERR_RMA_FLAVOR);
  if (member != MPI_PROC_NULL && (member < 0 || member >= window->comm->size))
    return comm_error(r, window->comm, MPI_ERR_RANK);
  int of = member == MPI_PROC_NULL ? 0 : member;
  while (member == MPI_PROC_NULL && of + 1 < window->comm->size && window->part[of].size == 0)
    of++;
  *size = window->part[of].size;
  *unit = window->part[of].unit;
  memcpy(where, &window->part[of].base, sizeof window->part[of].base);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Win_shared_query, (window, rank, size, unit, where),
             query_shared(r, window_of(r, window), rank, size, unit, where))
