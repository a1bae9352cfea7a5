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
  __typeof__(TYPE) NAME##_next = NULL;                                                                         \
  {                                                                                                \
    void *symbol_ = next(#NAME);                                                                   \
    memcpy(&NAME##_next, &symbol_, sizeof symbol_);                                                \
  }

void *layer_next_self(void)
{
  NEXT(MPI_Comm (*)(void), smpi_process_comm_self)
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

/* ---- others ---- */

int MPI_Pcontrol(const int level, ...)
{
  (void)level;
  return MPI_SUCCESS;
}

/* ---- recline.h ---- */

void recline_potential_checkpoint(void)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  if (r) {
    rank_switch(r, ACTIVITY_MPI);
    host_place(r);
    rank_switch(r, ACTIVITY_COMPUTE);
  }
  layer_leave(mode);
}
