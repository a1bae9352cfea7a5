#include "sim/mpi/layer/p2p.h"

#include "sim/host/rank/copy_cost.h"
#include "sim/host/rank/faults.h"
#include "sim/host/rank/request.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/rank/synchronous.h"
#include "sim/host/rank/waits.h"
#include "sim/host/step/collective_messages.h"
#include "sim/host/step/host.h"
#include "sim/host/step/matching.h"
#include "sim/mpi/layer/receipt.h"
#include "sim/net/transport.h"
#include "world/scenario/platform_file.h"

/* Returns how many seconds a poll takes. The layer lets that time pass, because launch.c tells SMPI
 * that polls take no time. If polls took no time, the clock would stop in a loop of polls. */
static double poll_seconds(const char *setting)
{
  static const double DEFAULT = 1e-4, LEAST = 1e-9;
  g_autofree char *text = platform_setting(layer.scenario->platform.text, setting);
  return text ? MAX(g_ascii_strtod(text, NULL), LEAST) : DEFAULT;
}

double p2p_poll_cost(enum poll kind)
{
  static double seconds[POLLS];
  static const char *const settings[POLLS] = {"smpi/test", "smpi/iprobe"};
  if (seconds[kind] == 0.0)
    seconds[kind] = poll_seconds(settings[kind]);
  machine_sleep(seconds[kind]);
  return seconds[kind];
}

static int world_rank(const struct comm *comm, int rank)
{
  if (rank == MPI_ANY_SOURCE)
    return RCL_ANY;
  const struct comm *peers = comm_peers(comm);
  if (rank < 0 || rank >= peers->size)
    die(DIE_INPUT, "rank %d in a communicator of %d ranks", rank, peers->size);
  return peers->member[rank];
}

static enum send_mode mode_of(unsigned flags)
{
  if (flags & P2P_BUFFERED)
    return SEND_BUFFERED;
  return flags & P2P_SYNCHRONOUS ? SEND_SYNCHRONOUS : SEND_STANDARD;
}

struct request *p2p_prepare(struct rank *r, enum request_kind kind, void *buffer, int count,
                            MPI_Datatype type, int peer, int tag, struct comm *comm, unsigned flags)
{
  struct request *request = rank_alloc(r, sizeof *request);
  bool collective = flags & (P2P_COLLECTIVE | P2P_BYPASS);
  *request = (struct request){.kind = kind,
                              .persistent = true,
                              .mode = mode_of(flags),
                              .immediate = (flags & P2P_IMMEDIATE) != 0,
                              .reused = (flags & P2P_REUSED) != 0,
                              .collective = collective,
                              .bypass = (flags & P2P_BYPASS) != 0,
                              .sized = (flags & P2P_SIZED) != 0,
                              .buffer = buffer,
                              .count = count,
                              .type = type,
                              .comm = comm,
                              .context = matching_context(comm, collective || (flags & P2P_HIDDEN)),
                              .peer = peer == MPI_PROC_NULL ? peer : world_rank(comm, peer),
                              .tag = tag == MPI_ANY_TAG ? RCL_ANY : tag};
  comm->requests++;
  return request;
}

/* Returns a packed copy of the data to be sent. */
static struct payload *pack(const struct request *request)
{
  size_t plain = plain_bytes(request->type) * (size_t)request->count;
  if (plain > 0) {
    struct payload *payload = payload_lend(request->buffer, plain);
    if (request->reused)
      payload_settle(payload);
    return payload;
  }
  int position = 0;
  size_t bytes = (size_t)type_bytes(request->type) * (size_t)request->count;
  struct payload *payload = payload_new(bytes);
  if (bytes)
    items_pack(request->buffer, request->count, request->type, payload->own, (int)bytes, &position);
  return payload;
}

static void fail(struct rank *r, struct request *request, int fault)
{
  request->status.MPI_ERROR = fault;
  request->done = true;
  if (request->bypass)
    r->mpi->call.error = fault;
}

/* If a fault concerns the request, ends the request and returns true. A receive goes on unless its
 * communicator is revoked: a message that was sent before its sender died can still be received. */
static bool fails_at_once(struct rank *r, struct request *request)
{
  int fault = faults_of_request(r, request);
  bool may_be_here = request->kind == REQUEST_RECEIVE && !request->collective;
  if (!fault || (may_be_here && fault != FAULT_REVOKED))
    return false;
  fail(r, request, fault);
  return true;
}

static void begin(struct rank *r, struct request *request, bool blocking)
{
  request->done = request->told = false;
  request->send = 0;
  if (!request->collective)
    r->mpi->pending++;
  request_empty_status(&request->status);
  if (request->peer == MPI_PROC_NULL) {
    request->status.MPI_SOURCE = MPI_PROC_NULL;
    request->done = true;
  } else if (fails_at_once(r, request)) {
    return;
  } else if (request->bypass && request->kind == REQUEST_RECEIVE) {
    host_ready(r);
    bypass_receive(r, request);
  } else if (request->kind == REQUEST_RECEIVE) {
    request->announced = false;
    host_receive(r, request);
  } else {
    if (request->mode == SEND_SYNCHRONOUS) {
      request->synchronous = synchronous_number(r, request->peer);
      request->receipt = receipt_expect(r, request->peer, request->synchronous);
    }
    host_handle(r);
    if (shadow_protocol()->header)
      copy_tagged(r, (double)type_bytes(request->type) * request->count);
    if (request->bypass)
      host_ready(r);
    else
      host_await_turn(r);
    struct payload *payload = pack(request);
    payload->synchronous = request->synchronous;
    request->send = request->bypass ? bypass_send(r, request->peer, request->context, request->tag,
                                                  payload, blocking)
                                    : host_offer(r, request->peer, request->context, request->tag,
                                                 payload, blocking, request->mode);
    request->done = !request->send && !request->receipt &&
                    synchronous_is_taken(r, request->peer, request->synchronous);
  }
}

static void begin_whole(struct rank *r, struct request *whole)
{
  whole->done = whole->told = false;
  r->mpi->pending++;
  request_empty_status(&whole->status);
  whole->whole.recipe->begin(r, whole);
}

void p2p_start(struct rank *r, struct request *request)
{
  request->active = true;
  if (request->kind == REQUEST_WHOLE)
    begin_whole(r, request);
  else
    begin(r, request, !request->immediate);
}

struct request *p2p_send(struct rank *r, const void *buffer, int count, MPI_Datatype type, int to,
                         int tag, struct comm *comm, unsigned flags)
{
  struct request *request =
      p2p_prepare(r, REQUEST_SEND, (void *)(uintptr_t)buffer, count, type, to, tag, comm, flags);
  request->persistent = false;
  begin(r, request, (flags & P2P_BLOCKING) != 0);
  return request;
}

struct request *p2p_receive(struct rank *r, void *buffer, int count, MPI_Datatype type, int from,
                            int tag, struct comm *comm, unsigned flags)
{
  struct request *request =
      p2p_prepare(r, REQUEST_RECEIVE, buffer, count, type, from, tag, comm, flags);
  request->persistent = false;
  begin(r, request, false);
  return request;
}

struct request *p2p_whole(struct rank *r, int parts)
{
  struct request *request = rank_alloc(r, sizeof *request);
  request->kind = REQUEST_WHOLE;
  r->mpi->pending++;
  p2p_make_room(r, request, parts);
  request_empty_status(&request->status);
  return request;
}

struct request *p2p_persistent(struct rank *r, struct comm *comm, struct recipe *recipe)
{
  struct request *request = rank_alloc(r, sizeof *request);
  *request = (struct request){
      .kind = REQUEST_WHOLE, .persistent = true, .comm = comm, .whole.recipe = recipe};
  comm->requests++;
  return request;
}

void p2p_make_room(struct rank *r, struct request *whole, int parts)
{
  whole->whole.part = rank_alloc(r, (size_t)parts * sizeof *whole->whole.part);
}

void p2p_add(struct request *whole, struct request *part)
{
  whole->whole.part[whole->whole.parts++] = part;
}

void p2p_conclude_with(struct request *whole, void (*conclude)(struct rank *, void *rest),
                       void *rest)
{
  whole->whole.conclude = conclude;
  whole->whole.rest = rest;
}

static bool is_done(const struct rank *r, const void *request)
{
  return request_is_done(r, request);
}

/* Ends the request with that fault. But a receive that has got a message meanwhile completes
 * normally. */
static void end_in_error(struct rank *r, struct request *request, int fault)
{
  if (request->kind == REQUEST_SEND) {
    transport_give_up(r->transport, request->send, request->send);
  } else if (request->bypass) {
    bypass_withdraw(r, request);
  } else if (!host_cancel(r, request)) {
    host_wait_posted(r, is_done, request);
    return;
  }
  fail(r, request, fault);
}

/* Ends the request if a fault concerns it. Returns MPI_SUCCESS if the request is complete now,
 * otherwise FAULT_PROC_FAILED_PENDING. */
static int settle(struct rank *r, struct request *request)
{
  int fault;
  while (!request_is_complete(r, request) && (fault = faults_of_request(r, request))) {
    if (fault == FAULT_PROC_FAILED_PENDING)
      return fault;
    end_in_error(r, request, fault);
  }
  return MPI_SUCCESS;
}

/* Ends a part of the request `request`. If the part is a receive of the program (MPI_Isendrecv),
 * `request` gets the status of the part. */
static void retire_part(struct rank *r, struct request *request, struct request **part)
{
  bool is_shown = (*part)->kind == REQUEST_RECEIVE && !(*part)->collective && !(*part)->sized;
  int before = request->status.MPI_ERROR;
  settle(r, *part);
  if (request->whole.take)
    request->whole.take(r, request, *part);
  int error = request_retire(part, is_shown ? &request->status : MPI_STATUS_IGNORE);
  request->status.MPI_ERROR = error != MPI_SUCCESS ? error : before;
}

/* Completes a request that has parts. The first call that finds all parts complete calls this
 * function, once. */
static void conclude(struct rank *r, struct request *request)
{
  struct whole *whole = &request->whole;
  for (int i = 0; i < whole->parts; i++)
    retire_part(r, request, &whole->part[i]);
  if (whole->conclude && !fault_text(request->status.MPI_ERROR))
    whole->conclude(r, whole->rest);
  rank_free(whole->part);
  rank_free(whole->rest);
  *whole = (struct whole){.recipe = whole->recipe};
  request->done = true;
}

int p2p_wait(struct rank *r, struct request *request)
{
  waits_for(r, request, 0);
  if (request && request->collective)
    receipts_give_until(r, is_done, request);
  host_wait_posted(r, is_done, request);
  if (request && request->kind == REQUEST_WHOLE && !request->done)
    conclude(r, request);
  return settle(r, request);
}

int p2p_finish(struct rank *r, struct request *request, MPI_Status *status)
{
  while (p2p_wait(r, request) != MPI_SUCCESS)
    end_in_error(r, request, FAULT_PROC_FAILED);
  return request_retire(&request, status);
}
