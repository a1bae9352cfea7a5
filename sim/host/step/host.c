#include "sim/host/step/host.h"

#include "sim/host/failures/dispatcher.h"
#include "sim/host/failures/failure_times.h"
#include "sim/host/failures/schedule.h"
#include "sim/host/output/held_output.h"
#include "sim/host/rank/accounting.h"
#include "sim/host/rank/agreement.h"
#include "sim/host/rank/copy_cost.h"
#include "sim/host/rank/faults.h"
#include "sim/host/rank/node_memory.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/rank/timer.h"
#include "sim/host/step/collective_messages.h"
#include "sim/host/step/host_inside.h"
#include "sim/host/step/matching.h"
#include "sim/host/storage/application.h"
#include "sim/host/storage/stop.h"
#include "sim/host/storage/storage.h"
#include "sim/net/transport.h"

#include <string.h>

/* ---- what comes in ---- */

static void count_crossing(const struct rank *r, const struct message *message)
{
  uint32_t line = shadow_rank(r->index)->line;
  if (message->line < line)
    layer.result.messages.late++;
  else if (message->line > line)
    layer.result.messages.early++;
  if (message->line != line && layer.scenario->checkpoint.then == AFTERWARDS_STOP)
    stop_note_crossing(message->line, line);
}

/* Raises ARRIVED for a message that `request` gets. `request` is NULL if the message is drained. */
static void take_message(struct rank *r, struct message *message, struct request *request)
{
  struct step step = {.arrived = message, .drained = request == NULL};
  struct rcl_event event = {.kind = RCL_EVENT_ARRIVED,
                            .peer = (int16_t)message->source,
                            .comm = (int16_t)message->comm,
                            .tag = message->tag,
                            .bytes = message->bytes,
                            .request = request ? request->number : RCL_NO_REQUEST};
  memcpy(event.words, message->words, sizeof event.words);
  g_queue_remove(&r->unexpected, message);
  count_crossing(r, message);
  host_take_event(r, &event, &step);
  if (request && step.slot != RCL_NO_SLOT && !step.given && !r->dead) {
    request->announced = false; /* false until the program goes on */
    r->reannounce = true;
  }
  host_fetch(r, message, step.given);
}

/* Raises ARRIVED for a message that comes out of its channel. Takes ownership of the message. */
static void take_from_channel(struct rank *r, struct message *message)
{
  struct step step = {.arrived = message};
  struct rcl_event event = {.kind = RCL_EVENT_ARRIVED,
                            .peer = (int16_t)message->source,
                            .comm = (int16_t)message->comm,
                            .tag = message->tag,
                            .bytes = message->bytes};
  memcpy(event.words, message->words, sizeof event.words);
  count_crossing(r, message);
  host_take_event(r, &event, &step);
  if (step.passed) {
    host_pass_up(r, message);
  } else if (step.slot != RCL_NO_SLOT && !r->dead) {
    message->slot = step.slot;
    g_queue_push_tail(&r->waiting, message);
  } else {
    message_free(message);
  }
}

static void take_control(struct rank *r, const struct message *message, const uint32_t *words)
{
  struct rcl_event event = {.kind = RCL_EVENT_CONTROL, .peer = (int16_t)message->source};
  memcpy(event.words, words, sizeof event.words);
  enum activity before = rank_switch(r, ACTIVITY_PROTOCOL);
  host_take_event(r, &event, NULL);
  rank_switch(r, before);
}

/* With check.hazards, returns whether a control message is delayed. A delay may be longer than the
 * usual time between two control messages. */
static bool is_delayed(struct rank *r, struct message *message)
{
  static const double MOST = 1e-3; /* seconds */
  if (message->held_until > 0.0 || schedule_on() || !shadow_control_overtakes())
    return false;
  uint64_t stream = law_stream(layer.scenario->seed, (unsigned)r->index, "control");
  message->held_until = machine_now() + MOST * law_uniform(stream, r->delays++);
  g_queue_push_tail(&r->delayed, message);
  return true;
}

/* Returns the delayed message that comes next, or NULL. */
static struct message *next_delayed(const struct rank *r)
{
  struct message *next = NULL;
  for (GList *item = r->delayed.head; item; item = item->next)
    if (!next || ((struct message *)item->data)->held_until < next->held_until)
      next = item->data;
  return next;
}

/* Returns whether a rollback has cut the write whose end the event reports. */
static bool was_undone(const struct rank *r, const struct rcl_event *event)
{
  struct move move = {.kind = MOVE_EVENT, .rank = (int16_t)r->index, .event = *event};
  return !shadow_allows(&move);
}

static void take_notice_of_death(struct rank *r)
{
  if (shadow_independent())
    r->down_due = true;
  else
    host_note_down(r);
}

/* Returns whether a notice about the rank's timer or storage belongs to its present life. */
static bool is_current(const struct rank *r, const struct message *notice)
{
  return shadow_independent()
             ? notice->for_life == r->life
             : !host_fenced(r) && notice->incarnation == shadow_rank(r->index)->incarnation;
}

static void take_notice(struct rank *r, const struct message *message)
{
  struct rcl_event event = {.checkpoint = message->checkpoint};
  if (message->notice == NOTICE_DOWN && layer.repairs) {
    faults_note_failure(r, message->peer);
    agreements_note_failure(r);
    return;
  }
  if (message->notice == NOTICE_DOWN) {
    take_notice_of_death(r);
    return;
  }
  bool is_for_waiting = message->notice == NOTICE_RESTART || message->notice == NOTICE_REPAIRED ||
                        message->notice == NOTICE_TURN;
  if (is_for_waiting || !is_current(r, message))
    return;
  switch (message->notice) {
  case NOTICE_TIMER:
    if (!timer_goes_off(r, message))
      return;
    event = (struct rcl_event){.kind = RCL_EVENT_TIMER};
    break;
  case NOTICE_DURABLE:
    event.kind = RCL_EVENT_DURABLE;
    event.part = (uint8_t)message->part;
    if (shadow_independent() && was_undone(r, &event))
      return;
    if (shadow_independent() && message->part == RCL_PART_IMAGE)
      layer.result.checkpoints_committed++;
    storage_durable(r, message->checkpoint, (enum rcl_part)message->part);
    break;
  default:
    event.kind = RCL_EVENT_COMMITTED;
    layer.result.checkpoints_committed++;
    break;
  }
  host_take_event(r, &event, NULL);
}

/* Returns whether a message no longer counts, because its sender has died. In runs by schedule, and
 * if ranks crash within steps, messages of a dead sender count until the rank knows of the
 * death. */
static bool is_from_the_dead(const struct rank *r, const struct message *message)
{
  const struct world_rank *sender = shadow_rank(message->source);
  if (sender->declared && shadow_independent() && sender->born <= shadow_rank(r->index)->noticed)
    return true;
  if (message->life == layer.rank[message->source].life)
    return false;
  return !(schedule_on() || shadow_cuts_steps()) ||
         (shadow_independent() && sender->phase != RANK_DEAD &&
          sender->born <= shadow_rank(r->index)->noticed);
}

/* Returns whether a message is treated as if it did not exist. Such a message is of an earlier
 * incarnation, or no longer counts because its sender has died. */
static bool is_stale(const struct rank *r, const struct message *message)
{
  return message->incarnation < shadow_rank(r->index)->incarnation || is_from_the_dead(r, message);
}

static void take_in(struct rank *r, struct message *message)
{
  switch (message->kind) {
  case MESSAGE_NOTICE:
    take_notice(r, message);
    r->place_due = true;
    break;
  case MESSAGE_REVOKE:
    faults_revoke(r, message->comm);
    break;
  case MESSAGE_AGREE:
    agreement_take(r, message);
    break;
  case MESSAGE_CONTROL:
  case MESSAGE_BYPASS:
  case MESSAGE_PROGRAM:
    if (is_stale(r, message)) {
      host_drop(r, message);
      return;
    } else if (message->incarnation > shadow_rank(r->index)->noticed) {
      g_queue_push_tail(&r->future, message);
      return;
    }
    for (uint32_t i = 0; i < message->riders_count && !r->dead; i++)
      take_control(r, message, message->piggybacked[i]);
    if (r->dead) {
      host_drop(r, message);
      return;
    }
    if (message->kind == MESSAGE_BYPASS) {
      bypass_take(r, message);
      return;
    } else if (message->kind == MESSAGE_PROGRAM && host_below_matching()) {
      take_from_channel(r, message);
      host_handle(r);
      return;
    } else if (message->kind == MESSAGE_PROGRAM) {
      g_queue_push_tail(&r->unexpected, message);
      r->rematch = true;
      return;
    }
    if (is_delayed(r, message))
      return;
    if (!message->piggybacked)
      take_control(r, message, message->words);
    r->place_due = true;
    break;
  }
  message_free(message);
}

void host_serve(struct rank *r)
{
  for (GList *item = r->inbox.head, *next; item && !r->dead; item = next) {
    struct message *message = item->data;
    next = item->next;
    if (message->kind != MESSAGE_NOTICE && message->kind != MESSAGE_CONTROL)
      continue;
    g_queue_delete_link(&r->inbox, item);
    take_in(r, message);
  }
}

/* Serves a rank after the end of the run, until the dispatcher says that all ranks may leave.
 * Alarms do not go off, and all messages are dropped, including delayed ones. The rank takes no
 * step any more, so it waits for nothing but the dispatcher. Returns false if there is no
 * message. */
static bool wind_up(struct rank *r)
{
  struct message *message;
  r->alarm.checkpoint = 0;
  while ((message = g_queue_pop_head(&r->delayed)))
    host_drop(r, message);
  message = g_queue_pop_head(&r->inbox);
  if (!message)
    return false;
  r->ended |= message->kind == MESSAGE_NOTICE && message->notice == NOTICE_END;
  host_drop(r, message);
  return true;
}

/* ---- what comes next ---- */

void host_announce(struct rank *r, struct request *request)
{
  host_take_event(r,
                  &(struct rcl_event){.kind = RCL_EVENT_RECEIVE,
                                      .peer = (int16_t)request->peer,
                                      .tag = request->tag,
                                      .comm = (int16_t)request->context,
                                      .request = request->number},
                  NULL);
  if (host_below_matching() && !r->dead)
    host_take_unexpected(r, request);
}

/* Takes the next message that a receive matches or, while the rank drains, the next message that no
 * receive matches. Returns false if there is no such message. */
static bool match_one(struct rank *r)
{
  struct request *request = NULL;
  struct message *message = matching_pair(r, &request);
  if (!message && shadow_rank(r->index)->held && shadow_draining(r->index) != RCL_NOBODY)
    message = matching_unclaimed(r, shadow_draining(r->index));
  if (!message) {
    r->rematch = false;
    return false;
  }
  take_message(r, message, request);
  host_handle(r);
  return true;
}

void host_handle(struct rank *r)
{
  machine_sleep(r->handling);
}

static bool place_is_allowed(const struct rank *r)
{
  return !r->mpi->call.inside && !host_below_matching() && sharing_lets_capture(r) &&
         (layer.scenario->checkpoint.places == PLACES_ANYWHERE || r->mpi->finalized);
}

void host_offer_place(struct rank *r, uint32_t iteration)
{
  r->place_due = false;
  host_take_event(r, &(struct rcl_event){.kind = RCL_EVENT_SAFE_POINT, .iteration = iteration},
                  NULL);
}

/* Returns whether the time has come. A difference of the distance between two neighbouring doubles
 * does not count. */
static bool has_come(double time)
{
  static const double NEARLY = 1e-12;
  return machine_now() >= time - NEARLY;
}

bool host_alarm_is_due(const struct rank *r)
{
  return r->alarm.checkpoint && has_come(r->alarm.at);
}

/* Returns the time of the alarm, or a negative number if none is set. */
double host_alarm_time(const struct rank *r)
{
  return r->alarm.checkpoint ? MAX(r->alarm.at, 0.0) : -1.0;
}

static void take_alarm(struct rank *r)
{
  uint32_t checkpoint = r->alarm.checkpoint;
  r->alarm.checkpoint = 0;
  host_take_event(r, &(struct rcl_event){.kind = RCL_EVENT_TIMER, .checkpoint = checkpoint}, NULL);
}

/* ---- by schedule ---- */

/* Takes in the first message that needs no turn or, with a `turn`, the first message that brings
 * this event. */
static bool take_in_first(struct rank *r, const struct rcl_event *turn)
{
  for (GList *item = r->inbox.head; item; item = item->next) {
    struct message *message = item->data;
    if (turn ? !schedule_brings(message, turn) : schedule_holds_back(r, message))
      continue;
    g_queue_delete_link(&r->inbox, item);
    take_in(r, message);
    return true;
  }
  return false;
}

/* Used above the matching: takes the first message that goes to the receive of the event or, if the
 * event has no receive, that goes to no receive. */
static bool match_scheduled(struct rank *r, const struct rcl_event *event)
{
  for (GList *item = r->unexpected.head; item; item = item->next) {
    struct message *message = item->data;
    struct request *request = matching_receive(r->mpi, message);
    if (!schedule_brings(message, event) || message->tag != event->tag ||
        message->comm != event->comm ||
        (request ? request->number : RCL_NO_REQUEST) != event->request)
      continue;
    take_message(r, message, request);
    host_handle(r);
    return true;
  }
  return false;
}

static bool notice_scheduled(struct rank *r)
{
  struct rcl_event down;
  if (!shadow_independent()) {
    host_note_down(r);
    return true;
  }
  if (!shadow_next_down(r->index, &down))
    return false;
  host_take_event(r, &down, NULL);
  host_disconnect(r, down.peer);
  host_look_again(r);
  return true;
}

static bool go_on_by_schedule(struct rank *r)
{
  const struct move *turn = schedule_turn(r->index);
  struct request *request = matching_unannounced(r->mpi);
  if (take_in_first(r, NULL))
    return true;
  if (!turn || schedule_is_program(r) != (turn->event.kind == RCL_EVENT_RECEIVE && request))
    return false;
  switch ((enum rcl_event_kind)turn->event.kind) {
  case RCL_EVENT_DOWN:
    return notice_scheduled(r);
  case RCL_EVENT_TIMER:
    host_take_event(r, &turn->event, NULL);
    return true;
  case RCL_EVENT_CAPTURED:
    if (shadow_rank(r->index)->phase != RANK_CAPTURING)
      return false;
    host_capture(r);
    return true;
  case RCL_EVENT_RECEIVE:
    host_announce(r, request);
    return true;
  case RCL_EVENT_SAFE_POINT:
    host_offer_place(r, turn->event.iteration);
    return true;
  case RCL_EVENT_ARRIVED:
    return host_below_matching() ? take_in_first(r, &turn->event)
                                 : match_scheduled(r, &turn->event);
  default:
    return take_in_first(r, &turn->event);
  }
}

/* ---- the loop ---- */

/* Returns the next receive that must be announced again after a restart, or NULL if there is none.
 * Receives that are posted later are announced at once. */
static struct request *next_announced(struct rank *r)
{
  if (!r->reannounce || shadow_rank(r->index)->held)
    return NULL;
  struct request *request = matching_unannounced(r->mpi);
  r->reannounce = request != NULL;
  return request;
}

static bool take_delayed(struct rank *r)
{
  struct message *message = next_delayed(r);
  if (!message || !has_come(message->held_until))
    return false;
  g_queue_remove(&r->delayed, message);
  take_in(r, message);
  return true;
}

/* Returns the time at which the rank has something to do even if nothing comes in, or a negative
 * number for never. */
static double next_time(const struct rank *r)
{
  double alarm = host_alarm_time(r);
  const struct message *message = next_delayed(r);
  return !message ? alarm : alarm < 0.0 ? message->held_until : MIN(alarm, message->held_until);
}

/* Takes one of the steps that are possible now. Returns false if none is possible. */
static bool go_on(struct rank *r)
{
  struct request *request;
  enum rank_phase phase = (enum rank_phase)shadow_rank(r->index)->phase;
  if (host_goes_back(r))
    host_roll_back(r);
  if (dispatcher_is_over())
    return wind_up(r);
  if (schedule_on())
    return go_on_by_schedule(r);
  if (phase == RANK_CAPTURING) {
    host_capture(r);
  } else if (r->down_due) {
    host_note_deaths(r);
  } else if (!g_queue_is_empty(&r->inbox)) {
    take_in(r, g_queue_pop_head(&r->inbox));
  } else if (take_delayed(r)) {
    return true;
  } else if (host_alarm_is_due(r)) {
    take_alarm(r);
  } else if ((request = next_announced(r))) {
    host_announce(r, request);
  } else if (r->rematch) {
    match_one(r);
  } else if (r->place_due && !shadow_rank(r->index)->held && place_is_allowed(r)) {
    host_offer_place(r, 0);
  } else {
    return false;
  }
  return true;
}

/* Returns whether the program cannot go on, whatever it waits for. */
static bool is_stopped(const struct rank *r)
{
  return shadow_rank(r->index)->held || storage_is_awaited(r) || sharing_stops(r);
}

/* Returns whether the rank waits for messages that are not for posted receives, or the protocol
 * must look at messages. */
static bool others_come(const struct rank *r)
{
  const struct scenario *scenario = layer.scenario;
  return r->alert || host_below_matching() || shadow_protocol()->header || r->handling > 0.0 ||
         scenario->failures_count > 0 || scenario_asks(scenario) || scenario->protocol.interval > 0;
}

/* Returns how many messages for posted receives the rank can wait for. Returns G_MAXUINT if the
 * rank also waits for other messages. */
static unsigned awaited(const struct rank *r)
{
  unsigned count = 0;
  if (others_come(r))
    return G_MAXUINT;
  for (const struct request *each = r->mpi->posted; each; each = each->next)
    count++;
  for (const struct request *each = r->mpi->bypass_posted; each; each = each->next)
    count++;
  return count;
}

/* Waits until `done` returns true. Once all programs have ended, returns at once. A checkpoint in
 * progress is abandoned then, because ranks may have left. */
static void wait_until(struct rank *r, bool (*done)(const struct rank *, const void *),
                       const void *what, bool alert)
{
  if (r->restart.on)
    application_refuse(r);
  for (;;) {
    while (!r->ended && go_on(r))
      continue;
    if (r->ended || (!is_stopped(r) && done(r, what)))
      return;
    enum activity before = r->activity;
    if (is_stopped(r))
      accounting_stop(r);
    r->alert = alert || shadow_rank(r->index)->held || sharing_stops(r);
    if (r->alert)
      transport_let_in(r->transport, NULL, NULL);
    transport_wait(r->transport, &r->inbox, awaited(r), next_time(r));
    r->alert = false;
    accounting_go_on(r, before);
  }
}

void host_wait(struct rank *r, bool (*done)(const struct rank *, const void *), const void *what)
{
  wait_until(r, done, what, true);
}

void host_wait_posted(struct rank *r, bool (*done)(const struct rank *, const void *),
                      const void *what)
{
  wait_until(r, done, what, false);
}

bool host_expects(const struct message *message)
{
  const struct rank *r = &layer.rank[message->destination];
  if (r->alert || host_below_matching())
    return true;
  if (message->kind == MESSAGE_BYPASS)
    return r->mpi && bypass_expects(r, message);
  return message->kind != MESSAGE_PROGRAM || host_awaits(message);
}

bool host_awaits(const struct message *message)
{
  const struct rank *r = &layer.rank[message->destination];
  return message->kind == MESSAGE_PROGRAM && r->mpi && !host_below_matching() &&
         matching_receive(r->mpi, message) != NULL;
}

static bool nothing(const struct rank *r, const void *what)
{
  (void)r;
  (void)what;
  return true;
}

void host_ready(struct rank *r)
{
  host_wait(r, nothing, NULL);
}

static bool is_turn(const struct rank *r, const void *what)
{
  (void)what;
  return !schedule_on() || schedule_is_program(r);
}

void host_await_turn(struct rank *r)
{
  host_wait(r, is_turn, NULL);
}

void host_poll(struct rank *r)
{
  if (r->restart.on)
    application_refuse(r);
  transport_let_in(r->transport, NULL, NULL);
  transport_poll(r->transport, &r->inbox);
  host_ready(r);
}

void host_answer_door(struct rank *r)
{
  if (r->restart.on)
    application_refuse(r);
  transport_answer_door(r->transport, &r->inbox);
  if (!g_queue_is_empty(&r->inbox))
    host_ready(r);
}
