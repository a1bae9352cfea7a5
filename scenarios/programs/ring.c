/* ring: a token passes all ranks in turn, and each changes it.
 *
 * On two ranks this is a ping-pong, the usual measurement of latency and bandwidth. It also detects
 * a wrong recovery: the token carries the history of all hops, so a message lost, repeated,
 * reordered or delivered to a rank of another incarnation changes the checksum.
 *
 * Each hop replaces every byte b by 5 b + stamp(rank, lap) modulo 256. These changes do not
 * commute, so the order of hops matters, and a whole history is again a multiplication and an
 * addition, so rank 0 can compute the expected token without sending it. Changing the token costs
 * no simulated time: communication alone is measured.
 *
 * Usage: ring BYTES LAPS [EVERY]
 *   With EVERY it prints "us_LAP: ... per hop" behind each EVERY laps.
 * The exit code is the same on all ranks: 0 verified, 1 not verified, 64 usage.
 */
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  EXIT_VERIFIED = 0,
  EXIT_NOT_VERIFIED = 1,
  EXIT_USAGE = 64,
  TAG_TOKEN = 1,
  MULTIPLIER = 5, /* odd, so that no history loses information */
};

struct ring {
  int rank, ranks;
  int bytes, laps;
  int every; /* laps between printed times, or 0 if no times are printed */
  unsigned char *token;
  /* a second buffer, because the only rank of a ring of one sends to itself */
  unsigned char *received;
};

static struct ring ring;
/* hops of this rank; the variable is static, so that a rollback has a global variable to restore */
static int hops_made;

static unsigned char stamp(int rank, int lap)
{
  return (unsigned char)(rank + 7 * lap + 1);
}

static unsigned char initial_byte(int position)
{
  return (unsigned char)((unsigned)position * 2654435761u >> 24);
}

static void change_token(unsigned char *token, int lap)
{
  const unsigned char addend = stamp(ring.rank, lap);
  for (int i = 0; i < ring.bytes; i++) {
    token[i] = (unsigned char)(token[i] * MULTIPLIER + addend);
  }
  hops_made++;
}

static void receive_token(MPI_Request *request)
{
  const int previous = (ring.rank + ring.ranks - 1) % ring.ranks;
  MPI_Irecv(ring.received, ring.bytes, MPI_BYTE, previous, TAG_TOKEN, MPI_COMM_WORLD, request);
}

static void pass_token_on(int lap)
{
  change_token(ring.token, lap);
  const int next = (ring.rank + 1) % ring.ranks;
  MPI_Send(ring.token, ring.bytes, MPI_BYTE, next, TAG_TOKEN, MPI_COMM_WORLD);
}

static void take_received(MPI_Request *request)
{
  MPI_Wait(request, MPI_STATUS_IGNORE);
  unsigned char *old = ring.token;
  ring.token = ring.received;
  ring.received = old;
}

static void go_round(void)
{
  double since = ring.every ? MPI_Wtime() : 0.0;
  for (int lap = 0; lap < ring.laps; lap++) {
    MPI_Request request;
    if (ring.every && ring.rank == 0 && lap && lap % ring.every == 0) {
      const double now = MPI_Wtime();
      printf("us_%d: %.6f per hop\n", lap, 1e6 * (now - since) / ring.every / ring.ranks);
      since = now;
    }
    receive_token(&request);
    if (ring.rank == 0) {
      pass_token_on(lap);
      take_received(&request);
    } else {
      take_received(&request);
      pass_token_on(lap);
    }
  }
}

/* 64-bit FNV-1a. */
static uint64_t checksum(const unsigned char *bytes, int count)
{
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (int i = 0; i < count; i++) {
    hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

/* Writes the expected token, which it computes from the combined history of one byte. */
static void expect_token(unsigned char *token)
{
  unsigned char factor = 1;
  unsigned char addend = 0;
  for (int lap = 0; lap < ring.laps; lap++) {
    for (int rank = 0; rank < ring.ranks; rank++) {
      factor = (unsigned char)(factor * MULTIPLIER);
      addend = (unsigned char)(addend * MULTIPLIER + stamp(rank, lap));
    }
  }
  for (int i = 0; i < ring.bytes; i++) {
    token[i] = (unsigned char)(initial_byte(i) * factor + addend);
  }
}

static void report_time(double seconds)
{
  const double lap_us = 1e6 * seconds / ring.laps;
  const double hop_us = lap_us / ring.ranks;
  printf("time: %.6f us per lap, mean of %d\n", lap_us, ring.laps);
  printf("time: %.6f us per hop, %.6f MB/s\n", hop_us, ring.bytes / hop_us);
}

/* Judges the token at rank 0, which has it at the end. All ranks return the verdict of rank 0. */
static int report_result(void)
{
  int code = EXIT_VERIFIED;
  if (ring.rank == 0) {
    const uint64_t found = checksum(ring.token, ring.bytes);
    expect_token(ring.received);
    const uint64_t expected = checksum(ring.received, ring.bytes);
    const bool verified = found == expected && hops_made == ring.laps;
    printf("ranks: %d, %d bytes, %d laps\n", ring.ranks, ring.bytes, ring.laps);
    printf("checksum: %016llx\n", (unsigned long long)found);
    printf("verification: %s\n", verified ? "PASS" : "FAIL");
    code = verified ? EXIT_VERIFIED : EXIT_NOT_VERIFIED;
  }
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return code;
}

static int run(void)
{
  ring.token = malloc((size_t)ring.bytes + 1); /* a token of no bytes is allowed */
  ring.received = malloc((size_t)ring.bytes + 1);
  if (ring.token == NULL || ring.received == NULL) {
    fprintf(stderr, "ring: out of memory\n");
    abort();
  }
  for (int i = 0; i < ring.bytes; i++) {
    ring.token[i] = initial_byte(i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  go_round();
  const double seconds = MPI_Wtime() - start;
  if (ring.rank == 0) {
    report_time(seconds);
  }
  const int code = report_result();
  free(ring.token);
  free(ring.received);
  return code;
}

/* Reads a whole number of at least `least`. */
static bool parse_number(const char *text, int least, int *number)
{
  char *end;
  const long value = strtol(text, &end, 10);
  *number = (int)value;
  return end != text && *end == '\0' && value >= least && value < INT_MAX;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &ring.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ring.ranks);
  int code = EXIT_USAGE;
  if ((argc == 3 || (argc == 4 && parse_number(argv[3], 1, &ring.every))) &&
      parse_number(argv[1], 0, &ring.bytes) && parse_number(argv[2], 1, &ring.laps)) {
    code = run();
  } else if (ring.rank == 0) {
    fprintf(stderr, "ring: expected BYTES LAPS [EVERY], at least 0, 1 and 1\n");
  }
  MPI_Finalize();
  return code;
}
