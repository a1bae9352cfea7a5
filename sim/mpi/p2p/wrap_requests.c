/* Completes requests. The result of a test, or of a wait for some of several requests, is a
 * decision that depends on time. So the protocol is told of each such decision, and may ask for an
 * earlier outcome again. */
#include "sim/host/rank/faults.h"
#include "sim/host/rank/program_clock.h"
#include "sim/host/rank/request.h"
#include "sim/host/rank/waits.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/receipt.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/p2p/generalized.h"
#include "sim/mpi/p2p/requests.h"
#include "sim/mpi/windows/window_passive.h"

/* ---- one ---- */

static bool is_idle(MPI_Request handle)
{
  const struct request *request = request_of(handle);
  return !request || (request->persistent && !request->active);
}

int requests_wait(struct rank *r, MPI_Request *handle, MPI_Status *status)
{
  struct request *request = request_of(*handle);
  struct comm *comm = request ? request->comm : NULL;
  int result = p2p_wait(r, request);
  if (result != MPI_SUCCESS)
    return comm_error(r, comm, result);
  if (request && request->kind == REQUEST_GENERAL) {
    result = general_query(r, request);
    int freed = general_free(r, request);
    result = result == MPI_SUCCESS ? freed : result;
  }
  int error = request_retire(&request, status);
  *handle = handle_of(request);
  return comm_error(r, comm, result == MPI_SUCCESS ? error : result);
}

/* Waits of the program serve ranks that access a window of this rank; waits of collectives do not.
 */

static int wait_one(struct rank *r, MPI_Request *handle, MPI_Status *status)
{
  window_serve_until_done(r, request_of(*handle));
  return requests_wait(r, handle, status);
}

WRAP_CALL(Wait, (request, status), wait_one(r, request, status))

/* Returns whether a failure has ended the wait for a receive whose request stays. MPI_Test does not
 * report such a receive as complete. */
static bool is_pending(const struct rank *r, MPI_Request handle)
{
  return faults_of_request(r, request_of(handle)) == FAULT_PROC_FAILED_PENDING;
}

void requests_not_yet(struct rank *r, enum poll kind)
{
  program_clock_passes(r, p2p_poll_cost(kind));
  host_poll(r);
  window_serve(r);
}

/* Returns whether a request is complete. This is no decision if the program knows the answer
 * already.
 */
static bool is_found_done(struct rank *r, MPI_Request handle)
{
  const struct request *request = request_of(handle);
  return is_idle(handle) || request->told || host_choose(r, request_is_done(r, request), 2);
}

/* Ends a test that has found a complete request. Gives receipts, and returns the test's result. */
static int served(struct rank *r, int result)
{
  window_serve_receipts(r);
  return result;
}

static int test_one(struct rank *r, MPI_Request *handle, int *flag, MPI_Status *status)
{
  *flag = is_found_done(r, *handle);
  if (*flag) {
    *flag = request_is_complete(r, request_of(*handle)) || !is_pending(r, *handle);
    return served(r, requests_wait(r, handle, status));
  }
  requests_not_yet(r, POLL_TEST);
  return MPI_SUCCESS;
}

WRAP_CALL(Test, (request, flag, status), test_one(r, request, flag, status))

/* Cancels a receive that has no message yet. Sends, and receives that have got their message, are
 * not cancelled but complete. */
static int cancel(struct rank *r, const MPI_Request *handle)
{
  struct request *request = request_of(*handle);
  if (is_idle(*handle))
    die(DIE_INPUT, "rank %d cancels a request that is not active", r->index);
  if (request->kind == REQUEST_GENERAL)
    return general_cancel(r, request);
  if (request->kind == REQUEST_WHOLE)
    die(DIE_INPUT, "rank %d cancels a collective or partitioned operation, which MPI forbids",
        r->index);
  if (request->kind == REQUEST_RECEIVE && request->peer != MPI_PROC_NULL &&
      host_cancel(r, request)) {
    request->done = true;
    request->status.cancelled = true;
  }
  return MPI_SUCCESS;
}

WRAP_CALL(Cancel, (request), cancel(r, request))

/* ---- several ---- */

struct several {
  MPI_Request *handles;
  int count;
};

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* Returns the index of the first request that is complete and not idle. Returns -1 if there is
 * none, and -2 if all requests are idle. */
static int first_done(const struct rank *r, const struct several *several)
{
  int found = -2;
  for (int i = 0; i < several->count; i++) {
    if (is_idle(several->handles[i]))
      continue;
    if (request_is_done(r, request_of(several->handles[i])))
      return i;
    found = -1;
  }
  return found;
}

/* Notes that the rank waits for the first request that is not complete or, with `any`, for any of
 * the requests. */
static void wait_for_several(struct rank *r, const struct several *several, bool any)
{
  const struct request *first = NULL;
  int open = 0;
  for (int i = 0; i < several->count; i++) {
    MPI_Request handle = several->handles[i];
    if (is_idle(handle) || request_is_done(r, request_of(handle)))
      continue;
    first = first ? first : request_of(handle);
    open++;
  }
  waits_for(r, first, any ? MAX(open - 1, 0) : 0);
}

static bool one_is_done(const struct rank *r, const void *several)
{
  return first_done(r, several) != -1;
}

/* Returns MPI_ERR_IN_STATUS. The requests that were not taken remain unchanged. */
static int give_up_waiting(const struct several *several, const bool *taken, MPI_Status *statuses)
{
  for (int i = 0; i < several->count && statuses != MPI_STATUSES_IGNORE; i++)
    if (!taken[i])
      statuses[i].MPI_ERROR = MPI_ERR_PENDING;
  return MPI_ERR_IN_STATUS;
}

/* Completes requests in the order in which they become complete, because overheads take time one
 * after the other. A failure ends the wait (faults.h), because the program may have to repair
 * itself before the other requests can complete. */
int requests_wait_all(struct rank *r, int count, MPI_Request *handles, MPI_Status *statuses)
{
  struct several several = {handles, count};
  int result = MPI_SUCCESS, left = count;
  bool failed = false;
  bool *taken = rank_alloc(r, (size_t)count * sizeof *taken);
  while (left > 0) {
    host_wait_posted(r, one_is_done, &several);
    for (int i = 0; i < count; i++) {
      if (taken[i] || !request_is_done(r, request_of(handles[i])))
        continue;
      int error = requests_wait(r, &handles[i], status_at(statuses, i));
      if (error != MPI_SUCCESS)
        result = MPI_ERR_IN_STATUS;
      if (error != MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE)
        statuses[i].MPI_ERROR = error;
      failed |= fault_text(error) != NULL;
      taken[i] = true;
      left--;
    }
    if (failed && left > 0) {
      result = give_up_waiting(&several, taken, statuses);
      break;
    }
  }
  rank_free(taken);
  return result;
}

static bool all_are_done(const struct rank *r, const void *what)
{
  const struct several *several = what;
  bool done = true;
  for (int i = 0; i < several->count; i++)
    done &= request_is_done(r, request_of(several->handles[i]));
  return done;
}

int requests_wait_all_in_collective(struct rank *r, int count, MPI_Request *handles,
                                    MPI_Status *statuses)
{
  struct several several = {handles, count};
  receipts_give_until(r, all_are_done, &several);
  return requests_wait_all(r, count, handles, statuses);
}

static int wait_all(struct rank *r, int count, MPI_Request *handles, MPI_Status *statuses)
{
  struct several several = {handles, count};
  wait_for_several(r, &several, false);
  window_serve_until(r, all_are_done, &several);
  return requests_wait_all(r, count, handles, statuses);
}

WRAP_CALL(Waitall, (count, requests, statuses), wait_all(r, count, requests, statuses))

static int test_all(struct rank *r, int count, MPI_Request *handles, int *flag,
                    MPI_Status *statuses)
{
  struct several several = {handles, count};
  *flag = first_done(r, &several) == -2 || host_choose(r, all_are_done(r, &several), 2);
  if (*flag)
    return served(r, requests_wait_all(r, count, handles, statuses));
  requests_not_yet(r, POLL_TEST);
  return MPI_SUCCESS;
}

WRAP_CALL(Testall, (count, requests, flag, statuses), test_all(r, count, requests, flag, statuses))

int requests_wait_any(struct rank *r, int count, MPI_Request *handles, bool collective, int *index,
                      MPI_Status *status)
{
  struct several several = {handles, count};
  wait_for_several(r, &several, true);
  if (!collective)
    window_serve_until(r, one_is_done, &several);
  if (collective) {
    receipts_give_until(r, one_is_done, &several);
    host_wait_posted(r, one_is_done, &several);
  } else {
    host_wait(r, one_is_done, &several);
  }
  int found = first_done(r, &several);
  if (found < 0) {
    *index = MPI_UNDEFINED;
    request_empty_status(status);
    return MPI_SUCCESS;
  }
  *index = r->mpi->call.inside ? found : (int)host_choose(r, (uint32_t)found, (uint32_t)count);
  return requests_wait(r, &handles[*index], status);
}

WRAP_CALL(Waitany, (count, requests, index, status),
          requests_wait_any(r, count, requests, false, index, status))

/* The outcome of the decision is 0 if no request is complete, otherwise 1 + the request's index. */
static int test_any(struct rank *r, int count, MPI_Request *handles, int *index, int *flag,
                    MPI_Status *status)
{
  struct several several = {handles, count};
  int found = first_done(r, &several);
  *index = MPI_UNDEFINED;
  *flag = 1;
  if (found == -2) {
    request_empty_status(status);
    return MPI_SUCCESS;
  }
  uint32_t outcome = host_choose(r, (uint32_t)(found + 1), (uint32_t)count + 1);
  if (outcome == 0) {
    *flag = 0;
    requests_not_yet(r, POLL_TEST);
    return MPI_SUCCESS;
  }
  *index = (int)outcome - 1;
  return served(r, requests_wait(r, &handles[*index], status));
}

WRAP_CALL(Testany, (count, requests, index, flag, status),
          test_any(r, count, requests, index, flag, status))

/* Takes all requests that are complete. Each request is a decision of its own: its outcome is 0 if
 * there is no further request, otherwise 1 + the request's index. */
static int take_some(struct rank *r, int count, MPI_Request *handles, int *taken, int *indices,
                     MPI_Status *statuses)
{
  struct several several = {handles, count};
  int result = MPI_SUCCESS;
  for (*taken = 0;;) {
    int found = first_done(r, &several);
    if (found == -2)
      return result;
    uint32_t outcome = host_choose(r, (uint32_t)(found + 1), (uint32_t)count + 1);
    if (outcome == 0)
      return result;
    int index = (int)outcome - 1;
    int error = requests_wait(r, &handles[index], status_at(statuses, *taken));
    if (error != MPI_SUCCESS)
      result = MPI_ERR_IN_STATUS;
    if (error != MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE)
      statuses[*taken].MPI_ERROR = error;
    indices[(*taken)++] = index;
    if (error == FAULT_PROC_FAILED_PENDING) /* the request stays */
      return result;
  }
}

static int wait_some(struct rank *r, int count, MPI_Request *handles, int *taken, int *indices,
                     MPI_Status *statuses)
{
  struct several several = {handles, count};
  wait_for_several(r, &several, true);
  window_serve_until(r, one_is_done, &several);
  host_wait(r, one_is_done, &several);
  if (first_done(r, &several) == -2) {
    *taken = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  return take_some(r, count, handles, taken, indices, statuses);
}

WRAP_CALL(Waitsome, (count, requests, taken, indices, statuses),
          wait_some(r, count, requests, taken, indices, statuses))

static int test_some(struct rank *r, int count, MPI_Request *handles, int *taken, int *indices,
                     MPI_Status *statuses)
{
  struct several several = {handles, count};
  if (first_done(r, &several) == -2) {
    *taken = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  int result = take_some(r, count, handles, taken, indices, statuses);
  if (*taken == 0)
    requests_not_yet(r, POLL_TEST);
  else
    window_serve_receipts(r);
  return result;
}

WRAP_CALL(Testsome, (count, requests, taken, indices, statuses),
          test_some(r, count, requests, taken, indices, statuses))

/* ---- other ---- */

int requests_free(struct rank *r, MPI_Request *handle)
{
  struct request *request = request_of(*handle);
  *handle = MPI_REQUEST_NULL;
  if (!request)
    return MPI_ERR_REQUEST;
  if (request->kind == REQUEST_WHOLE && !(request->persistent && !request->active))
    die(DIE_INPUT,
        "rank %d frees the request of a collective or partitioned operation under way, which MPI "
        "forbids",
        r->index);
  if (!request->persistent || request->active)
    request_end(request);
  if ((request->kind == REQUEST_RECEIVE || request->kind == REQUEST_GENERAL) &&
      !request_is_done(r, request)) {
    /* it is freed when its message has come, or when the program is told that it is complete */
    request->orphan = true;
    return MPI_SUCCESS;
  }
  int result = request->kind == REQUEST_GENERAL ? general_free(r, request) : MPI_SUCCESS;
  if (request->kind == REQUEST_RECEIVE && !is_idle(handle_of(request)))
    /* request_free() would count the request, but when the message comes depends on time */
    rank_free(request);
  else
    request_free(request);
  return result;
}

WRAP_CALL(Request_free, (request), requests_free(r, request))

static int start_all(struct rank *r, int count, MPI_Request *handles)
{
  for (int i = 0; i < count; i++) {
    host_answer_door(r);
    p2p_start(r, request_of(handles[i]));
  }
  return MPI_SUCCESS;
}

WRAP_CALL(Start, (request), start_all(r, 1, request))
WRAP_CALL(Startall, (count, requests), start_all(r, count, requests))

static int get_status(struct rank *r, MPI_Request handle, int *flag, MPI_Status *status)
{
  struct request *request = request_of(handle);
  *flag = is_found_done(r, handle);
  if (!*flag) {
    requests_not_yet(r, POLL_TEST);
    return MPI_SUCCESS;
  }
  if (request && p2p_wait(r, request) == MPI_SUCCESS)
    request->told = true;
  if (request && request->kind == REQUEST_GENERAL)
    general_query(r, request);
  if (is_idle(handle))
    request_empty_status(status);
  else if (status != MPI_STATUS_IGNORE)
    *status = request->status;
  return served(r, MPI_SUCCESS);
}

WRAP_CALL(Request_get_status, (request, flag, status), get_status(r, request, flag, status))
