/* Defines generalized requests: the program itself says when they are complete, and gives their
 * status. */
#include "sim/mpi/p2p/generalized.h"

#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/wrap.h"

struct general {
  MPI_Grequest_query_function *query;
  MPI_Grequest_free_function *free;
  MPI_Grequest_cancel_function *cancel;
  void *extra;
};

static int start(struct rank *r, struct general functions, MPI_Request *handle)
{
  struct request *request = rank_alloc(r, sizeof *request);
  request->kind = REQUEST_GENERAL;
  request->general = rank_alloc(r, sizeof *request->general);
  *request->general = functions;
  return began(request, handle);
}

WRAP_CALL(Grequest_start, (query, release, cancel, extra, request),
          start(r, (struct general){query, release, cancel, extra}, request))

/* The functions of the program run in program mode of the heap. */

int general_query(struct rank *r, struct request *request)
{
  heap_enter(r->arena);
  int result = request->general->query(request->general->extra, &request->status);
  heap_leave();
  return result;
}

int general_free(struct rank *r, struct request *request)
{
  heap_enter(r->arena);
  int result = request->general->free(request->general->extra);
  heap_leave();
  rank_free(request->general);
  request->general = NULL;
  return result;
}

int general_cancel(struct rank *r, struct request *request)
{
  heap_enter(r->arena);
  int result = request->general->cancel(request->general->extra, request->done);
  heap_leave();
  return result;
}

static int complete(struct rank *r, MPI_Request handle)
{
  struct request *request = request_of(handle);
  if (!request || request->kind != REQUEST_GENERAL)
    die(DIE_INPUT, "rank %d completes what is not a generalized request", r->index);
  request->done = true;
  if (!request->orphan)
    return MPI_SUCCESS;
  int result = general_free(r, request);
  rank_free(request);
  return result;
}

WRAP_CALL(Grequest_complete, (request), complete(r, request))
