/* cg: conjugate gradient, the CG kernel of the NAS Parallel Benchmarks.
 *
 * This file was written from the specification, not from the source of the NPB:
 *   D. H. Bailey et al., "The NAS Parallel Benchmarks", NASA Ames, RNR-94-007 (1994), section 2.6
 *   (the kernel) and 2.3 (the random numbers). Classes and reference values were published with the
 *   NPB.
 *
 * Algorithm: it estimates the largest eigenvalue of a sparse symmetric positive definite matrix by
 * the inverse power method. Every outer iteration solves A z = x with 25 steps of the conjugate
 * gradient method, computes zeta = shift + 1 / (x . z) and continues with x = z / |z|.
 *
 * Distribution: the number of ranks is a power of two. The ranks form a grid of rows x columns,
 * with columns = rows or 2 x rows. Each rank has one block of the matrix. A vector has as many
 * blocks as the grid has columns, and all ranks of a grid column have the same block. The product
 * of A and p is summed along the grid row. Then each rank sends its block of the product to its
 * transpose partner, which needs this block. The product and the dot products use MPI_Irecv,
 * MPI_Send and MPI_Wait with named partners.
 *
 * Use: it measures failure-free overheads and recoveries. Computation is charged by its number of
 * floating-point operations, so with `--cfg=smpi/simulate-computation:no` the simulated time of a
 * run is the same on every machine.
 *
 * It announces iterations (tell.h): the timed outer iterations, or with -s their 26 steps of the
 * conjugate gradient method (the last step computes the residual). The paper of the hybrid protocol
 * calls such a step an iteration of CG, because its Table 3 has the payload of one step.
 *
 * A checkpoint at the application level holds x and the progress; with -s it also holds z, p and r,
 * which a step changes. A restart computes everything else again.
 *
 * Usage: cg [-v] [-s] [-k] [-w] [-d] CLASS [ITERATIONS]
 *   -v prints zeta after every outer iteration.
 *
 *   ITERATIONS replaces the number of iterations of the class. With fewer iterations zeta cannot be
 *   compared with the reference, and the verification prints SKIP.
 *
 *   -k replaces the matrix of the class by a diagonal matrix. This skeleton has the same operations
 *   and messages and needs little memory, but there is no result to verify.
 *
 *   -w charges the time to write four vectors as text, in the first step of each outer iteration.
 *
 *   -d takes any number of ranks, in one row: a rank has all rows of its columns, sums go over all
 *   ranks, and vectors are protected as distributed arrays, so that another number of ranks can go
 *   on from a checkpoint.
 *
 * The exit code is the same on all ranks: 0 verified or skipped, 1 not verified, 64 usage.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

#include "cg_kernel.h"
#include "tell.h"

enum {
  EXIT_VERIFIED = 0,
  EXIT_NOT_VERIFIED = 1,
  EXIT_USAGE = 64,
  MEMORY_CODE = 1,
  MEMORY_CHANGED = 2, /* number of the first changed array among the protected items */
};

static int code; /* exit code of the program */

static void exchange(int partner, int tag, const double *out, double *in, int count)
{
  MPI_Request request;
  MPI_Irecv(in, count, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, &request);
  MPI_Send(out, count, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void meet(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Sums values at rank 0, so that all ranks get the same bits, whatever algorithm the platform has
 * for reductions. */
static void sum(double *values, int count)
{
  double sums[2] = {0.0, 0.0};
  MPI_Reduce(values, sums, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Bcast(sums, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < count; i++) {
    values[i] = sums[i];
  }
}

static void sum_blocks(const double *all, double *mine, int count)
{
  MPI_Reduce_scatter_block(all, mine, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void protect(bool distributed)
{
  long long whole, first, part;
  struct cg_changed changed[CG_CHANGED];
  const int count = cg_changed(changed);
  tell_items(MEMORY_CODE, &code, 1, RECLINE_INT32);
  cg_part(&whole, &first, &part);
  for (int i = 0; i < count; i++) {
    if (distributed && changed[i].vector) {
      tell_part(MEMORY_CHANGED + i, changed[i].address, 1, &whole, &first, &part);
      continue;
    }
    tell_items(MEMORY_CHANGED + i, changed[i].address, changed[i].count,
               changed[i].doubles ? RECLINE_DOUBLE : RECLINE_INT32);
  }
  tell_bytes(cg_copied_bytes(), 0);
}

/* Runs the kernel from its beginning, or from the place of the checkpoint that was restored. */
static void run_from(enum recline_place place)
{
  if (place == RECLINE_NO_RESTART) {
    cg_run();
  } else if (place == RECLINE_AT_BARRIER) {
    cg_run_timed();
  } else {
    cg_go_on();
  }
  double seconds = cg_seconds(), slowest = 0.0;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  cg_print_time(slowest);
  code = cg_print_result() ? EXIT_VERIFIED : EXIT_NOT_VERIFIED;
}

static void run(bool distributed)
{
  protect(distributed);
  if (tell_restarts() != RECLINE_NO_RESTART) {
    cg_compute_charged();
  }
  const enum recline_place place = tell_restore();
  if (place != RECLINE_AT_END) {
    run_from(place);
  }
}

int main(int argc, char **argv)
{
  static const struct cg_calls calls = {exchange, tell_iteration, meet, sum, sum_blocks};
  struct cg_options options;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *wrong = NULL;
  if (!cg_parse(argc - 1, argv + 1, &options)) {
    wrong = "expected [-v] [-s] [-k] [-w] [-d] CLASS [ITERATIONS], CLASS one of S W A B C D";
  } else if (!cg_make(&options, &calls, rank, ranks)) {
    wrong = "expected a power of two ranks, or -d";
  }
  if (wrong == NULL) {
    run(options.distributed);
  } else {
    code = EXIT_USAGE;
    if (rank == 0) {
      fprintf(stderr, "cg: %s\n", wrong);
    }
  }
  MPI_Finalize(); /* a checkpoint may be taken in this call, so protected data must still exist */
  if (wrong == NULL) {
    cg_free();
  }
  return code;
}
