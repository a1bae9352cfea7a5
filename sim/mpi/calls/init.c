/* Begins and ends MPI. The layer itself begins when the first rank comes to MPI_Init, and each rank
 * begins in its own MPI_Init. */
#include "sim/mpi/calls/init.h"
#include "sim/mpi/layer/comm.h"

#include "sim/host/failures/dispatcher.h"
#include "sim/host/failures/schedule.h"
#include "sim/host/output/held_output.h"
#include "sim/host/rank/activity.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/result/run_end.h"
#include "sim/host/step/collective_messages.h"
#include "sim/host/step/host.h"
#include "sim/host/storage/restart.h"
#include "sim/host/storage/routes.h"
#include "sim/host/storage/storage.h"
#include "sim/memory/library_data.h"
#include "sim/mpi/calls/program_end.h"
#include "sim/mpi/collectives/algorithms.h"
#include "sim/mpi/collectives/collectives.h"
#include "sim/mpi/files/file.h"
#include "sim/mpi/fortran/fortran.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/libc/wrap_libc.h"
#include "sim/mpi/windows/window_passive.h"
#include "sim/net/placement.h"
#include "sim/net/transport.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void load_scenario(void)
{
  GError *error = NULL;
  if (layer.scenario)
    return;
  layer.scenario = scenario_load(getenv("RECLINE_SCENARIO"), NULL, &error);
  if (!layer.scenario)
    die(DIE_INPUT, "%s", error->message);
  routes_require(layer.scenario);
}

/* Gives stdin and stdout their buffers, once. Otherwise, the first printf or scanf would put a
 * buffer into an arena. */
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

/* by rank: an address in the data of the rank's program */
static const void *program_of[HEAP_RANKS];

/* Begins a rank's program. From here on, allocations of the program belong to the rank, although
 * the rank itself does not exist yet. */
void recline_program_begins(const void *inside_program)
{
  if (!layer_wanted())
    return;
  layer.exceptions = layer_exceptions();
  load_scenario();
  program_end_begin();
  program_end_watch();
  give_buffers();
  output_begin();
  struct arena *arena = heap_arena(machine_rank());
  if (arena) {
    library_data_begin(arena, inside_program);
    if (heap_owner(arena) == 0 && layer.scenario->program.input)
      heap_files_inherit(arena);
    program_of[heap_owner(arena)] = inside_program;
  }
  if (!layer.plain)
    layer.plain = newlocale(LC_ALL_MASK, "C", NULL);
  uselocale(LC_GLOBAL_LOCALE);
  heap_enter(arena);
}

/* After this call, SimGrid makes the words of argv, and then calls main. */
void recline_program_is_built(const void *inside_program)
{
  struct arena *arena = heap_leave();
  Dl_info info;
  if (arena && dladdr(inside_program, &info))
    heap_await(arena, info.dli_fbase);
  heap_enter(arena);
}

/* Reports a rank that has never come back from MPI_Finalize. In that case the simulator reports a
 * deadlock, but exits with success. */
static void check_end(void)
{
  if (layer.left < layer.ranks && layer.ended)
    die(DIE_BREACH, "breach: %d of %d ranks have left MPI_Finalize", layer.left, layer.ranks);
}

/* Ends a dead rank, whose program stays where it is. */
static _Noreturn void leave_dead(struct rank *r)
{
  r->active = false;
  rank_set_self(NULL);
  PMPI_Finalize();
  layer.left++;
  smpi_exit(0);
  abort();
}

static void restored(struct rank *r)
{
  libc_restored(r);
  files_restored(r);
}

/* Finds out whether the program uses OpenMP. */
static void find_openmp(void)
{
  static const char *const names[] = {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"};
  void *openmp = NULL, *symbol;
  for (size_t i = 0; !openmp && i < G_N_ELEMENTS(names); i++)
    openmp = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
  symbol = openmp ? dlsym(openmp, "omp_in_parallel") : NULL;
  memcpy(&layer.in_parallel, &symbol, sizeof symbol); /* ISO C has no such conversion */
}

/* Begins the layer. `processes` is the size of SMPI's world. The first rank that comes calls this
 * function, once. Nothing here may let another rank run, because that rank would find an incomplete
 * layer. */
static void begin(int processes)
{
  give_buffers();
  find_openmp();
  layer.exceptions = layer_exceptions();
  layer.collect = libc_collect;
  layer.restored = restored;
  layer.perished = leave_dead;
  layer.on = true;
  load_scenario();
  layer.repairs = layer.scenario->recovery.runtime == RUNTIME_ULFM &&
                  !strcmp(layer.scenario->protocol.name, "none");
  layer.ranks = layer.scenario->program.ranks;
  if (processes != layer.ranks + 1)
    die(DIE_INPUT, "%d processes for %d ranks, expected one more for the dispatcher", processes,
        layer.ranks);
  layer.rank = g_new0(struct rank, (gsize)layer.ranks);
  layer.result_file = getenv("RECLINE_RESULT");
  const char *out = getenv("RECLINE_OUT"), *trace = getenv("RECLINE_TRACE");
  bool traced = out && trace && trace[0] == '1';
  g_autofree char *file = traced ? g_build_filename(out, "trace.txt", NULL) : NULL;
  g_autofree char *activity = traced ? g_build_filename(out, "activity.txt", NULL) : NULL;
  const char *history = restart_history();
  if (traced)
    activity_open(activity, layer.ranks, layer.before);
  shadow_begin(layer.scenario, file, history);
  restart_begin();
  files_begin(shadow_independent());
  system_begin();
  dispatcher_begin(host_expects, host_awaits);
  schedule_begin();
  if (layer.scenario->output == OUTPUT_PASSES || schedule_on())
    output_pass();
  record_begin();
  algorithms_begin();
  atexit(check_end);
}

static void begin_mpi_state(struct rank *r)
{
  r->mpi = rank_alloc(r, sizeof *r->mpi);
  libc_begin(&r->mpi->libc);
  struct comm *world = &r->mpi->world, *self = &r->mpi->self;
  world->member = rank_alloc(r, (size_t)layer.ranks * sizeof *world->member);
  for (int i = 0; i < layer.ranks; i++)
    world->member[i] = i;
  world->size = layer.ranks;
  world->rank = r->index;
  self->member = rank_alloc(r, sizeof *self->member);
  self->member[0] = r->index;
  self->size = 1;
  self->number = 1;
  r->mpi->in_world = true;
}

static void begin_rank(int index)
{
  struct rank *r = &layer.rank[index];
  r->index = index;
  r->actor = machine_self();
  r->arena = heap_arena(index);
  if (!r->arena && errno == ENOMEM)
    die(EXIT_INCONCLUSIVE, "out of memory: no address space for the heap of rank %d", index);
  if (!r->arena)
    die(DIE_INPUT, "librecline_heap.so is not preloaded: rank %d has no heap of its own", index);
  if (!program_of[index])
    die(DIE_INPUT, "the program of rank %d was linked without the objects of recline-cc", index);
  heap_await(r->arena, NULL);     /* the program is running already */
  r->activity = ACTIVITY_COMPUTE; /* the rank has computed since the run began */
  rank_switch(r, ACTIVITY_MPI);
  r->actions.capacity = shadow_actions_max();
  r->actions.item = g_new0(struct rcl_action, r->actions.capacity);
  r->transport = transport_new(index);
  node_set(index, machine_host());
  storage_begin(r);
  bypass_begin(r);
  begin_mpi_state(r);
  output_adopt_early(r);
  rank_set_self(r);
  r->active = true;
  host_begin(r, program_of[index]);
  if (!layer.tables && algorithms_have_tables())
    algorithms_make_tables(r);
  layer.tables = true;
  rank_switch(r, ACTIVITY_COMPUTE);
}

/* Runs the dispatcher, whose rank never returns to the program. */
static void be_dispatcher(void)
{
  dispatcher_run();
  layer.ended = true;
  PMPI_Finalize();
  machine_exit();
}

struct arena *layer_init(void)
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
  begin_rank(index);
  return layer.rank[index].arena;
}

/* A program that recline-cc has linked can also be started without the simulator, which helps
 * programs without MPI. */
void layer_need_simulator(void)
{
  if (!machine_self())
    die(DIE_INPUT, "an MPI program runs in the simulator only, expected recline run or smpirun");
}

void layer_leave_world(struct rank *r)
{
  if (r)
    r->mpi->in_world = false;
}

bool layer_is_last(void)
{
  const struct rank *r = rank_self();
  return r && !r->mpi->in_world && r->mpi->sessions == 0;
}

bool layer_joins_world(void)
{
  struct rank *r = rank_self();
  if (!r || r->mpi->in_world)
    return false;
  return r->mpi->in_world = true;
}

int MPI_Init(int *argc, char ***argv)
{
  if (layer_joins_world())
    return MPI_SUCCESS;
  layer_enter();
  layer_need_simulator();
  if (layer_wanted())
    output_collect_early(machine_rank());
  fortran_begin();
  int result = PMPI_Init(argc, argv);
  layer_leave(layer_init());
  return result;
}

/* SMPI provides only MPI_THREAD_SINGLE. A program may have threads that make no call of MPI, such
 * as OpenMP's between calls, but a rollback restores only the calling thread. */
int layer_thread_level(int required)
{
  struct rank *r = rank_self();
  int level = MIN(required, MPI_THREAD_FUNNELED);
  if (r)
    r->mpi->thread_level = level;
  return level;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
  if (layer_joins_world()) {
    *provided = layer_thread_level(required);
    return MPI_SUCCESS;
  }
  layer_enter();
  layer_need_simulator();
  if (layer_wanted())
    output_collect_early(machine_rank());
  fortran_begin();
  int result = PMPI_Init_thread(argc, argv, required, provided);
  struct arena *arena = layer_init();
  if (arena)
    *provided = layer_thread_level(required);
  layer_leave(arena);
  return result;
}

static int query_thread(const struct rank *r, int *provided)
{
  *provided = r->mpi->thread_level;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Query_thread, (provided), query_thread(r, provided))

int MPI_Finalize(void)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r && r->mpi->sessions > 0) {
    layer_leave_world(r);
    layer_leave(mode);
    return MPI_SUCCESS;
  }
  if (r) {
    layer_begin_call(r, __func__);
    host_enter(r);
    comm_delete_attributes(r, MPI_COMM_SELF); /* functions of these attributes may end libraries */
    layer_begin_call(r, __func__);
    window_meet(r, &r->mpi->world);
    window_serve_receipts(r);
    host_place_at_end(r);
    record_end(r);
    host_finish(r);
    r->active = false;
    rank_set_self(NULL);
  }
  int result = PMPI_Finalize();
  layer.left += r != NULL;
  /* from here on, the program is not rolled back, but the data of its libraries stay in place */
  if (r) {
    heap_enter(r->arena);
    heap_leave();
    uselocale(LC_GLOBAL_LOCALE);
  }
  layer_leave(r ? NULL : mode);
  return result;
}

int MPI_Abort(MPI_Comm comm, int code)
{
  layer_enter();
  g_autofree char *text = NULL;
  if (rank_self())
    text = g_strdup_printf("rank %d has called MPI_Abort(%d)", rank_self()->index, code);
  if (text && layer.repairs && layer.result.crashes)
    run_stop(RUN_LOST, text);
  program_crashes();
  if (text)
    program_failed("%s", text);
  return PMPI_Abort(comm, code);
}
