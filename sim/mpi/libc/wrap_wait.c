/* Replaces calls that wait until a time for signals, locks, conditions, threads, queues or words of
 * memory, so that these calls take simulated time (wrap_sleep.h). */
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/libc/wrap_sleep.h"

#include <errno.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

/* ---- signals, semaphores of System V: -1 and EAGAIN say that the time has gone by ---- */

/* Writes the body of function NAME. LOOK is libc's call without a wait, and WAIT is the call with
 * a wait. */
#define LOOK_AGAIN(NAME, SECONDS, LOOK, WAIT)                                                      \
  BEHIND(NAME)                                                                                     \
  double seconds = SECONDS;                                                                        \
  if (seconds < 0.0 || !sleep_pass(#NAME, 0.0))                                                    \
    return WAIT;                                                                                   \
  int found = LOOK;                                                                                \
  return found < 0 && errno == EAGAIN && sleep_pass(#NAME, seconds) ? (LOOK) : found

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
  LOOK_AGAIN(sigtimedwait, sleep_seconds_or_none(time),
             sigtimedwait_next(set, info, &sleep_at_once), sigtimedwait_next(set, info, time));
}

/* Ends the run. Nobody would send the signal, because timers send none, and the simulator would
 * wait for ever. */
static void refuse_wait(const char *name)
{
  struct arena *mode = layer_enter();
  struct rank *r = mode ? rank_self() : NULL;
  if (r)
    die(DIE_INPUT,
        "rank %d waits in %s for a signal, expected a wait until a time (sigtimedwait): no signal "
        "is simulated",
        r->index, name);
  layer_leave(mode);
}

int pause(void)
{
  BEHIND(pause)
  refuse_wait("pause");
  return pause_next();
}

int sigsuspend(const sigset_t *mask)
{
  BEHIND(sigsuspend)
  sigset_t pending;
  sigpending(&pending);
  for (int signal = 1; signal < NSIG; signal++)
    if (sigismember(&pending, signal) == 1 && sigismember(mask, signal) == 0)
      return sigsuspend_next(mask);
  refuse_wait("sigsuspend");
  return sigsuspend_next(mask);
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
  BEHIND(sigwaitinfo)
  BEHIND(sigtimedwait)
  int found = sigtimedwait_next(set, info, &sleep_at_once);
  if (found >= 0 || errno != EAGAIN)
    return found;
  refuse_wait("sigwaitinfo");
  return sigwaitinfo_next(set, info);
}

int sigwait(const sigset_t *set, int *signal)
{
  BEHIND(sigwait)
  BEHIND(sigtimedwait)
  *signal = sigtimedwait_next(set, NULL, &sleep_at_once);
  if (*signal > 0)
    return 0;
  refuse_wait("sigwait");
  return sigwait_next(set, signal);
}

/* Returns whether all operations wait. An operation that does not wait can give EAGAIN, too. */
static bool each_waits(const struct sembuf *operation, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (operation[i].sem_flg & IPC_NOWAIT)
      return false;
  return true;
}

int semtimedop(int semaphores, struct sembuf *operations, size_t count, const struct timespec *time)
{
  LOOK_AGAIN(semtimedop, each_waits(operations, count) ? sleep_seconds_or_none(time) : -1.0,
             semtimedop_next(semaphores, operations, count, &sleep_at_once),
             semtimedop_next(semaphores, operations, count, time));
}

/* ---- conditions ---- */

/* Waits until the time has come. Only a thread of the program could wake the rank before, and a
 * second look would miss that. So the result is always ETIMEDOUT. */
static int wait_for_condition(pthread_mutex_t *mutex, const char *name, double left)
{
  pthread_mutex_unlock(mutex);
  sleep_pass(name, left);
  pthread_mutex_lock(mutex);
  return ETIMEDOUT;
}

/* The body of function NAME, whose time is a time of CLOCK. */
#define CONDITION_IN_TIME(NAME, CLOCK)                                                             \
  BEHIND(pthread_cond_clockwait)                                                                   \
  double left;                                                                                     \
  if (!sleep_is_time(time))                                                                        \
    return EINVAL;                                                                                 \
  if (sleep_waits(time, &left))                                                                    \
    return wait_for_condition(mutex, #NAME, left);                                                 \
  struct timespec real = sleep_really(CLOCK, time, left);                                          \
  return pthread_cond_clockwait_next(condition, mutex, CLOCK, &real)

/* The clock of the condition does not matter, because all clocks tell the same time. */
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *time)
{
  BEHIND(pthread_cond_timedwait)
  if (!layer_wanted())
    return pthread_cond_timedwait_next(condition, mutex, time);
  CONDITION_IN_TIME(pthread_cond_timedwait, CLOCK_MONOTONIC);
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *time)
{
  CONDITION_IN_TIME(pthread_cond_clockwait, clock);
}

int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *time)
{
  BEHIND(cnd_timedwait)
  double left;
  if (sleep_is_time(time) && sleep_waits(time, &left)) {
    mtx_unlock(mutex);
    sleep_pass("cnd_timedwait", left);
    mtx_lock(mutex);
    return thrd_timedout;
  }
  struct timespec real = sleep_is_time(time) ? sleep_really(CLOCK_REALTIME, time, left) : *time;
  return cnd_timedwait_next(condition, mutex, &real);
}

/* ---- locks, threads, semaphores, queues ---- */

/* The body of function NAME, which takes an item. A rank tries to take the item, and tries again
 * when the time has come. A thread waits in libc until `real`. IS_TAKEN tells from the result of a
 * try whether another try may help. */
#define TAKE_IN_TIME(TYPE, NAME, CLOCK, IS_TAKEN, TRY, WAIT)                                       \
  BEHIND(NAME)                                                                                     \
  double left = 0.0;                                                                               \
  struct timespec real = *time;                                                                    \
  if (!sleep_is_time(time))                                                                        \
    return WAIT;                                                                                   \
  if (!sleep_waits(time, &left)) {                                                                 \
    real = sleep_really(CLOCK, time, left);                                                        \
    return WAIT;                                                                                   \
  }                                                                                                \
  TYPE result = TRY;                                                                               \
  return IS_TAKEN(result) && sleep_pass(#NAME, left) ? (TRY) : result

/* Both macros define NAME, which returns an error number. */
#define LOCK_IN_TIME(NAME, TYPE, TRY)                                                              \
  int NAME(TYPE lock, const struct timespec *time)                                                 \
  {                                                                                                \
    TAKE_IN_TIME(int, NAME, CLOCK_REALTIME, is_held, error_of(TRY(lock)),                          \
                 NAME##_next(lock, &real));                                                        \
  }
#define LOCK_BY_CLOCK(NAME, TYPE, TRY)                                                             \
  int NAME(TYPE lock, clockid_t clock, const struct timespec *time)                                \
  {                                                                                                \
    TAKE_IN_TIME(int, NAME, clock, is_held, error_of(TRY(lock)), NAME##_next(lock, clock, &real)); \
  }

static bool is_held(int error)
{
  return error == ETIMEDOUT;
}

static int error_of(int error)
{
  return error == EBUSY ? ETIMEDOUT : error;
}

LOCK_IN_TIME(pthread_mutex_timedlock, pthread_mutex_t *, pthread_mutex_trylock)
LOCK_BY_CLOCK(pthread_mutex_clocklock, pthread_mutex_t *, pthread_mutex_trylock)
LOCK_IN_TIME(pthread_rwlock_timedrdlock, pthread_rwlock_t *, pthread_rwlock_tryrdlock)
LOCK_BY_CLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_t *, pthread_rwlock_tryrdlock)
LOCK_IN_TIME(pthread_rwlock_timedwrlock, pthread_rwlock_t *, pthread_rwlock_trywrlock)
LOCK_BY_CLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_t *, pthread_rwlock_trywrlock)

static bool is_held_in_c(int result)
{
  return result == thrd_timedout;
}

static int try_in_c(mtx_t *mutex)
{
  int result = mtx_trylock(mutex);
  return result == thrd_busy ? thrd_timedout : result;
}

int mtx_timedlock(mtx_t *mutex, const struct timespec *time)
{
  TAKE_IN_TIME(int, mtx_timedlock, CLOCK_REALTIME, is_held_in_c, try_in_c(mutex),
               mtx_timedlock_next(mutex, &real));
}

/* A thread works while simulated time stands still, so the rank really waits for the thread, as in
 * pthread_join(). Simulated time passes only if the thread does not end in time. */
static int join(pthread_t thread, void **value, clockid_t clock, const struct timespec *time)
{
  BEHIND(pthread_clockjoin_np)
  double left;
  if (!sleep_is_time(time))
    return EINVAL;
  bool is_rank = sleep_waits(time, &left);
  struct timespec real = sleep_really(clock, time, left);
  int error = pthread_clockjoin_np_next(thread, value, clock, &real);
  if (is_rank && error == ETIMEDOUT)
    sleep_pass("pthread_timedjoin_np", left);
  return error;
}

int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *time)
{
  return time ? join(thread, value, CLOCK_REALTIME, time) : pthread_join(thread, value);
}

int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
                         const struct timespec *time)
{
  return time ? join(thread, value, clock, time) : pthread_join(thread, value);
}

/* Returns whether a call has run out of time. `result` is what the call has returned, which is -1
 * with errno on an error. */
static bool is_out_of_time(ssize_t result)
{
  return result < 0 && errno == ETIMEDOUT;
}

static int try_semaphore(sem_t *semaphore)
{
  int result = sem_trywait(semaphore);
  if (result && errno == EAGAIN)
    errno = ETIMEDOUT;
  return result;
}

int sem_timedwait(sem_t *semaphore, const struct timespec *time)
{
  TAKE_IN_TIME(int, sem_timedwait, CLOCK_REALTIME, is_out_of_time, try_semaphore(semaphore),
               sem_timedwait_next(semaphore, &real));
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time)
{
  TAKE_IN_TIME(int, sem_clockwait, clock, is_out_of_time, try_semaphore(semaphore),
               sem_clockwait_next(semaphore, clock, &real));
}

int mq_timedsend(mqd_t queue, const char *text, size_t length, unsigned priority,
                 const struct timespec *time)
{
  TAKE_IN_TIME(int, mq_timedsend, CLOCK_REALTIME, is_out_of_time,
               mq_timedsend_next(queue, text, length, priority, &sleep_at_once),
               mq_timedsend_next(queue, text, length, priority, &real));
}

ssize_t mq_timedreceive(mqd_t queue, char *restrict text, size_t length,
                        unsigned *restrict priority, const struct timespec *restrict time)
{
  TAKE_IN_TIME(ssize_t, mq_timedreceive, CLOCK_REALTIME, is_out_of_time,
               mq_timedreceive_next(queue, text, length, priority, &sleep_at_once),
               mq_timedreceive_next(queue, text, length, priority, &real));
}

/* ---- words of memory: what std::future and std::counting_semaphore wait by ---- */

static int no(int error)
{
  errno = error;
  return -1;
}

/* Waits `left` seconds, unless the word already has another value than `value`. Returns what the
 * system call returns. */
static int wait_for_word(const uint32_t *word, uint32_t value, double left)
{
  if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
    return no(EAGAIN);
  sleep_pass("futex", left);
  return __atomic_load_n(word, __ATOMIC_ACQUIRE) != value ? 0 : no(ETIMEDOUT);
}

/* Defines the function by which std::future waits, because libstdc++ itself would not call the
 * layer. That function returns whether the word has changed. Each of its last two arguments is a
 * std::chrono::duration. */
#define FUTURE_IN_TIME(NAME, CLOCK)                                                                \
  bool NAME(void *self, const uint32_t *word, uint32_t value, bool has_time, int64_t seconds,      \
            int64_t nanoseconds);                                                                  \
  bool NAME(void *self, const uint32_t *word, uint32_t value, bool has_time, int64_t seconds,      \
            int64_t nanoseconds)                                                                   \
  {                                                                                                \
    BEHIND(NAME)                                                                                   \
    double left;                                                                                   \
    struct timespec time = {.tv_sec = seconds, .tv_nsec = nanoseconds};                            \
    if (!has_time)                                                                                 \
      return NAME##_next(self, word, value, has_time, seconds, nanoseconds);                       \
    if (sleep_waits(&time, &left))                                                                 \
      return wait_for_word(word, value, left) == 0 || errno != ETIMEDOUT;                          \
    time = sleep_really(CLOCK, &time, left);                                                       \
    return NAME##_next(self, word, value, has_time, time.tv_sec, time.tv_nsec);                    \
  }

FUTURE_IN_TIME(
    _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE,
    CLOCK_REALTIME)
FUTURE_IN_TIME(
    _ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE,
    CLOCK_MONOTONIC)

enum { ARGUMENTS = 6 };

/* Returns whether a rank's program waits until a time by this call. If so, sets `*result` to the
 * result of the call. If a thread waits, sets `*real` to the time until which the thread waits. */
static bool futex_in_time(const long argument[ARGUMENTS], struct timespec *real, long *result)
{
  const struct timespec *time = (const struct timespec *)argument[3];
  int command = (int)argument[1] & FUTEX_CMD_MASK;
  double left;
  if ((command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) || !time || !sleep_is_time(time))
    return false;
  *real = *time;
  bool is_rank = sleep_waits(time, &left);
  if (is_rank)
    *result = wait_for_word((const uint32_t *)argument[0], (uint32_t)argument[2],
                            command == FUTEX_WAIT ? sleep_seconds(time) : left);
  else if (command == FUTEX_WAIT_BITSET)
    *real = sleep_really(argument[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC,
                         time, left);
  return is_rank;
}

/* Handles a system call that tells the time or waits until a time, by calling the libc function of
 * that purpose. Returns false for any other system call. */
static bool call_in_time(long number, const long argument[ARGUMENTS], struct timespec *real,
                         long *result)
{
  switch (number) {
  case SYS_futex:
    return futex_in_time(argument, real, result);
  case SYS_clock_gettime:
    *result = clock_gettime((clockid_t)argument[0], (struct timespec *)argument[1]);
    return true;
  case SYS_gettimeofday:
    *result = gettimeofday((struct timeval *)argument[0], (void *)argument[1]);
    return true;
  case SYS_nanosleep:
    *result = nanosleep((const struct timespec *)argument[0], (struct timespec *)argument[1]);
    return true;
  case SYS_clock_nanosleep: {
    int error =
        clock_nanosleep((clockid_t)argument[0], (int)argument[1],
                        (const struct timespec *)argument[2], (struct timespec *)argument[3]);
    *result = error ? no(error) : 0;
    return true;
  }
  default:
    return false;
  }
}

long syscall(long number, ...)
{
  long argument[ARGUMENTS], result;
  struct timespec real = {0};
  va_list list;
  va_start(list, number);
  for (int i = 0; i < ARGUMENTS; i++)
    argument[i] = va_arg(list, long);
  va_end(list);
  if (layer_wanted() && call_in_time(number, argument, &real, &result))
    return result;
  if (real.tv_sec || real.tv_nsec)
    argument[3] = (long)&real;
  BEHIND(syscall)
  return syscall_next(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                      argument[5]);
}
