/* Integer sort by buckets, in the manner of NAS IS: histogram, all-to-all of counts, all-to-all of
 * keys, counting sort. Keys are a function of rank, index and round, so every rank can tell what
 * its bucket must hold.
 *
 *     sort [-n KEYS] [-r ROUNDS]
 *
 * It uses big static arrays, getopt after MPI_Init, Alltoall, Alltoallv, Exscan, Scan and Sendrecv.
 */
#include "suite.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEYS_MOST = 1 << 15, RANGE = 1 << 11, RANKS_MOST = 1024 };

static int keys[KEYS_MOST], outgoing[KEYS_MOST], incoming[4 * KEYS_MOST];
static int wanted[RANGE], found[RANGE];
static int to_count[RANKS_MOST], to_start[RANKS_MOST], from_count[RANKS_MOST],
    from_start[RANKS_MOST];
static int me, ranks, count = 2000, rounds = 10;

static int key_of(int rank, int index, int round)
{
  uint64_t hash = suite_hash(((uint64_t)rank << 40) + ((uint64_t)round << 24) + (uint64_t)index);
  /* the keys are not uniform, as in NAS */
  return (int)((hash % RANGE + (hash >> 32) % RANGE) / 2);
}

static int bucket_of(int key)
{
  return (int)((long)key * ranks / RANGE);
}

static void starts(const int *counts, int *start)
{
  start[0] = 0;
  for (int i = 1; i < ranks; i++)
    start[i] = start[i - 1] + counts[i - 1];
}

static int exchange(int round)
{
  int place[RANKS_MOST];
  memset(to_count, 0, sizeof to_count);
  for (int i = 0; i < count; i++) {
    keys[i] = key_of(me, i, round);
    to_count[bucket_of(keys[i])]++;
  }
  starts(to_count, to_start);
  memcpy(place, to_start, sizeof place);
  for (int i = 0; i < count; i++)
    outgoing[place[bucket_of(keys[i])]++] = keys[i];
  MPI_Alltoall(to_count, 1, MPI_INT, from_count, 1, MPI_INT, MPI_COMM_WORLD);
  starts(from_count, from_start);
  MPI_Alltoallv(outgoing, to_count, to_start, MPI_INT, incoming, from_count, from_start, MPI_INT,
                MPI_COMM_WORLD);
  return from_start[ranks - 1] + from_count[ranks - 1];
}

/* Returns the number of errors. All ranks together must have sent the right keys to this rank, and
 * its keys must have the right positions in the sorted list of all keys. */
static long check(int received, int round)
{
  long wrong = 0, before = 0, through = 0, mine = received, smaller = 0;
  memset(wanted, 0, sizeof wanted);
  memset(found, 0, sizeof found);
  for (int rank = 0; rank < ranks; rank++)
    for (int i = 0; i < count; i++)
      wanted[key_of(rank, i, round)]++;
  for (int i = 0; i < received; i++)
    found[incoming[i]]++;
  for (int key = 0; key < RANGE; key++) {
    wrong += found[key] != (bucket_of(key) == me ? wanted[key] : 0);
    smaller += bucket_of(key) < me ? wanted[key] : 0;
  }
  MPI_Exscan(&mine, &before, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Scan(&mine, &through, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0)
    before = 0;
  return wrong + (before != smaller) + (through != smaller + mine);
}

static void parse(int argc, char **argv)
{
  int option;
  while ((option = getopt(argc, argv, "n:r:")) != -1) {
    if (option == 'n')
      count = atoi(optarg);
    else if (option == 'r')
      rounds = atoi(optarg);
    else
      MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (count < 1 || count > KEYS_MOST || rounds < 1 || ranks > RANKS_MOST)
    MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv)
{
  long wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  parse(argc, argv);
  for (int round = 0; round < rounds; round++)
    wrong += check(exchange(round), round);
  int status = suite_verdict("sort", wrong);
  MPI_Finalize();
  return status;
}
