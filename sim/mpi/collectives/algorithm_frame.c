/* Enters and leaves SMPI's collective algorithms: switches the heap before and after an algorithm
 * runs, and prepares its arguments. */
#include "sim/host/rank/typemap.h"
#include "sim/mpi/collectives/algorithms.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/types/datatype.h"

static bool in_arena = true; /* algorithms allocate in the rank's arena */

void algorithm_in_arena(bool on)
{
  in_arena = on;
}

void algorithm_enter(struct rank *r)
{
  r->mpi->algorithm = true;
  heap_serve_simulator(true);
  if (in_arena)
    layer_leave(r->arena);
}

void algorithm_leave(struct rank *r)
{
  layer_enter();
  heap_serve_simulator(false);
  r->mpi->algorithm = false;
}

/* ---- arguments ---- */

MPI_Comm algorithm_comm(struct comm *comm)
{
  return (MPI_Comm)(void *)comm;
}

MPI_Datatype algorithm_type(MPI_Datatype type)
{
  return typemap_stand_in(type);
}

int algorithm_rank(const struct comm *comm)
{
  return comm->rank;
}

int algorithm_size(const struct comm *comm)
{
  return comm->size;
}

void *algorithm_at(void *buffer, int element, MPI_Datatype type)
{
  return (char *)buffer + element * elements_extent(type);
}

const void *algorithm_source(struct rank *r, const void *out, const void *in, int count,
                             MPI_Datatype type, void **copy)
{
  *copy = NULL;
  if (out != MPI_IN_PLACE)
    return out;
  void *source = elements_new(r, count, type, copy);
  elements_copy(in, count, type, source, count, type);
  return source;
}

void algorithm_free(void *copy)
{
  if (copy)
    rank_free(copy);
}

void algorithm_fail(const char *call, const char *what)
{
  die(DIE_INPUT, "SMPI's algorithm for %s: %s", call, what);
}
