/* Calls the functions of SimGrid that run the selected algorithms. No installed header has them. */
#include <exception>
#include <smpi/smpi.h>
#include <string>
#include <xbt/config.hpp>

extern "C" {
#include "sim/mpi/collectives/algorithms.h"
}

namespace simgrid::smpi
{
namespace colls
{
extern int (*barrier)(MPI_Comm);
extern int (*bcast)(void *, int, MPI_Datatype, int, MPI_Comm);
extern int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
extern int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
extern int (*gather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
extern int (*scatter)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
extern int (*allgather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
extern int (*allgatherv)(const void *, int, MPI_Datatype, void *, const int *, const int *,
                         MPI_Datatype, MPI_Comm);
extern int (*alltoall)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
extern int (*alltoallv)(const void *, const int *, const int *, MPI_Datatype, void *, const int *,
                        const int *, MPI_Datatype, MPI_Comm);
extern int (*reduce_scatter)(const void *, void *, const int *, MPI_Datatype, MPI_Op, MPI_Comm);
int gatherv(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, int,
            MPI_Comm);
int scatterv(const void *, const int *, const int *, MPI_Datatype, void *, int, MPI_Datatype, int,
             MPI_Comm);
int scan(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int exscan(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
} // namespace colls
int allgather__ring(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int bcast__scatter_LR_allgather(void *, int, MPI_Datatype, int, MPI_Comm);
int allreduce__default(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
} // namespace simgrid::smpi

namespace colls = simgrid::smpi::colls;

namespace
{
struct given_up {
};
} // namespace

void algorithm_give_up(void)
{
  throw given_up();
}

/* Returns an argument for SMPI. A datatype is replaced by one whose size and bounds are right in
 * SMPI. Any other argument is returned as it is. */
template <class Argument> static Argument shown(Argument argument)
{
  return argument;
}

template <> MPI_Datatype shown(MPI_Datatype type)
{
  return algorithm_type(type);
}

/* Runs an algorithm. Some algorithms throw if they do not fit the number of ranks. */
template <class Function, class... Arguments>
static int run(struct rank *r, const char *call, struct comm *comm, Function function,
               Arguments... arguments)
{
  algorithm_enter(r);
  try {
    function(shown(arguments)..., algorithm_comm(comm));
  } catch (const given_up &) {
    return MPI_SUCCESS;
  } catch (const std::exception &e) {
    algorithm_leave(r);
    algorithm_fail(call, e.what());
  }
  algorithm_leave(r);
  return MPI_SUCCESS;
}

bool algorithms_have_tables(void)
{
  for (const char *name :
       {"coll-selector", "barrier", "bcast", "reduce", "allreduce", "gather", "scatter",
        "allgather", "allgatherv", "alltoall", "alltoallv", "reduce_scatter"})
    if (simgrid::config::get_value<std::string>((std::string("smpi/") + name).c_str())
            .find("mvapich2") != std::string::npos)
      return true;
  return false;
}

int algorithm_barrier(struct rank *r, struct comm *comm)
{
  return run(r, "barrier", comm, colls::barrier);
}

int algorithm_bcast(struct rank *r, void *buffer, int count, MPI_Datatype type, int root,
                    struct comm *comm)
{
  return run(r, "bcast", comm, colls::bcast, buffer, count, type, root);
}

/* Calls a reduction in place, with a copy of the data to be reduced. */
template <class Function, class... Arguments>
static int reduce(struct rank *r, const char *call, struct comm *comm, Function function,
                  const void *out, void *in, int copied, MPI_Datatype type, Arguments... arguments)
{
  void *copy;
  const void *source = algorithm_source(r, out, in, copied, type, &copy);
  run(r, call, comm, function, source, in, arguments...);
  algorithm_free(copy);
  return MPI_SUCCESS;
}

int algorithm_reduce(struct rank *r, const void *out, void *in, int count, MPI_Datatype type,
                     MPI_Op op, int root, struct comm *comm)
{
  return reduce(r, "reduce", comm, colls::reduce, out, in, count, type, count, type, op, root);
}

int algorithm_allreduce(struct rank *r, const void *out, void *in, int count, MPI_Datatype type,
                        MPI_Op op, struct comm *comm)
{
  return reduce(r, "allreduce", comm, colls::allreduce, out, in, count, type, count, type, op);
}

int algorithm_scan(struct rank *r, const void *out, void *in, int count, MPI_Datatype type,
                   MPI_Op op, struct comm *comm)
{
  return reduce(r, "scan", comm, colls::scan, out, in, count, type, count, type, op);
}

int algorithm_exscan(struct rank *r, const void *out, void *in, int count, MPI_Datatype type,
                     MPI_Op op, struct comm *comm)
{
  return reduce(r, "exscan", comm, colls::exscan, out, in, count, type, count, type, op);
}

int algorithm_reduce_scatter(struct rank *r, const void *out, void *in, const int *counts,
                             MPI_Datatype type, MPI_Op op, struct comm *comm)
{
  int all = 0;
  for (int i = 0; i < algorithm_size(comm); i++)
    all += counts[i];
  return reduce(r, "reduce_scatter", comm, colls::reduce_scatter, out, in, all, type, counts, type,
                op);
}

int algorithm_gather(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                     void *in, int in_count, MPI_Datatype in_type, int root, struct comm *comm)
{
  if (out == MPI_IN_PLACE) {
    out_count = 0;
    out_type = in_type;
  }
  return run(r, "gather", comm, colls::gather, out, out_count, out_type, in, in_count, in_type,
             root);
}

int algorithm_gatherv(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                      void *in, const int *counts, const int *starts, MPI_Datatype in_type,
                      int root, struct comm *comm)
{
  if (out == MPI_IN_PLACE) {
    out_count = 0;
    out_type = in_type;
  }
  return run(r, "gatherv", comm, colls::gatherv, out, out_count, out_type, in, counts, starts,
             in_type, root);
}

int algorithm_scatter(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                      void *in, int in_count, MPI_Datatype in_type, int root, struct comm *comm)
{
  if (in == MPI_IN_PLACE) {
    in_count = out_count;
    in_type = out_type;
  }
  return run(r, "scatter", comm, colls::scatter, out, out_count, out_type, in, in_count, in_type,
             root);
}

int algorithm_scatterv(struct rank *r, const void *out, const int *counts, const int *starts,
                       MPI_Datatype out_type, void *in, int in_count, MPI_Datatype in_type,
                       int root, struct comm *comm)
{
  if (in == MPI_IN_PLACE) {
    in_count = counts[root];
    in_type = out_type;
  }
  return run(r, "scatterv", comm, colls::scatterv, out, counts, starts, out_type, in, in_count,
             in_type, root);
}

int algorithm_allgather(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                        void *in, int in_count, MPI_Datatype in_type, struct comm *comm)
{
  if (out == MPI_IN_PLACE) {
    out = algorithm_at(in, in_count * algorithm_rank(comm), in_type);
    out_count = in_count;
    out_type = in_type;
  }
  return run(r, "allgather", comm, colls::allgather, out, out_count, out_type, in, in_count,
             in_type);
}

int algorithm_allgatherv(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                         void *in, const int *counts, const int *starts, MPI_Datatype in_type,
                         struct comm *comm)
{
  if (out == MPI_IN_PLACE) {
    int rank = algorithm_rank(comm);
    out = algorithm_at(in, starts[rank], in_type);
    out_count = counts[rank];
    out_type = in_type;
  }
  return run(r, "allgatherv", comm, colls::allgatherv, out, out_count, out_type, in, counts, starts,
             in_type);
}

int algorithm_alltoall(struct rank *r, const void *out, int out_count, MPI_Datatype out_type,
                       void *in, int in_count, MPI_Datatype in_type, struct comm *comm)
{
  void *copy;
  bool in_place = out == MPI_IN_PLACE;
  out = algorithm_source(r, out, in, in_count * algorithm_size(comm), in_type, &copy);
  run(r, "alltoall", comm, colls::alltoall, out, in_place ? in_count : out_count,
      in_place ? in_type : out_type, in, in_count, in_type);
  algorithm_free(copy);
  return MPI_SUCCESS;
}

int algorithm_alltoallv(struct rank *r, const void *out, const int *out_counts,
                        const int *out_starts, MPI_Datatype out_type, void *in,
                        const int *in_counts, const int *in_starts, MPI_Datatype in_type,
                        struct comm *comm)
{
  void *copy;
  int end = 0;
  bool in_place = out == MPI_IN_PLACE;
  for (int i = 0; i < algorithm_size(comm); i++)
    end = end > in_starts[i] + in_counts[i] ? end : in_starts[i] + in_counts[i];
  out = algorithm_source(r, out, in, end, in_type, &copy);
  run(r, "alltoallv", comm, colls::alltoallv, out, in_place ? in_counts : out_counts,
      in_place ? in_starts : out_starts, in_place ? in_type : out_type, in, in_counts, in_starts,
      in_type);
  algorithm_free(copy);
  return MPI_SUCCESS;
}

void algorithm_ring(struct rank *r, int *mine, int *all, struct comm *comm)
{
  run(r, "allgather", comm, simgrid::smpi::allgather__ring, mine, 1, MPI_INT, all, 1, MPI_INT);
}

void algorithm_spread(struct rank *r, int *value, struct comm *comm)
{
  run(r, "bcast", comm, simgrid::smpi::bcast__scatter_LR_allgather, value, 1, MPI_INT, 0);
}

void algorithm_all(struct rank *r, int *mine, int *result, struct comm *comm)
{
  run(r, "allreduce", comm, simgrid::smpi::allreduce__default, mine, result, 1, MPI_INT, MPI_LAND);
}
