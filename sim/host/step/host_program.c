/* Raises the events of the program, and lets the program compute. */
#include "sim/host/step/host_inside.h"

#include "sim/host/failures/dispatcher.h"
#include "sim/host/failures/schedule.h"
#include "sim/host/output/held_output.h"
#include "sim/host/rank/copy_cost.h"
#include "sim/host/rank/node_memory.h"
#include "sim/host/rank/program_clock.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/step/matching.h"
#include "sim/host/storage/application.h"
#include "sim/host/storage/redistribution.h"
#include "sim/host/storage/storage.h"
#include "sim/net/transport.h"

#include <string.h>

/* ---- what the program does ---- */

void host_tell_outside(struct rank *r)
{
  struct move move;
  if (!r->mpi->said_bytes)
    return;
  host_await_turn(r);
  if (!output_next(r, &move))
    return;
  host_take(r, &move, NULL);
  host_ready(r);
}

void host_enter(struct rank *r)
{
  output_collect(r);
  if (r->restart.on)
    return;
  r->place_due = true;
  transport_poll(r->transport, &r->inbox);
  host_ready(r);
  host_tell_outside(r);
}

uint32_t host_offer(struct rank *r, int peer, int context, int32_t tag, struct payload *payload,
                    bool blocking, enum send_mode mode)
{
  application_comes_to(r, PLACE_NONE);
  struct message *message = message_new(MESSAGE_PROGRAM, r->index, peer);
  message->comm = context;
  message->tag = tag;
  message->bytes = (uint32_t)payload->size;
  message->payload = payload;
  message->mode = mode;
  struct step step = {.offered = message, .blocking = blocking};
  struct move move = {.kind = MOVE_EVENT,
                      .rank = (int16_t)r->index,
                      .event = {.kind = RCL_EVENT_SEND,
                                .peer = (int16_t)peer,
                                .comm = (int16_t)context,
                                .tag = tag,
                                .bytes = message->bytes}};
  if (shadow_compares_contents())
    move.content = content_of_bytes(payload->bytes, payload->size);
  host_take(r, &move, &step);
  if (step.offered)
    message_free(step.offered);
  return step.send;
}

void host_receive(struct rank *r, struct request *request)
{
  host_await_turn(r);
  application_comes_to(r, PLACE_NONE);
  request->number = ++r->mpi->receives;
  matching_post(r->mpi, request);
  host_announce(r, request);
  host_ready(r);
}

static uint32_t choose(struct rank *r, uint32_t request, uint32_t outcome)
{
  struct step step = {0};
  const struct move *turn = schedule_turn(r->index);
  if (turn)
    outcome = turn->event.outcome;
  host_take_event(
      r, &(struct rcl_event){.kind = RCL_EVENT_CHOICE, .request = request, .outcome = outcome},
      &step);
  return step.forced ? step.outcome : outcome;
}

uint32_t host_choose(struct rank *r, uint32_t outcome, uint32_t choices)
{
  if (application_is_apart(r))
    return outcome;
  output_collect(r);
  host_await_turn(r);
  outcome = choose(r, RCL_NO_REQUEST, outcome);
  if (choices && outcome >= choices)
    die(DIE_BREACH,
        "breach: protocol %s, rank %d, choice: force at choice: outcome %u, expected one below %u",
        shadow_protocol()->name, r->index, outcome, choices);
  return outcome;
}

bool host_cancel(struct rank *r, struct request *request)
{
  host_await_turn(r);
  bool posted = matching_numbered(r->mpi, request->number) != NULL;
  if (!choose(r, request->number, posted))
    return false;
  matching_withdraw(r->mpi, request);
  return true;
}

void host_member(struct rank *r, int comm)
{
  if (!shadow_protocol()->collectives)
    host_ready(r);
  host_take_event(r, &(struct rcl_event){.kind = RCL_EVENT_MEMBER, .comm = (int16_t)comm}, NULL);
  host_ready(r);
}

/* Makes an event with the fields that COLLECTIVE and COLLECTED share. */
static struct rcl_event event_of(const struct rank *r, enum rcl_event_kind kind)
{
  const struct call *call = &r->mpi->call;
  const struct call_site *site = &call->site;
  bool has_root = site->flow == RCL_FLOW_FROM_ROOT || site->flow == RCL_FLOW_TO_ROOT;
  return (struct rcl_event){.kind = (uint8_t)kind,
                            .flow = (uint8_t)site->flow,
                            .makes = r->mpi->makes_comm,
                            .peer = (int16_t)(has_root ? site->comm->member[site->root] : 0),
                            .comm = (int16_t)site->comm->number,
                            .tag = call->number};
}

/* Returns whether the next event must be MEMBER, at once. */
static bool becomes_member(const struct rank *r)
{
  return r->mpi->makes_comm && r->mpi->call.state != CALL_JOINED;
}

void host_collective(struct rank *r)
{
  struct call *call = &r->mpi->call;
  host_await_turn(r);
  call->state = CALL_ANNOUNCED;
  struct step step = {.call = call};
  struct rcl_event event = event_of(r, RCL_EVENT_COLLECTIVE);
  event.bytes = call->site.bytes;
  host_take_event(r, &event, &step);
  if (!becomes_member(r))
    host_ready(r);
}

static bool is_over(const struct rank *r, const void *call)
{
  (void)r;
  return ((const struct call *)call)->state != CALL_JOINED;
}

void host_collected(struct rank *r)
{
  struct call *call = &r->mpi->call;
  host_await_turn(r);
  struct step step = {.call = call};
  struct rcl_event event = event_of(r, RCL_EVENT_COLLECTED);
  event.contributions = call->words[RCL_WORDS];
  memcpy(event.words, call->words, sizeof event.words);
  host_take_event(r, &event, &step);
  if (!becomes_member(r))
    host_wait(r, is_over, call);
}

/* ---- places ---- */

static bool nothing(const struct rank *r, const void *what)
{
  (void)r;
  (void)what;
  return true;
}

static void allow_checkpoint(struct rank *r, uint32_t iteration)
{
  host_poll(r); /* this makes the rank ready */
  if (iteration)
    iteration_begins(r, iteration);
  r->iterates = iteration > 0;
  bool here = iteration || layer.scenario->checkpoint.places == PLACES_PROGRAM;
  if (here && !host_below_matching() && sharing_lets_capture(r)) {
    host_await_turn(r);
    host_offer_place(r, iteration);
  }
  host_wait(r, nothing, NULL);
  r->iterates = false;
}

void host_place(struct rank *r, uint32_t iteration)
{
  output_collect(r);
  if (host_comes_to(r, PLACE_CHECKPOINT, NULL))
    return;
  host_tell_outside(r);
  r->place = PLACE_CHECKPOINT;
  allow_checkpoint(r, iteration);
  r->place = PLACE_NONE;
}

void host_place_at_end(struct rank *r)
{
  r->place = PLACE_END;
  if (!host_comes_to(r, PLACE_END, NULL) &&
      !schedule_on()) /* in a run by schedule, the schedule says when the checkpoint is allowed */
    allow_checkpoint(r, 0);
}

/* Reads from images of another number of ranks, unless a failure takes the rank back. */
static void redistribute(struct rank *r, int place, const struct comm *comm)
{
  uint32_t checkpoint = redistribution_checkpoint();
  double bytes = application_put_parts_back(r, (enum place)place, comm);
  enum activity before = rank_switch(r, ACTIVITY_RESTART);
  while (!storage_read_bytes(r, checkpoint, bytes))
    host_ready(r);
  rank_switch(r, before);
  r->mpi->redistributed = true;
  host_ready(r);
}

void host_restore(struct rank *r, int place, const struct comm *comm)
{
  output_collect(r); /* what the program has printed so far repeats earlier output */
  if (application_redistributes(r)) {
    redistribute(r, place, comm);
    return;
  }
  host_put_back(r, place, comm);
  host_ready(r);
}

bool host_comes_to(struct rank *r, int place, const struct comm *comm)
{
  if (application_redistributes(r)) {
    if (place == PLACE_END || place == (int)application_place(r))
      host_restore(r, place, comm);
    return false;
  }
  if (!r->restart.on)
    return application_comes_to(r, (enum place)place);
  if (place == PLACE_NONE)
    application_refuse(r);
  host_restore(r, place, comm);
  return true;
}

static bool run_has_ended(const struct rank *r, const void *what)
{
  (void)what;
  return r->ended;
}

void host_finish(struct rank *r)
{
  host_ready(r);
  /* otherwise the program goes on from an image that was captured after this call */
  if (!r->mpi->finalized) {
    iteration_ends(r);
    struct move move = {.kind = MOVE_FINISH, .rank = (int16_t)r->index};
    host_take(r, &move, NULL);
    r->mpi->finalized = true;
  }
  host_wait(r, run_has_ended, NULL);
}

/* Crashes the rank. host_enter() has taken the rank's earlier output. */
_Noreturn void host_crash(struct rank *r)
{
  host_enter(r);
  dispatcher_crash_itself(r->index);
  host_roll_back(r);
}

/* ---- computation ---- */

static bool has_noticed(const struct rank *r, const void *what)
{
  (void)what;
  return !r->notified && !host_alarm_is_due(r);
}

static bool is_served(void)
{
  return shadow_protocol()->daemon && !schedule_on();
}

/* If the protocol uses clocks, a rank listens while it computes, so that it does not miss the time
 * of the next checkpoint. */
static bool listens(void)
{
  return shadow_protocol()->clocks || is_served();
}

static bool is_interrupted(const struct rank *r)
{
  if (r->restart.on) /* the rank handles everything else when its data are put back */
    return r->dead;
  return r->dead || r->notified || host_alarm_is_due(r) ||
         (shadow_protocol()->clocks && r->inbox.length > 0);
}

static void listen(void *rank, double until)
{
  struct rank *r = rank;
  double alarm = host_alarm_time(r);
  transport_wait(r->transport, &r->inbox, is_served() ? 0 : G_MAXUINT,
                 alarm >= 0.0 ? MIN(alarm, until) : until);
  if (is_served() && !is_interrupted(r))
    host_serve(r);
  if (is_interrupted(r))
    machine_interrupt(&r->computation);
}

static void begin_computing(struct rank *r)
{
  output_collect(r);
  rank_switch(r, ACTIVITY_COMPUTE);
  r->computation.pause = listens() && !r->restart.on ? listen : NULL;
  r->computation.data = r;
}

static void take_notice(struct rank *r)
{
  if (r->restart.on)
    host_roll_back(r);
  host_wait(r, has_noticed, NULL);
  begin_computing(r); /* the rank may have gone back to this place */
}

void host_compute(struct rank *r, double flops)
{
  double left = flops;
  begin_computing(r);
  while (left > 0.0) {
    if (!is_interrupted(r))
      left = layer.scenario->failures_count || listens() ? machine_compute(&r->computation, left)
                                                         : machine_execute(left);
    if (is_interrupted(r))
      take_notice(r);
  }
  program_clock_computes(r, flops);
}

void host_sleep(struct rank *r, double seconds)
{
  double left = seconds;
  begin_computing(r);
  while (left > 0.0) {
    if (!is_interrupted(r))
      left = machine_doze(&r->computation, left);
    if (is_interrupted(r))
      take_notice(r);
  }
  program_clock_passes(r, seconds);
}
