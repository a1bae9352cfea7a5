/* Tests one-sided communication in which the target takes no part. All calls are in a loop, so that
 * crashes and checkpoints fall everywhere, and every result is checked. It is compiled as C and as
 * C++. Usage: layer-locks ROUNDS */
#define PROGRAM "layer-locks"
#include "layer-rounds.h"

enum { CELLS = 64, RANKS_MAX = 16, BIG = 20000 }; /* BIG ints are beyond every eager threshold */

/* ---- one rank writes, another reads ---- */

static void test_put_and_get(MPI_Win window)
{
  int out[4], in[4] = {0}, late = -1;
  for (int i = 0; i < 4; i++)
    out[i] = value(rank, i);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window);
  MPI_Put(out, 4, MPI_INT, next, 0, 4, MPI_INT, window);
  MPI_Win_flush_local(next, window);
  out[0] = -1;
  MPI_Get(in, 4, MPI_INT, next, 0, 4, MPI_INT, window);
  MPI_Win_flush(next, window);
  expect(in[0] == value(rank, 0) && in[3] == value(rank, 3), "get behind a flush");
  MPI_Get(&late, 1, MPI_INT, next, 2, 1, MPI_INT, window);
  MPI_Win_unlock(next, window);
  expect(late == value(rank, 2), "get before unlock");
  compute(1e-4);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  MPI_Get(in, 4, MPI_INT, rank, 0, 4, MPI_INT, window);
  MPI_Win_unlock(rank, window);
  expect(in[0] == value(previous, 0) && in[3] == value(previous, 3), "what another has put");
}

/* ---- counters of all ranks ---- */

/* Tests counters at rank 0: one to which all ranks add atomically under a shared lock, and one that
 * each rank reads and then writes under an exclusive lock. */
static void test_counters(MPI_Win window, int *memory)
{
  int one = 1, old = -1, seen = 0, sum, compared, mine = rank + 1, last;
  static int taken[RANKS_MAX];
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  memory[10] = memory[11] = memory[12] = 0;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  compute(1e-4);
  MPI_Win_lock_all(0, window);
  MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 10, MPI_SUM, window);
  MPI_Win_flush(0, window);
  do { /* a lock that the program makes itself */
    compared = 0;
    MPI_Compare_and_swap(&mine, &compared, &last, MPI_INT, 0, 12, window);
    MPI_Win_flush(0, window);
  } while (last != 0);
  mine = 0;
  MPI_Accumulate(&mine, 1, MPI_INT, 0, 12, 1, MPI_INT, MPI_REPLACE, window);
  MPI_Win_unlock_all(window);
  expect(old >= 0 && old < ranks, "fetch_and_op");
  MPI_Allgather(&old, 1, MPI_INT, taken, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++)
    seen |= 1 << taken[i];
  expect(seen == (1 << ranks) - 1, "each has got another number");
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Get(&sum, 1, MPI_INT, 0, 11, 1, MPI_INT, window);
  MPI_Win_flush(0, window);
  sum += rank + 1;
  MPI_Put(&sum, 1, MPI_INT, 0, 11, 1, MPI_INT, window);
  MPI_Win_unlock(0, window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    expect(memory[10] == ranks && memory[11] == ranks * (ranks + 1) / 2, "read, add, write");
}

/* ---- requests ---- */

static void test_requests(MPI_Win window, int *memory)
{
  static int big[BIG];
  int out[2] = {value(rank, 5), value(rank, 6)}, one = 1, in = -1, old = -1, flag = 0, none;
  MPI_Request request[4];
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  memory[20] = 0;
  memory[22] = value(rank, 22);
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  MPI_Rput(&out[0], 1, MPI_INT, next, 24, 1, MPI_INT, window, &request[0]);
  MPI_Rget(&in, 1, MPI_INT, next, 22, 1, MPI_INT, window, &request[1]);
  MPI_Raccumulate(&one, 1, MPI_INT, 0, 20, 1, MPI_INT, MPI_SUM, window, &request[2]);
  MPI_Rget_accumulate(&out[1], 1, MPI_INT, &old, 1, MPI_INT, rank, 22, 1, MPI_INT, MPI_REPLACE,
                      window, &request[3]);
  compute(1e-4);
  MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
  expect(old == value(rank, 22) && (in == value(next, 22) || in == value(next, 6)),
         "rget and rget_accumulate");
  MPI_Rput(&none, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window, &request[0]);
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  MPI_Rget(&in, 1, MPI_INT, next, 24, 1, MPI_INT, window, &request[0]);
  while (!flag)
    MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
  expect(in == value(rank, 5), "rput, then rget");
  MPI_Rget(big, BIG, MPI_INT, next, CELLS, BIG, MPI_INT, window, &request[0]);
  MPI_Win_flush_all(window); /* the request still belongs to the program */
  expect(big[7] == next + 7 && big[BIG - 1] == next + BIG - 1, "a large rget, flushed");
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  MPI_Win_flush_local_all(window);
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    expect(memory[20] == ranks, "raccumulate");
}

/* ---- a target that looks at its memory until something is there ---- */

static void test_flag(MPI_Win window, int *memory)
{
  int here = round_number, out = value(rank, 30);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  MPI_Put(&out, 1, MPI_INT, next, 31, 1, MPI_INT, window);
  MPI_Win_flush(next, window);
  MPI_Put(&here, 1, MPI_INT, next, 30, 1, MPI_INT, window);
  MPI_Win_flush(next, window);
  while (*(volatile int *)&memory[30] != round_number)
    MPI_Win_sync(window);
  expect(memory[31] == value(previous, 30), "what was put before the flag is there with it");
  MPI_Win_unlock_all(window);
}

/* ---- a target that waits for something else ---- */

static void test_waits(MPI_Win window)
{
  int out = value(rank, 40), in = -1, token = rank;
  MPI_Request request[2];
  MPI_Status status;
  /* all other ranks access the window of rank 0, which waits for their messages */
  if (rank == 0) {
    for (int i = 1; i < ranks; i++) {
      MPI_Probe(MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &status);
      MPI_Recv(&token, 1, MPI_INT, status.MPI_SOURCE, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  } else {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(&out, 1, MPI_INT, 0, 40 + rank, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    MPI_Send(&token, 1, MPI_INT, 0, 50, MPI_COMM_WORLD);
  }
  MPI_Irecv(&in, 1, MPI_INT, previous, 51, MPI_COMM_WORLD, &request[0]);
  MPI_Win_lock(MPI_LOCK_SHARED, previous, 0, window);
  MPI_Get(&token, 1, MPI_INT, previous, 0, 1, MPI_INT, window);
  MPI_Win_unlock(previous, window);
  MPI_Isend(&rank, 1, MPI_INT, next, 51, MPI_COMM_WORLD, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  expect(in == previous && token == value((previous + ranks - 1) % ranks, 0), "while it waits");
}

/* ---- windows of some ranks, collectives of all ---- */

static void test_some(void)
{
  MPI_Comm half;
  MPI_Win window;
  MPI_Info info;
  int *memory, size, me, sum = 0, one = 1;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_size(half, &size);
  MPI_Comm_rank(half, &me);
  MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, half, &memory, &window);
  *memory = 0;
  MPI_Barrier(half);
  if (me == 0)
    smpi_execute_benched(2e-4);
  for (int i = 0; i < size; i++) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i, 0, window);
    MPI_Accumulate(&one, 1, MPI_INT, i, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(i, window);
  }
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(half);
  expect(sum == ranks && *memory == size, "a window of half the ranks");
  MPI_Win_free(&window);
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  MPI_Win_allocate(sizeof *memory, 1, info, half, &memory, &window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Info_free(&info);
  MPI_Comm_free(&half);
}

static void test_errors(MPI_Win window)
{
  MPI_Request request;
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  expect(MPI_Win_unlock(next, window) == MPI_ERR_RMA_SYNC, "unlock without lock");
  expect(MPI_Win_flush(next, window) == MPI_ERR_RMA_SYNC, "flush without lock");
  expect(MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, window) == MPI_ERR_RANK, "lock of no rank");
  expect(MPI_Win_lock(17, next, 0, window) == MPI_ERR_LOCKTYPE, "no kind of lock");
  expect(MPI_Rput(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, window, &request) == MPI_ERR_RMA_SYNC,
         "rput without lock");
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
  expect(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window) == MPI_ERR_RMA_SYNC, "lock twice");
  MPI_Win_unlock(next, window);
  MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, window);
  MPI_Win_unlock(MPI_PROC_NULL, window);
  MPI_Win_set_errhandler(window, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
  int rounds = begin(argc, argv);
  int *memory;
  MPI_Win window;
  MPI_Win_allocate((CELLS + BIG) * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &memory, &window);
  memset(memory, 0, CELLS * sizeof *memory);
  for (int i = 0; i < BIG; i++)
    memory[CELLS + i] = rank + i;
  MPI_Barrier(MPI_COMM_WORLD);
  for (round_number = 1; round_number <= rounds; round_number++) {
    compute(1e-4);
    test_put_and_get(window);
    test_counters(window, memory);
    test_requests(window, memory);
    test_flag(window, memory);
    test_waits(window);
    test_some();
    test_errors(window);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&window);
  return end(rounds);
}
