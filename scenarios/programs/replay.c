/* replay: repeats a program from a recording of its MPI calls. It makes the same calls with buffers
 * of the same sizes and the same computation, without the program (sim/mpi/layer/recording.h).
 *
 * Each message has other numbers as its contents, so that the audit sees what a protocol loses,
 * repeats or swaps, as in the program itself. Received messages are never looked at.
 *
 * Usage: replay FOLDER
 * Exit code 0, or 64 if there is no recording of this many ranks in the folder.
 */
#include "sim/mpi/layer/recording.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tell.h"

enum { EXIT_USAGE = 64, SHIFTS = 512, ARGUMENTS_MAX = 12, OUT = 0, IN = 1 };

/* Describes a contiguous datatype of the same number of bytes as the program's own datatype, which
 * it replaces. */
struct own_type {
  int size;
  MPI_Datatype type;
};

/* Holds the recording and all that never changes. It lies outside of the rank's memory, so it is in
 * no image. */
struct replay {
  const int32_t *word, *end; /* next word of the recording, and its end */
  const char *sent; /* `head.sent` bytes and SHIFTS doubles: every message is a part of them */
  char *received;   /* the buffer of all receives */
  char *collected;  /* the buffer of all collectives, whose algorithms pass on its contents */
  char *in_place;
  char **held;  /* by request: the private buffer of a collective or of a persistent send */
  int *lasting; /* by request: bytes of a persistent send, or 0 for other requests */
  MPI_Request *request, *several;
  MPI_Comm *comm;
  int *starts[2]; /* starts of the blocks of a call: OUT and IN */
  MPI_Aint *places[2];
  MPI_Datatype *types[2];
  struct own_type *own_type; /* the last entry is empty */
  MPI_Op *own_op;            /* an operation that does not commute, and one that does */
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
  int32_t number = next();
  if (number >= 0)
    return types[number];
  struct own_type *own = replay.own_type;
  while (own->type && own->size != -1 - number)
    own++;
  if (!own->type) {
    own->size = -1 - number;
    MPI_Type_contiguous(own->size, MPI_BYTE, &own->type);
    MPI_Type_commit(&own->type);
  }
  return own->type;
}

/* Replaces the operations of the program's reductions, whose results nobody reads. */
static void leave_as_it_is(void *in, void *out, int *count, MPI_Datatype *type)
{
  (void)in, (void)out, (void)count, (void)type;
}

static MPI_Op next_op(void)
{
  const MPI_Op ops[] = {RECORDED_OPS};
  int32_t number = next();
  int commutes = number == OP_COMMUTES;
  if (number >= 0)
    return ops[number];
  if (!replay.own_op[commutes])
    MPI_Op_create(leave_as_it_is, commutes, &replay.own_op[commutes]);
  return replay.own_op[commutes];
}

/* Returns the next list of the recording, which its length precedes. */
static const int *next_list(void)
{
  int32_t count = next();
  const int *list = replay.word;
  replay.word += count;
  return list;
}

static const int *next_counts(int way)
{
  int32_t count = *replay.word;
  const int *counts = next_list();
  for (int i = 0, sum = 0; i < count; i++) {
    replay.starts[way][i] = sum;
    sum += counts[i];
  }
  return counts;
}

/* Reads the datatypes of blocks whose counts are given. From then on the starts of the blocks are
 * in bytes. */
static const MPI_Datatype *next_types(int way, const int *counts)
{
  int32_t count = next();
  for (int i = 0, sum = 0, size; i < count; i++) {
    replay.types[way][i] = next_type();
    replay.starts[way][i] = sum;
    replay.places[way][i] = sum;
    MPI_Type_size(replay.types[way][i], &size);
    sum += counts[i] * size;
  }
  return replay.types[way];
}

static MPI_Group next_group(void)
{
  MPI_Group world, group;
  int32_t count = *replay.word;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, count, next_list(), &group);
  return group;
}

/* ---- buffers ---- */

/* Returns the contents of the next message. A rollback restores `shift`, so the repeated message
 * has the same contents. */
static const void *contents(void)
{
  return replay.sent + 8 * (replay.shift++ % SHIFTS);
}

/* Returns a buffer that belongs to the request until the request is complete. */
static char *hold(int request, int32_t bytes)
{
  free(replay.held[request]);
  return replay.held[request] = malloc((size_t)bytes + 1);
}

static const void *next_sent(void)
{
  int32_t bytes = next();
  if (bytes == BUFFER_IN_PLACE)
    return MPI_IN_PLACE;
  return bytes == BUFFER_NONE ? NULL : contents();
}

/* Returns the receive buffer of a collective. `request` is the request of the call, or HANDLE_NONE.
 * If the call works in place, the buffer contains the data that the rank sends. */
static void *next_collected(int request, bool in_place)
{
  int32_t bytes = next();
  if (bytes == BUFFER_IN_PLACE)
    return MPI_IN_PLACE;
  if (bytes == BUFFER_NONE)
    return NULL;
  char *room = request == HANDLE_NONE ? replay.collected : hold(request, bytes);
  return in_place ? memcpy(room, contents(), (size_t)bytes) : room;
}

static void *next_in_place(int request)
{
  int32_t bytes = next();
  return memcpy(request == HANDLE_NONE ? replay.in_place : hold(request, bytes), contents(),
                (size_t)bytes);
}

/* ---- requests ---- */

static MPI_Request *next_request(void)
{
  static MPI_Request none = MPI_REQUEST_NULL;
  int32_t number = next();
  return number == HANDLE_NONE ? &none : &replay.request[number];
}

static MPI_Request *next_requests(void)
{
  int32_t count = next();
  for (int i = 0; i < count; i++)
    replay.several[i] = *next_request();
  return replay.several;
}

/* Gives each persistent send new contents whenever it starts. */
static void renew(const int *numbers, int count)
{
  for (int i = 0; i < count; i++)
    if (numbers[i] != HANDLE_NONE && replay.lasting[numbers[i]])
      memcpy(replay.held[numbers[i]], contents(), (size_t)replay.lasting[numbers[i]]);
}

/* ---- arguments ---- */

union argument {
  int number;
  const void *sent;
  void *room;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm, *comm_made;
  MPI_Request *request;
  const int *list;
  const MPI_Datatype *types;
  MPI_Group group;
};

/* Describes the call whose words are being read. */
struct call {
  enum deed deed;
  const char *signature;
  int request; /* request of a nonblocking collective, or HANDLE_NONE for other calls */
  int way;     /* OUT or IN: which blocks come next */
  bool in_place;
};

static bool is_persistent_send(enum deed deed)
{
  return deed >= DEED_Send_init && deed <= DEED_Ssend_init;
}

static const void *next_out(struct call *call, int request)
{
  call->way = OUT;
  call->in_place = *replay.word == BUFFER_IN_PLACE;
  if (!is_persistent_send(call->deed))
    return next_sent();
  replay.lasting[request] = next();
  return hold(request, replay.lasting[request]);
}

static void *next_in(struct call *call)
{
  call->way = IN;
  if (!strchr(call->signature, 'g'))
    return next_collected(call->request, call->in_place);
  next();
  return replay.received;
}

static void next_argument(struct call *call, char letter, int last, union argument *argument)
{
  switch (letter) {
  case 'b':
    argument->sent = next_out(call, last);
    break;
  case 'k':
    argument->room = next_in(call);
    break;
  case 'a':
    argument->room = next_in_place(call->request);
    break;
  case 't':
    argument->type = next_type();
    break;
  case 'o':
    argument->op = next_op();
    break;
  case 'c':
    argument->comm = replay.comm[next()];
    break;
  case 'C':
  case 'x':
    argument->comm_made = &replay.comm[next()];
    break;
  case 'Q':
    replay.lasting[last] *= is_persistent_send(call->deed);
    argument->request = next_request();
    break;
  case 'q':
  case 'f':
    argument->request = next_request();
    break;
  case 'w':
    argument->request = next_requests();
    break;
  case 'A':
    argument->list = next_counts(call->way);
    break;
  case 'T': /* two arguments before are the counts, then displacements */
    argument->types = next_types(call->way, argument[-2].list);
    break;
  case 'V':
    argument->list = next_list();
    break;
  case 'G':
    argument->group = next_group();
    break;
  case 'D':
  case 'S':
    break;
  default:
    argument->number = next();
    break;
  }
}

static void next_arguments(enum deed deed, int words, union argument *arguments)
{
#define SIGNATURE(NAME, TEXT) TEXT,
  static const char *const signatures[] = {RECORDED_CALLS(SIGNATURE)};
  struct call call = {.deed = deed, .signature = signatures[deed], .request = HANDLE_NONE};
  int last = words > 0 ? replay.word[words - 1] : 0;
  if (strchr(call.signature, 'Q') && !strchr(call.signature, 'g'))
    call.request = last;
  for (int i = 0; call.signature[i]; i++)
    next_argument(&call, call.signature[i], last, &arguments[i]);
}

/* ---- calls: arguments by their places in the signature ---- */

#define DO(NAME, ...)                                                                              \
  case DEED_##NAME:                                                                                \
    __VA_ARGS__;                                                                                   \
    break;
#define CALL(NAME, ...) DO(NAME, MPI_##NAME(__VA_ARGS__))
/* Defines the blocking call and the nonblocking one. In the nonblocking call the request is
 * argument LAST. */
#define BOTH(NAME, INAME, LAST, ...)                                                               \
  CALL(NAME, __VA_ARGS__)                                                                          \
  CALL(INAME, __VA_ARGS__, Q(LAST))
#define N(I) a[I].number
#define B(I) a[I].sent
#define K(I) a[I].room
#define T(I) a[I].type
#define O(I) a[I].op
#define C(I) a[I].comm
#define M(I) a[I].comm_made
#define Q(I) a[I].request
#define L(I) a[I].list
#define W(I) a[I].types
#define G(I) a[I].group
#define SEND B(0), N(1), T(2), N(3), N(4), C(5)

static void do_point_to_point(enum deed deed, const union argument *a)
{
  switch (deed) {
    BOTH(Send, Isend, 6, SEND)
    BOTH(Bsend, Ibsend, 6, SEND)
    BOTH(Rsend, Irsend, 6, SEND)
    BOTH(Ssend, Issend, 6, SEND)
    CALL(Recv, K(0), N(1), T(2), N(3), N(4), C(5), MPI_STATUS_IGNORE)
    CALL(Irecv, K(0), N(1), T(2), N(3), N(4), C(5), Q(6))
    CALL(Sendrecv, B(0), N(1), T(2), N(3), N(4), K(5), N(6), T(7), N(8), N(9), C(10),
         MPI_STATUS_IGNORE)
    CALL(Sendrecv_replace, K(0), N(1), T(2), N(3), N(4), N(5), N(6), C(7), MPI_STATUS_IGNORE)
    CALL(Probe, N(0), N(1), C(2), MPI_STATUS_IGNORE)
    CALL(Send_init, SEND, Q(6))
    CALL(Bsend_init, SEND, Q(6))
    CALL(Rsend_init, SEND, Q(6))
    CALL(Ssend_init, SEND, Q(6))
    CALL(Recv_init, K(0), N(1), T(2), N(3), N(4), C(5), Q(6))
    CALL(Start, Q(0))
    CALL(Startall, N(0), Q(1))
    CALL(Wait, Q(0), MPI_STATUS_IGNORE)
    CALL(Waitall, N(0), Q(1), MPI_STATUSES_IGNORE)
    CALL(Request_free, Q(0))
  default:
    give_up("a deed that is none");
  }
}

static void do_collective(enum deed deed, const union argument *a)
{
  int *const out = replay.starts[OUT], *const in = replay.starts[IN];
  switch (deed) {
    BOTH(Barrier, Ibarrier, 1, C(0))
    BOTH(Bcast, Ibcast, 5, K(0), N(1), T(2), N(3), C(4))
    BOTH(Reduce, Ireduce, 7, B(0), K(1), N(2), T(3), O(4), N(5), C(6))
    BOTH(Allreduce, Iallreduce, 6, B(0), K(1), N(2), T(3), O(4), C(5))
    BOTH(Scan, Iscan, 6, B(0), K(1), N(2), T(3), O(4), C(5))
    BOTH(Exscan, Iexscan, 6, B(0), K(1), N(2), T(3), O(4), C(5))
    BOTH(Gather, Igather, 8, B(0), N(1), T(2), K(3), N(4), T(5), N(6), C(7))
    BOTH(Gatherv, Igatherv, 9, B(0), N(1), T(2), K(3), L(4), in, T(6), N(7), C(8))
    BOTH(Scatter, Iscatter, 8, B(0), N(1), T(2), K(3), N(4), T(5), N(6), C(7))
    BOTH(Scatterv, Iscatterv, 9, B(0), L(1), out, T(3), K(4), N(5), T(6), N(7), C(8))
    BOTH(Allgather, Iallgather, 7, B(0), N(1), T(2), K(3), N(4), T(5), C(6))
    BOTH(Allgatherv, Iallgatherv, 8, B(0), N(1), T(2), K(3), L(4), in, T(6), C(7))
    BOTH(Alltoall, Ialltoall, 7, B(0), N(1), T(2), K(3), N(4), T(5), C(6))
    BOTH(Alltoallv, Ialltoallv, 9, B(0), L(1), out, T(3), K(4), L(5), in, T(7), C(8))
    BOTH(Alltoallw, Ialltoallw, 9, B(0), L(1), out, W(3), K(4), L(5), in, W(7), C(8))
    BOTH(Reduce_scatter, Ireduce_scatter, 6, B(0), K(1), L(2), T(3), O(4), C(5))
    BOTH(Reduce_scatter_block, Ireduce_scatter_block, 6, B(0), K(1), N(2), T(3), O(4), C(5))
  default:
    do_point_to_point(deed, a);
  }
}

static void do_among_neighbours(enum deed deed, const union argument *a)
{
  int *const out = replay.starts[OUT], *const in = replay.starts[IN];
  MPI_Aint *const far_out = replay.places[OUT], *const far_in = replay.places[IN];
  switch (deed) {
    BOTH(Neighbor_allgather, Ineighbor_allgather, 7, B(0), N(1), T(2), K(3), N(4), T(5), C(6))
    BOTH(Neighbor_allgatherv, Ineighbor_allgatherv, 8, B(0), N(1), T(2), K(3), L(4), in, T(6), C(7))
    BOTH(Neighbor_alltoall, Ineighbor_alltoall, 7, B(0), N(1), T(2), K(3), N(4), T(5), C(6))
    BOTH(Neighbor_alltoallv, Ineighbor_alltoallv, 9, B(0), L(1), out, T(3), K(4), L(5), in, T(7),
         C(8))
    BOTH(Neighbor_alltoallw, Ineighbor_alltoallw, 9, B(0), L(1), far_out, W(3), K(4), L(5), far_in,
         W(7), C(8))
  default:
    do_collective(deed, a);
  }
}

static void do_communicator(enum deed deed, const union argument *a)
{
  switch (deed) {
    CALL(Comm_dup, C(0), M(1))
    CALL(Comm_dup_with_info, C(0), MPI_INFO_NULL, M(2))
    CALL(Comm_split, C(0), N(1), N(2), M(3))
    CALL(Comm_split_type, C(0), N(1), N(2), MPI_INFO_NULL, M(4))
    CALL(Comm_create, C(0), G(1), M(2))
    CALL(Comm_create_group, C(0), G(1), N(2), M(3))
    CALL(Cart_create, C(0), N(1), L(2), L(3), N(4), M(5))
    CALL(Cart_sub, C(0), L(1), M(2))
    CALL(Dist_graph_create_adjacent, C(0), N(1), L(2), MPI_UNWEIGHTED, N(4), L(5), MPI_UNWEIGHTED,
         MPI_INFO_NULL, N(8), M(9))
    CALL(Comm_free, M(0))
    CALL(Comm_disconnect, M(0))
  default:
    do_among_neighbours(deed, a);
  }
}

static void do_place(unsigned iteration)
{
  if (iteration)
    recline_iteration(iteration);
  else
    recline_potential_checkpoint();
}

static void do_call(enum deed deed, int words)
{
  union argument arguments[ARGUMENTS_MAX];
  if (deed == DEED_Start)
    renew(replay.word, 1);
  else if (deed == DEED_Startall)
    renew(replay.word + 2, words - 2);
  next_arguments(deed, words, arguments);
  do_communicator(deed, arguments);
}

static void do_next(void)
{
  enum deed deed = (enum deed)next();
  int words = next();
  switch (deed) {
    DO(smpi_execute, smpi_execute(next_double()))
    DO(smpi_execute_benched, smpi_execute_benched(next_double()))
    DO(smpi_execute_flops, smpi_execute_flops(next_double()))
    DO(smpi_execute_flops_benched, smpi_execute_flops_benched(next_double()))
    DO(clock, next_number(), MPI_Wtime())
    DO(place, do_place((unsigned)next_number()))
    DO(request, next_number(), recline_request_checkpoint())
    DO(image_bytes, recline_image_bytes(next_number()))
    DO(iteration_bytes, recline_iteration_bytes(next_number()))
  default:
    do_call(deed, words);
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

/* Fills the array with doubles between 1 and 2. Up to 2^32 of them differ from each other. */
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

static void make_rooms(const struct recording_head *head)
{
  size_t requests = (size_t)head->requests + 1, blocks = (size_t)head->blocks + 1;
  replay.received = outside((size_t)head->received);
  replay.collected = calloc((size_t)head->collected + 1, 1);
  replay.in_place = calloc((size_t)head->in_place + 1, 1);
  replay.held = calloc(requests, sizeof *replay.held);
  replay.lasting = calloc(requests, sizeof *replay.lasting);
  replay.request = calloc(requests, sizeof *replay.request);
  replay.several = calloc(requests, sizeof *replay.several);
  for (int way = OUT; way <= IN; way++) {
    replay.starts[way] = calloc(blocks, sizeof *replay.starts[way]);
    replay.places[way] = calloc(blocks, sizeof *replay.places[way]);
    replay.types[way] = calloc(blocks, sizeof *replay.types[way]);
  }
  replay.own_type = outside(((size_t)head->types + 1) * sizeof *replay.own_type);
  replay.own_op = outside(2 * sizeof *replay.own_op);
  replay.comm = calloc((size_t)head->comms + 2, sizeof(MPI_Comm));
  replay.comm[0] = MPI_COMM_WORLD;
  replay.comm[1] = MPI_COMM_SELF;
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
  make_rooms(head);
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
    do_next();
  MPI_Finalize();
  return 0;
}
