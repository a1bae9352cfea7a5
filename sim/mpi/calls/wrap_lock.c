/* Defines the calls of one-sided communication in which the target takes no part
 * (window_passive.h). */
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/p2p/requests.h"
#include "sim/mpi/windows/window_passive.h"

static int lock(struct rank *r, MPI_Win handle, int kind, int target, int assertions)
{
  struct window *window = window_of(r, handle);
  return comm_error(r, window->comm, window_lock(r, window, kind, target, assertions));
}

WRAP_CALL(Win_lock, (kind, target, assertions, window), lock(r, window, kind, target, assertions))
WRAP_CALL(Win_lock_all, (assertions, window),
          lock(r, window, MPI_LOCK_SHARED, WINDOW_ALL, assertions))

static int unlock(struct rank *r, MPI_Win handle, int target)
{
  struct window *window = window_of(r, handle);
  return comm_error(r, window->comm, window_unlock(r, window, target));
}

WRAP_CALL(Win_unlock, (target, window), unlock(r, window, target))
WRAP_CALL(Win_unlock_all, (window), unlock(r, window, WINDOW_ALL))

/* Completes accesses at the target, and so also at the origin. */
static int flush(struct rank *r, MPI_Win handle, int target)
{
  struct window *window = window_of(r, handle);
  return comm_error(r, window->comm, window_flush(r, window, target));
}

WRAP_CALL(Win_flush, (target, window), flush(r, window, target))
WRAP_CALL(Win_flush_local, (target, window), flush(r, window, target))
WRAP_CALL(Win_flush_all, (window), flush(r, window, WINDOW_ALL))
WRAP_CALL(Win_flush_local_all, (window), flush(r, window, WINDOW_ALL))

/* A rank has only one copy of its window, so there is nothing to synchronize. But a program may
 * call this function again and again until it finds data that other ranks have put into the window.
 * So the call serves accesses of other ranks. */
static int synchronize(struct rank *r, MPI_Win handle)
{
  if (window_of(r, handle)->passive) {
    requests_not_yet(r, POLL_TEST);
  }
  return MPI_SUCCESS;
}

WRAP_CALL(Win_sync, (window), synchronize(r, window))
