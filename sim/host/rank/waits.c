#include "sim/host/rank/waits.h"

#include "sim/host/rank/node_memory.h"
#include "sim/host/rank/request.h"
#include "sim/host/rank/shadow.h"

/* Returns the request for a message: the first message of a nonblocking collective that is not yet
 * there. Returns `request` itself if it is no nonblocking collective. */
static const struct request *first_open(const struct rank *r, const struct request *request)
{
  for (int i = 0; request->kind == REQUEST_WHOLE && i < request->whole.parts; i++) {
    const struct request *part = request->whole.part[i];
    if (part && !request_is_done(r, part))
      return first_open(r, part);
  }
  return request;
}

void waits_for(struct rank *r, const struct request *request, int others)
{
  struct wait *wait = &r->mpi->wait;
  *wait = (struct wait){.kind = WAIT_CALL};
  request = request ? first_open(r, request) : NULL;
  if (!request || (request->kind != REQUEST_SEND && request->kind != REQUEST_RECEIVE))
    return;
  *wait = (struct wait){.kind = request->kind == REQUEST_SEND ? WAIT_SEND : WAIT_RECEIVE,
                        .collective = request->collective,
                        .comm = request->comm,
                        .peer = request->peer,
                        .tag = request->tag,
                        .others = others};
}

void waits_for_message(struct rank *r, const struct comm *comm, int peer, int tag)
{
  r->mpi->wait = (struct wait){.kind = WAIT_RECEIVE, .comm = comm, .peer = peer, .tag = tag};
}

static char *comm_text(const struct rank *r, const struct comm *comm)
{
  if (comm->name || comm == &r->mpi->world || comm == &r->mpi->self)
    return g_strdup(comm->name               ? comm->name
                    : comm == &r->mpi->world ? "MPI_COMM_WORLD"
                                             : "MPI_COMM_SELF");
  return g_strdup_printf("communicator %d", comm->number);
}

static char *number_or(int number, const char *any)
{
  return number == RCL_ANY ? g_strdup(any) : g_strdup_printf("%d", number);
}

/* Returns ", for " and what the rank waits for, or an empty text. */
static char *wait_text(const struct rank *r)
{
  const struct wait *wait = &r->mpi->wait;
  if (wait->kind == WAIT_CALL)
    return g_strdup("");
  g_autofree char *comm = comm_text(r, wait->comm), *tag = number_or(wait->tag, "any");
  int member = wait->peer == RCL_ANY ? RCL_ANY : request_source(wait->comm, wait->peer);
  g_autofree char *peer = number_or(member, "any");
  if (wait->collective)
    return g_strdup_printf(", for rank %s of %s", peer, comm);
  g_autofree char *others =
      wait->others ? g_strdup_printf(" or one of %d others", wait->others) : g_strdup("");
  const char *what = wait->kind == WAIT_SEND ? "to send to" : "for a message from";
  return g_strdup_printf(", %s rank %s with tag %s in %s%s", what, peer, tag, comm, others);
}

static void report(const struct rank *r)
{
  if (r->dead) {
    result_note(&layer.result, "rank %d is down", r->index);
  } else if (!r->mpi || !r->mpi->call_name) {
    result_note(&layer.result, "rank %d has made no call of MPI that waits", r->index);
  } else {
    g_autofree char *what = wait_text(r);
    result_note(&layer.result, "rank %d waits in %s since %.9g s%s%s", r->index, r->mpi->call_name,
                r->mpi->call_since, what,
                shadow_rank(r->index)->held ? ", held by the protocol"
                : sharing_stops(r)          ? ", as ranks that share memory with it do not follow"
                                            : "");
  }
}

void waits_report(void)
{
  for (int i = 0; i < layer.ranks; i++)
    report(&layer.rank[i]);
}
