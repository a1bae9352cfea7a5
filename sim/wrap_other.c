/* Time and computation: what programs call besides MPI. */
#include "recline.h"
#include "wrap.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

/* The function of that name behind the layer. */
static void *next(const char *name)
{
  void *function = dlsym(RTLD_NEXT, name);
  if (!function)
    layer_die(3, "SimGrid has no %s", name);
  return function;
}

/* dlsym gives object pointers; ISO C knows no conversion to a function pointer. */
#define NEXT(TYPE, NAME)                                                                           \
  __typeof__(TYPE) NAME##_next = NULL;                                                             \
  {                                                                                                \
    void *symbol_ = next(#NAME);                                                                   \
    memcpy(&NAME##_next, &symbol_, sizeof symbol_);                                                \
  }

void *layer_next_self(void)
{
  NEXT(MPI_Comm(*)(void), smpi_process_comm_self)
  return smpi_process_comm_self_next();
}

/* ---- computation ---- */

#define COMPUTE(NAME, TYPE, ARGUMENT, FLOPS)                                                       \
  void NAME(TYPE ARGUMENT)                                                                         \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    struct rank *r = rank_self();                                                                  \
    if (r) {                                                                                       \
      host_compute(r, FLOPS);                                                                      \
    } else {                                                                                       \
      NEXT(void (*)(TYPE), NAME)                                                                   \
      NAME##_next(ARGUMENT);                                                                       \
    }                                                                                              \
    layer_leave(mode);                                                                             \
  }

static double after_threshold(double seconds)
{
  return seconds >= machine_smpi_threshold() ? seconds : 0.0;
}

COMPUTE(smpi_execute_flops, double, flops, flops)
COMPUTE(smpi_execute_flops_benched, double, flops, flops)
COMPUTE(smpi_execute, double, seconds, after_threshold(seconds) * machine_smpi_speed())
COMPUTE(smpi_execute_benched, double, seconds, seconds *machine_speed())

/* ---- sleep and clocks ---- */

static int sleep_seconds(double seconds)
{
  struct rank *r = rank_self();
  if (r)
    host_sleep(r, seconds);
  return 0;
}

unsigned smpi_sleep(unsigned seconds)
{
  struct arena *mode = layer_enter();
  if (rank_self()) {
    sleep_seconds(seconds);
  } else {
    NEXT(unsigned (*)(unsigned), smpi_sleep)
    smpi_sleep_next(seconds);
  }
  layer_leave(mode);
  return 0;
}

int smpi_usleep(useconds_t microseconds)
{
  struct arena *mode = layer_enter();
  int result = 0;
  if (rank_self()) {
    sleep_seconds(1e-6 * microseconds);
  } else {
    NEXT(int (*)(useconds_t), smpi_usleep)
    result = smpi_usleep_next(microseconds);
  }
  layer_leave(mode);
  return result;
}

int smpi_nanosleep(const struct timespec *wanted, struct timespec *left)
{
  struct arena *mode = layer_enter();
  int result = 0;
  if (rank_self()) {
    sleep_seconds((double)wanted->tv_sec + 1e-9 * (double)wanted->tv_nsec);
    if (left)
      *left = (struct timespec){0};
  } else {
    NEXT(int (*)(const struct timespec *, struct timespec *), smpi_nanosleep)
    result = smpi_nanosleep_next(wanted, left);
  }
  layer_leave(mode);
  return result;
}

int smpi_gettimeofday(struct timeval *now, struct timezone *zone)
{
  struct arena *mode = layer_enter();
  NEXT(int (*)(struct timeval *, struct timezone *), smpi_gettimeofday)
  int result = smpi_gettimeofday_next(now, zone);
  layer_leave(mode);
  return result;
}

int smpi_clock_gettime(clockid_t clock, struct timespec *now)
{
  struct arena *mode = layer_enter();
  NEXT(int (*)(clockid_t, struct timespec *), smpi_clock_gettime)
  int result = smpi_clock_gettime_next(clock, now);
  layer_leave(mode);
  return result;
}

void smpi_exit(int status)
{
  layer_enter();
  NEXT(void (*)(int), smpi_exit)
  if (rank_self())
    layer_die(status, "rank %d has called exit(%d) before MPI_Finalize", rank_self()->index,
              status);
  smpi_exit_next(status);
  abort();
}

/* ---- memory: smpicc turns malloc and its like into these ---- */

/* The program's own allocations: they stay in program mode and come to its arena. That begins
 * before MPI_Init. */
static bool in_program(void)
{
  struct arena *arena = layer_enter();
  layer_leave(arena);
  return arena != NULL;
}

void *smpi_shared_malloc_intercept(size_t size, const char *file, int line)
{
  if (in_program())
    return malloc(size);
  NEXT(void *(*)(size_t, const char *, int), smpi_shared_malloc_intercept)
  return smpi_shared_malloc_intercept_next(size, file, line);
}

void *smpi_shared_calloc_intercept(size_t count, size_t size, const char *file, int line)
{
  if (in_program())
    return calloc(count, size);
  NEXT(void *(*)(size_t, size_t, const char *, int), smpi_shared_calloc_intercept)
  return smpi_shared_calloc_intercept_next(count, size, file, line);
}

void *smpi_shared_realloc_intercept(void *memory, size_t size, const char *file, int line)
{
  if (in_program())
    return realloc(memory, size);
  NEXT(void *(*)(void *, size_t, const char *, int), smpi_shared_realloc_intercept)
  return smpi_shared_realloc_intercept_next(memory, size, file, line);
}

void smpi_shared_free(void *memory)
{
  if (in_program()) {
    free(memory);
    return;
  }
  NEXT(void (*)(void *), smpi_shared_free)
  smpi_shared_free_next(memory);
}

/* Memory that ranks share on purpose could not be rolled back: under a protocol each has its own.
 */
void *smpi_shared_malloc(size_t size, const char *file, int line)
{
  if (in_program())
    return malloc(size);
  NEXT(void *(*)(size_t, const char *, int), smpi_shared_malloc)
  return smpi_shared_malloc_next(size, file, line);
}

static int alloc_mem(struct rank *r, MPI_Aint size, void *memory)
{
  void *allocated = face_alloc(r, (size_t)size);
  memcpy(memory, &allocated, sizeof allocated);
  return MPI_SUCCESS;
}

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *memory)
{
  LOOK_UP(alloc_mem(r, size, memory), PMPI_Alloc_mem(size, info, memory));
}

int MPI_Free_mem(void *memory)
{
  LOOK_UP(((void)r, face_free(memory), MPI_SUCCESS), PMPI_Free_mem(memory));
}

/* Buffered sends need no buffer of the program's. */
static int attach(struct rank *r, void *buffer, int bytes)
{
  r->face->bsend_buffer = buffer;
  r->face->bsend_bytes = bytes;
  return MPI_SUCCESS;
}

static int detach(struct rank *r, void *buffer, int *bytes)
{
  memcpy(buffer, &r->face->bsend_buffer, sizeof r->face->bsend_buffer);
  *bytes = r->face->bsend_bytes;
  return attach(r, NULL, 0);
}

int MPI_Buffer_attach(void *buffer, int bytes)
{
  LOOK_UP(attach(r, buffer, bytes), PMPI_Buffer_attach(buffer, bytes));
}

int MPI_Buffer_detach(void *buffer, int *bytes)
{
  LOOK_UP(detach(r, buffer, bytes), PMPI_Buffer_detach(buffer, bytes));
}

/* ---- sampling: SMPI keeps its tables, which are not the program's ---- */

int smpi_sample_cond(int global, const char *file, const char *tag, int iterations,
                     double threshold, int count)
{
  struct arena *mode = layer_enter();
  NEXT(int (*)(int, const char *, const char *, int, double, int), smpi_sample_cond)
  int result = smpi_sample_cond_next(global, file, tag, iterations, threshold, count);
  layer_leave(mode);
  return result;
}

void smpi_sample_iter(int global, const char *file, const char *tag)
{
  struct arena *mode = layer_enter();
  NEXT(void (*)(int, const char *, const char *), smpi_sample_iter)
  smpi_sample_iter_next(global, file, tag);
  layer_leave(mode);
}

int smpi_sample_exit(int global, const char *file, const char *tag, int count)
{
  struct arena *mode = layer_enter();
  NEXT(int (*)(int, const char *, const char *, int), smpi_sample_exit)
  int result = smpi_sample_exit_next(global, file, tag, count);
  layer_leave(mode);
  return result;
}

/* ---- others ---- */

/* What the clock says is a decision that the program does not determine, of two words: a replay
 * must read the same (found by crashing NAS CG, which sends its time to rank 0). */
double MPI_Wtime(void)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  double now = PMPI_Wtime();
  if (r) {
    uint32_t words[2];
    memcpy(words, &now, sizeof now);
    rank_switch(r, ACTIVITY_MPI);
    for (int i = 0; i < 2; i++)
      words[i] = host_choose(r, words[i]);
    rank_switch(r, ACTIVITY_COMPUTE);
    memcpy(&now, words, sizeof now);
  }
  layer_leave(mode);
  return now;
}

int MPI_Pcontrol(const int level, ...)
{
  (void)level;
  return MPI_SUCCESS;
}

/* ---- recline.h ---- */

static void place(uint32_t iteration)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    rank_switch(r, ACTIVITY_MPI);
    host_place(r, iteration);
    rank_switch(r, ACTIVITY_COMPUTE);
  }
  layer_leave(mode);
}

void recline_potential_checkpoint(void)
{
  place(0);
}

void recline_iteration(unsigned iteration)
{
  place(iteration);
}

void recline_image_bytes(unsigned long long bytes)
{
  struct rank *r = rank_self();
  if (r)
    r->face->image_bytes = (double)bytes;
}
