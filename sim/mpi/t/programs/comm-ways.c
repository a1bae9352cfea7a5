/* Makes communicators of one parent in every way. In each communicator every rank sends a message,
 * with the same tag, to the next member; it receives these messages in the opposite order. The
 * program counts messages that come from another communicator than their receive. It needs 4
 * ranks. */
#include <mpi.h>
#include <stdio.h>

enum { MOST = 16, ROUNDS = 20 };

static int me;

static MPI_Comm duplicate_of(MPI_Comm parent)
{
  MPI_Comm made;
  MPI_Request request;
  MPI_Comm_idup(parent, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return made;
}

/* Makes communicators that join the two halves of the world. Returns their number. */
static int make_of_halves(MPI_Comm *made)
{
  MPI_Comm half, between, copy;
  int is_low = me < 2;
  MPI_Comm_split(MPI_COMM_WORLD, is_low, me, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? 2 : 0, 3, &between);
  copy = duplicate_of(between);
  MPI_Intercomm_merge(between, !is_low, &made[0]);
  MPI_Intercomm_merge(copy, !is_low, &made[1]);
  MPI_Comm_free(&half);
  MPI_Comm_free(&between);
  MPI_Comm_free(&copy);
  return 2;
}

static int make(MPI_Comm *made)
{
  int count = 0;
  MPI_Group group;
  MPI_Request early, late;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_idup(MPI_COMM_WORLD, &made[count++], &early);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &made[count++]);
  MPI_Comm_idup(MPI_COMM_WORLD, &made[count++], &late);
  MPI_Comm_split(MPI_COMM_WORLD, 0, me, &made[count++]);
  MPI_Wait(&late, MPI_STATUS_IGNORE);
  MPI_Wait(&early, MPI_STATUS_IGNORE);
  MPI_Comm_create(MPI_COMM_WORLD, group, &made[count++]);
  MPI_Comm_dup(MPI_COMM_WORLD, &made[count++]);
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &made[count++]);
  made[count++] = duplicate_of(MPI_COMM_SELF);
  made[count++] = duplicate_of(made[0]);
  MPI_Group_free(&group);
  return count + make_of_halves(made + count);
}

static int exchange(int count, MPI_Comm *made, int round)
{
  int wrong = 0, sent[MOST], here, size, got;
  MPI_Request request[MOST];
  for (int i = 0; i < count; i++) {
    sent[i] = MOST * round + i;
    MPI_Comm_rank(made[i], &here);
    MPI_Comm_size(made[i], &size);
    MPI_Isend(&sent[i], 1, MPI_INT, (here + 1) % size, 0, made[i], &request[i]);
  }
  for (int i = count - 1; i >= 0; i--) {
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, made[i], MPI_STATUS_IGNORE);
    wrong += got != sent[i];
  }
  MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
  return wrong;
}

int main(int argc, char **argv)
{
  int wrong = 0, all;
  MPI_Comm made[MOST];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int round = 0; round < ROUNDS; round++) {
    int count = make(made);
    wrong += exchange(count, made, round);
    for (int i = 0; i < count; i++)
      MPI_Comm_free(&made[i]);
  }
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0)
    printf("%d astray\n", all);
  return MPI_Finalize();
}
