/* Takes one step of the protocol: gives the protocol an event, and carries out its actions. */
#include "sim/host/rank/agenda.h"
#include "sim/host/result/run_end.h"
#include "sim/host/step/host_inside.h"

#include "protocols/text.h"
#include "sim/host/failures/dispatcher.h"
#include "sim/host/failures/schedule.h"
#include "sim/host/failures/stall.h"
#include "sim/host/output/held_output.h"
#include "sim/host/rank/copy_cost.h"
#include "sim/host/rank/rank_clock.h"
#include "sim/host/rank/request.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/rank/timer.h"
#include "sim/host/result/result_notes.h"
#include "sim/host/result/run_phases.h"
#include "sim/host/step/collective_messages.h"
#include "sim/host/step/matching.h"
#include "sim/host/step/piggyback.h"
#include "sim/host/storage/stop.h"
#include "sim/host/storage/storage.h"
#include "sim/net/transport.h"

#include <string.h>

/* ---- payloads ---- */

static void payload_arrived(struct message *message, void *request)
{
  if (!request)
    return;
  if (shadow_protocol()->header)
    copy_tagged(&layer.rank[message->destination], message->bytes);
  request_complete(request);
}

/* Gives the bytes to the receive at once, if there is a receive. The receive is complete when the
 * bytes arrive in simulated time. */
void host_fetch(struct rank *r, struct message *message, struct request *request)
{
  if (request) {
    request->filling = true;
    request_take(request, message);
  }
  transport_fetch(r->transport, message, payload_arrived, request);
}

/* ---- matching above the protocol ---- */

bool host_below_matching(void)
{
  return shadow_protocol()->level == RCL_LEVEL_CHANNEL;
}

/* Takes ownership of the message. */
void host_pass_up(struct rank *r, struct message *message)
{
  struct request *request = matching_receive(r->mpi, message);
  if (!request) {
    g_queue_push_tail(&r->unexpected, message);
    return;
  }
  matching_withdraw(r->mpi, request);
  host_fetch(r, message, request);
}

static bool is_for(const struct message *message, const void *request)
{
  return message->kind == MESSAGE_PROGRAM && matching_accepts(request, message);
}

static void let_in(struct rank *r, const struct request *request)
{
  if (request->from >= 0 && request->from_tag >= 0)
    transport_let_in_from(r->transport, MESSAGE_PROGRAM, request->from, request->context,
                          request->from_tag);
  else
    transport_let_in(r->transport, is_for, request);
}

/* Gives the first unexpected message that matches to the receive that was posted last. If there is
 * none, the receive waits.
 */
void host_take_unexpected(struct rank *r, struct request *request)
{
  request->announced = true;
  request->from = request->peer;
  request->from_tag = request->tag;
  struct request *taker;
  struct message *message = matching_pair(r, &taker);
  if (!message) {
    let_in(r, request);
    return;
  }
  g_queue_remove(&r->unexpected, message);
  host_pass_up(r, message);
}

/* Makes a message that has the slot's content. */
static struct message *message_from(int source, int destination, const struct slot *slot)
{
  struct message *message = message_new(MESSAGE_PROGRAM, source, destination);
  message->comm = slot->comm;
  message->tag = slot->tag;
  message->bytes = (uint32_t)slot->payload->size;
  message->payload = payload_hold(slot->payload);
  return message;
}

/* ---- actions ---- */

bool host_fenced(const struct rank *r)
{
  const struct world_rank *me = shadow_rank(r->index);
  return me->declared || (!shadow_independent() && me->incarnation < shadow_global()->incarnation);
}

static void stamp_message(const struct rank *r, const struct rcl_action *action,
                          struct message *message)
{
  memcpy(message->words, action->words, sizeof message->words);
  message->incarnation = r->sends_in;
  message->life = r->life;
  message->line = r->sends_behind;
}

static void set_stamp(struct rank *r, uint16_t incarnation, uint32_t line)
{
  r->sends_in = incarnation;
  r->sends_behind = line;
}

/* Keeps the stamp of a step in which the rank crashes, because the world forgets the stamp with the
 * rank. */
static void set_stamp_before(struct rank *r, const struct rcl_event *event)
{
  const struct world_rank *me = shadow_rank(r->index);
  bool down = event->kind == RCL_EVENT_DOWN;
  set_stamp(r,
            !down                  ? me->noticed
            : shadow_independent() ? (uint16_t)event->incarnation
                                   : shadow_global()->incarnation,
            event->kind == RCL_EVENT_CAPTURED ? event->checkpoint : me->line);
}

/* Returns the number of bytes of the message on the network, with the bytes that the protocol adds
 * to the message. */
static uint64_t program_bytes(const struct message *message)
{
  return (uint64_t)message->bytes + shadow_protocol()->piggyback_bytes;
}

static void transmit_message(struct rank *r, const struct rcl_action *action, struct step *step)
{
  struct message *message = step->offered;
  stamp_message(r, action, message);
  layer.result.messages.sent++;
  step->offered = NULL;
  uint64_t bytes = program_bytes(message) + piggyback_attach(r, message);
  step->send = transport_send(r->transport, message, bytes, step->blocking);
}

/* Returns whether a control message joins an earlier one of this step to the same rank. Both travel
 * as one message, so only the first one takes time. */
static bool joins_another(struct rank *r, int peer)
{
  if (!r->told)
    r->told = g_new0(uint64_t, (gsize)layer.ranks);
  bool joined = r->told[peer] == r->steps;
  r->told[peer] = r->steps;
  return joined;
}

/* Sends a control message, or drops it after the last step of a run, because no rank takes a step
 * any more. */
static void send_control(struct rank *r, const struct rcl_action *action)
{
  if (dispatcher_is_over())
    return;
  if (piggyback_on()) {
    piggyback_add(r, action);
    return;
  }
  struct message *message = message_new(MESSAGE_CONTROL, r->index, action->peer);
  stamp_message(r, action, message);
  message->joined = joins_another(r, action->peer);
  enum activity before = rank_switch(r, ACTIVITY_PROTOCOL);
  transport_send(r->transport, message, shadow_protocol()->control_bytes, false);
  rank_switch(r, before);
}

/* Sends the control messages that have not travelled with a message of the program. */
static void send_controls(struct rank *r)
{
  for (int to = piggyback_left(r); to >= 0; to = piggyback_left(r)) {
    struct message *message = message_new(MESSAGE_CONTROL, r->index, to);
    message->mode = SEND_BUFFERED;
    stamp_message(r, &(struct rcl_action){.kind = RCL_ACTION_CONTROL}, message);
    enum activity before = rank_switch(r, ACTIVITY_PROTOCOL);
    transport_send(r->transport, message, piggyback_attach(r, message), false);
    rank_switch(r, before);
  }
}

static struct slot *filled_slot(const struct rank *r, uint32_t number)
{
  struct slot *slot = storage_slot(r, number);
  if (!slot)
    die(DIE_BREACH, "breach: slot %u of rank %d is empty", number, r->index);
  return slot;
}

static void resend_message(struct rank *r, const struct rcl_action *action)
{
  struct message *message = message_from(r->index, action->peer, filled_slot(r, action->slot));
  stamp_message(r, action, message);
  if (dispatcher_has_recovered())
    layer.result.messages.replayed++;
  else /* the message has waited in the log until it could leave */
    layer.result.messages.sent++;
  enum activity before = rank_switch(r, ACTIVITY_PROTOCOL);
  uint64_t bytes = program_bytes(message) + piggyback_attach(r, message);
  transport_send(r->transport, message, bytes, false);
  rank_switch(r, before);
}

/* Ends the call for the protocol. If the protocol holds the result, puts the result where the data
 * would have come. */
static void deliver_call(struct rank *r, const struct rcl_action *action, struct call *call)
{
  call->state = CALL_NONE;
  if (action->slot == RCL_NO_SLOT)
    return;
  struct slot *slot = filled_slot(r, action->slot);
  layer.result.messages.replayed++;
  blocks_unpack(&call->site.result, call->site.blocks, slot->payload);
}

static void keep_result(struct rank *r, uint32_t slot, const struct call *call)
{
  struct message result = {.payload = blocks_pack(&call->site.result, call->site.blocks),
                           .comm = NO_CONTEXT};
  storage_keep(r, slot, &result, false, false);
  payload_drop(result.payload);
}

/* Writes a part to storage. Memory that was not copied at the capture is copied first. */
static void store_part(struct rank *r, const struct rcl_action *action)
{
  if (action->part == RCL_PART_IMAGE) {
    enum activity before = rank_switch(r, ACTIVITY_CHECKPOINT);
    copy_state(r, storage_rest(r, action->checkpoint));
    rank_switch(r, before);
  }
  if (!r->dead)
    storage_store(r, action);
}

/* Lets the program go on. An image that is not stored yet must be copied before that. */
static void release_program(struct rank *r)
{
  double bytes = r->uncopied.bytes;
  r->uncopied.bytes = 0.0;
  if (bytes <= 0.0 || shadow_is_stored(r->index, r->uncopied.checkpoint, RCL_PART_IMAGE))
    return;
  enum activity before = rank_switch(r, ACTIVITY_CHECKPOINT);
  copy_state(r, bytes);
  rank_switch(r, before);
}

/* Copies a payload of this rank into its log, before the message leaves. */
static void keep_sent(struct rank *r, uint32_t slot, const struct message *message)
{
  storage_keep(r, slot, message, false, true);
  copy_payload(r, message->bytes);
}

static void join_call(const struct rcl_action *action, struct call *call)
{
  call->state = CALL_JOINED;
  memcpy(call->words, action->words, sizeof action->words);
  call->words[RCL_WORDS] = 1;
}

/* Returns the message that waits in that slot, and takes it out. The payload of the message may
 * still be at its sender. Returns NULL if the slot is from a checkpoint. */
static struct message *take_waiting(struct rank *r, uint32_t slot)
{
  for (GList *item = r->waiting.head; item; item = item->next) {
    struct message *message = item->data;
    if (message->slot != slot)
      continue;
    g_queue_delete_link(&r->waiting, item);
    return message;
  }
  return NULL;
}

/* Drops a message that is forgotten before it is delivered. */
static void drop_waiting(struct rank *r, uint32_t slot)
{
  struct message *waiting = take_waiting(r, slot);
  if (waiting)
    message_free(waiting);
}

static void deliver_up(struct rank *r, const struct rcl_action *action, struct step *step)
{
  if (action->slot == RCL_NO_SLOT) {
    step->passed = true;
    return;
  }
  struct message *waiting = take_waiting(r, action->slot);
  if (waiting) {
    host_pass_up(r, waiting);
    return;
  }
  layer.result.messages.replayed++;
  const struct slot *slot = filled_slot(r, action->slot);
  host_pass_up(r, message_from(slot->source, r->index, slot));
}

static struct request *posted_receive(const struct rank *r, uint32_t number)
{
  struct request *request = matching_numbered(r->mpi, number);
  if (!request)
    die(DIE_BREACH, "breach: receive %u of rank %d is not posted", number, r->index);
  return request;
}

static void deliver_message(struct rank *r, const struct rcl_action *action, struct step *step)
{
  struct request *request = posted_receive(r, action->request);
  matching_withdraw(r->mpi, request);
  if (action->slot == RCL_NO_SLOT) {
    step->given = request;
    return;
  }
  struct slot *slot = filled_slot(r, action->slot);
  layer.result.messages.replayed++;
  storage_delivered(r, slot);
  request_fill(request, slot->payload, slot->source, slot->tag);
  request_complete(request);
}

static void allow_match(struct rank *r, const struct rcl_action *action)
{
  struct request *request = posted_receive(r, action->request);
  request->announced = true;
  request->from = action->peer;
  request->from_tag = action->tag;
  r->rematch = true;
  let_in(r, request);
}

/* Starts the interconnect again. The time that this takes is part of the checkpoint or of the
 * restart. */
static void open_connections(struct rank *r)
{
  enum activity before = r->activity;
  if (before != ACTIVITY_RESTART)
    rank_switch(r, ACTIVITY_CHECKPOINT);
  double peers = machine_property("open_peer_s") ? machine_figure("open_peer_s", 0.0) : 0.0;
  machine_sleep(machine_figure("open_s", 0.0) + peers * (layer.ranks - 1));
  rank_switch(r, before);
}

static void set_timer(struct rank *r, const struct rcl_action *action)
{
  if (!shadow_protocol()->clocks) {
    timer_set(r);
  } else if (layer.scenario->checkpoint.every > 0.0) {
    r->alarm.checkpoint = action->checkpoint;
    r->alarm.at = clock_alarm(r, action);
  }
}

static void carry_out(struct rank *r, const struct rcl_action *action, struct step *step)
{
  switch ((enum rcl_action_kind)action->kind) {
  case RCL_ACTION_TRANSMIT:
    transmit_message(r, action, step);
    break;
  case RCL_ACTION_SUPPRESS:
    layer.result.messages.suppressed +=
        dispatcher_has_recovered(); /* otherwise the message waits in the log */
    if (step->call)
      step->call->state = CALL_NONE;
    break;
  case RCL_ACTION_JOIN:
    join_call(action, step->call);
    break;
  case RCL_ACTION_REJOIN:
    bypass_rejoin(r, action->comm, action->peer, action->tag);
    break;
  case RCL_ACTION_MATCH:
    allow_match(r, action);
    break;
  case RCL_ACTION_DELIVER:
    if (step->call)
      deliver_call(r, action, step->call);
    else
      (host_below_matching() ? deliver_up : deliver_message)(r, action, step);
    break;
  case RCL_ACTION_DISCARD:
    layer.result.messages.discarded++;
    break;
  case RCL_ACTION_KEEP:
    if (step->call)
      keep_result(r, action->slot, step->call);
    else if (step->offered)
      keep_sent(r, action->slot, step->offered);
    else
      storage_keep(r, step->slot = action->slot, step->arrived, step->drained, false);
    break;
  case RCL_ACTION_RESEND:
    resend_message(r, action);
    break;
  case RCL_ACTION_FORGET:
    drop_waiting(r, action->slot);
    storage_forget(r, action->slot);
    break;
  case RCL_ACTION_FORCE:
    step->forced = true;
    step->outcome = action->outcome;
    break;
  case RCL_ACTION_CONTROL:
    send_control(r, action);
    break;
  case RCL_ACTION_DRAIN:
    r->rematch = true;
    break;
  case RCL_ACTION_STORE:
    if (!host_fenced(r))
      store_part(r, action);
    break;
  case RCL_ACTION_COMMIT:
    if (!host_fenced(r))
      storage_commit(action->checkpoint);
    break;
  case RCL_ACTION_ERASE:
    if (!host_fenced(r))
      storage_erase(r, action->checkpoint);
    break;
  case RCL_ACTION_ROLL_BACK:
    if (shadow_rank(r->index)->phase != RANK_RESTORING)
      /* the protocol has named a slot that was never filled, which violates `legal` */
      run_stop_without_image();
    break;
  case RCL_ACTION_OUTPUT:
    output_leaves(r);
    break;
  case RCL_ACTION_OPEN:
    open_connections(r);
    break;
  case RCL_ACTION_SET_TIMER:
    set_timer(r, action);
    break;
  case RCL_ACTION_RELEASE:
    release_program(r);
    break;
  case RCL_ACTION_HOLD:
  case RCL_ACTION_CAPTURE:
  case RCL_ACTION_GIVE_UP:
  case RCL_ACTION_STOPPED_LOGGING:
    break; /* these actions change only the shadow world, and the wait loop looks there */
  case RCL_ACTION_NONE:
  case RCL_ACTION_KINDS:
    break;
  }
}

static _Noreturn void gave_up(const struct rank *r, enum rcl_reason reason)
{
  g_autofree char *why =
      g_strdup_printf("rank %d: %s: %s", r->index, reason_name(reason), shadow_why());
  run_stop(reason == RCL_REASON_NO_CHECKPOINT ? RUN_LOST : RUN_GAVE_UP, why);
}

/* Notes that the program is now held for a capture, or that it no longer is. While the program is
 * held, the rank only waits for its peers' control messages. */
static void watch_hold(struct rank *r, const struct rcl_event *event)
{
  bool before = r->quiesces;
  r->quiesces &= event->kind != RCL_EVENT_START && event->kind != RCL_EVENT_DOWN;
  for (uint32_t i = 0; i < r->actions.count; i++)
    if (r->actions.item[i].kind == RCL_ACTION_HOLD)
      r->quiesces = !r->recovers;
    else if (r->actions.item[i].kind == RCL_ACTION_CAPTURE ||
             r->actions.item[i].kind == RCL_ACTION_RELEASE)
      r->quiesces = false;
  if (r->quiesces && !before)
    transport_look(r->index);
}

/* Takes one move, most often an event. A step starts no work if a crash follows at this very point.
 * STORE comes last, because it saves the slots as the other actions leave them. */
void host_take(struct rank *r, struct move *move, struct step *step)
{
  struct step plain = {0};
  enum rcl_reason reason;
  bool scheduled = schedule_on() && move->kind != MOVE_FINISH;
  if (scheduled)
    schedule_check(move);
  const struct failure *cut = move->kind == MOVE_EVENT ? dispatcher_cut(move) : NULL;
  if (move->kind == MOVE_EVENT)
    work_count(r, &move->event);
  if (cut)
    set_stamp_before(r, &move->event);
  bool going = shadow_step(move, &r->actions, &reason);
  bool recovery = move->event.kind == RCL_EVENT_START || move->event.kind == RCL_EVENT_DOWN;
  r->recovers = shadow_rank(r->index)->held && (r->recovers || recovery);
  watch_hold(r, &move->event);
  if (!cut)
    set_stamp(r, shadow_rank(r->index)->noticed, shadow_rank(r->index)->line);
  if (move->kind == MOVE_EVENT) {
    output_committed(&move->event);
    watch_event(move);
    notes_event(&move->event);
    run_phases_step(r, &move->event, &r->actions);
    stop_event(&move->event);
    dispatcher_point(r->index, &move->event);
  }
  if (!going)
    gave_up(r, reason);
  step = step ? step : &plain;
  r->steps++;
  work_charge(r);
  for (uint32_t i = 0; i < r->actions.count && !r->dead; i++)
    if (r->actions.item[i].kind != RCL_ACTION_STORE)
      carry_out(r, &r->actions.item[i], step);
  for (uint32_t i = 0; i < r->actions.count && !r->dead; i++)
    if (r->actions.item[i].kind == RCL_ACTION_STORE)
      carry_out(r, &r->actions.item[i], step);
  send_controls(r);
  if (move->kind == MOVE_EVENT)
    timer_step(r, &move->event, &r->actions);
  if (cut)
    dispatcher_crash_in_step(r->index, cut);
  if (scheduled)
    schedule_next();
  if (scheduled || dispatcher_is_over())
    agenda_wake();
}

void host_take_event(struct rank *r, const struct rcl_event *event, struct step *step)
{
  struct move move = {.kind = MOVE_EVENT, .rank = (int16_t)r->index, .event = *event};
  host_take(r, &move, step);
}
