/* Time: sleeps, and every clock that a program can read.
 *
 * There is one time, that of the simulation, whichever clock is asked. Otherwise a program would
 * see the machine that simulates, and no run would be like another.
 *
 * What a clock says depends on the schedule, so reading one is a decision of the program, like the
 * outcome of a test: a protocol that lets a message cross the recovery line backwards must be able
 * to make the program read the same again, or it would send something else instead. The protocol
 * is told of both halves of the number. NAS CG sends its time to rank 0. */
#include "sim/mpi/wrap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

/* ---- sleep ---- */

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
    BEHIND(unsigned (*)(unsigned), smpi_sleep)
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
    BEHIND(int (*)(useconds_t), smpi_usleep)
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
    BEHIND(int (*)(const struct timespec *, struct timespec *), smpi_nanosleep)
    result = smpi_nanosleep_next(wanted, left);
  }
  layer_leave(mode);
  return result;
}

/* ---- the time of the simulation ---- */

static double decide(struct rank *r, double now)
{
  uint64_t bits, high;
  memcpy(&bits, &now, sizeof bits);
  high = host_choose(r, (uint32_t)(bits >> 32));
  bits = high << 32 | host_choose(r, (uint32_t)bits);
  memcpy(&now, &bits, sizeof now);
  return now;
}

/* SMPI lets a little time go by each time, so that a program that waits for a time gets there. */
static double read_clock(struct rank *r)
{
  enum activity before = rank_switch(r, ACTIVITY_MPI);
  double now = decide(r, PMPI_Wtime());
  rank_switch(r, before);
  return now;
}

double MPI_Wtime(void)
{
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  double now = r ? read_clock(r) : PMPI_Wtime();
  layer_leave(mode);
  return now;
}

/* For the clocks of libc and of the language runtimes, which the layer and its libraries read,
 * too: only the program, between MPI_Init and MPI_Finalize, makes a decision. False, with *now
 * untouched: this is no run under a protocol. */
static bool simulated(double *now)
{
  struct arena *mode = layer_enter();
  struct rank *r = mode ? rank_self() : NULL;
  bool under_protocol = layer_wanted();
  if (r)
    *now = read_clock(r);
  else if (under_protocol)
    *now = machine_now();
  layer_leave(mode);
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

#define TIME_OF_DAY(NAME, ZONE)                                                                    \
  int NAME(struct timeval *restrict time, ZONE *restrict zone)                                     \
  {                                                                                                \
    double now;                                                                                    \
    if (!simulated(&now)) {                                                                        \
      BEHIND(int (*)(struct timeval *, ZONE *), NAME)                                              \
      return NAME##_next(time, zone);                                                              \
    }                                                                                              \
    *time = timeval_of(now);                                                                       \
    return 0;                                                                                      \
  }

TIME_OF_DAY(smpi_gettimeofday, struct timezone)
TIME_OF_DAY(gettimeofday, void)

#define CLOCK_GETTIME(NAME)                                                                        \
  int NAME(clockid_t clock, struct timespec *time)                                                 \
  {                                                                                                \
    double now;                                                                                    \
    if (!simulated(&now)) {                                                                        \
      BEHIND(int (*)(clockid_t, struct timespec *), NAME)                                          \
      return NAME##_next(clock, time);                                                             \
    }                                                                                              \
    *time = timespec_of(now);                                                                      \
    return 0;                                                                                      \
  }

CLOCK_GETTIME(smpi_clock_gettime)
CLOCK_GETTIME(clock_gettime)

time_t time(time_t *result)
{
  double now;
  if (!simulated(&now)) {
    BEHIND(time_t(*)(time_t *), time)
    return time_next(result);
  }
  if (result)
    *result = (time_t)now;
  return (time_t)now;
}

clock_t clock(void)
{
  double now;
  if (simulated(&now))
    return (clock_t)(now * CLOCKS_PER_SEC);
  BEHIND(clock_t(*)(void), clock)
  return clock_next();
}

clock_t times(struct tms *result)
{
  double now;
  BEHIND(clock_t(*)(struct tms *), times)
  if (!simulated(&now))
    return times_next(result);
  clock_t ticks = (clock_t)(now * (double)sysconf(_SC_CLK_TCK));
  *result = (struct tms){.tms_utime = ticks};
  return ticks;
}

int timespec_get(struct timespec *time, int base)
{
  double now;
  if (!simulated(&now)) {
    BEHIND(int (*)(struct timespec *, int), timespec_get)
    return timespec_get_next(time, base);
  }
  *time = timespec_of(now);
  return base;
}

/* ---- C++, OpenMP ---- */

/* std::chrono::system_clock::now() and steady_clock::now(): nanoseconds. */
#define CHRONO_NOW(NAME)                                                                           \
  int64_t NAME(void)                                                                               \
  {                                                                                                \
    double now;                                                                                    \
    if (simulated(&now))                                                                           \
      return (int64_t)(1e9 * now);                                                                 \
    BEHIND(int64_t (*)(void), NAME)                                                                \
    return NAME##_next();                                                                          \
  }

CHRONO_NOW(_ZNSt6chrono3_V212system_clock3nowEv)
CHRONO_NOW(_ZNSt6chrono3_V212steady_clock3nowEv)

double omp_get_wtime(void)
{
  double now;
  if (simulated(&now))
    return now;
  BEHIND(double (*)(void), omp_get_wtime)
  return omp_get_wtime_next();
}

/* ---- Fortran: CPU_TIME, SYSTEM_CLOCK, DATE_AND_TIME, ETIME ---- */

#define CPU_TIME(NAME, REAL)                                                                       \
  void NAME(REAL *time)                                                                            \
  {                                                                                                \
    double now;                                                                                    \
    if (simulated(&now)) {                                                                         \
      *time = (REAL)now;                                                                           \
      return;                                                                                      \
    }                                                                                              \
    BEHIND(void (*)(REAL *), NAME)                                                                 \
    NAME##_next(time);                                                                             \
  }

CPU_TIME(_gfortran_cpu_time_4, float)
CPU_TIME(_gfortran_cpu_time_8, double)

/* Ticks: milliseconds in 4 bytes, which wrap around; nanoseconds in 8. All arguments may be absent.
 */
#define SYSTEM_CLOCK(NAME, INTEGER, TICKS, MOST)                                                   \
  void NAME(INTEGER *count, INTEGER *rate, INTEGER *most)                                          \
  {                                                                                                \
    double now;                                                                                    \
    if (!simulated(&now)) {                                                                        \
      BEHIND(void (*)(INTEGER *, INTEGER *, INTEGER *), NAME)                                      \
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

/* An array of gfortran; only what is needed of it: contiguous, as actual arguments are. */
struct fortran_array {
  void *items;
};

float _gfortran_etime(struct fortran_array *parts)
{
  double now;
  if (!simulated(&now)) {
    BEHIND(float (*)(struct fortran_array *), _gfortran_etime)
    return _gfortran_etime_next(parts);
  }
  float *part = parts->items;
  part[0] = (float)now;
  part[1] = 0.0F;
  return part[0];
}

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

/* Counted from the beginning of 1970, in Greenwich. All arguments may be absent. */
void _gfortran_date_and_time(char *date, char *of_day, char *zone, struct fortran_array *values,
                             size_t date_length, size_t of_day_length, size_t zone_length)
{
  double now;
  if (!simulated(&now)) {
    BEHIND(void (*)(char *, char *, char *, struct fortran_array *, size_t, size_t, size_t),
           _gfortran_date_and_time)
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

/* ---- timers that send signals ---- */

/* A signal would come by the time of the machine that simulates, to whichever rank happens to run.
 * Most programs set one to end what hangs, and never want it to come. */
static bool no_signal(const char *name)
{
  static bool said;
  struct arena *mode = layer_enter();
  if (layer_wanted() && !said)
    fprintf(stderr, "recline: no signal will come from %s: it is not simulated\n", name);
  said = true;
  layer_leave(mode);
  return layer_wanted();
}

unsigned alarm(unsigned seconds)
{
  if (no_signal("alarm"))
    return 0;
  BEHIND(unsigned (*)(unsigned), alarm)
  return alarm_next(seconds);
}

int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer)
{
  if (no_signal("timer_create")) {
    errno = ENOTSUP;
    return -1;
  }
  BEHIND(int (*)(clockid_t, struct sigevent *, timer_t *), timer_create)
  return timer_create_next(clock, event, timer);
}

int setitimer(enum __itimer_which which, const struct itimerval *restrict value,
              struct itimerval *restrict before)
{
  if (no_signal("setitimer")) {
    if (before)
      *before = (struct itimerval){0};
    return 0;
  }
  BEHIND(int (*)(enum __itimer_which, const struct itimerval *, struct itimerval *), setitimer)
  return setitimer_next(which, value, before);
}
