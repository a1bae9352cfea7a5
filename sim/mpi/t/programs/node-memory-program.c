/* Computes a ring of cells whose parts lie in memory that the ranks of a node share; cells of
 * other nodes come in messages. Each rank writes into its own part and into those of its
 * neighbours, and prints a checksum of all values that it has seen. The arguments are the way in
 * which ranks wait for each other, or `leaders`, and the number of rounds. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CELLS is the number of cells of a rank, and MAIL the number of cells into which other ranks
 * write */
enum { CELLS = 40, MAIL = 4 };

/* number of this rank and of all ranks, first in MPI_COMM_WORLD and then on the node */
static int rank, ranks, here, size;
static MPI_Comm node, across; /* `across` has the ranks with the same number on their nodes */
static const char *way;
static uint64_t seen;

static void look(uint64_t value)
{
  seen = (seen ^ value) * 1099511628211u + 1;
}

/* Computes for a time that differs between ranks, so that a checkpoint finds each rank at another
 * point of the program. */
static void compute(int round)
{
  smpi_execute_flops(2e4 * (1 + (rank * 7 + round * 3) % 11));
}

/* ---- waiting for the ranks of the node ---- */

static void ring(MPI_Comm comm, int members, int me)
{
  int token = 0;
  /* in the second turn all ranks have come */
  for (int turn = 0; turn < 2 && members > 1; turn++) {
    if (me > 0)
      MPI_Recv(&token, 1, MPI_INT, me - 1, turn, comm, MPI_STATUS_IGNORE);
    MPI_Send(&token, 1, MPI_INT, (me + 1) % members, turn, comm);
    if (me == 0)
      MPI_Recv(&token, 1, MPI_INT, members - 1, turn, comm, MPI_STATUS_IGNORE);
  }
}

static void groups(MPI_Win window)
{
  MPI_Group all, others;
  MPI_Comm_group(node, &all);
  MPI_Group_excl(all, 1, &here, &others);
  MPI_Win_post(others, 0, window);
  MPI_Win_start(others, 0, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  MPI_Group_free(&others);
  MPI_Group_free(&all);
}

static void meet(MPI_Win window)
{
  if (!strcmp(way, "fence")) {
    MPI_Win_fence(0, window);
  } else if (!strcmp(way, "groups")) {
    groups(window);
  } else if (!strcmp(way, "messages")) {
    ring(node, size, here);
  } else {
    MPI_Win_sync(window);
    MPI_Barrier(node);
    MPI_Win_sync(window);
  }
}

/* ---- the ring of cells ---- */

struct part {
  uint64_t cell[CELLS], mail[MAIL], total, sum, given, before, after;
};

/* Returns the first or last cell of a neighbour, from shared memory or from a message. */
static void exchange(struct part *const *part, uint64_t *left, uint64_t *right)
{
  int before = (rank - 1 + ranks) % ranks, after = (rank + 1) % ranks;
  const struct part *own = part[here];
  MPI_Request request[4];
  int count = 0;
  if (here > 0) {
    *left = part[here - 1]->cell[CELLS - 1];
  } else {
    MPI_Irecv(left, 1, MPI_UINT64_T, before, 1, MPI_COMM_WORLD, &request[count++]);
    MPI_Isend(&own->cell[0], 1, MPI_UINT64_T, before, 2, MPI_COMM_WORLD, &request[count++]);
  }
  if (here + 1 < size) {
    *right = part[here + 1]->cell[0];
  } else {
    MPI_Irecv(right, 1, MPI_UINT64_T, after, 2, MPI_COMM_WORLD, &request[count++]);
    MPI_Isend(&own->cell[CELLS - 1], 1, MPI_UINT64_T, after, 1, MPI_COMM_WORLD, &request[count++]);
  }
  MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
}

static void update(struct part *own, uint64_t left, uint64_t right, int round)
{
  uint64_t before = left;
  for (int i = 0; i < CELLS; i++) {
    uint64_t after = i + 1 < CELLS ? own->cell[i + 1] : right, now = own->cell[i];
    own->cell[i] = before * 3 + now * 5 + after * 7 + (uint64_t)round;
    before = now;
  }
}

/* Changes the rank's own part in steps, while the other ranks of the node are elsewhere: they may
 * be captured, or start again, at another step. */
static void work_apart(struct part *own, int round)
{
  int count, place;
  MPI_Comm_size(across, &count);
  MPI_Comm_rank(across, &place);
  for (int step = 0; step < 6; step++) {
    smpi_execute_flops(1e5 * (1 + (rank * 5 + step * 3 + round) % 7));
    uint64_t given = own->cell[step] *= 5, got;
    MPI_Sendrecv(&given, 1, MPI_UINT64_T, (place + 1) % count, 3, &got, 1, MPI_UINT64_T,
                 (place + count - 1) % count, 3, across, MPI_STATUS_IGNORE);
    own->cell[step] = own->cell[step] * 3 + got + (uint64_t)step;
  }
}

/* Lets each rank add to a cell of the next rank's part, and counts in the first rank's part. */
static void write_to_others(struct part *const *part, MPI_Win window, int round)
{
  int next = (here + 1) % size;
  part[next]->mail[round % MAIL] += part[here]->cell[round % CELLS] + (uint64_t)rank;
  if (!strcmp(way, "locks")) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    uint64_t total = part[0]->total;
    smpi_execute_flops(1e4);
    part[0]->total = total + (uint64_t)rank + 1;
    MPI_Win_unlock(0, window);
  }
}

/* Lets the first ranks of the nodes meet while the others are in collective calls of the node,
 * whose results are stored in shared memory. */
static void run_leaders(struct part *const *part, int rounds)
{
  struct part *own = part[here];
  for (int round = 0; round < 15 * rounds; round++) {
    smpi_execute_flops(1e4 * (1 + (rank * 7 + round * 3) % 13));
    if (here == 0) {
      MPI_Barrier(across);
      own->total = own->total * 3 + (uint64_t)round;
      MPI_Allreduce(&own->total, &own->sum, 1, MPI_UINT64_T, MPI_SUM, across);
    }
    own->cell[1] += own->given;
    smpi_execute_flops(1e4 * (1 + (rank * 5 + round * 2) % 11));
    MPI_Allreduce(&own->cell[1], &own->given, 1, MPI_UINT64_T, MPI_SUM, node);
    own->given = own->given * 5 + (uint64_t)here;
    MPI_Bcast(&own->before, 1, MPI_UINT64_T, round % size, node);
    own->before += own->given;
  }
  look(own->before);
  look(own->given);
  look(part[0]->sum);
}

static void run(struct part *const *part, MPI_Win window, int rounds)
{
  struct part *own = part[here];
  uint64_t left;
  for (int round = 0; round < rounds; round++) {
    compute(round);
    meet(window);
    exchange(part, &own->before, &own->after);
    meet(window);
    update(own, own->before, own->after, round);
    left = own->before;
    work_apart(own, round);
    meet(window);
    write_to_others(part, window, round);
    meet(window);
    look(part[here]->mail[round % MAIL]);
    look(part[size - 1]->cell[0]);
    look(part[0]->total);
    if (round % 3 == 0)
      MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    if (round % 4 == 1)
      MPI_Barrier(MPI_COMM_WORLD);
    if (round % 4 == 3)
      MPI_Barrier(across);
    look(left);
  }
}

/* Tests accesses by calls, in a window that is made and freed in each round. */
static void make_and_free(int round)
{
  int bytes = (1 + (round + here) % 3) * 64, unit;
  uint64_t *own, *other, got = 0, one = 1;
  MPI_Aint there;
  MPI_Win window;
  MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, node, &own, &window);
  MPI_Win_shared_query(window, (here + 1) % size, &there, &unit, &other);
  MPI_Win_fence(0, window);
  other[0] = (uint64_t)(100 * rank + round);
  MPI_Win_fence(0, window);
  MPI_Accumulate(&one, 1, MPI_UINT64_T, 0, 1, 1, MPI_UINT64_T, MPI_SUM, window);
  MPI_Put(&own[0], 1, MPI_UINT64_T, (here + 1) % size, 2, 1, MPI_UINT64_T, window);
  MPI_Win_fence(0, window);
  MPI_Get(&got, 1, MPI_UINT64_T, 0, 1, 1, MPI_UINT64_T, window);
  compute(round);
  MPI_Win_fence(0, window);
  look(own[0] + own[2] * 3 + got * 5 + (uint64_t)there);
  MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
  int rounds = argc > 2 ? atoi(argv[2]) : 20, unit;
  MPI_Aint bytes;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  way = argc > 1 ? argv[1] : "fence";
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &here);
  MPI_Comm_size(node, &size);
  MPI_Comm_split(MPI_COMM_WORLD, here, rank, &across);
  struct part **part = calloc((size_t)size, sizeof(struct part *));
  compute(rank);
  MPI_Win_allocate_shared(sizeof **part, 1, MPI_INFO_NULL, node, &part[here], &window);
  for (int i = 0; i < size; i++)
    MPI_Win_shared_query(window, i, &bytes, &unit, &part[i]);
  for (int i = 0; i < CELLS; i++)
    part[here]->cell[i] = (uint64_t)(rank * CELLS + i);
  if (!strcmp(way, "sync"))
    MPI_Win_lock_all(0, window);
  if (!strcmp(way, "leaders"))
    run_leaders(part, rounds);
  run(part, window, rounds / 2);
  for (int round = 0; round < rounds / 4; round++)
    make_and_free(round);
  run(part, window, rounds / 2);
  if (!strcmp(way, "sync"))
    MPI_Win_unlock_all(window);
  for (int i = 0; i < CELLS; i++)
    look(part[here]->cell[i]);
  printf("rank %d of %d on its node of %d: %016llx\n", rank, here, size, (unsigned long long)seen);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
