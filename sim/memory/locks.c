/* Locks at the end of the process: see heap_locks_are_free. */
#include "sim/memory/heap.h"
#include "sim/memory/next_symbol.h"

#include <errno.h>
#include <pthread.h>

bool heap_locks_are_free;

HEAP_API int pthread_mutex_lock(pthread_mutex_t *mutex)
{
  static int (*next)(pthread_mutex_t *);
  if (heap_locks_are_free) {
    int result = pthread_mutex_trylock(mutex);
    return result == EBUSY ? 0 : result;
  }
  if (!next)
    find_next("pthread_mutex_lock", &next, sizeof next);
  return next(mutex);
}
