/* Takes locks that nobody will release: all locks at the end of the process (heap_locks_are_free),
 * and locks whose owner has ended. If a rank waited for such a lock, the simulator would wait for
 * ever. */
#define _GNU_SOURCE
#include "sim/memory/die.h"
#include "sim/memory/heap.h"
#include "sim/memory/next_symbol.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

bool heap_locks_are_free;

enum { LOOK_NANOSECONDS = 100000000 };

/* Returns whether the owner of a lock has ended. glibc keeps the owner's thread number in the lock.
 * The number is 0 if nobody has the lock or glibc does not keep the number. */
static bool has_ended(pid_t owner)
{
  return owner > 0 && tgkill(getpid(), owner, 0) != 0 && errno == ESRCH;
}

static _Noreturn void refuse(const char *name, const char *who)
{
  heap_leave();
  die(DIE_INPUT, "%s waits for a lock that %s, expected a lock that is given back", name, who);
}

/* Returns whether the thread that has the mutex would wait for ever if the thread locked the mutex
 * again. A mutex of another kind returns an error in that case, or counts. */
static bool is_simple(const pthread_mutex_t *mutex)
{
  int kind = mutex->__data.__kind & 127;
  return kind == PTHREAD_MUTEX_TIMED_NP || kind == PTHREAD_MUTEX_ADAPTIVE_NP;
}

static void check_mutex(const pthread_mutex_t *mutex, const char *name)
{
  pid_t owner = __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
  if (owner == gettid() && is_simple(mutex))
    refuse(name, "its own thread has");
  if (has_ended(owner))
    refuse(name, "a thread had when it ended");
}

static void check_readers_lock(const pthread_rwlock_t *lock, const char *name)
{
  if (has_ended(__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED)))
    refuse(name, "a thread had when it ended");
}

static struct timespec next_look(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  time.tv_nsec += LOOK_NANOSECONDS;
  time.tv_sec += time.tv_nsec / 1000000000;
  time.tv_nsec %= 1000000000;
  return time;
}

/* Defines NAME, which waits for a lock: it tries to take the lock, and looks again and again which
 * thread has the lock. */
#define WAIT_FOR_LOCK(NAME, TYPE, TRY, CLOCKED, CHECK)                                             \
  HEAP_API int NAME(TYPE *lock)                                                                    \
  {                                                                                                \
    static int (*try)(TYPE *), (*clocked)(TYPE *, clockid_t, const struct timespec *);             \
    if (!try) {                                                                                    \
      find_next(#CLOCKED, &clocked, sizeof clocked);                                               \
      find_next(#TRY, &try, sizeof try);                                                           \
    }                                                                                              \
    int result = try(lock);                                                                        \
    if (result != EBUSY)                                                                           \
      return result;                                                                               \
    if (heap_locks_are_free)                                                                       \
      return 0;                                                                                    \
    do {                                                                                           \
      CHECK(lock, #NAME);                                                                          \
      struct timespec until = next_look();                                                         \
      result = clocked(lock, CLOCK_MONOTONIC, &until);                                             \
    } while (result == ETIMEDOUT);                                                                 \
    return result;                                                                                 \
  }

WAIT_FOR_LOCK(pthread_mutex_lock, pthread_mutex_t, pthread_mutex_trylock, pthread_mutex_clocklock,
              check_mutex)
WAIT_FOR_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t, pthread_rwlock_tryrdlock,
              pthread_rwlock_clockrdlock, check_readers_lock)
WAIT_FOR_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t, pthread_rwlock_trywrlock,
              pthread_rwlock_clockwrlock, check_readers_lock)

/* glibc's mtx_t is a mutex. */
HEAP_API int mtx_lock(mtx_t *mutex)
{
  int result = pthread_mutex_lock((pthread_mutex_t *)(void *)mutex);
  return result ? thrd_error : thrd_success;
}
