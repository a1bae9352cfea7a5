/* Replaces calls that sleep, or that wait for descriptors until a time, so that these calls take
 * simulated time. */
#include "sim/mpi/libc/wrap_sleep.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/libc/wrap_clock.h"
#include "sim/mpi/libc/wrap_libc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* ---- letting time go by ---- */

enum { NANOSECONDS = 1000000000 };

bool sleep_is_time(const struct timespec *time)
{
  return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < NANOSECONDS;
}

double sleep_seconds(const struct timespec *time)
{
  return (double)time->tv_sec + 1e-9 * (double)time->tv_nsec;
}

static struct timespec timespec_of(double seconds)
{
  struct timespec time = {.tv_sec = (time_t)seconds};
  time.tv_nsec = (long)(1e9 * (seconds - (double)time.tv_sec));
  return time;
}

bool sleep_pass(const char *name, double seconds)
{
  struct arena *mode = layer_enter();
  struct rank *r = mode ? rank_self() : NULL;
  if (r && seconds > 0.0) {
    record_refuse(name);
    layer_refuse_region(r, name);
    host_sleep(r, seconds);
  }
  wrap_leave(mode, r);
  return r != NULL;
}

bool sleep_waits(const struct timespec *time, double *left)
{
  double now = 0.0;
  *left = clock_simulated(&now) ? sleep_seconds(time) - now : 0.0;
  return sleep_pass("", 0.0);
}

struct timespec sleep_really(clockid_t clock, const struct timespec *time, double left)
{
  struct timespec now;
  BEHIND(clock_gettime)
  if (!layer_wanted())
    return *time;
  clock_gettime_next(clock, &now);
  return timespec_of(MAX(sleep_seconds(&now) + left, 0.0));
}

/* ---- sleeping ---- */

/* Defines a sleep under two names: the name that smpicc puts in place of libc's name, and libc's
 * name. */
#define SLEEP(TYPE, NAME, PARAMETER, SECONDS)                                                      \
  TYPE NAME(PARAMETER amount)                                                                      \
  {                                                                                                \
    BEHIND(NAME)                                                                                   \
    return sleep_pass(#NAME, SECONDS) ? 0 : NAME##_next(amount);                                   \
  }

SLEEP(unsigned, smpi_sleep, unsigned, amount)
SLEEP(unsigned, sleep, unsigned, amount)
SLEEP(int, smpi_usleep, useconds_t, 1e-6 * amount)
SLEEP(int, usleep, useconds_t, 1e-6 * amount)

/* Defines a sleep. Only an interrupted sleep would write to `left`, which may equal `wanted`, and
 * no sleep is interrupted. */
#define NANOSLEEP(NAME)                                                                            \
  int NAME(const struct timespec *wanted, struct timespec *left)                                   \
  {                                                                                                \
    BEHIND(NAME)                                                                                   \
    if (!sleep_is_time(wanted)) {                                                                  \
      errno = EINVAL;                                                                              \
      return -1;                                                                                   \
    }                                                                                              \
    return sleep_pass(#NAME, sleep_seconds(wanted)) ? 0 : NAME##_next(wanted, left);               \
  }

NANOSLEEP(smpi_nanosleep)
NANOSLEEP(nanosleep)

int thrd_sleep(const struct timespec *wanted, struct timespec *left)
{
  BEHIND(thrd_sleep)
  return sleep_is_time(wanted) && sleep_pass("thrd_sleep", sleep_seconds(wanted))
             ? 0
             : thrd_sleep_next(wanted, left);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *left)
{
  BEHIND(clock_nanosleep)
  double until;
  if (!sleep_is_time(wanted))
    return EINVAL;
  if (!(flags & TIMER_ABSTIME))
    return sleep_pass("clock_nanosleep", sleep_seconds(wanted))
               ? 0
               : clock_nanosleep_next(clock, flags, wanted, left);
  if (sleep_waits(wanted, &until)) {
    sleep_pass("clock_nanosleep", until);
    return 0;
  }
  struct timespec time = sleep_really(clock, wanted, until);
  return clock_nanosleep_next(clock, flags, &time, left);
}

/* Defines SLEEP of GNU Fortran. */
#define FORTRAN_SLEEP(NAME, INTEGER)                                                               \
  void NAME(INTEGER *seconds)                                                                      \
  {                                                                                                \
    BEHIND(NAME)                                                                                   \
    if (!sleep_pass("SLEEP", (double)*seconds))                                                    \
      NAME##_next(seconds);                                                                        \
  }

FORTRAN_SLEEP(_gfortran_sleep_i4_sub, int32_t)
FORTRAN_SLEEP(_gfortran_sleep_i8_sub, int64_t)

/* ---- waiting for descriptors ---- */

/* Writes the body of function NAME. The function looks and, if nothing is `found`, looks again
 * after SECONDS. If SECONDS is negative, the call waits in libc, without a limit. NAME##_next is
 * libc's function. */
#define LOOK_TWICE(NAME, SECONDS, LOOK, WAIT)                                                      \
  BEHIND(NAME)                                                                                     \
  double seconds = SECONDS;                                                                        \
  if (seconds < 0.0 || !sleep_pass(#NAME, 0.0))                                                    \
    return WAIT;                                                                                   \
  int found = LOOK;                                                                                \
  return found || seconds <= 0.0 || !sleep_pass(#NAME, seconds) ? found : (LOOK)

static double seconds_of_milliseconds(int milliseconds)
{
  return milliseconds < 0 ? -1.0 : 1e-3 * milliseconds;
}

double sleep_seconds_or_none(const struct timespec *time)
{
  return time && sleep_is_time(time) ? sleep_seconds(time) : -1.0;
}

int poll(struct pollfd *files, nfds_t count, int milliseconds)
{
  LOOK_TWICE(poll, seconds_of_milliseconds(milliseconds), poll_next(files, count, 0),
             poll_next(files, count, milliseconds));
}

const struct timespec sleep_at_once;

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *most, const sigset_t *mask)
{
  LOOK_TWICE(ppoll, sleep_seconds_or_none(most), ppoll_next(files, count, &sleep_at_once, mask),
             ppoll_next(files, count, most, mask));
}

int epoll_wait(int poll, struct epoll_event *events, int most, int milliseconds)
{
  LOOK_TWICE(epoll_wait, seconds_of_milliseconds(milliseconds),
             epoll_wait_next(poll, events, most, 0),
             epoll_wait_next(poll, events, most, milliseconds));
}

/* Programs that are compiled with _FORTIFY_SOURCE call these functions. */
int __poll_chk(struct pollfd *files, nfds_t count, int milliseconds, size_t bytes);
int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *most,
                const sigset_t *mask, size_t bytes);

int __poll_chk(struct pollfd *files, nfds_t count, int milliseconds, size_t bytes)
{
  LOOK_TWICE(__poll_chk, seconds_of_milliseconds(milliseconds),
             __poll_chk_next(files, count, 0, bytes),
             __poll_chk_next(files, count, milliseconds, bytes));
}

int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *most,
                const sigset_t *mask, size_t bytes)
{
  LOOK_TWICE(__ppoll_chk, sleep_seconds_or_none(most),
             __ppoll_chk_next(files, count, &sleep_at_once, mask, bytes),
             __ppoll_chk_next(files, count, most, mask, bytes));
}

int epoll_pwait2(int poll, struct epoll_event *events, int most, const struct timespec *time,
                 const sigset_t *mask)
{
  LOOK_TWICE(epoll_pwait2, sleep_seconds_or_none(time),
             epoll_pwait2_next(poll, events, most, &sleep_at_once, mask),
             epoll_pwait2_next(poll, events, most, time, mask));
}

int epoll_pwait(int poll, struct epoll_event *events, int most, int milliseconds,
                const sigset_t *mask)
{
  LOOK_TWICE(epoll_pwait, seconds_of_milliseconds(milliseconds),
             epoll_pwait_next(poll, events, most, 0, mask),
             epoll_pwait_next(poll, events, most, milliseconds, mask));
}

/* Holds copies of the sets of descriptors, because a look changes the sets and a second look needs
 * them unchanged. */
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
  return pselect_next(most, sets->set[0], sets->set[1], sets->set[2], &sleep_at_once, mask);
}

static int look_at_sets(const char *name, int most, struct sets sets, double seconds,
                        const sigset_t *mask)
{
  int found = look_at(most, &sets, mask);
  return found || seconds <= 0.0 || !sleep_pass(name, seconds) ? found : look_at(most, &sets, mask);
}

int pselect(int most, fd_set *in, fd_set *out, fd_set *other, const struct timespec *time,
            const sigset_t *mask)
{
  BEHIND(pselect)
  double seconds = sleep_seconds_or_none(time);
  if (seconds < 0.0 || !sleep_pass("pselect", 0.0))
    return pselect_next(most, in, out, other, time, mask);
  return look_at_sets("pselect", most, keep_sets(in, out, other), seconds, mask);
}

/* Like Linux, writes the time that is left to `*time`. It is zero or all of the time. */
int select(int most, fd_set *in, fd_set *out, fd_set *other, struct timeval *time)
{
  BEHIND(select)
  if (!time || time->tv_sec < 0 || time->tv_usec < 0 || !sleep_pass("select", 0.0))
    return select_next(most, in, out, other, time);
  struct sets sets = keep_sets(in, out, other);
  int found = look_at(most, &sets, NULL);
  if (found)
    return found;
  double seconds = (double)time->tv_sec + 1e-6 * (double)time->tv_usec;
  *time = (struct timeval){0};
  return look_at_sets("select", most, sets, seconds, NULL);
}

/* ---- timers that send signals, or make descriptors readable ---- */

/* Warns once that no signal will come. A signal would depend on the time of the simulating machine,
 * and would come to the rank that happens to run. Most programs set a timer only in order to end
 * when they hang. */
static bool no_signal(const char *name)
{
  static bool said;
  struct arena *mode = layer_enter();
  if (mode && layer_wanted() && !said) { /* there is no warning for calls of the layer itself */
    fprintf(stderr, "recline: no signal will come from %s: it is not simulated\n", name);
    said = true;
  }
  layer_leave(mode);
  return layer_wanted();
}

/* Lists the interval timers of a process, each with the signal that it sends. */
static const struct {
  int number;
  const char *name;
} timer_signal[INTERVAL_TIMERS] = {
    [ITIMER_REAL] = {SIGALRM, "SIGALRM"},
    [ITIMER_VIRTUAL] = {SIGVTALRM, "SIGVTALRM"},
    [ITIMER_PROF] = {SIGPROF, "SIGPROF"},
};

/* Refuses a program's handler for the signal of a timer that runs. No timer would call the handler,
 * and a loop that waits for the call would never end. */
static void refuse_handler(const char *name, const struct libc *libc)
{
  for (int i = 0; i < INTERVAL_TIMERS; i++)
    if (libc->timer[i].runs && libc->timer[i].handled)
      die(DIE_INPUT, "%s: no signal is simulated, expected a program without a handler for %s",
          name, timer_signal[i].name);
}

/* Notes the handler that the program of this rank has set, because libc has only one handler for
 * all ranks. */
static void note_handler(const char *name, int number, sighandler_t handler)
{
  struct arena *mode = layer_enter();
  struct libc *libc = mode ? libc_self() : NULL;
  for (int i = 0; libc && i < INTERVAL_TIMERS; i++)
    if (timer_signal[i].number == number) {
      libc->timer[i].handled = handler != SIG_DFL && handler != SIG_IGN && handler != SIG_HOLD;
      refuse_handler(name, libc);
    }
  layer_leave(mode);
}

/* Notes that the program begins or stops a timer. Returns no_signal(). */
static bool no_timer(const char *name, enum __itimer_which timer, bool begins)
{
  struct arena *mode = layer_enter();
  struct libc *libc = mode ? libc_self() : NULL;
  if (libc) {
    libc->timer[timer].runs = begins;
    refuse_handler(name, libc);
  }
  layer_leave(mode);
  return no_signal(name);
}

int sigaction(int number, const struct sigaction *restrict action,
              struct sigaction *restrict before)
{
  BEHIND(sigaction)
  if (action)
    note_handler("sigaction", number, action->sa_handler);
  return sigaction_next(number, action, before);
}

/* Defines signal() and the similar functions of libc. A program that is compiled as C11 without
 * extensions calls __sysv_signal. BEHIND would use names of libc that are deprecated. */
#define SIGNAL(NAME)                                                                               \
  sighandler_t NAME(int number, sighandler_t handler);                                             \
  sighandler_t NAME(int number, sighandler_t handler)                                              \
  {                                                                                                \
    static __typeof__(signal) *next;                                                               \
    if (!next) {                                                                                   \
      void *symbol = layer_next(#NAME);                                                            \
      memcpy(&next, &symbol, sizeof symbol);                                                       \
    }                                                                                              \
    note_handler(#NAME, number, handler);                                                          \
    return next(number, handler);                                                                  \
  }

SIGNAL(signal)
SIGNAL(ssignal)
SIGNAL(bsd_signal)
SIGNAL(sysv_signal)
SIGNAL(__sysv_signal)
SIGNAL(sigset)

static int not_supported(void)
{
  errno = ENOTSUP;
  return -1;
}

/* Refuses the options that limit a wait of a socket, because such a wait would take the machine's
 * time. */
int setsockopt(int socket, int level, int option, const void *value, socklen_t bytes)
{
  BEHIND(setsockopt)
  if (level != SOL_SOCKET || (option != SO_RCVTIMEO && option != SO_SNDTIMEO) ||
      !sleep_pass("setsockopt", 0.0))
    return setsockopt_next(socket, level, option, value, bytes);
  fprintf(stderr, "recline: setsockopt fails for SO_RCVTIMEO and SO_SNDTIMEO: they are not "
                  "simulated\n");
  return not_supported();
}

IN_PLACE_OF(unsigned, alarm, (unsigned seconds), (seconds), no_timer("alarm", ITIMER_REAL, seconds),
            0)
IN_PLACE_OF(useconds_t, ualarm, (useconds_t first, useconds_t every), (first, every),
            no_timer("ualarm", ITIMER_REAL, first || every), 0)
IN_PLACE_OF(int, timer_create,
            (clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer),
            (clock, event, timer), no_signal("timer_create"), not_supported())
IN_PLACE_OF(int, timerfd_create, (int clock, int flags), (clock, flags),
            no_signal("timerfd_create"), not_supported())

int setitimer(enum __itimer_which which, const struct itimerval *restrict value,
              struct itimerval *restrict before)
{
  BEHIND(setitimer)
  bool begins = value && (value->it_value.tv_sec || value->it_value.tv_usec);
  bool is_timer = (unsigned)which < INTERVAL_TIMERS; /* otherwise libc returns EINVAL */
  if (!is_timer || !no_timer("setitimer", which, begins))
    return setitimer_next(which, value, before);
  if (before)
    *before = (struct itimerval){0};
  return 0;
}
