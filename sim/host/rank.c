#include "sim/host/rank.h"

#include "sim/host/bypass.h"
#include "sim/host/copy_cost.h"
#include "sim/host/dispatcher.h"
#include "sim/host/host.h"
#include "sim/host/schedule.h"
#include "sim/host/shadow.h"
#include "sim/host/storage.h"
#include "sim/memory/library_data.h"
#include "sim/mpi/collectives.h"
#include "sim/net/transport.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct layer layer;

static GPtrArray *rank_of_actor; /* struct rank, by the actor's number */

/* ---- whose call it is ---- */

struct rank *rank_self(void)
{
  if (!rank_of_actor)
    return NULL;
  guint actor = (guint)machine_actor();
  return actor < rank_of_actor->len ? rank_of_actor->pdata[actor] : NULL;
}

static void set_self(struct rank *r)
{
  guint actor = (guint)machine_actor();
  if (actor >= rank_of_actor->len)
    g_ptr_array_set_size(rank_of_actor, (gint)actor + 1);
  rank_of_actor->pdata[actor] = r;
}

/* ---- exceptions of C++ ---- */

void exceptions_park(void)
{
  struct rank *r = rank_self();
  if (!r)
    return;
  r->face->exceptions = *layer.exceptions;
  *layer.exceptions = (struct exceptions){0};
  layer.parked = true;
}

void exceptions_return(void)
{
  struct rank *r = rank_self();
  if (!r)
    return;
  *layer.exceptions = r->face->exceptions;
  r->face->exceptions = (struct exceptions){0};
}

/* ---- memory ---- */

void *face_alloc(struct rank *r, size_t bytes)
{
  heap_enter(r->arena);
  void *memory = calloc(1, bytes ? bytes : 1);
  heap_leave();
  if (!memory)
    layer_die(3, "no memory in the arena of rank %d", r->index);
  return memory;
}

void face_free(void *memory)
{
  free(memory); /* finds the arena that owns it */
}

/* ---- accounting ---- */

enum activity rank_switch(struct rank *r, enum activity activity)
{
  double *const where[] = {&r->time.compute, &r->time.mpi, &r->time.protocol, &r->time.checkpoint,
                           &r->time.restart};
  enum activity before = r->activity;
  double now = machine_now();
  *where[before] += now - r->since;
  r->since = now;
  r->activity = activity;
  return before;
}

/* ---- the end ---- */

void layer_die(int code, const char *format, ...)
{
  heap_leave();
  fflush(NULL);
  fputs("recline: ", stderr);
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  _exit(code);
}

static void mean_time(struct run_time *mean)
{
  *mean = (struct run_time){0};
  for (int i = 0; i < layer.ranks; i++) {
    struct rank *r = &layer.rank[i];
    rank_switch(r, r->activity);
    mean->compute += r->time.compute / layer.ranks;
    mean->mpi += r->time.mpi / layer.ranks;
    mean->protocol += r->time.protocol / layer.ranks;
    mean->checkpoint += r->time.checkpoint / layer.ranks;
    mean->lost += r->time.lost / layer.ranks;
    mean->restart += r->time.restart / layer.ranks;
  }
}

static void report_images(struct result *result)
{
  result->rank_image_bytes = g_new0(uint64_t, (gsize)layer.ranks);
  for (int i = 0; i < layer.ranks; i++) {
    result->rank_image_bytes[i] = layer.rank[i].image_bytes;
    result->image_bytes = MAX(result->image_bytes, layer.rank[i].image_bytes);
  }
}

void layer_result(enum run_verdict verdict, const char *why)
{
  struct result *result = &layer.result;
  audit_end();
  dispatcher_count_returns();
  result->verdict = verdict;
  result->ranks = layer.ranks;
  result->simulated_s = machine_now() - layer.began;
  result->gave_up = g_strdup(why);
  result->seed = layer.scenario->seed;
  mean_time(&result->time);
  report_images(result);
  copies_report(result);
  const char *file = getenv("RECLINE_RESULT");
  GError *error = NULL;
  if (file && !result_save(result, file, &error))
    layer_die(3, "%s", error->message);
}

void layer_stop(enum run_verdict verdict, const char *why)
{
  layer_result(verdict, why);
  fflush(NULL);
  _exit(0); /* the program cannot go on; its actors are not worth a clean end */
}

void layer_stuck(void)
{
  if (audit_finished())
    return;
  audit_rest();
  layer_stop(RUN_LOST, "all programs wait for ever");
}

/* ---- the beginning ---- */

static void load_scenario(void)
{
  GError *error = NULL;
  layer.scenario = scenario_load(getenv("RECLINE_SCENARIO"), NULL, &error);
  if (!layer.scenario)
    layer_die(64, "%s", error->message);
}

bool layer_wanted(void)
{
  static enum { UNKNOWN, NO, YES } wanted;
  if (wanted == UNKNOWN)
    wanted = getenv("RECLINE_SCENARIO") ? YES : NO;
  return wanted == YES;
}

/* Once: or the first printf or scanf would put a buffer in an arena. */
static void give_buffers(void)
{
  static char output[BUFSIZ], input[BUFSIZ];
  static bool given;
  if (given)
    return;
  given = true;
  setvbuf(stdout, output, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, sizeof output);
  setvbuf(stdin, input, isatty(STDIN_FILENO) ? _IOLBF : _IOFBF, sizeof input);
}

/* What it allocates from here on is the rank's, though nothing else is known of the rank yet. */
void recline_program_begins(const void *inside_program)
{
  if (!layer_wanted())
    return;
  layer.exceptions = layer_exceptions();
  give_buffers();
  struct arena *arena = heap_arena(machine_rank());
  if (arena)
    libraries_begin(arena, inside_program);
  heap_enter(arena);
}

/* SimGrid is next, which makes the words of argv, and then main. */
void recline_program_is_built(const void *inside_program)
{
  struct arena *arena = heap_leave();
  Dl_info info;
  if (arena && dladdr(inside_program, &info))
    heap_await(arena, info.dli_fbase);
  heap_enter(arena);
}

/* A rank that never came back from MPI_Finalize: the simulator calls that a deadlock, and success.
 */
static void check_end(void)
{
  if (layer.left < layer.ranks && layer.ended)
    layer_die(3, "breach: %d of %d ranks have left MPI_Finalize", layer.left, layer.ranks);
}

/* Once, by the first rank that comes: `processes` is the size of SMPI's world. Nothing here may let
 * another rank run, which would find half a layer. */
static void begin(int processes)
{
  give_buffers();
  layer.exceptions = layer_exceptions();
  layer.on = true;
  load_scenario();
  layer.ranks = layer.scenario->program.ranks;
  if (processes != layer.ranks + 1)
    layer_die(64, "%d processes for %d ranks, expected one more for the dispatcher", processes,
              layer.ranks);
  layer.rank = g_new0(struct rank, (gsize)layer.ranks);
  rank_of_actor = g_ptr_array_new();
  layer.began = machine_now();
  const char *out = getenv("RECLINE_OUT"), *trace = getenv("RECLINE_TRACE");
  g_autofree char *file =
      out && trace && trace[0] == '1' ? g_build_filename(out, "trace.txt", NULL) : NULL;
  audit_begin(layer.scenario, file);
  dispatcher_begin();
  schedule_begin();
  atexit(check_end);
}

static void begin_face(struct rank *r)
{
  r->face = face_alloc(r, sizeof *r->face);
  libc_begin(&r->face->libc);
  struct comm *world = &r->face->world, *self = &r->face->self;
  world->member = face_alloc(r, (size_t)layer.ranks * sizeof *world->member);
  for (int i = 0; i < layer.ranks; i++)
    world->member[i] = i;
  world->size = layer.ranks;
  world->rank = r->index;
  self->member = face_alloc(r, sizeof *self->member);
  self->member[0] = r->index;
  self->size = 1;
  self->number = 1;
}

static void begin_rank(int index, const void *inside_program)
{
  struct rank *r = &layer.rank[index];
  r->index = index;
  r->actor = machine_self();
  r->arena = heap_arena(index);
  if (!r->arena)
    layer_die(64, "librecline_heap.so is not preloaded: rank %d has no heap of its own", index);
  heap_await(r->arena, NULL); /* it is running */
  r->draining = RCL_NOBODY;
  r->since = machine_now();
  r->activity = ACTIVITY_MPI;
  r->actions.capacity = audit_actions_max();
  r->actions.item = g_new0(struct rcl_action, r->actions.capacity);
  r->transport = transport_new(index);
  dispatcher_at_home(index, machine_host());
  storage_begin(r);
  raw_begin(r);
  begin_face(r);
  set_self(r);
  r->active = true;
  host_begin(r, inside_program);
  rank_switch(r, ACTIVITY_COMPUTE);
}

/* The dispatcher's rank never returns to the program. */
static void be_dispatcher(void)
{
  dispatcher_run();
  layer.ended = true;
  PMPI_Finalize();
  machine_exit();
}

struct arena *layer_init(const void *inside_program)
{
  if (!layer_wanted())
    return NULL;
  int index, processes;
  PMPI_Comm_rank(MPI_COMM_WORLD, &index);
  PMPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (!layer.on)
    begin(processes);
  call_measure(index);
  if (index == layer.ranks)
    be_dispatcher();
  begin_rank(index, inside_program);
  return layer.rank[index].arena;
}

/* Programs of recline-cc can be started like any other, which is of use to those without MPI. */
void layer_need_simulator(void)
{
  if (!machine_self())
    layer_die(64, "an MPI program runs in the simulator only, expected recline run or smpirun");
}

int MPI_Init(int *argc, char ***argv)
{
  heap_leave();
  layer_need_simulator();
  int result = PMPI_Init(argc, argv);
  layer_leave(layer_init(__builtin_return_address(0)));
  return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
  heap_leave();
  layer_need_simulator();
  int result = PMPI_Init_thread(argc, argv, required, provided);
  layer_leave(layer_init(__builtin_return_address(0)));
  return result;
}

int MPI_Finalize(void)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    rank_switch(r, ACTIVITY_MPI);
    host_enter(r);
    if (!schedule_on()) /* which says itself when there is one */
      host_place(r, 0);
    host_finish(r);
    r->active = false;
    set_self(NULL);
  }
  int result = PMPI_Finalize();
  layer.left += r != NULL;
  if (r) { /* what it does from here on is not rolled back, but with its libraries as they are */
    heap_enter(r->arena);
    heap_leave();
  }
  layer_leave(r ? NULL : mode);
  return result;
}

int MPI_Abort(MPI_Comm comm, int code)
{
  layer_enter();
  if (rank_self())
    layer_die(code ? code : 1, "rank %d has called MPI_Abort(%d)", rank_self()->index, code);
  return PMPI_Abort(comm, code);
}
