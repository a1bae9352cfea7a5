/* Uses intercommunicators in a program that repairs itself. Argument: merge, leader, or broken. */
#include <mpi-ext.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static int me;

static const char *name_of(int error)
{
  int class = MPI_SUCCESS;
  MPI_Error_class(error, &class);
  return class == MPI_SUCCESS           ? "success"
         : class == MPI_ERR_PROC_FAILED ? "failed"
         : class == MPI_ERR_REVOKED     ? "revoked"
                                        : "another error";
}

static void say(const char *what, int error)
{
  printf("%d: %s %s\n", me, what, name_of(error));
}

/* Returns the half of `comm` that this rank belongs to. */
static MPI_Comm half_of(MPI_Comm comm, int *other_leader)
{
  int rank, size;
  MPI_Comm half;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int is_low = rank < size / 2;
  MPI_Comm_split(comm, is_low, rank, &half);
  *other_leader = is_low ? size / 2 : 0;
  return half;
}

/* Ranks end themselves one after the other, among them the first rank of the program. The other
 * ranks make two groups, and then one group again, in which the upper half comes first. */
static void merge(void)
{
  MPI_Comm comm = MPI_COMM_WORLD, half, between, all;
  static const int ends[] = {1, 0, 5};
  for (int round = 0; round < 3; round++) {
    int error, ok, leader, here, before, sum = 0, size, rank, is_low;
    if (me == ends[round])
      raise(SIGKILL);
    error = MPI_Barrier(comm);
    ok = error == MPI_SUCCESS;
    MPIX_Comm_agree(comm, &ok);
    if (!ok) {
      MPIX_Comm_revoke(comm);
      MPIX_Comm_shrink(comm, &comm);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    half = half_of(comm, &leader);
    error = MPI_Intercomm_create(half, 0, comm, leader, 7, &between);
    MPI_Comm_remote_size(between, &before);
    MPI_Comm_rank(half, &here);
    is_low = leader > 0;
    MPI_Intercomm_merge(between, is_low, &all);
    MPI_Comm_size(all, &size);
    MPI_Comm_rank(all, &rank);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all);
    if (error || rank != here + (is_low ? before : 0))
      printf("%d: wrong place %d\n", me, rank);
    if (here == 0)
      printf("round %d: %s half, %d merged, sum %d\n", round, is_low ? "low" : "high", size, sum);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
  }
}

/* The leader of the upper half dies before its group is made. */
static void leader(void)
{
  int other;
  MPI_Comm between = MPI_COMM_NULL, half = half_of(MPI_COMM_WORLD, &other);
  if (me == 3)
    raise(SIGKILL);
  say("create", MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other, 7, &between));
}

/* A member of one group dies. Then others exchange messages with it and with each other, and make
 * collective calls. */
static void broken(void)
{
  int other, one = 1, got = 0, flag = 1;
  MPI_Comm between, half = half_of(MPI_COMM_WORLD, &other);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other, 7, &between);
  if (me == 4)
    raise(SIGKILL);
  if (me == 1)
    say("receive from the dead", MPI_Recv(&got, 1, MPI_INT, 1, 1, between, MPI_STATUS_IGNORE));
  if (me == 0)
    say("exchange with another",
        MPI_Sendrecv(&me, 1, MPI_INT, 0, 2, &got, 1, MPI_INT, 0, 2, between, MPI_STATUS_IGNORE));
  if (me == 3)
    say("exchange with another",
        MPI_Sendrecv(&me, 1, MPI_INT, 0, 2, &got, 1, MPI_INT, 0, 2, between, MPI_STATUS_IGNORE));
  say("sum", MPI_Allreduce(&one, &got, 1, MPI_INT, MPI_SUM, between));
  MPIX_Comm_agree(half, &flag);
  if (me == 0)
    MPIX_Comm_revoke(between);
  say("receive", MPI_Recv(&got, 1, MPI_INT, 2, 3, between, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (strcmp(argv[1], "merge") == 0)
    merge();
  else if (strcmp(argv[1], "leader") == 0)
    leader();
  else
    broken();
  return MPI_Finalize();
}
