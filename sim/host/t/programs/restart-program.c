/* A program that has messages under way where it allows checkpoints at the application level: each
 * rank sends to the next rank, and receives what the rank before it has sent two steps ago. It
 * makes communicators before and after its checkpoints, calls for one checkpoint, and looks at the
 * clock.
 */
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>
#include <stdio.h>

enum { STEPS = 20, AHEAD = 2, COUNT = 300, CALL = 9 };

static struct {
  int step, late, back, pad;
  double sum, last;
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

/* Makes a broadcast and a reduction. The root may leave the broadcast before a checkpoint that the
 * other ranks take before they come to the broadcast. In the reduction the root is the last. */
static void tell_all(void)
{
  double told = state.sum, all = 0.0;
  MPI_Bcast(&told, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Reduce(&told, &all, 1, MPI_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD);
  state.sum += 1e-3 * told + 1e-4 * all;
}

static void look_at_clock(void)
{
  double now = MPI_Wtime();
  state.back |= now < state.last;
  state.last = now;
}

/* Makes a communicator of other members in each step, with a number of its own for each of the
 * first ones. */
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
  for (int i = 0; i < COUNT; i++)
    state.x[i] = rank + 1.0 / (i + 1);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &pair);
  recline_protect_items(1, &state.step, 4, RECLINE_INT32);
  recline_protect_items(2, &state.sum, 2 + COUNT, RECLINE_DOUBLE);
  int place = recline_restore();
  if (place == RECLINE_NO_RESTART)
    begin();
  if (place == RECLINE_AT_END)
    goto end;
  for (; state.step < STEPS; state.step++) {
    recline_iteration(state.step + 1);
    look_at_clock();
    if (rank == 0 && state.step == CALL)
      recline_request_checkpoint();
    if (state.step % 5 == 0)
      printf("rank %d: step %d\n", rank, state.step);
    smpi_execute_flops(4e5 + 1e5 * rank);
    send_next();
    if (state.step >= AHEAD)
      take_one();
    tell_all();
    if (state.step % 4 == 3)
      make_another();
  }
  for (; state.late < AHEAD; state.late++, state.step++) {
    recline_iteration(state.step + 1);
    take_one();
  }
  printf("rank %d: %a %a\n", rank, state.x[COUNT - 1], state.sum);
  if (state.back)
    printf("rank %d: its clock went back\n", rank);
end:
  MPI_Finalize();
  return 0;
}
