/* Replaces every clock that a program can read.
 *
 * All clocks show simulated time. Otherwise a program would see the time of the simulating machine,
 * and no two runs would be alike.
 *
 * A rank that repeats its steps must read the same times again (program_clock.h), because programs
 * may send times: NAS CG sends its time to rank 0. */
#include "sim/mpi/libc/wrap_clock.h"
#include "sim/host/output/held_output.h"
#include "sim/host/rank/program_clock.h"
#include "sim/mpi/layer/wrap.h"

#include <stdio.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

/* ---- the time of the simulation ---- */

static double time_of(uint32_t high, uint32_t low)
{
  double time;
  uint64_t bits = (uint64_t)high << 32 | low;
  memcpy(&time, &bits, sizeof time);
  return time;
}

/* Returns what the clock says instead of `reading`. The two halves of the time are the outcomes of
 * two decisions. If a crash has come between the two decisions, the second one is lost. In that
 * case, the result is the earliest time that has the first outcome. */
static double decide(struct rank *r, double reading)
{
  double derived = r->mpi->clock.derived;
  uint64_t bits;
  memcpy(&bits, &reading, sizeof bits);
  uint32_t high = reading > derived || reading < derived ? (uint32_t)(bits >> 32) : 0;
  uint32_t first = host_choose(r, high, 0);
  return first ? time_of(first, host_choose(r, first == high ? (uint32_t)bits : 0, 0)) : derived;
}

/* SMPI lets a little time pass at each reading, so that a program that waits for a time reaches
 * that time. Other ranks run meanwhile, so this rank's outputs are collected first. Otherwise they
 * would be taken for outputs of another rank. */
static double read_clock(struct rank *r)
{
  output_collect(r);
  enum activity before = rank_switch(r, ACTIVITY_MPI);
  double now = layer.before + machine_since_begin(PMPI_Wtime());
  now = program_clock_read(r, decide(r, program_clock_reading(r, now)));
  rank_switch(r, before);
  return record_clock(now);
}

/* Returns whether the caller is a thread that a program has started. The simulator itself has only
 * one thread. */
static bool is_thread(void)
{
  BEHIND(getpid)
  BEHIND(gettid)
  return !machine_actor() && gettid_next() != getpid_next();
}

/* Returns the time that a thread sees. A thread works while simulated time stands still, and may
 * wait for a time. So from its first look on, a thread sees the machine's time, which goes on. */
static double thread_clock(double simulated)
{
  static __thread double ahead;
  static __thread bool has_looked;
  struct timespec now;
  BEHIND(clock_gettime)
  clock_gettime_next(CLOCK_MONOTONIC, &now);
  double real = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  if (!has_looked || real + ahead < simulated)
    ahead = simulated - real;
  has_looked = true;
  return real + ahead;
}

/* Returns the time in places where reading it is no decision: between the layer's beginning and
 * MPI_Init, after MPI_Finalize, in the layer itself, in threads. */
static double look_at_clock(void)
{
  double simulated = layer.before + machine_now();
  return is_thread() ? thread_clock(simulated) : simulated;
}

double MPI_Wtime(void)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  double now = r ? read_clock(r) : layer.on && is_thread() ? look_at_clock() : PMPI_Wtime();
  wrap_leave(mode, r);
  return now;
}

/* Reads the time for the clocks of libc and of the language runtimes. The layer and its libraries
 * read these clocks, too: a read is a decision only if the program makes it, between MPI_Init and
 * MPI_Finalize. In a run without a protocol, returns false and leaves *now as it is. */
bool clock_simulated(double *now)
{
  struct arena *mode = layer_enter();
  struct rank *r = mode ? rank_self() : NULL;
  bool under_protocol = layer_wanted();
  if (r)
    *now = read_clock(r);
  else if (under_protocol)
    *now = look_at_clock();
  wrap_leave(mode, r);
  return under_protocol;
}

static struct timespec timespec_of(double seconds)
{
  struct timespec time = {.tv_sec = (time_t)seconds};
  time.tv_nsec = (long)(1e9 * (seconds - (double)time.tv_sec));
  return time;
}

static struct timeval timeval_of(double seconds)
{
  struct timespec time = timespec_of(seconds);
  return (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
}

/* ---- the clocks of libc; smpicc turns two of them into calls of SimGrid ---- */

/* Defines the clock NAME. Under a protocol, the clock returns the last argument, in which `now` is
 * the time. Without a protocol, it calls the clock of libc.
 */
#define CLOCK(TYPE, NAME, PARAMETERS, ARGUMENTS, ...)                                              \
  TYPE NAME PARAMETERS                                                                             \
  {                                                                                                \
    double now;                                                                                    \
    if (clock_simulated(&now))                                                                     \
      return (__VA_ARGS__);                                                                        \
    BEHIND(NAME)                                                                                   \
    return NAME##_next ARGUMENTS;                                                                  \
  }

CLOCK(int, smpi_gettimeofday, (struct timeval *restrict time, struct timezone *restrict zone),
      (time, zone), *time = timeval_of(now), 0)
CLOCK(int, gettimeofday, (struct timeval *restrict time, void *restrict zone), (time, zone),
      *time = timeval_of(now), 0)
CLOCK(int, smpi_clock_gettime, (clockid_t clock, struct timespec *time), (clock, time),
      *time = timespec_of(now), 0)
CLOCK(int, clock_gettime, (clockid_t clock, struct timespec *time), (clock, time),
      *time = timespec_of(now), 0)
CLOCK(int, timespec_get, (struct timespec * time, int base), (time, base), *time = timespec_of(now),
      base)

static time_t whole_seconds(double now, time_t *result)
{
  if (result)
    *result = (time_t)now;
  return (time_t)now;
}

CLOCK(time_t, time, (time_t * result), (result), whole_seconds(now, result))
CLOCK(clock_t, clock, (void), (), (clock_t)(CLOCKS_PER_SEC *now))

static clock_t ticks_of(double now, struct tms *result)
{
  *result = (struct tms){.tms_utime = (clock_t)(now * (double)sysconf(_SC_CLK_TCK))};
  return result->tms_utime;
}

CLOCK(clock_t, times, (struct tms * result), (result), ticks_of(now, result))

/* ---- C++, OpenMP ---- */

/* The next two clocks are std::chrono::system_clock::now() and steady_clock::now(), in
 * nanoseconds. */
CLOCK(int64_t, _ZNSt6chrono3_V212system_clock3nowEv, (void), (), (int64_t)(1e9 * now))
CLOCK(int64_t, _ZNSt6chrono3_V212steady_clock3nowEv, (void), (), (int64_t)(1e9 * now))
CLOCK(double, omp_get_wtime, (void), (), now)

/* ---- Fortran: CPU_TIME, SYSTEM_CLOCK, DATE_AND_TIME, ETIME ---- */

#define CPU_TIME(NAME, REAL)                                                                       \
  void NAME(REAL *time)                                                                            \
  {                                                                                                \
    double now;                                                                                    \
    if (clock_simulated(&now)) {                                                                   \
      *time = (REAL)now;                                                                           \
      return;                                                                                      \
    }                                                                                              \
    BEHIND(NAME)                                                                                   \
    NAME##_next(time);                                                                             \
  }

CPU_TIME(_gfortran_cpu_time_4, float)
CPU_TIME(_gfortran_cpu_time_8, double)

/* A tick is a millisecond if the integer has 4 bytes, and a nanosecond if it has 8. Ticks in 4
 * bytes wrap around. All arguments may be absent.
 */
#define SYSTEM_CLOCK(NAME, INTEGER, TICKS, MOST)                                                   \
  void NAME(INTEGER *count, INTEGER *rate, INTEGER *most)                                          \
  {                                                                                                \
    double now;                                                                                    \
    if (!clock_simulated(&now)) {                                                                  \
      BEHIND(NAME)                                                                                 \
      NAME##_next(count, rate, most);                                                              \
      return;                                                                                      \
    }                                                                                              \
    if (count)                                                                                     \
      *count = (INTEGER)((int64_t)(now * (TICKS)) & (MOST));                                       \
    if (rate)                                                                                      \
      *rate = (TICKS);                                                                             \
    if (most)                                                                                      \
      *most = (MOST);                                                                              \
  }

SYSTEM_CLOCK(_gfortran_system_clock_4, int32_t, 1000, INT32_MAX)
SYSTEM_CLOCK(_gfortran_system_clock_8, int64_t, 1000000000, INT64_MAX)

/* The fields of gfortran's arrays that are needed here. The arrays are contiguous, because they are
 * actual arguments. */
struct fortran_array {
  void *items;
};

static float elapsed(double now, struct fortran_array *parts)
{
  float *part = parts->items;
  part[0] = (float)now;
  part[1] = 0.0F;
  return part[0];
}

CLOCK(float, _gfortran_etime, (struct fortran_array * parts), (parts), elapsed(now, parts))

void _gfortran_etime_sub(struct fortran_array *parts, float *sum)
{
  *sum = _gfortran_etime(parts);
}

static void put_text(char *text, size_t length, const char *format, const struct tm *when)
{
  char found[32];
  size_t got = strftime(found, sizeof found, format, when);
  if (!text)
    return;
  memset(text, ' ', length);
  memcpy(text, found, MIN(got, length));
}

/* The time counts from the beginning of 1970, in Greenwich. All arguments may be absent. */
void _gfortran_date_and_time(char *date, char *of_day, char *zone, struct fortran_array *values,
                             size_t date_length, size_t of_day_length, size_t zone_length)
{
  double now;
  if (!clock_simulated(&now)) {
    BEHIND(_gfortran_date_and_time)
    _gfortran_date_and_time_next(date, of_day, zone, values, date_length, of_day_length,
                                 zone_length);
    return;
  }
  struct tm when;
  struct timespec exact = timespec_of(now);
  int milliseconds = (int)(exact.tv_nsec / 1000000);
  char format[sizeof "%H%M%S.-999"];
  snprintf(format, sizeof format, "%%H%%M%%S.%03d", milliseconds % 1000);
  gmtime_r(&exact.tv_sec, &when);
  put_text(date, date_length, "%Y%m%d", &when);
  put_text(of_day, of_day_length, format, &when);
  put_text(zone, zone_length, "+0000", &when);
  if (values && values->items)
    memcpy(values->items,
           (int32_t[8]){when.tm_year + 1900, when.tm_mon + 1, when.tm_mday, 0, when.tm_hour,
                        when.tm_min, when.tm_sec, milliseconds},
           8 * sizeof(int32_t));
}
