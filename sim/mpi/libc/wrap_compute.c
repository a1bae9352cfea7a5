/* Replaces functions besides MPI that programs call: SMPI's functions for computation and memory,
 * and those of recline.h. */
#include "include/recline.h"
#include "sim/host/output/held_output.h"
#include "sim/host/rank/timer.h"
#include "sim/mpi/layer/wrap.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void *layer_next(const char *name)
{
  void *function = dlsym(RTLD_NEXT, name);
  if (!function)
    die(DIE_BREACH, "there is no %s behind the layer", name);
  return function;
}

struct exceptions *__cxa_get_globals(void); /* a function of the C++ ABI */

struct exceptions *layer_exceptions(void)
{
  BEHIND(__cxa_get_globals)
  return __cxa_get_globals_next();
}

/* ---- computation ---- */

#define COMPUTE(NAME, TYPE, ARGUMENT, FLOPS)                                                       \
  void NAME(TYPE ARGUMENT)                                                                         \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    struct rank *r = rank_self();                                                                  \
    if (r) {                                                                                       \
      record_deed(#NAME, ARGUMENT);                                                                \
      layer_refuse_region(r, #NAME);                                                               \
      host_compute(r, FLOPS);                                                                      \
    } else {                                                                                       \
      BEHIND(NAME)                                                                                 \
      NAME##_next(ARGUMENT);                                                                       \
    }                                                                                              \
    wrap_leave(mode, r);                                                                           \
  }

static double after_threshold(double seconds)
{
  return seconds >= machine_smpi_threshold() ? seconds : 0.0;
}

COMPUTE(smpi_execute_flops, double, flops, flops)
COMPUTE(smpi_execute_flops_benched, double, flops, flops)
COMPUTE(smpi_execute, double, seconds, after_threshold(seconds) * machine_smpi_speed())
COMPUTE(smpi_execute_benched, double, seconds, seconds *machine_speed())

/* ---- memory: smpicc turns malloc and its like into these ---- */

/* Returns whether the program itself allocates. The program's allocations come to the program's
 * arena, even before MPI_Init.
 */
static bool in_program(void)
{
  struct arena *arena = layer_enter();
  layer_leave(arena);
  return arena != NULL;
}

IN_PLACE_OF(void *, smpi_shared_malloc_intercept, (size_t size, const char *file, int line),
            (size, file, line), in_program(), malloc(size))
IN_PLACE_OF(void *, smpi_shared_calloc_intercept,
            (size_t count, size_t size, const char *file, int line), (count, size, file, line),
            in_program(), calloc(count, size))
IN_PLACE_OF(void *, smpi_shared_realloc_intercept,
            (void *memory, size_t size, const char *file, int line), (memory, size, file, line),
            in_program(), realloc(memory, size))

void smpi_shared_free(void *memory)
{
  if (in_program()) {
    free(memory);
    return;
  }
  BEHIND(smpi_shared_free)
  smpi_shared_free_next(memory);
}

/* Under a protocol, each rank gets memory of its own, because memory that ranks share on purpose
 * could not be rolled back.
 */
IN_PLACE_OF(void *, smpi_shared_malloc, (size_t size, const char *file, int line),
            (size, file, line), in_program(), malloc(size))

static int alloc_mem(struct rank *r, MPI_Aint size, void *memory)
{
  void *allocated = rank_alloc(r, (size_t)size);
  memcpy(memory, &allocated, sizeof allocated);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Alloc_mem, (size, info, memory), alloc_mem(r, size, memory))
LOOK_UP_CALL(Free_mem, (memory), rank_free(memory), MPI_SUCCESS)

/* Notes the buffer only for MPI_Buffer_detach, because buffered sends do not need it. */
static int attach(struct rank *r, void *buffer, int bytes)
{
  r->mpi->bsend_buffer = buffer;
  r->mpi->bsend_bytes = bytes;
  return MPI_SUCCESS;
}

static int detach(struct rank *r, void *buffer, int *bytes)
{
  memcpy(buffer, &r->mpi->bsend_buffer, sizeof r->mpi->bsend_buffer);
  *bytes = r->mpi->bsend_bytes;
  return attach(r, NULL, 0);
}

LOOK_UP_CALL(Buffer_attach, (buffer, bytes), attach(r, buffer, bytes))
LOOK_UP_CALL(Buffer_detach, (buffer, bytes), detach(r, buffer, bytes))

/* ---- sampling: SMPI keeps its tables, which are not the program's ---- */

#define SAMPLE(NAME, PARAMETERS, ARGUMENTS)                                                        \
  int NAME PARAMETERS                                                                              \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    BEHIND(NAME)                                                                                   \
    int result = NAME##_next ARGUMENTS;                                                            \
    layer_leave(mode);                                                                             \
    return result;                                                                                 \
  }

SAMPLE(smpi_sample_cond,
       (int global, const char *file, const char *tag, int iterations, double threshold, int count),
       (global, file, tag, iterations, threshold, count))
SAMPLE(smpi_sample_exit, (int global, const char *file, const char *tag, int count),
       (global, file, tag, count))

void smpi_sample_iter(int global, const char *file, const char *tag)
{
  struct arena *mode = layer_enter();
  BEHIND(smpi_sample_iter)
  smpi_sample_iter_next(global, file, tag);
  layer_leave(mode);
}

/* ---- others ---- */

int MPI_Pcontrol(const int level, ...)
{
  (void)level;
  return MPI_SUCCESS;
}

/* ---- recline.h ---- */

static GRand *random_of(struct rank *r)
{
  uint64_t seed = layer.scenario->seed;
  if (!r->random)
    r->random = g_rand_new_with_seed_array(
        (guint32[]){(guint32)seed, (guint32)(seed >> 32), (guint32)r->index}, 3);
  return r->random;
}

static int choose(struct rank *r, int count)
{
  if (count < 1)
    die(DIE_INPUT, "rank %d chooses among %d", r->index, count);
  record_refuse("recline_choose");
  return (int)host_choose(r, (uint32_t)g_rand_int_range(random_of(r), 0, count), (uint32_t)count);
}

int recline_choose(int count)
{
  WRAP(choose(r, count), 0);
}

/* Makes an output of the program. The output is an event even in a run by schedule, in which other
 * outputs pass. */
static int tell_outside(struct rank *r, const void *bytes, unsigned long long size)
{
  if (layer.scenario->output == OUTPUT_PASSES)
    return -(fwrite(bytes, 1, size, stdout) != size);
  if (r->restart.on)
    return 0;
  output_say(r, bytes, size);
  host_tell_outside(r);
  return 0;
}

int recline_output(const void *bytes, unsigned long long size)
{
  WRAP(tell_outside(r, bytes, size), -(fwrite(bytes, 1, size, stdout) != size));
}

static void place(uint32_t iteration)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    record_number("place", iteration);
    rank_switch(r, ACTIVITY_MPI);
    host_place(r, iteration);
    rank_switch(r, ACTIVITY_COMPUTE);
  }
  wrap_leave(mode, r);
}

void recline_potential_checkpoint(void)
{
  place(0);
}

void recline_request_checkpoint(void)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    record_number("request", 0);
    timer_call(r);
  }
  layer_leave(mode);
}

void recline_iteration(unsigned iteration)
{
  place(iteration);
}

void recline_iteration_bytes(unsigned long long bytes)
{
  struct rank *r = rank_self();
  record_number("iteration_bytes", bytes);
  if (r)
    r->mpi->iteration_bytes = (double)bytes;
}

void recline_image_bytes(unsigned long long bytes)
{
  struct rank *r = rank_self();
  record_number("image_bytes", bytes);
  if (r)
    r->mpi->image_bytes = (double)bytes;
}
