/* cg-ulfm: the kernel of cg with its own recovery from failures, by calls of User-Level Failure
 * Mitigation (ulfm.h). It needs no protocol; the kernels of Dichev and Nikolopoulos (EuroMPI 2019)
 * recover in the same way. An iteration is a step of the conjugate gradient method.
 *
 * Usage: cg-ulfm PLACES INTERVAL LOGGED [-v] [-k] CLASS [ITERATIONS], on PLACES processes and a
 * spare one for each that may fail. It prints what cg prints, and how it has recovered. Its exit
 * codes are those of cg. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "cg_kernel.h"
#include "tell.h"
#include "ulfm.h"

enum { TAG_SECONDS = 4 };

static struct ulfm_options ulfm;
static struct cg_options options;
static double slowest;

/* Does nothing, because the first marked iteration begins with a checkpoint, which is a barrier. */
static void meet(void)
{
}

/* Tells recline the iteration, so that a scenario can let a process fail in it. */
static void iteration(unsigned number)
{
  tell_iteration(number);
  ulfm_iteration(number);
}

/* Uses no collective call, because other processes would not join a call of a new process. */
static void find_slowest(int place)
{
  slowest = cg_seconds();
  for (int distance = 1; distance < ulfm.places; distance *= 2) {
    double other;
    ulfm_exchange(place ^ distance, TAG_SECONDS, &slowest, &other, 1);
    slowest = other > slowest ? other : slowest;
  }
}

static void work(int place)
{
  static const struct cg_calls calls = {ulfm_exchange, iteration, meet, NULL, NULL};
  static bool made;
  if (!made) {
    struct cg_changed changed[CG_CHANGED];
    cg_make(&options, &calls, place, ulfm.places);
    const int count = cg_changed(changed);
    for (int i = 0; i < count; i++)
      ulfm_protect(changed[i].address,
                   (size_t)changed[i].count * (changed[i].doubles ? sizeof(double) : sizeof(int)));
    made = true;
  }
  if (ulfm_restore() == ULFM_ANEW)
    cg_run();
  else
    cg_go_on();
  find_slowest(place);
}

/* Only the process at place 0 prints this. */
static void print_counts(void)
{
  const struct ulfm_counts *c = &ulfm_counts;
  printf("recoveries: %d local, %d global, %d from the beginning\n"
         "log: %ld messages, %ld bytes; %ld replayed, %ld left out\n",
         c->local, c->global, c->anew, c->logged, c->logged_bytes, c->replayed, c->filtered);
}

static bool parse(int argc, char **argv, int size)
{
  if (argc < 5)
    return false;
  ulfm.places = atoi(argv[1]);
  ulfm.interval = atoi(argv[2]);
  ulfm.logged = atoi(argv[3]);
  if (!cg_parse(argc - 4, argv + 4, &options) || options.distributed)
    return false;
  options.steps = true;
  return ulfm.places >= 1 && (ulfm.places & (ulfm.places - 1)) == 0 && ulfm.places <= size &&
         ulfm.places <= ULFM_PLACES_MAX && ulfm.interval >= 1 && ulfm.logged >= 0;
}

int main(int argc, char **argv)
{
  int code = 0, size, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!parse(argc, argv, size)) {
    if (rank == 0)
      fprintf(stderr,
              "cg-ulfm: expected PLACES INTERVAL LOGGED [-v] [-k] CLASS [ITERATIONS], PLACES "
              "a power of two, no more than processes\n");
    code = 64;
  } else {
    const int place = ulfm_run(&ulfm, work);
    if (place >= 0) {
      cg_print_time(slowest);
      code = cg_print_result() ? 0 : 1;
    }
    if (place == 0)
      print_counts();
  }
  MPI_Finalize();
  return code;
}
