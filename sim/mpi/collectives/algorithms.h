/* Runs collectives on messages of the layer, by the SimGrid algorithms that the platform or --cfg
 * selects (smpi_hooks.h). */
#ifndef RECLINE_ALGORITHMS_H
#define RECLINE_ALGORITHMS_H

#include <smpi/smpi.h>
#include <stdbool.h>

struct rank;
struct comm;

/* Prepares algorithms. Call it once, before any algorithm. */
void algorithms_begin(void);

/* The first rank calls these two functions. algorithms_have_tables() returns whether some of the
 * selected algorithms have tables, which they make at their first run; algorithms_make_tables()
 * makes these tables, outside of any arena. */
bool algorithms_have_tables(void);
void algorithms_make_tables(struct rank *);

/* Between algorithm_enter() and algorithm_leave() an algorithm of SMPI may run for the rank. The
 * algorithm's memory comes from the rank's arena, so that an image that is captured meanwhile holds
 * all of it. */
void algorithm_enter(struct rank *);
/* if false, the memory of the running algorithm comes from libc */
void algorithm_in_arena(bool on);
void algorithm_leave(struct rank *);

/* Gives up the running algorithm, because of call.error. The frames of the algorithm are unwound,
 * and memory without a destructor is lost. */
void algorithm_give_up(void) __attribute__((noreturn));

/* Returns the address that SMPI's algorithms get in place of MPI_IN_PLACE: `out`, or a copy of
 * `count` elements of `in`. `*copy` must be given to algorithm_free(), even if it is NULL. */
const void *algorithm_source(struct rank *, const void *out, const void *in, int count,
                             MPI_Datatype, void **copy);
void algorithm_free(void *copy);
void *algorithm_at(void *buffer, int element, MPI_Datatype); /* returns the element's address */
MPI_Datatype algorithm_type(MPI_Datatype); /* returns the same type, with the right size in SMPI */
MPI_Comm algorithm_comm(struct comm *);    /* returns the handle that SMPI's algorithms know */
int algorithm_rank(const struct comm *);
int algorithm_size(const struct comm *);
/* Ends the run with one line and exit code 64. */
void algorithm_fail(const char *call, const char *what) __attribute__((noreturn));

/* The next functions make the collective calls, with MPI's arguments. They return MPI_SUCCESS. */
int algorithm_barrier(struct rank *, struct comm *);
int algorithm_bcast(struct rank *, void *buffer, int count, MPI_Datatype, int root, struct comm *);
int algorithm_reduce(struct rank *, const void *out, void *in, int count, MPI_Datatype, MPI_Op,
                     int root, struct comm *);
int algorithm_allreduce(struct rank *, const void *out, void *in, int count, MPI_Datatype, MPI_Op,
                        struct comm *);
int algorithm_scan(struct rank *, const void *out, void *in, int count, MPI_Datatype, MPI_Op,
                   struct comm *);
int algorithm_exscan(struct rank *, const void *out, void *in, int count, MPI_Datatype, MPI_Op,
                     struct comm *);
int algorithm_gather(struct rank *, const void *out, int out_count, MPI_Datatype out_type, void *in,
                     int in_count, MPI_Datatype in_type, int root, struct comm *);
int algorithm_gatherv(struct rank *, const void *out, int out_count, MPI_Datatype out_type,
                      void *in, const int *counts, const int *starts, MPI_Datatype in_type,
                      int root, struct comm *);
int algorithm_scatter(struct rank *, const void *out, int out_count, MPI_Datatype out_type,
                      void *in, int in_count, MPI_Datatype in_type, int root, struct comm *);
int algorithm_scatterv(struct rank *, const void *out, const int *counts, const int *starts,
                       MPI_Datatype out_type, void *in, int in_count, MPI_Datatype in_type,
                       int root, struct comm *);
int algorithm_allgather(struct rank *, const void *out, int out_count, MPI_Datatype out_type,
                        void *in, int in_count, MPI_Datatype in_type, struct comm *);
int algorithm_allgatherv(struct rank *, const void *out, int out_count, MPI_Datatype out_type,
                         void *in, const int *counts, const int *starts, MPI_Datatype in_type,
                         struct comm *);
int algorithm_alltoall(struct rank *, const void *out, int out_count, MPI_Datatype out_type,
                       void *in, int in_count, MPI_Datatype in_type, struct comm *);
int algorithm_alltoallv(struct rank *, const void *out, const int *out_counts,
                        const int *out_starts, MPI_Datatype out_type, void *in,
                        const int *in_counts, const int *in_starts, MPI_Datatype in_type,
                        struct comm *);
int algorithm_reduce_scatter(struct rank *, const void *out, void *in, const int *counts,
                             MPI_Datatype, MPI_Op, struct comm *);

/* The next functions run the algorithms by which SMPI learns which ranks are on one node, for
 * init_smp of the hooks. */
void algorithm_ring(struct rank *, int *mine, int *all, struct comm *);
void algorithm_spread(struct rank *, int *value, struct comm *);
void algorithm_all(struct rank *, int *mine, int *result, struct comm *);

#endif
