/* replay: does what a program did, from a recording (sim/mpi/recording.h): the same MPI calls with
 * buffers of the same sizes, the same computation, without the program.
 *
 * What is sent are numbers that differ from message to message: what a protocol loses, repeats or
 * swaps is seen, as in the program. What is received is never looked at.
 *
 * Usage: replay FOLDER
 * Exit code 0, or 64 if there is no recording of this many ranks in the folder.
 */
#include "sim/mpi/recording.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tell.h"

enum { EXIT_USAGE = 64, SHIFTS = 512 };

/* What never changes lies outside of the rank's memory, as the recording does: it is in no image.
 */
struct replay {
  const int32_t *word, *end; /* of the recording, where we are */
  const char *sent;          /* `head.sent` bytes and SHIFTS doubles: all messages are in it */
  char *received;            /* of receives, and */
  char *collected;           /* of collectives, whose algorithms pass on what is in it */
  char *in_place;
  int *starts; /* of blocks, one after the other */
  MPI_Request *request, *several;
  MPI_Comm *comm;
  uint64_t shift;
};

static struct replay replay;

static void give_up(const char *what)
{
  fprintf(stderr, "replay: %s, expected the folder of a recording\n", what);
  exit(EXIT_USAGE);
}

/* ---- words ---- */

static int32_t next(void)
{
  return *replay.word++;
}

static uint64_t next_number(void)
{
  uint64_t low = (uint32_t)next();
  return (uint64_t)(uint32_t)next() << 32 | low;
}

static double next_double(void)
{
  uint64_t bits = next_number();
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static MPI_Datatype next_type(void)
{
  const MPI_Datatype types[] = {RECORDED_TYPES};
  return types[next()];
}

static MPI_Op next_op(void)
{
  const MPI_Op ops[] = {RECORDED_OPS};
  return ops[next()];
}

static MPI_Comm next_comm(void)
{
  return replay.comm[next()];
}

static MPI_Request *next_request(void)
{
  static MPI_Request none = MPI_REQUEST_NULL;
  int32_t number = next();
  return number == HANDLE_NONE ? &none : &replay.request[number];
}

/* The counts of all ranks; where their blocks begin, one behind the other. */
static const int *next_counts(int *starts)
{
  int32_t count = next();
  const int *counts = replay.word;
  replay.word += count;
  for (int i = 0, sum = 0; i < count; i++) {
    starts[i] = sum;
    sum += counts[i];
  }
  return counts;
}

/* ---- buffers ---- */

/* What is sent next: the same again after a rollback, as `shift` goes back too. */
static const void *contents(void)
{
  return replay.sent + 8 * (replay.shift++ % SHIFTS);
}

static const void *next_sent(void)
{
  int32_t bytes = next();
  if (bytes == BUFFER_IN_PLACE)
    return MPI_IN_PLACE;
  return bytes == BUFFER_NONE ? NULL : contents();
}

/* Where the call works in place, it finds there what it sends. */
static void *next_collected(int32_t bytes_in_place)
{
  int32_t bytes = next();
  if (bytes == BUFFER_IN_PLACE)
    return MPI_IN_PLACE;
  if (bytes_in_place == BUFFER_IN_PLACE && bytes > 0)
    memcpy(replay.collected, contents(), (size_t)bytes);
  return bytes == BUFFER_NONE ? NULL : replay.collected;
}

static void *next_received(void)
{
  next();
  return replay.received;
}

static void *next_in_place(void)
{
  int32_t bytes = next();
  memcpy(replay.in_place, contents(), (size_t)bytes);
  return replay.in_place;
}

/* ---- point to point ---- */

typedef int send_call(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_call(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void do_send(send_call *call)
{
  const void *buffer = next_sent();
  int count = next();
  MPI_Datatype type = next_type();
  int to = next(), tag = next();
  call(buffer, count, type, to, tag, next_comm());
}

static void do_isend(isend_call *call)
{
  const void *buffer = next_sent();
  int count = next();
  MPI_Datatype type = next_type();
  int to = next(), tag = next();
  MPI_Comm comm = next_comm();
  call(buffer, count, type, to, tag, comm, next_request());
}

static void do_receive(int immediate)
{
  void *buffer = next_received();
  int count = next();
  MPI_Datatype type = next_type();
  int from = next(), tag = next();
  MPI_Comm comm = next_comm();
  if (immediate)
    MPI_Irecv(buffer, count, type, from, tag, comm, next_request());
  else
    MPI_Recv(buffer, count, type, from, tag, comm, MPI_STATUS_IGNORE);
}

static void do_exchange(void)
{
  const void *out = next_sent();
  int out_count = next();
  MPI_Datatype out_type = next_type();
  int to = next(), out_tag = next();
  void *in = next_received();
  int in_count = next();
  MPI_Datatype in_type = next_type();
  int from = next(), in_tag = next();
  MPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag,
               next_comm(), MPI_STATUS_IGNORE);
}

static void do_exchange_in_place(void)
{
  void *buffer = next_in_place();
  int count = next();
  MPI_Datatype type = next_type();
  int to = next(), out_tag = next(), from = next(), in_tag = next();
  MPI_Sendrecv_replace(buffer, count, type, to, out_tag, from, in_tag, next_comm(),
                       MPI_STATUS_IGNORE);
}

static void do_wait_all(void)
{
  next(); /* the argument of the call; here come those that there are */
  int count = next();
  for (int i = 0; i < count; i++)
    replay.several[i] = *next_request();
  MPI_Waitall(count, replay.several, MPI_STATUSES_IGNORE);
}

static void do_probe(void)
{
  int from = next(), tag = next();
  MPI_Probe(from, tag, next_comm(), MPI_STATUS_IGNORE);
}

/* ---- collectives ---- */

static void do_broadcast(void)
{
  void *buffer = next_in_place();
  int count = next();
  MPI_Datatype type = next_type();
  int root = next();
  MPI_Bcast(buffer, count, type, root, next_comm());
}

typedef int reduce_call(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

static void do_reduce(reduce_call *call)
{
  int32_t first = *replay.word;
  const void *out = next_sent();
  void *in = next_collected(first);
  int count = next();
  MPI_Datatype type = next_type();
  MPI_Op op = next_op();
  if (call) {
    call(out, in, count, type, op, next_comm());
    return;
  }
  int root = next();
  MPI_Reduce(out, in, count, type, op, root, next_comm());
}

/* Gather, scatter, allgather, alltoall: those with a root first. */
typedef int rooted_call(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
typedef int equal_call(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);

static void do_blocks(rooted_call *rooted, equal_call *equal)
{
  int32_t first = *replay.word;
  const void *out = next_sent();
  int out_count = next();
  MPI_Datatype out_type = next_type();
  void *in = next_collected(first);
  int in_count = next();
  MPI_Datatype in_type = next_type();
  int root = rooted ? next() : 0;
  MPI_Comm comm = next_comm();
  if (rooted)
    rooted(out, out_count, out_type, in, in_count, in_type, root, comm);
  else
    equal(out, out_count, out_type, in, in_count, in_type, comm);
}

static void do_gather_unequal(int all)
{
  int32_t first = *replay.word;
  const void *out = next_sent();
  int out_count = next();
  MPI_Datatype out_type = next_type();
  void *in = next_collected(first);
  const int *counts = next_counts(replay.starts);
  MPI_Datatype in_type = next_type();
  int root = all ? 0 : next();
  MPI_Comm comm = next_comm();
  if (all)
    MPI_Allgatherv(out, out_count, out_type, in, counts, replay.starts, in_type, comm);
  else
    MPI_Gatherv(out, out_count, out_type, in, counts, replay.starts, in_type, root, comm);
}

static void do_scatter_unequal(void)
{
  const void *out = next_sent();
  const int *counts = next_counts(replay.starts);
  MPI_Datatype out_type = next_type();
  void *in = next_collected(0);
  int in_count = next();
  MPI_Datatype in_type = next_type();
  int root = next();
  MPI_Scatterv(out, counts, replay.starts, out_type, in, in_count, in_type, root, next_comm());
}

static void do_alltoall_unequal(int ranks)
{
  int32_t first = *replay.word;
  int *in_starts = replay.starts + ranks;
  const void *out = next_sent();
  const int *out_counts = next_counts(replay.starts);
  MPI_Datatype out_type = next_type();
  void *in = next_collected(first);
  const int *in_counts = next_counts(in_starts);
  MPI_Datatype in_type = next_type();
  MPI_Alltoallv(out, out_counts, replay.starts, out_type, in, in_counts, in_starts, in_type,
                next_comm());
}

/* ---- communicators ---- */

static void do_split(void)
{
  MPI_Comm comm = next_comm();
  int colour = next(), key = next();
  MPI_Comm_split(comm, colour, key, &replay.comm[next()]);
}

static void do_duplicate(void)
{
  MPI_Comm comm = next_comm();
  MPI_Comm_dup(comm, &replay.comm[next()]);
}

/* ---- all ---- */

#define DO(NAME, ...)                                                                              \
  case DEED_##NAME:                                                                                \
    __VA_ARGS__;                                                                                   \
    break;

static void do_point_to_point(enum deed deed)
{
  switch (deed) {
    DO(Send, do_send(MPI_Send))
    DO(Bsend, do_send(MPI_Bsend))
    DO(Rsend, do_send(MPI_Rsend))
    DO(Ssend, do_send(MPI_Ssend))
    DO(Isend, do_isend(MPI_Isend))
    DO(Ibsend, do_isend(MPI_Ibsend))
    DO(Irsend, do_isend(MPI_Irsend))
    DO(Issend, do_isend(MPI_Issend))
    DO(Recv, do_receive(0))
    DO(Irecv, do_receive(1))
    DO(Sendrecv, do_exchange())
    DO(Sendrecv_replace, do_exchange_in_place())
    DO(Probe, do_probe())
    DO(Wait, MPI_Wait(next_request(), MPI_STATUS_IGNORE))
    DO(Waitall, do_wait_all())
    DO(Request_free, MPI_Request_free(next_request()))
  default:
    give_up("a deed that is none");
  }
}

static void do_collective(enum deed deed, int ranks)
{
  switch (deed) {
    DO(Barrier, MPI_Barrier(next_comm()))
    DO(Bcast, do_broadcast())
    DO(Reduce, do_reduce(NULL))
    DO(Allreduce, do_reduce(MPI_Allreduce))
    DO(Scan, do_reduce(MPI_Scan))
    DO(Exscan, do_reduce(MPI_Exscan))
    DO(Reduce_scatter_block, do_reduce(MPI_Reduce_scatter_block))
    DO(Gather, do_blocks(MPI_Gather, NULL))
    DO(Scatter, do_blocks(MPI_Scatter, NULL))
    DO(Allgather, do_blocks(NULL, MPI_Allgather))
    DO(Alltoall, do_blocks(NULL, MPI_Alltoall))
    DO(Gatherv, do_gather_unequal(0))
    DO(Allgatherv, do_gather_unequal(1))
    DO(Scatterv, do_scatter_unequal())
    DO(Alltoallv, do_alltoall_unequal(ranks))
    DO(Comm_dup, do_duplicate())
    DO(Comm_split, do_split())
    DO(Comm_free, MPI_Comm_free(&replay.comm[next()]))
  default:
    do_point_to_point(deed);
  }
}

static void do_place(unsigned iteration)
{
  if (iteration)
    recline_iteration(iteration);
  else
    recline_potential_checkpoint();
}

static void do_next(int ranks)
{
  enum deed deed = (enum deed)next();
  next(); /* how many words follow */
  switch (deed) {
    DO(smpi_execute, smpi_execute(next_double()))
    DO(smpi_execute_benched, smpi_execute_benched(next_double()))
    DO(smpi_execute_flops, smpi_execute_flops(next_double()))
    DO(smpi_execute_flops_benched, smpi_execute_flops_benched(next_double()))
    DO(clock, next_number(), MPI_Wtime())
    DO(place, do_place((unsigned)next_number()))
    DO(image_bytes, recline_image_bytes(next_number()))
    DO(iteration_bytes, recline_iteration_bytes(next_number()))
  default:
    do_collective(deed, ranks);
  }
}

/* ---- the beginning ---- */

static void *outside(size_t bytes)
{
  void *memory = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    give_up("no memory");
  return memory;
}

/* As doubles they are between 1 and 2, none like another for as long as there are 32 bits. */
static void make_contents(size_t bytes, unsigned rank)
{
  size_t count = bytes / sizeof(double) + SHIFTS + 1;
  uint64_t *number = outside(count * sizeof *number);
  for (uint64_t i = 0; i < count; i++)
    number[i] = 0x3ff0000000000000 + ((i + (uint64_t)rank * count) & 0xffffffff);
  replay.sent = (const char *)number;
}

static const int32_t *map(const char *folder, int rank, size_t *bytes)
{
  char file[4096];
  struct stat status;
  snprintf(file, sizeof file, "%s/%d", folder, rank);
  int descriptor = open(file, O_RDONLY);
  if (descriptor < 0 || fstat(descriptor, &status) != 0)
    give_up(file);
  *bytes = (size_t)status.st_size;
  const void *words = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (words == MAP_FAILED)
    give_up(file);
  return words;
}

static void begin(const char *folder, int rank, int ranks)
{
  size_t bytes;
  const int32_t *words = map(folder, rank, &bytes);
  const struct recording_head *head = (const struct recording_head *)words;
  if (bytes < sizeof *head || head->format != RECORDING_FORMAT || head->ranks != ranks)
    give_up(folder);
  replay.word = words + sizeof *head / sizeof *words;
  replay.end = words + bytes / sizeof *words;
  make_contents((size_t)(head->sent > head->collected ? head->sent : head->collected) +
                    (size_t)head->in_place,
                (unsigned)rank);
  replay.received = outside((size_t)head->received);
  replay.collected = calloc((size_t)head->collected + 1, 1);
  replay.in_place = calloc((size_t)head->in_place + 1, 1);
  replay.starts = calloc(2 * (size_t)ranks, sizeof *replay.starts);
  replay.request = calloc((size_t)head->requests + 1, sizeof *replay.request);
  replay.several = calloc((size_t)head->requests + 1, sizeof *replay.several);
  replay.comm = calloc((size_t)head->comms + 2, sizeof(MPI_Comm));
  replay.comm[0] = MPI_COMM_WORLD;
  replay.comm[1] = MPI_COMM_SELF;
}

int main(int argc, char **argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2 || !recline_iteration)
    give_up("no folder, or no recline");
  begin(argv[1], rank, ranks);
  while (replay.word < replay.end)
    do_next(ranks);
  MPI_Finalize();
  return 0;
}
