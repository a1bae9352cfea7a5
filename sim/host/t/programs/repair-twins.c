/* Makes communicators with the same members of one parent, where no member has failed: by
 * MPI_Comm_idup, MPI_Comm_create_group, MPIX_Comm_shrink and MPIX_Comm_ishrink. Messages with the
 * same tag stay apart. Rank 0 sends in the order in which the communicators were made, and the
 * others receive in the opposite order. Revoking one communicator leaves the others as they are. */
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 3, EACH = 4, COUNT = ROUNDS * EACH };

static MPI_Comm made[COUNT];

static void make(MPI_Comm parent, MPI_Comm *next)
{
  MPI_Group group;
  MPI_Request request[2];
  MPI_Comm_group(parent, &group);
  MPI_Comm_idup(parent, &next[0], &request[0]);
  MPIX_Comm_ishrink(parent, &next[1], &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  MPIX_Comm_shrink(parent, &next[2]);
  MPI_Comm_create_group(parent, group, 0, &next[3]);
  MPI_Group_free(&group);
}

/* Returns how many messages came from another communicator than the one that received them. */
static int exchange(int me, int size)
{
  int wrong = 0;
  for (int i = 0; me == 0 && i < COUNT; i++)
    for (int other = 1; other < size; other++)
      MPI_Send(&i, 1, MPI_INT, other, 0, made[i]);
  for (int i = COUNT - 1; me > 0 && i >= 0; i--) {
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, 0, 0, made[i], MPI_STATUS_IGNORE);
    wrong += got != i;
  }
  return wrong;
}

/* Returns how many communicators are revoked but should not be, or should be but are not. */
static int revoke_first(int me)
{
  int wrong = 0, flag;
  MPI_Comm_set_errhandler(made[0], MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD); /* no message is under way */
  if (me == 0)
    MPIX_Comm_revoke(made[0]);
  MPI_Barrier(made[0]);
  for (int i = 0; i < COUNT; i++) {
    MPIX_Comm_is_revoked(made[i], &flag);
    wrong += flag != (i == 0);
  }
  return wrong;
}

int main(int argc, char **argv)
{
  int me, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < ROUNDS; round++)
    make(MPI_COMM_WORLD, made + round * EACH);
  int astray = exchange(me, size), wrongly = revoke_first(me);
  printf("%d: %d messages astray, %d wrongly revoked\n", me, astray, wrongly);
  return MPI_Finalize();
}
