/* A program with checkpoints at the application level whose messages are under way where it allows
 * them: each rank sends to the next, and receives what the one before has sent two steps ago. It
 * makes communicators before and behind its checkpoints, and tells the time. */
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>
#include <stdio.h>

enum { STEPS = 20, AHEAD = 2, COUNT = 300 };

static struct {
  int step, late;
  double sum, began;
  double x[COUNT];
} state;

static int rank, size;
static MPI_Comm pair;

static void send_next(void)
{
  MPI_Send(state.x, COUNT, MPI_DOUBLE, (rank + 1) % size, state.step % 3, MPI_COMM_WORLD);
}

static void take_one(void)
{
  double from[COUNT], sum = 0.0;
  MPI_Recv(from, COUNT, MPI_DOUBLE, (rank + size - 1) % size, (state.step - AHEAD) % 3,
           MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < COUNT; i++)
    state.x[i] = 0.5 * state.x[i] + 0.25 * from[i] + 1e-3 * i;
  MPI_Allreduce(&state.x[1], &sum, 1, MPI_DOUBLE, MPI_SUM, pair);
  state.sum += sum;
}

/* Of other members in each step: a number of its own for each of the first ones. */
static void make_another(void)
{
  MPI_Comm other;
  int colour = rank == state.step % size, most = 0;
  MPI_Comm_split(MPI_COMM_WORLD, colour, rank, &other);
  MPI_Allreduce(&rank, &most, 1, MPI_INT, MPI_MAX, other);
  state.sum += most;
  MPI_Comm_free(&other);
}

static void begin(void)
{
  state.began = MPI_Wtime();
  for (int i = 0; i < COUNT; i++)
    state.x[i] = rank + 1.0 / (i + 1);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &pair);
  recline_protect_items(1, &state.step, 2, RECLINE_INT32);
  recline_protect_items(2, &state.sum, 2 + COUNT, RECLINE_DOUBLE);
  int place = recline_restore();
  if (place == RECLINE_NO_RESTART)
    begin();
  if (place == RECLINE_AT_END)
    goto end;
  for (; state.step < STEPS; state.step++) {
    recline_potential_checkpoint();
    if (state.step % 5 == 0)
      printf("rank %d: step %d\n", rank, state.step);
    smpi_execute_flops(4e5 + 1e5 * rank);
    send_next();
    if (state.step >= AHEAD)
      take_one();
    if (state.step % 4 == 3)
      make_another();
  }
  for (; state.late < AHEAD; state.late++, state.step++) {
    recline_potential_checkpoint();
    take_one();
  }
  printf("rank %d: %a %a\n", rank, state.x[COUNT - 1], state.sum);
  printf("time %d: %s\n", rank, MPI_Wtime() > state.began ? "on" : "back");
end:
  MPI_Finalize();
  return 0;
}
