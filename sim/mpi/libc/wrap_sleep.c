/* Calls that sleep, or wait for something until a time: they take simulated time.
 *
 * A rank runs on the one thread of the simulator, so nothing that it waits for happens while that
 * thread stands still. A call that waits for a descriptor, a signal, a lock or a condition looks
 * whether it is there, lets its time go by in the simulation and looks again. Threads of the
 * program's own really wait, as long as it says. A wait without end is libc's in any case. */
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/libc/wrap_clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* ---- letting time go by ---- */

enum { NANOSECONDS = 1000000000 };

static bool is_valid(const struct timespec *time)
{
  return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < NANOSECONDS;
}

static double seconds_of(const struct timespec *time)
{
  return (double)time->tv_sec + 1e-9 * (double)time->tv_nsec;
}

static struct timespec timespec_of(double seconds)
{
  struct timespec time = {.tv_sec = (time_t)seconds};
  time.tv_nsec = (long)(1e9 * (seconds - (double)time.tv_sec));
  return time;
}

/* Returns whether the program of a rank calls, between MPI_Init and MPI_Finalize. Then `seconds` of
 * simulated time have gone by. */
static bool pass(const char *name, double seconds)
{
  struct arena *mode = layer_enter();
  struct rank *r = mode ? rank_self() : NULL;
  if (r && seconds > 0.0) {
    record_refuse(name);
    host_sleep(r, seconds);
  }
  wrap_leave(mode, r);
  return r != NULL;
}

/* Returns whether the program of a rank calls. `left` is how far away `time` is by its clock, in
 * seconds. */
static bool waits(const struct timespec *time, double *left)
{
  double now = 0.0;
  *left = clock_simulated(&now) ? seconds_of(time) - now : 0.0;
  return pass("", 0.0);
}

/* Returns the time of the machine that is `left` seconds ahead, for a thread that really waits in
 * libc. */
static struct timespec really(clockid_t clock, const struct timespec *time, double left)
{
  struct timespec now;
  BEHIND(clock_gettime)
  if (!layer_wanted())
    return *time;
  clock_gettime_next(clock, &now);
  return timespec_of(MAX(seconds_of(&now) + left, 0.0));
}

/* ---- sleeping ---- */

/* The names that smpicc puts in the place of libc's, and libc's own. */
#define SLEEP(TYPE, NAME, PARAMETER, SECONDS)                                                      \
  TYPE NAME(PARAMETER amount)                                                                      \
  {                                                                                                \
    BEHIND(NAME)                                                                                   \
    return pass(#NAME, SECONDS) ? 0 : NAME##_next(amount);                                         \
  }

SLEEP(unsigned, smpi_sleep, unsigned, amount)
SLEEP(unsigned, sleep, unsigned, amount)
SLEEP(int, smpi_usleep, useconds_t, 1e-6 * amount)
SLEEP(int, usleep, useconds_t, 1e-6 * amount)

/* Defines a sleep. `left` is written only where a sleep is interrupted, which none is; it may be
 * `wanted`. */
#define NANOSLEEP(NAME)                                                                            \
  int NAME(const struct timespec *wanted, struct timespec *left)                                   \
  {                                                                                                \
    BEHIND(NAME)                                                                                   \
    if (!is_valid(wanted)) {                                                                       \
      errno = EINVAL;                                                                              \
      return -1;                                                                                   \
    }                                                                                              \
    return pass(#NAME, seconds_of(wanted)) ? 0 : NAME##_next(wanted, left);                        \
  }

NANOSLEEP(smpi_nanosleep)
NANOSLEEP(nanosleep)

int thrd_sleep(const struct timespec *wanted, struct timespec *left)
{
  BEHIND(thrd_sleep)
  return is_valid(wanted) && pass("thrd_sleep", seconds_of(wanted)) ? 0
                                                                    : thrd_sleep_next(wanted, left);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *left)
{
  BEHIND(clock_nanosleep)
  double until;
  if (!is_valid(wanted))
    return EINVAL;
  if (!(flags & TIMER_ABSTIME))
    return pass("clock_nanosleep", seconds_of(wanted))
               ? 0
               : clock_nanosleep_next(clock, flags, wanted, left);
  if (waits(wanted, &until)) {
    pass("clock_nanosleep", until);
    return 0;
  }
  struct timespec time = really(clock, wanted, until);
  return clock_nanosleep_next(clock, flags, &time, left);
}

/* SLEEP of GNU Fortran. */
#define FORTRAN_SLEEP(NAME, INTEGER)                                                               \
  void NAME(INTEGER *seconds)                                                                      \
  {                                                                                                \
    BEHIND(NAME)                                                                                   \
    if (!pass("SLEEP", (double)*seconds))                                                          \
      NAME##_next(seconds);                                                                        \
  }

FORTRAN_SLEEP(_gfortran_sleep_i4_sub, int32_t)
FORTRAN_SLEEP(_gfortran_sleep_i8_sub, int64_t)

/* ---- waiting for descriptors ---- */

/* Body of NAME: looks, and where nothing is `found` looks again after SECONDS. Where these are
 * negative the call waits for ever, in libc. NAME##_next is libc's function. */
#define LOOK_TWICE(NAME, SECONDS, LOOK, WAIT)                                                      \
  BEHIND(NAME)                                                                                     \
  double seconds = SECONDS;                                                                        \
  if (seconds < 0.0 || !pass(#NAME, 0.0))                                                          \
    return WAIT;                                                                                   \
  int found = LOOK;                                                                                \
  return found || seconds <= 0.0 || !pass(#NAME, seconds) ? found : (LOOK)

static double seconds_of_milliseconds(int milliseconds)
{
  return milliseconds < 0 ? -1.0 : 1e-3 * milliseconds;
}

static double seconds_or_none(const struct timespec *time)
{
  return time && is_valid(time) ? seconds_of(time) : -1.0;
}

int poll(struct pollfd *files, nfds_t count, int milliseconds)
{
  LOOK_TWICE(poll, seconds_of_milliseconds(milliseconds), poll_next(files, count, 0),
             poll_next(files, count, milliseconds));
}

static const struct timespec at_once;

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *most, const sigset_t *mask)
{
  LOOK_TWICE(ppoll, seconds_or_none(most), ppoll_next(files, count, &at_once, mask),
             ppoll_next(files, count, most, mask));
}

int epoll_wait(int poll, struct epoll_event *events, int most, int milliseconds)
{
  LOOK_TWICE(epoll_wait, seconds_of_milliseconds(milliseconds),
             epoll_wait_next(poll, events, most, 0),
             epoll_wait_next(poll, events, most, milliseconds));
}

int epoll_pwait(int poll, struct epoll_event *events, int most, int milliseconds,
                const sigset_t *mask)
{
  LOOK_TWICE(epoll_pwait, seconds_of_milliseconds(milliseconds),
             epoll_pwait_next(poll, events, most, 0, mask),
             epoll_pwait_next(poll, events, most, milliseconds, mask));
}

/* Sets of descriptors, which a look changes: as they were, for the second one. */
struct sets {
  fd_set *set[3];
  fd_set before[3];
};

static struct sets keep_sets(fd_set *in, fd_set *out, fd_set *other)
{
  struct sets sets = {.set = {in, out, other}};
  for (int i = 0; i < 3; i++)
    if (sets.set[i])
      sets.before[i] = *sets.set[i];
  return sets;
}

static int look_at(int most, struct sets *sets, const sigset_t *mask)
{
  BEHIND(pselect)
  for (int i = 0; i < 3; i++)
    if (sets->set[i])
      *sets->set[i] = sets->before[i];
  return pselect_next(most, sets->set[0], sets->set[1], sets->set[2], &at_once, mask);
}

static int look_at_sets(const char *name, int most, struct sets sets, double seconds,
                        const sigset_t *mask)
{
  int found = look_at(most, &sets, mask);
  return found || seconds <= 0.0 || !pass(name, seconds) ? found : look_at(most, &sets, mask);
}

int pselect(int most, fd_set *in, fd_set *out, fd_set *other, const struct timespec *time,
            const sigset_t *mask)
{
  BEHIND(pselect)
  double seconds = seconds_or_none(time);
  if (seconds < 0.0 || !pass("pselect", 0.0))
    return pselect_next(most, in, out, other, time, mask);
  return look_at_sets("pselect", most, keep_sets(in, out, other), seconds, mask);
}

/* It tells what is left of the time, as Linux does: nothing, or all of it. */
int select(int most, fd_set *in, fd_set *out, fd_set *other, struct timeval *time)
{
  BEHIND(select)
  if (!time || time->tv_sec < 0 || time->tv_usec < 0 || !pass("select", 0.0))
    return select_next(most, in, out, other, time);
  struct sets sets = keep_sets(in, out, other);
  int found = look_at(most, &sets, NULL);
  if (found)
    return found;
  double seconds = (double)time->tv_sec + 1e-6 * (double)time->tv_usec;
  *time = (struct timeval){0};
  return look_at_sets("select", most, sets, seconds, NULL);
}

/* ---- waiting for signals, locks and conditions ---- */

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
  BEHIND(sigtimedwait)
  double seconds = seconds_or_none(time);
  if (seconds < 0.0 || !pass("sigtimedwait", 0.0))
    return sigtimedwait_next(set, info, time);
  int found = sigtimedwait_next(set, info, &at_once);
  if (found < 0 && errno == EAGAIN && pass("sigtimedwait", seconds))
    found = sigtimedwait_next(set, info, &at_once);
  return found;
}

/* Nobody can wake the rank meanwhile but a thread of its own, which the second look would miss: the
 * wait ends in time. */
static int wait_for_condition(pthread_mutex_t *mutex, const char *name, double left)
{
  pthread_mutex_unlock(mutex);
  pass(name, left);
  pthread_mutex_lock(mutex);
  return ETIMEDOUT;
}

/* Body of NAME, which waits for a condition: lets the time go by, or waits in libc until `real`. */
#define CONDITION_IN_TIME(NAME, CLOCK, WAIT)                                                       \
  BEHIND(NAME)                                                                                     \
  double left;                                                                                     \
  if (is_valid(time) && waits(time, &left))                                                        \
    return wait_for_condition(mutex, #NAME, left);                                                 \
  struct timespec real = is_valid(time) ? really(CLOCK, time, left) : *time;                       \
  return WAIT

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *time)
{
  CONDITION_IN_TIME(pthread_cond_timedwait, CLOCK_REALTIME,
                    pthread_cond_timedwait_next(condition, mutex, &real));
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *time)
{
  CONDITION_IN_TIME(pthread_cond_clockwait, clock,
                    pthread_cond_clockwait_next(condition, mutex, clock, &real));
}

int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *time)
{
  BEHIND(cnd_timedwait)
  double left;
  if (is_valid(time) && waits(time, &left)) {
    mtx_unlock(mutex);
    pass("cnd_timedwait", left);
    mtx_lock(mutex);
    return thrd_timedout;
  }
  struct timespec real = is_valid(time) ? really(CLOCK_REALTIME, time, left) : *time;
  return cnd_timedwait_next(condition, mutex, &real);
}

/* Body of NAME, which takes a lock: tries until the time has come, or waits in libc until `real`.
 */
#define LOCK_IN_TIME(NAME, CLOCK, TRY, WAIT)                                                       \
  BEHIND(NAME)                                                                                     \
  double left = 0.0;                                                                               \
  struct timespec real = *time;                                                                    \
  if (!is_valid(time))                                                                             \
    return WAIT;                                                                                   \
  if (!waits(time, &left)) {                                                                       \
    real = really(CLOCK, time, left);                                                              \
    return WAIT;                                                                                   \
  }                                                                                                \
  return (TRY) && pass(#NAME, left) ? (TRY) : 0

static int try_mutex(pthread_mutex_t *mutex)
{
  int error = pthread_mutex_trylock(mutex);
  return error == EBUSY ? ETIMEDOUT : error;
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *time)
{
  LOCK_IN_TIME(pthread_mutex_timedlock, CLOCK_REALTIME, try_mutex(mutex),
               pthread_mutex_timedlock_next(mutex, &real));
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time)
{
  LOCK_IN_TIME(pthread_mutex_clocklock, clock, try_mutex(mutex),
               pthread_mutex_clocklock_next(mutex, clock, &real));
}

/* -1 with errno. */
static int try_semaphore(sem_t *semaphore)
{
  int result = sem_trywait(semaphore);
  if (result && errno == EAGAIN)
    errno = ETIMEDOUT;
  return result;
}

int sem_timedwait(sem_t *semaphore, const struct timespec *time)
{
  LOCK_IN_TIME(sem_timedwait, CLOCK_REALTIME, try_semaphore(semaphore),
               sem_timedwait_next(semaphore, &real));
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time)
{
  LOCK_IN_TIME(sem_clockwait, clock, try_semaphore(semaphore),
               sem_clockwait_next(semaphore, clock, &real));
}

/* ---- timers that send signals, or make descriptors readable ---- */

/* Says once that no signal will come. A signal would come by the time of the machine that
 * simulates, to whichever rank happens to run. Most programs set a timer to end what hangs, and
 * never want it to go off. */
static bool no_signal(const char *name)
{
  static bool said;
  struct arena *mode = layer_enter();
  if (mode && layer_wanted() && !said) { /* not of the layer's own call */
    fprintf(stderr, "recline: no signal will come from %s: it is not simulated\n", name);
    said = true;
  }
  layer_leave(mode);
  return layer_wanted();
}

static int not_supported(void)
{
  errno = ENOTSUP;
  return -1;
}

IN_PLACE_OF(unsigned, alarm, (unsigned seconds), (seconds), no_signal("alarm"), 0)
IN_PLACE_OF(useconds_t, ualarm, (useconds_t first, useconds_t every), (first, every),
            no_signal("ualarm"), 0)
IN_PLACE_OF(int, timer_create,
            (clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer),
            (clock, event, timer), no_signal("timer_create"), not_supported())
IN_PLACE_OF(int, timerfd_create, (int clock, int flags), (clock, flags),
            no_signal("timerfd_create"), not_supported())

int setitimer(enum __itimer_which which, const struct itimerval *restrict value,
              struct itimerval *restrict before)
{
  if (no_signal("setitimer")) {
    if (before)
      *before = (struct itimerval){0};
    return 0;
  }
  BEHIND(setitimer)
  return setitimer_next(which, value, before);
}
