#include "sim/mpi/layer/record.h"

#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/receipt.h"
#include "sim/mpi/layer/recording.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool recording;

struct recorder {
  FILE *file;
  struct recording_head head;
  GPtrArray *comms, *requests; /* handles of the program, by number; NULL for a free number */
  GPtrArray *persistent;       /* requests that a wait does not free */
  GArray *types;               /* int: number of bytes of each datatype that the program has made */
  void **made;                 /* address to which the call that is under way writes a new handle */
  GPtrArray *made_in;          /* the list that gets that handle, `comms` or `requests` */
  bool made_lasts;             /* the new handle is of a persistent request */
  uint64_t calls;
  uint64_t image_bytes; /* size of the image that was noted last */
  bool tells_bytes;     /* the program itself gives the size of its images */
  GArray *words;
};

static struct recorder *recorders;
static double skew;

enum { ARGUMENTS_MAX = 12 };

/* Describes a call by its signature and its arguments as they were passed. */
struct call_record {
  const char *name, *signature;
  char of[32]; /* the name of the call; a nonblocking collective has the name of the blocking one */
  union {
    int number;
    void *pointer;
  } argument[ARGUMENTS_MAX];
  /* size and rank in the communicator; the root's rank, or -1 if there is no root */
  int size, rank, root;
  /* number of blocks of a buffer that has one block for each rank or neighbour */
  int out, in;
};

#define SIGNATURE(NAME, TEXT) {#NAME, TEXT},
static const char *const calls[][2] = {RECORDED_CALLS(SIGNATURE)};
#define NAME_OF(NAME) #NAME,
static const char *const deeds[] = {RECORDED_DEEDS(NAME_OF)};

_Static_assert(DEEDS == G_N_ELEMENTS(calls) + G_N_ELEMENTS(deeds), "every deed has a name");

/* Begins the recording. RECLINE_RECORD_SKEW is the factor by which the clocks of this run are
 * faster. */
void record_begin(void)
{
  const char *folder = getenv("RECLINE_RECORD"), *fast = getenv("RECLINE_RECORD_SKEW");
  if (!folder)
    return;
  if (layer.repairs || layer.scenario->failures_count)
    die(DIE_INPUT, "a recording is of a run without failures, expected none in the scenario");
  recording = true;
  skew = fast ? g_ascii_strtod(fast, NULL) : 1.0;
  recorders = g_new0(struct recorder, (gsize)layer.ranks);
  for (int i = 0; i < layer.ranks; i++) {
    struct recorder *recorder = &recorders[i];
    g_autofree char *file = g_strdup_printf("%s/%d", folder, i);
    recorder->file = fopen(file, "w");
    if (!recorder->file || fwrite(&recorder->head, sizeof recorder->head, 1, recorder->file) != 1)
      die(DIE_INPUT, "%s: %s, expected a folder that can be written", file, g_strerror(errno));
    recorder->head = (struct recording_head){
        .format = RECORDING_FORMAT, .ranks = layer.ranks, .synchronous = receipts_are_named()};
    recorder->comms = g_ptr_array_new();
    recorder->requests = g_ptr_array_new();
    recorder->persistent = g_ptr_array_new();
    recorder->types = g_array_new(FALSE, FALSE, sizeof(int));
    recorder->words = g_array_new(FALSE, FALSE, sizeof(int32_t));
    g_ptr_array_add(recorder->comms, MPI_COMM_WORLD);
  }
}

void record_refuse(const char *name)
{
  if (recording)
    die(DIE_INPUT,
        "rank %d: %s, which may come out differently in another run, expected a program that "
        "can be replayed (docs/campaign.md)",
        rank_self()->index, name);
}

static _Noreturn void cannot(const char *name)
{
  die(DIE_INPUT,
      "rank %d: %s, which recordings do not have, expected a program that can be replayed "
      "(docs/campaign.md)",
      rank_self()->index, name);
}

/* ---- words ---- */

static void add(struct recorder *recorder, int64_t word)
{
  int32_t value = (int32_t)word;
  if (value != word)
    die(DIE_INPUT, "a recording has 32 bits for %" G_GINT64_FORMAT, word);
  g_array_append_val(recorder->words, value);
}

static void write_deed(struct recorder *recorder, int deed)
{
  int32_t head[2] = {deed, (int32_t)recorder->words->len};
  fwrite(head, sizeof head, 1, recorder->file);
  fwrite(recorder->words->data, sizeof(int32_t), recorder->words->len, recorder->file);
  g_array_set_size(recorder->words, 0);
}

static void write_number(struct recorder *recorder, const char *name, uint64_t value)
{
  int deed = 0;
  while (strcmp(deeds[deed], name) != 0)
    deed++;
  add(recorder, (int32_t)(uint32_t)value);
  add(recorder, (int32_t)(uint32_t)(value >> 32));
  write_deed(recorder, (int)G_N_ELEMENTS(calls) + deed);
}

static int number_of(const GPtrArray *handles, const void *handle)
{
  for (guint i = 0; i < handles->len; i++)
    if (handles->pdata[i] == handle)
      return (int)i;
  return HANDLE_NONE;
}

/* Returns a free number, which record_called() will take. */
static int next_number(const GPtrArray *handles)
{
  int number = number_of(handles, NULL);
  return number == HANDLE_NONE ? (int)handles->len : number;
}

static void put(GPtrArray *handles, void *handle, int32_t *most)
{
  int number = next_number(handles);
  if ((guint)number == handles->len)
    g_ptr_array_add(handles, NULL);
  handles->pdata[number] = handle;
  *most = MAX(*most, (int32_t)handles->len);
}

static void drop(GPtrArray *handles, int number)
{
  if (number != HANDLE_NONE)
    handles->pdata[number] = NULL;
}

/* Encodes a user-defined datatype as -1 minus its size in bytes. */
static int own_type(struct recorder *recorder, MPI_Datatype type)
{
  int size = 0;
  guint i = 0;
  PMPI_Type_size(type, &size);
  while (i < recorder->types->len && g_array_index(recorder->types, int, i) != size)
    i++;
  if (i == recorder->types->len)
    g_array_append_val(recorder->types, size);
  recorder->head.types = (int32_t)recorder->types->len;
  return -1 - size;
}

static int type_number(struct recorder *recorder, MPI_Datatype type)
{
  const MPI_Datatype types[] = {RECORDED_TYPES};
  for (int i = 0; i < (int)G_N_ELEMENTS(types); i++)
    if (types[i] == type)
      return i;
  return own_type(recorder, type);
}

static int op_number(MPI_Op op)
{
  const MPI_Op ops[] = {RECORDED_OPS};
  int commutes = 0;
  for (int i = 0; i < (int)G_N_ELEMENTS(ops); i++)
    if (ops[i] == op)
      return i;
  PMPI_Op_commutative(op, &commutes);
  return commutes ? OP_COMMUTES : OP_ORDERED;
}

/* ---- buffers ---- */

/* Returns the index of the first argument with that letter, from index `at` on, or -1 if there is
 * none. */
static int place_of(const struct call_record *call, char letter, int at)
{
  const char *found = strchr(call->signature + at, letter);
  return found ? (int)(found - call->signature) : -1;
}

static bool is_any_of(const char *name, const char *names)
{
  const char *found = strstr(names, name);
  size_t length = strlen(name);
  return found && (found == names || found[-1] == ' ') && strchr(" ", found[length]);
}

/* Returns whether this rank has the buffer. In some calls, only the root has both buffers. */
static bool has_buffer(const struct call_record *call, char letter)
{
  bool root = call->rank == call->root;
  if (is_any_of(call->of, "Gather Gatherv Reduce"))
    return letter == 'b' || root;
  return !is_any_of(call->of, "Scatter Scatterv") || letter == 'k' || root;
}

/* Returns how many blocks of `count` elements a buffer has. */
static int blocks_of(const struct call_record *call, char letter)
{
  bool in = letter == 'k', out = letter == 'b';
  if ((in && is_any_of(call->of, "Gather Allgather Neighbor_allgather")) ||
      (out && is_any_of(call->of, "Scatter")) ||
      is_any_of(call->of, "Alltoall Neighbor_alltoall Reduce_scatter_block"))
    return in ? call->in : call->out;
  return 1;
}

/* Returns the length of the list of counts or datatypes at index `at`. The list belongs to the
 * buffer before it. */
static int counts_of(const struct call_record *call, int at)
{
  while (at > 0 && !strchr("bk", call->signature[at]))
    at--;
  return call->signature[at] == 'k' ? call->in : call->out;
}

static int64_t sum_of(const int *counts, int size)
{
  int64_t sum = 0;
  for (int i = 0; i < size; i++)
    sum += counts[i];
  return sum;
}

/* Returns the number of bytes of a buffer in which each block has a count of its own, and perhaps a
 * datatype of its own. */
static int64_t unequal_bytes(const struct call_record *call, int counts)
{
  int types = place_of(call, 'T', counts), number = counts_of(call, counts), size = 0;
  const int *count = call->argument[counts].pointer;
  int64_t bytes = 0;
  for (int i = 0; types >= 0 && i < number; i++) {
    PMPI_Type_size(((const MPI_Datatype *)call->argument[types].pointer)[i], &size);
    bytes += (int64_t)size * count[i];
  }
  if (types >= 0)
    return bytes;
  PMPI_Type_size(call->argument[place_of(call, 't', counts)].pointer, &size);
  return size * sum_of(count, number);
}

static int64_t bytes_of(const struct call_record *call, int at)
{
  char letter = call->signature[at];
  const void *buffer = call->argument[at].pointer;
  int size = 0;
  if (!has_buffer(call, letter))
    return BUFFER_NONE;
  if (buffer == MPI_IN_PLACE)
    return BUFFER_IN_PLACE;
  int count = place_of(call, 'n', at), counts = place_of(call, 'A', at);
  if (counts >= 0 && (count < 0 || counts < count))
    return unequal_bytes(call, counts);
  PMPI_Type_size(call->argument[place_of(call, 't', at)].pointer, &size);
  return (int64_t)size * call->argument[count].number * blocks_of(call, letter);
}

static void note_size(struct recorder *recorder, const struct call_record *call, int at,
                      int64_t bytes)
{
  char letter = call->signature[at];
  bool collective = place_of(call, 'g', 0) < 0;
  struct recording_head *head = &recorder->head;
  int32_t *most = collective ? &head->collected : &head->received;
  if (letter == 'b')
    most = &head->sent;
  if (letter == 'a')
    most = &head->in_place;
  *most = MAX(*most, (int32_t)bytes);
}

/* ---- calls ---- */

/* Counts the blocks of buffers: one for each rank or, in a neighbourhood collective, for each
 * neighbour. */
static void count_blocks(struct call_record *call, const struct comm *on)
{
  bool near = g_str_has_prefix(call->of, "Neighbor_");
  call->size = on->size;
  call->rank = on->rank;
  call->out = near ? on->topology.to.count : on->size;
  call->in = near ? on->topology.from.count : on->size;
}

static void read_arguments(struct call_record *call, va_list *arguments)
{
  for (int i = 0; call->signature[i]; i++)
    if (strchr("nrsgi", call->signature[i]))
      call->argument[i].number = va_arg(*arguments, int);
    else
      call->argument[i].pointer = va_arg(*arguments, void *);
  int comm = place_of(call, 'c', 0), root = place_of(call, 'r', 0);
  g_strlcpy(call->of, call->name, sizeof call->of);
  if (call->name[0] == 'I') {
    g_strlcpy(call->of, call->name + 1, sizeof call->of);
    call->of[0] = g_ascii_toupper(call->of[0]);
  }
  if (comm >= 0)
    count_blocks(call, comm_of(rank_self(), call->argument[comm].pointer));
  call->root = root < 0 ? -1 : call->argument[root].number;
}

static void add_request(struct recorder *recorder, MPI_Request request)
{
  int number = number_of(recorder->requests, request);
  add(recorder, request == MPI_REQUEST_NULL ? HANDLE_NONE : number);
  if (number_of(recorder->persistent, request) == HANDLE_NONE)
    drop(recorder->requests, number);
}

static void add_requests(struct recorder *recorder, const MPI_Request *request, int count)
{
  recorder->head.requests = MAX(recorder->head.requests, count);
  add(recorder, count);
  for (int i = 0; i < count; i++)
    add_request(recorder, request[i]);
}

static void add_list(struct recorder *recorder, const int *numbers, int count)
{
  add(recorder, count);
  for (int i = 0; i < count; i++)
    add(recorder, numbers[i]);
}

static void add_types(struct recorder *recorder, const MPI_Datatype *types, int count)
{
  add(recorder, count);
  for (int i = 0; i < count; i++)
    add(recorder, type_number(recorder, types[i]));
}

/* Adds a list of ints. The int argument before the list says how many there are. Without such an
 * argument, there is one for each dimension of the grid. */
static void add_ints(struct recorder *recorder, const struct call_record *call, int at)
{
  int count = 0, before = at;
  while (before > 0 && call->signature[before] != 'i')
    before--;
  if (before > 0)
    count = call->argument[before].number;
  else
    count = comm_of(rank_self(), call->argument[0].pointer)->topology.to.count / 2;
  add_list(recorder, call->argument[at].pointer, count);
}

static void add_group(struct recorder *recorder, MPI_Group group)
{
  int size = 0;
  PMPI_Group_size(group, &size);
  add(recorder, size);
  for (int i = 0; i < size; i++)
    add(recorder, rank_in_group(group, i));
}

static void will_make(struct recorder *recorder, GPtrArray *handles, void *where)
{
  add(recorder, next_number(handles));
  recorder->made = where;
  recorder->made_in = handles;
}

/* Adds an argument. If a buffer is not significant, its count and its type mean nothing. */
static void add_argument(struct recorder *recorder, const struct call_record *call, int at,
                         bool *significant)
{
  int number = call->argument[at].number;
  void *pointer = call->argument[at].pointer;
  switch (call->signature[at]) {
  case 'b':
  case 'k':
  case 'a': {
    int64_t bytes = bytes_of(call, at);
    /* in a call with an operation, the count belongs to both buffers */
    *significant = bytes >= 0 || place_of(call, 'o', 0) >= 0;
    note_size(recorder, call, at, bytes);
    add(recorder, bytes);
    break;
  }
  case 'n':
    add(recorder, *significant ? number : 0);
    break;
  case 't':
    add(recorder, *significant ? type_number(recorder, pointer) : 0);
    break;
  case 'o':
    add(recorder, op_number(pointer));
    break;
  case 's':
    if (number == MPI_ANY_SOURCE)
      record_refuse("a receive or a probe from MPI_ANY_SOURCE");
    add(recorder, number);
    break;
  case 'r':
  case 'g':
  case 'i':
    add(recorder, number);
    break;
  case 'c':
    add(recorder, number_of(recorder->comms, pointer));
    break;
  case 'x':
    number = number_of(recorder->comms, *(void **)pointer);
    add(recorder, number);
    drop(recorder->comms, number);
    break;
  case 'q':
    add_request(recorder, *(MPI_Request *)pointer);
    break;
  case 'w':
    add_requests(recorder, pointer, call->argument[at - 1].number);
    break;
  case 'f':
    g_ptr_array_remove_fast(recorder->persistent, *(MPI_Request *)pointer);
    add_request(recorder, *(MPI_Request *)pointer);
    break;
  case 'A':
    number = counts_of(call, at);
    recorder->head.blocks = MAX(recorder->head.blocks, number);
    add_list(recorder, pointer, *significant ? number : 0);
    break;
  case 'T':
    add_types(recorder, pointer, *significant ? counts_of(call, at) : 0);
    break;
  case 'V':
    add_ints(recorder, call, at);
    break;
  case 'G':
    add_group(recorder, pointer);
    break;
  case 'Q':
    will_make(recorder, recorder->requests, pointer);
    break;
  case 'C':
    will_make(recorder, recorder->comms, pointer);
    break;
  default:
    break;
  }
}

/* Refuses a call. The calls that are named here depend on time. All other calls that recordings
 * cannot have are simply missing in the list of calls. */
static void refuse_call(const char *name)
{
  g_autofree char *full = g_strconcat("MPI_", name, NULL);
  if (is_any_of(name,
                "Test Testall Testany Testsome Waitany Waitsome Iprobe Cancel Request_get_status"))
    record_refuse(full);
  cannot(full);
}

/* Measures the image now and then: at each of the first calls, and later less and less often. */
static void note_image(struct recorder *recorder, struct rank *r)
{
  struct image *image = NULL;
  bool due = (recorder->calls & (recorder->calls - 1)) == 0;
  recorder->calls++;
  if (!due || recorder->tells_bytes || image_capture(r->source, &image) != IMAGE_CAPTURED)
    return;
  uint64_t bytes = image_bytes(image);
  image_free(image);
  if (bytes != recorder->image_bytes)
    write_number(recorder, "image_bytes", bytes);
  recorder->image_bytes = bytes;
}

static void note_call(struct rank *r, const char *name, va_list *arguments)
{
  struct recorder *recorder = &recorders[r->index];
  int deed = 0;
  bool significant = true;
  while (deed < (int)G_N_ELEMENTS(calls) && strcmp(calls[deed][0], name) != 0)
    deed++;
  if (deed == G_N_ELEMENTS(calls))
    refuse_call(name);
  if (recorder->comms->len == 1) /* the list has only MPI_COMM_SELF, which is the rank's own */
    g_ptr_array_add(recorder->comms, comm_handle(&r->mpi->self));
  struct call_record call = {.name = name, .signature = calls[deed][1], .size = 1, .root = -1};
  read_arguments(&call, arguments);
  note_image(recorder, r);
  for (int i = 0; call.signature[i]; i++)
    add_argument(recorder, &call, i, &significant);
  recorder->made_lasts = g_str_has_suffix(name, "_init");
  write_deed(recorder, deed);
}

void record_call(const char *name, ...)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  va_list arguments;
  va_start(arguments, name);
  if (r)
    note_call(r, name, &arguments);
  va_end(arguments);
  layer_leave(mode);
}

void record_called(void)
{
  struct rank *r = rank_self();
  struct recorder *recorder = r ? &recorders[r->index] : NULL;
  if (!recorder || !recorder->made)
    return;
  int32_t *most =
      recorder->made_in == recorder->comms ? &recorder->head.comms : &recorder->head.requests;
  if (*recorder->made)
    put(recorder->made_in, *recorder->made, most);
  if (recorder->made_lasts)
    g_ptr_array_add(recorder->persistent, *recorder->made);
  recorder->made = NULL;
}

/* ---- the rest ---- */

void record_number(const char *name, uint64_t value)
{
  struct arena *mode = layer_enter();
  struct rank *r = recording ? rank_self() : NULL;
  struct recorder *recorder = r ? &recorders[r->index] : NULL;
  bool tells = recorder && !strcmp(name, "image_bytes");
  if (tells)
    recorder->tells_bytes = value > 0;
  if (tells && value == 0) /* 0 stands for "as they are", so images are measured from here on */
    recorder->calls = recorder->image_bytes = 0;
  else if (recorder)
    write_number(recorder, name, value);
  layer_leave(mode);
}

void record_deed(const char *name, double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  record_number(name, bits);
}

double record_clock(double now)
{
  if (!recording)
    return now;
  record_number("clock", 0);
  return now * skew;
}

void record_end(struct rank *r)
{
  if (!recording)
    return;
  struct recorder *recorder = &recorders[r->index];
  rewind(recorder->file);
  fwrite(&recorder->head, sizeof recorder->head, 1, recorder->file);
  if (ferror(recorder->file) || fclose(recorder->file) != 0)
    die(DIE_INPUT, "the recording of rank %d: %s, expected a folder with room", r->index,
        g_strerror(errno));
  recorder->file = NULL;
}
