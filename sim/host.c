#include "host.h"

#include "audit.h"
#include "clock.h"
#include "copies.h"
#include "dispatcher.h"
#include "matching.h"
#include "p2p.h"
#include "raw.h"
#include "runtime.h"
#include "schedule.h"
#include "storage.h"
#include "text.h"
#include "transport.h"

#include <errno.h>
#include <string.h>

/* What the actions of one step refer to. On the stack of a step, which no image holds. */
struct step {
  struct message *offered; /* OFFER: to be transmitted */
  bool blocking;
  uint32_t send; /* its number at the transport */
  struct message *arrived;
  bool drained;          /* it arrived for no receive */
  bool passed;           /* below the matching: it goes up */
  struct request *given; /* the receive that gets what arrived */
  struct call *call;     /* COLLECTIVE, COLLECTED, CAPTURED: the program is in it */
  bool forced;
  uint32_t outcome;
};

/* ---- payloads ---- */

enum { LANES = 8, STRIDE = LANES * sizeof(uint64_t) };

/* One stride at a time, in lanes that do not wait for each other: as fast as memory is. */
static gsize digest_strides(const unsigned char *bytes, gsize size, uint64_t *lane)
{
  const uint64_t prime = UINT64_C(0x9E3779B97F4A7C15);
  gsize i = 0;
  for (; i + STRIDE <= size; i += STRIDE) {
    uint64_t word[LANES];
    memcpy(word, bytes + i, sizeof word);
    for (int k = 0; k < LANES; k++) {
      uint64_t mixed = lane[k] ^ word[k];
      lane[k] = (mixed << 31 | mixed >> 33) * prime;
    }
  }
  return i;
}

/* A digest of a payload, never 0; every message pays for it. */
static uint32_t digest(const struct payload *payload)
{
  size_t size = payload->size;
  const unsigned char *bytes = payload->bytes;
  uint64_t lane[LANES + 2] = {1, 2, 3, 4, 5, 6, 7, 8};
  gsize done = digest_strides(bytes, size, lane), whole = (size - done) / 8 * 8;
  lane[LANES] = protocol_digest(bytes + done, whole);
  lane[LANES + 1] = size;
  for (gsize i = done + whole; i < size; i++)
    lane[LANES + 1] = lane[LANES + 1] << 8 | bytes[i];
  uint32_t hash = (uint32_t)protocol_digest(lane, sizeof lane);
  return hash ? hash : 1;
}

static void arrived(struct message *message, void *request)
{
  if (!request)
    return;
  copy_tagged(&layer.rank[message->destination], message->bytes);
  p2p_complete(request);
}

/* The receive, if there is one, has the bytes at once, and is complete when they could be here. */
static void fetch(struct rank *r, struct message *message, struct request *request)
{
  if (request) {
    request->filling = true;
    p2p_take(request, message);
  }
  transport_fetch(r->transport, message, arrived, request);
}

/* ---- matching above the protocol ---- */

static bool below_matching(void)
{
  return audit_protocol()->level == LEVEL_CHANNEL;
}

/* Owns the message. */
static void pass_up(struct rank *r, struct message *message)
{
  struct request *request = matching_receive(r->face, message);
  if (!request) {
    g_queue_push_tail(&r->unexpected, message);
    return;
  }
  matching_withdraw(r->face, request);
  fetch(r, message, request);
}

static bool is_for(const struct message *message, const void *request)
{
  return message->kind == MESSAGE_PROGRAM && matching_accepts(request, message);
}

/* The receive that was posted last takes the first unexpected message that fits, or waits. */
static void take_unexpected(struct rank *r, struct request *request)
{
  request->announced = true;
  request->from = request->peer;
  request->from_tag = request->tag;
  struct request *taker;
  struct message *message = matching_pair(r, &taker);
  if (!message) {
    transport_let_in(r->transport, is_for, request);
    return;
  }
  g_queue_remove(&r->unexpected, message);
  pass_up(r, message);
}

static struct message *message_in(struct rank *r, const struct slot *slot)
{
  struct message *message = message_new(MESSAGE_PROGRAM, slot->source, r->index);
  message->comm = slot->comm;
  message->tag = slot->tag;
  message->bytes = (uint32_t)slot->payload->size;
  message->payload = payload_hold(slot->payload);
  return message;
}

/* ---- actions ---- */

static bool independent(void)
{
  return audit_protocol()->independent;
}

static bool fenced(const struct rank *r)
{
  return !independent() && r->incarnation < audit_global()->incarnation;
}

static void stamp(const struct rank *r, const struct action *action, struct message *message)
{
  memcpy(message->words, action->words, sizeof message->words);
  message->incarnation = audit_rank(r->index)->noticed;
  message->life = r->life;
  message->line = r->line;
}

static void transmit(struct rank *r, const struct action *action, struct step *step)
{
  struct message *message = step->offered;
  stamp(r, action, message);
  layer.result.messages.sent++;
  step->offered = NULL;
  step->send = transport_send(r->transport, message, step->blocking);
}

/* When all programs have ended, ranks leave one by one, and SMPI takes no message to one that has.
 */
static void send_control(struct rank *r, const struct action *action)
{
  if (audit_finished() && !schedule_on())
    return;
  struct message *message = message_new(MESSAGE_CONTROL, r->index, action->peer);
  stamp(r, action, message);
  enum activity before = rank_switch(r, ACTIVITY_PROTOCOL);
  transport_send(r->transport, message, false);
  rank_switch(r, before);
}

static void resend(struct rank *r, const struct action *action)
{
  const struct slot *slot = storage_slot(r, action->slot);
  if (!slot)
    layer_die(3, "breach: slot %u of rank %d is empty", action->slot, r->index);
  struct message *message = message_new(MESSAGE_PROGRAM, r->index, action->peer);
  message->comm = slot->comm;
  message->tag = slot->tag;
  message->payload = payload_hold(slot->payload);
  message->bytes = (uint32_t)slot->payload->size;
  stamp(r, action, message);
  layer.result.messages.replayed++;
  enum activity before = rank_switch(r, ACTIVITY_PROTOCOL);
  transport_send(r->transport, message, false);
  rank_switch(r, before);
}

static struct slot *filled_slot(const struct rank *r, uint32_t number)
{
  struct slot *slot = storage_slot(r, number);
  if (!slot)
    layer_die(3, "breach: slot %u of rank %d is empty", number, r->index);
  return slot;
}

/* The call is over for the protocol. A result that it holds goes where the data would have come. */
static void deliver_call(struct rank *r, const struct action *action, struct call *call)
{
  call->state = CALL_NONE;
  if (action->slot == NO_SLOT)
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

/* Of an image, what was not copied when it was captured is now; then it is written. */
static void store(struct rank *r, const struct action *action)
{
  if (action->part == PART_IMAGE) {
    enum activity before = rank_switch(r, ACTIVITY_CHECKPOINT);
    copy_state(r, storage_rest(r, action->checkpoint));
    rank_switch(r, before);
  }
  if (!r->dead)
    storage_store(r, action->checkpoint, action->part);
}

/* A payload of this rank into its log, before the message leaves. */
static void keep_sent(struct rank *r, uint32_t slot, const struct message *message)
{
  storage_keep(r, slot, message, false, true);
  copy_payload(r, message->bytes);
}

static void join(const struct action *action, struct call *call)
{
  call->state = CALL_JOINED;
  memcpy(call->words, action->words, sizeof action->words);
  call->words[WORDS] = 1;
}

static void deliver_up(struct rank *r, const struct action *action, struct step *step)
{
  if (action->slot == NO_SLOT) {
    step->passed = true;
    return;
  }
  layer.result.messages.replayed++;
  pass_up(r, message_in(r, filled_slot(r, action->slot)));
}

static void deliver(struct rank *r, const struct action *action, struct step *step)
{
  struct request *request = matching_numbered(r->face, action->request);
  if (!request)
    layer_die(3, "breach: receive %u of rank %d is not posted", action->request, r->index);
  matching_withdraw(r->face, request);
  if (action->slot == NO_SLOT) {
    step->given = request;
    return;
  }
  struct slot *slot = filled_slot(r, action->slot);
  layer.result.messages.replayed++;
  slot->waiting = false;
  p2p_fill(request, slot->payload, slot->source, slot->tag);
  p2p_complete(request);
}

static void match(struct rank *r, const struct action *action)
{
  struct request *request = matching_numbered(r->face, action->request);
  if (!request)
    layer_die(3, "breach: receive %u of rank %d is not posted", action->request, r->index);
  request->announced = true;
  request->from = action->peer;
  request->from_tag = action->tag;
  r->rematch = true;
  transport_let_in(r->transport, is_for, request);
}

/* The interconnect is started again; what it takes is part of the checkpoint or of the restart. */
static void open_connections(struct rank *r)
{
  enum activity before = r->activity;
  if (before != ACTIVITY_RESTART)
    rank_switch(r, ACTIVITY_CHECKPOINT);
  machine_sleep(machine_figure("open_s", 0.0));
  rank_switch(r, before);
}

static void set_timer(struct rank *r, const struct action *action)
{
  if (!audit_protocol()->clocks) {
    dispatcher_set_timer(r);
  } else if (layer.scenario->checkpoint.every > 0.0) {
    r->alarm.checkpoint = action->checkpoint;
    r->alarm.at = clock_alarm(r, action);
  }
}

static void carry_out(struct rank *r, const struct action *action, struct step *step)
{
  switch ((enum action_kind)action->kind) {
  case ACTION_TRANSMIT:
    transmit(r, action, step);
    break;
  case ACTION_SUPPRESS:
    layer.result.messages.suppressed++;
    if (step->call)
      step->call->state = CALL_NONE;
    break;
  case ACTION_JOIN:
    join(action, step->call);
    break;
  case ACTION_REJOIN:
    raw_rejoin(r, action->comm, action->peer, action->tag);
    break;
  case ACTION_MATCH:
    match(r, action);
    break;
  case ACTION_DELIVER:
    if (step->call)
      deliver_call(r, action, step->call);
    else
      (below_matching() ? deliver_up : deliver)(r, action, step);
    break;
  case ACTION_DISCARD:
    layer.result.messages.discarded++;
    break;
  case ACTION_KEEP:
    if (step->call)
      keep_result(r, action->slot, step->call);
    else if (step->offered)
      keep_sent(r, action->slot, step->offered);
    else
      storage_keep(r, action->slot, step->arrived, step->drained, false);
    break;
  case ACTION_RESEND:
    resend(r, action);
    break;
  case ACTION_FORGET:
    storage_forget(r, action->slot);
    break;
  case ACTION_FORCE:
    step->forced = true;
    step->outcome = action->outcome;
    break;
  case ACTION_CONTROL:
    send_control(r, action);
    break;
  case ACTION_HOLD:
    r->held = true;
    break;
  case ACTION_RELEASE:
    r->held = false;
    r->draining = NOBODY;
    break;
  case ACTION_DRAIN:
    r->draining = action->peer;
    r->rematch = true;
    break;
  case ACTION_CAPTURE:
    r->capture = action->checkpoint;
    break;
  case ACTION_STORE:
    if (!fenced(r))
      store(r, action);
    break;
  case ACTION_COMMIT:
    if (!fenced(r))
      storage_commit(action->checkpoint);
    break;
  case ACTION_ERASE:
    if (!fenced(r))
      storage_erase(r, action->checkpoint);
    break;
  case ACTION_ROLL_BACK:
    r->roll_back = true;
    break;
  case ACTION_OPEN:
    open_connections(r);
    break;
  case ACTION_SET_TIMER:
    set_timer(r, action);
    break;
  default:
    break;
  }
}

static _Noreturn void gave_up(const struct rank *r, enum reason reason)
{
  g_autofree char *why = g_strdup_printf("rank %d: %s", r->index, reason_name(reason));
  layer_stop(reason == REASON_NO_CHECKPOINT ? RUN_LOST : RUN_GAVE_UP, why);
}

/* Computing, capturing, starting again, or taking in a message: it may send something yet. */
static bool is_busy(const struct rank *r)
{
  return r->dead || (r->activity != ACTIVITY_MPI && r->activity != ACTIVITY_PROTOCOL) ||
         (r->transport && transport_fetches(r->transport));
}

static bool anybody_is_busy(void)
{
  for (int rank = 0; rank < layer.ranks; rank++)
    if (is_busy(&layer.rank[rank]))
      return true;
  return false;
}

/* A program that waits for what never comes does not end the run by itself as long as checkpoints
 * are taken. */
static void watch(const struct move *move)
{
  enum { IDLE_MOST = 100 }; /* timers of the coordinator with nothing done in between */
  static unsigned idle;
  enum event_kind kind = move->event.kind;
  bool timer = kind == EVENT_TIMER && move->rank == COORDINATOR_RANK;
  bool works = kind == EVENT_OFFER || kind == EVENT_RECEIVE || kind == EVENT_ARRIVED ||
               kind == EVENT_CHOOSE || kind == EVENT_COLLECTIVE || kind == EVENT_COLLECTED ||
               kind == EVENT_MEMBER || kind == EVENT_START;
  idle = works ? 0 : idle + (timer && !anybody_is_busy());
  if (idle > IDLE_MOST)
    layer_stuck();
}

/* One event. A step that a crash follows at this very point starts no work. STORE is last: it
 * saves what the other actions have made of the slots. */
static void take(struct rank *r, struct move *move, struct step *step)
{
  enum reason reason;
  bool scheduled = schedule_on() && move->kind != MOVE_FINISH;
  if (scheduled)
    schedule_check(move);
  bool going = audit_take(move, &r->actions, &reason);
  if (move->kind == MOVE_EVENT) {
    watch(move);
    dispatcher_point(r->index, &move->event);
  }
  if (!going)
    gave_up(r, reason);
  for (uint32_t i = 0; i < r->actions.count && !r->dead; i++)
    if (r->actions.item[i].kind != ACTION_STORE)
      carry_out(r, &r->actions.item[i], step);
  for (uint32_t i = 0; i < r->actions.count && !r->dead; i++)
    if (r->actions.item[i].kind == ACTION_STORE)
      carry_out(r, &r->actions.item[i], step);
  if (!scheduled)
    return;
  schedule_next();
  dispatcher_turn();
}

static void take_event(struct rank *r, const struct event *event, struct step *step)
{
  struct move move = {.kind = MOVE_EVENT, .rank = (int16_t)r->index, .event = *event};
  take(r, &move, step);
}

/* ---- going back ---- */

/* Drops messages of the program from before that incarnation that no receive has taken. */
static void drop_stale(struct rank *r, uint32_t incarnation, int source)
{
  for (GList *item = r->unexpected.head, *next; item; item = next) {
    struct message *message = item->data;
    next = item->next;
    if ((source != ANY && message->source != source) || message->incarnation >= incarnation)
      continue;
    g_queue_delete_link(&r->unexpected, item);
    message_free(message);
  }
}

/* Messages of an incarnation that the rank had not reached may be of this one. */
static void look_again(struct rank *r)
{
  struct message *message;
  while ((message = g_queue_pop_tail(&r->future)))
    g_queue_push_head(&r->inbox, message);
}

static void note_down(struct rank *r)
{
  const struct world_global *global = audit_global();
  r->notified = false;
  runtime_join(r);
  if (r->dead)
    return;
  if (audit_rank(r->index)->noticed == global->incarnation)
    return; /* a later detection was noticed already */
  r->capture = 0;
  struct step step = {0};
  take_event(
      r, &(struct event){.kind = EVENT_DOWN, .peer = global->down, .checkpoint = global->target},
      &step);
}

/* What the dead had under way to this rank is gone; so is what is under way to them. */
static void disconnect(struct rank *r, int peer)
{
  transport_disconnect(r->transport, peer);
  drop_stale(r, audit_rank(r->index)->noticed, peer);
}

/* Independent: takes notice of each death, unless the rank is being rolled back: then later. */
static void note_deaths(struct rank *r)
{
  struct event down;
  r->notified = r->down_due = false;
  runtime_join(r);
  while (!r->dead && audit_next_down(r->index, &down)) {
    struct step step = {0};
    take_event(r, &down, &step);
    disconnect(r, down.peer);
  }
  look_again(r);
}

/* Takes the first notice of that kind out of the inbox, waiting for it. */
static struct message *await_notice(struct rank *r, enum notice_kind kind)
{
  for (;;) {
    for (GList *item = r->inbox.head; item; item = item->next) {
      struct message *message = item->data;
      if (message->kind != MESSAGE_NOTICE || message->notice != kind)
        continue;
      g_queue_delete_link(&r->inbox, item);
      return message;
    }
    transport_wait(r->transport, &r->inbox, -1.0);
  }
}

static void await_restart(struct rank *r)
{
  while (r->dead) {
    struct message *notice = await_notice(r, NOTICE_RESTART);
    if (notice->for_life == r->life)
      r->dead = false;
    message_free(notice);
  }
}

/* What the node is like on which the rank runs. */
static void look_around(struct rank *r)
{
  r->handling = audit_protocol()->controls ? machine_figure("message_handling_s", 0.0) : 0.0;
}

/* To a spare node, or wherever the failure sends all ranks. */
static void go_home(struct rank *r)
{
  const char *home = dispatcher_host_of(r->index);
  if (strcmp(home, machine_host()) != 0)
    machine_move(r->actor, home);
  look_around(r);
}

/* A survivor that was rolled back and finds that there was another detection since. */
static bool must_notice(const struct rank *r)
{
  return audit_rank(r->index)->phase == RANK_RESTORING &&
         audit_rank(r->index)->noticed != audit_global()->incarnation;
}

/* In a run by schedule, until it is the turn of a rank that goes back. */
static void await_turn(struct rank *r)
{
  while (schedule_on() && !schedule_turn(r->index) && !r->dead)
    transport_wait(r->transport, &r->inbox, -1.0);
}

static void drop_all(GQueue *queue)
{
  struct message *message;
  while ((message = g_queue_pop_head(queue)))
    message_free(message);
}

/* What was done since the image is lost; what recovery itself took stays where it is. */
static void account_loss(struct rank *r, const struct capture *capture)
{
  const struct run_time *now = &r->time, *then = &capture->time;
  double lost = (now->compute - then->compute) + (now->mpi - then->mpi) +
                (now->protocol - then->protocol) + (now->checkpoint - then->checkpoint);
  r->time = (struct run_time){.compute = then->compute,
                              .mpi = then->mpi,
                              .protocol = then->protocol,
                              .checkpoint = then->checkpoint,
                              .lost = now->lost + lost,
                              .restart = now->restart};
}

/* The protocol has erased what it would need: the audit says so, and the run is lost. */
static _Noreturn void start_from_nothing(struct rank *r, uint32_t checkpoint)
{
  struct step step = {0};
  take_event(r, &(struct event){.kind = EVENT_START, .checkpoint = checkpoint}, &step);
  if (!layer.result.audit_violations)
    layer_die(3, "breach: rank %d has no image of checkpoint %u", r->index, checkpoint);
  layer_stop(RUN_LOST, "there is no image of the checkpoint to recover from");
}

static _Noreturn void restore(struct rank *r, uint32_t checkpoint)
{
  const struct capture *capture = storage_capture(r, checkpoint);
  if (!capture)
    start_from_nothing(r, checkpoint);
  rank_switch(r, ACTIVITY_RESTART);
  account_loss(r, capture);
  image_restore(capture->image);
}

/* Whether a rank that lives goes back no further than to where its iteration began. */
static bool stays_in_iteration(const struct rank *r, uint32_t target)
{
  const struct capture *capture = storage_capture(r, target);
  return capture && capture->iteration && capture->iteration == r->face->iteration;
}

/* Independent: a rank that lives has its last image in memory, another one is read from storage. */
static _Noreturn void go_back_alone(struct rank *r)
{
  rank_switch(r, ACTIVITY_RESTART);
  transport_abandon(r->transport);
  bool died = false;
  uint32_t target;
  do {
    died |= r->dead;
    if (r->dead)
      await_restart(r);
    target = audit_rank(r->index)->origin;
    if (!died && target == r->line)
      copy_state(r, storage_capture(r, target)->copied);
    else
      machine_read(storage_server(), target == FRESH ? 0.0 : storage_image_bytes(r, target));
    await_turn(r);
  } while (r->dead);
  drop_stale(r, audit_rank(r->index)->noticed, ANY);
  dispatcher_note_return(audit_rank(r->index)->noticed, !died && !stays_in_iteration(r, target));
  storage_set_back(r, target, died);
  restore(r, target);
}

/* From a crash or a ROLL_BACK to the image of the target. */
static _Noreturn void go_back(struct rank *r)
{
  if (independent())
    go_back_alone(r);
  rank_switch(r, ACTIVITY_RESTART);
  storage_cut(r);
  transport_abandon(r->transport);
  drop_all(&r->unexpected);
  raw_clear(r);
  uint32_t target;
  for (;;) {
    if (r->dead)
      await_restart(r);
    go_home(r);
    target = audit_global()->target;
    if (target != FRESH)
      machine_read(storage_server(), storage_image_bytes(r, target));
    await_turn(r);
    if (r->dead || target != audit_global()->target)
      continue;
    if (!must_notice(r))
      break;
    message_free(await_notice(r, NOTICE_DOWN));
    if (!r->dead)
      note_down(r);
  }
  dispatcher_note_return(audit_global()->incarnation, r->roll_back);
  storage_return_to(r, target);
  restore(r, target);
}

/* The first thing that a restored rank does. */
static void start(struct rank *r, uint32_t checkpoint)
{
  r->held = r->roll_back = r->place_due = r->notified = false;
  r->draining = NOBODY;
  r->capture = r->alarm.checkpoint = 0;
  r->line = checkpoint;
  for (struct request *request = r->face->posted; request; request = request->next)
    request->announced = below_matching();
  r->reannounce = true;
  if (r->face->call.state != CALL_NONE)
    r->face->call.state = CALL_ANNOUNCED;
  uint32_t noticed = audit_rank(r->index)->noticed;
  r->incarnation = independent() ? noticed : audit_global()->incarnation; /* as its messages are */
  r->down_due = independent();
  libc_restored(r);
  struct step step = {0};
  const struct move *turn = schedule_turn(r->index);
  bool closed = checkpoint != FRESH && audit_protocol()->reconnects;
  take_event(r,
             &(struct event){.kind = EVENT_START,
                             .checkpoint = checkpoint,
                             .closed = turn ? turn->event.closed : closed,
                             .outcome = independent() ? noticed : 0},
             &step);
  look_again(r);
  r->rematch = true;
  if (below_matching()) /* its receives are posted already */
    transport_let_in(r->transport, NULL, NULL);
  rank_switch(r, ACTIVITY_MPI);
  dispatcher_finished(); /* perhaps its program had ended before the image */
}

/* ---- checkpoints ---- */

/* Some interconnects cannot be captured while they are open. */
static bool close_connections(const struct rank *r)
{
  const struct move *turn = schedule_turn(r->index);
  if (turn)
    return turn->event.closed;
  if (!machine_property("capture_closes") || !audit_protocol()->reconnects)
    return false;
  machine_sleep(machine_figure("close_s", 0.0));
  return true;
}

/* What has been delivered must be in the image, so payloads under way are waited for first. The
 * copy of the image takes its time before it is taken: the program stands still meanwhile. */
static void capture(struct rank *r)
{
  enum activity before = rank_switch(r, ACTIVITY_CHECKPOINT);
  uint32_t checkpoint = r->capture;
  if (r->face->raw)
    layer_die(3, "breach: rank %d is captured while it takes part in a collective", r->index);
  transport_finish_fetches(r->transport, &r->inbox);
  bool closed = close_connections(r);
  copy_state(r, storage_next_copy(r));
  if (r->dead)
    return;
  rank_switch(r, before);
  libc_collect(r);
  struct image *image = NULL;
  switch (image_capture(r->source, &image)) {
  case IMAGE_FAILED:
    layer_die(3, "no image of rank %d: %s", r->index, g_strerror(errno));
  case IMAGE_RESTORED:
    start(r, checkpoint);
    return;
  case IMAGE_CAPTURED:
    break;
  }
  storage_captured(r, checkpoint, image);
  r->image_bytes = MAX(r->image_bytes, image_bytes(image));
  r->capture = 0;
  r->line = checkpoint;
  struct step step = {.call = r->face->call.state == CALL_JOINED ? &r->face->call : NULL};
  take_event(r, &(struct event){.kind = EVENT_CAPTURED, .checkpoint = checkpoint, .closed = closed},
             &step);
}

/* A system-level image cannot hold an interconnect that is open. */
static void refuse_interconnect(void)
{
  const struct scenario *scenario = layer.scenario;
  bool captures = audit_protocol()->controls != NULL && scenario->checkpoint.every > 0;
  if (captures && scenario->checkpoint.places == PLACES_ANYWHERE &&
      machine_property("capture_closes") && !audit_protocol()->reconnects)
    layer_die(64,
              "%s leaves connections open, and %s cannot be captured with them, expected another "
              "protocol or checkpoint.places: program",
              audit_protocol()->name, machine_property("interconnect"));
}

void host_begin(struct rank *r, const void *inside_program)
{
  refuse_interconnect();
  look_around(r);
  r->source = image_source_new(inside_program, r->arena, machine_stack_bytes());
  if (!r->source)
    layer_die(64, "rank %d cannot be captured: %s", r->index, g_strerror(errno));
  libc_collect(r);
  struct image *image = NULL;
  switch (image_capture(r->source, &image)) {
  case IMAGE_FAILED:
    layer_die(3, "no image of rank %d: %s", r->index, g_strerror(errno));
  case IMAGE_CAPTURED:
    storage_captured(r, FRESH, image);
    await_turn(r);
    break;
  case IMAGE_RESTORED:
    break;
  }
  start(r, FRESH);
}

/* ---- what comes in ---- */

static void count_crossing(const struct rank *r, const struct message *message)
{
  if (message->line < r->line)
    layer.result.messages.late++;
  else if (message->line > r->line)
    layer.result.messages.early++;
}

/* ARRIVED, for `request` or, when it is NULL, drained. */
static void take_message(struct rank *r, struct message *message, struct request *request)
{
  struct step step = {.arrived = message, .drained = request == NULL};
  struct event event = {.kind = EVENT_ARRIVED,
                        .peer = (int16_t)message->source,
                        .comm = (int16_t)message->comm,
                        .tag = message->tag,
                        .bytes = message->bytes,
                        .request = request ? request->number : NO_REQUEST};
  memcpy(event.words, message->words, sizeof event.words);
  g_queue_remove(&r->unexpected, message);
  count_crossing(r, message);
  take_event(r, &event, &step);
  fetch(r, message, step.given);
}

/* ARRIVED, out of its channel. Owns the message. */
static void take_from_channel(struct rank *r, struct message *message)
{
  struct step step = {.arrived = message};
  struct event event = {.kind = EVENT_ARRIVED,
                        .peer = (int16_t)message->source,
                        .comm = (int16_t)message->comm,
                        .tag = message->tag,
                        .bytes = message->bytes};
  memcpy(event.words, message->words, sizeof event.words);
  count_crossing(r, message);
  take_event(r, &event, &step);
  if (step.passed)
    pass_up(r, message);
  else
    message_free(message);
}

static void take_control(struct rank *r, const struct message *message)
{
  struct step step = {0};
  struct event event = {.kind = EVENT_CONTROL, .peer = (int16_t)message->source};
  memcpy(event.words, message->words, sizeof event.words);
  enum activity before = rank_switch(r, ACTIVITY_PROTOCOL);
  take_event(r, &event, &step);
  rank_switch(r, before);
}

/* A rollback has cut the write whose end is told here. */
static bool was_undone(const struct rank *r, const struct event *event)
{
  struct move move = {.kind = MOVE_EVENT, .rank = (int16_t)r->index, .event = *event};
  return !audit_allows(&move);
}

static void take_notice_of_death(struct rank *r)
{
  if (independent())
    r->down_due = true;
  else
    note_down(r);
}

/* A notice about the rank's timer or storage is of its present life. */
static bool is_current(const struct rank *r, const struct message *notice)
{
  return independent() ? notice->for_life == r->life
                       : !fenced(r) && notice->incarnation == r->incarnation;
}

static void take_notice(struct rank *r, const struct message *message)
{
  struct event event = {.checkpoint = message->checkpoint};
  if (message->notice == NOTICE_DOWN) {
    take_notice_of_death(r);
    return;
  }
  if (message->notice == NOTICE_END)
    r->ended = true;
  bool is_for_waiting = message->notice == NOTICE_RESTART || message->notice == NOTICE_REPAIRED ||
                        message->notice == NOTICE_TURN;
  if (message->notice == NOTICE_END || is_for_waiting || !is_current(r, message))
    return;
  struct step step = {0};
  switch (message->notice) {
  case NOTICE_TIMER:
    event.kind = EVENT_TIMER;
    break;
  case NOTICE_DURABLE:
    event.kind = EVENT_DURABLE;
    event.part = (uint8_t)message->part;
    if (independent() && was_undone(r, &event))
      return;
    if (independent() && message->part == PART_IMAGE)
      layer.result.checkpoints_committed++;
    storage_durable(r, message->checkpoint, message->part);
    break;
  default:
    event.kind = EVENT_COMMITTED;
    layer.result.checkpoints_committed++;
    break;
  }
  take_event(r, &event, &step);
}

/* By schedule, what a dead sender had under way may still come until that is known. */
static bool is_from_the_dead(const struct rank *r, const struct message *message)
{
  if (message->life == layer.rank[message->source].life)
    return false;
  const struct world_rank *sender = audit_rank(message->source);
  return !schedule_on() || (independent() && sender->phase != RANK_DEAD &&
                            sender->born <= audit_rank(r->index)->noticed);
}

/* Messages of an earlier incarnation, or of a sender that has died since, do not exist. */
static bool is_stale(const struct rank *r, const struct message *message)
{
  return message->incarnation < r->incarnation || is_from_the_dead(r, message);
}

static void take_in(struct rank *r, struct message *message)
{
  switch (message->kind) {
  case MESSAGE_NOTICE:
    take_notice(r, message);
    r->place_due = true;
    break;
  case MESSAGE_CONTROL:
  case MESSAGE_RAW:
  case MESSAGE_PROGRAM:
    if (is_stale(r, message)) {
      break;
    } else if (message->incarnation > audit_rank(r->index)->noticed) {
      g_queue_push_tail(&r->future, message);
      return;
    } else if (message->kind == MESSAGE_RAW) {
      raw_take(r, message);
      return;
    } else if (message->kind == MESSAGE_PROGRAM && below_matching()) {
      take_from_channel(r, message);
      host_handle(r);
      return;
    } else if (message->kind == MESSAGE_PROGRAM) {
      g_queue_push_tail(&r->unexpected, message);
      r->rematch = true;
      return;
    }
    take_control(r, message);
    r->place_due = true;
    break;
  }
  message_free(message);
}

/* ---- what comes next ---- */

static void announce(struct rank *r, struct request *request)
{
  struct step step = {0};
  take_event(r,
             &(struct event){.kind = EVENT_RECEIVE,
                             .peer = (int16_t)request->peer,
                             .tag = request->tag,
                             .comm = (int16_t)matching_context(request->comm, request->collective),
                             .request = request->number},
             &step);
  if (below_matching() && !r->dead)
    take_unexpected(r, request);
}

/* The next match or, while draining, the next message that nobody claims. */
static bool match_one(struct rank *r)
{
  struct request *request = NULL;
  struct message *message = matching_pair(r, &request);
  if (!message && r->held && r->draining != NOBODY)
    message = matching_unclaimed(r, r->draining);
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
  return !r->face->call.inside && !below_matching() &&
         (layer.scenario->checkpoint.places == PLACES_ANYWHERE || r->face->finalized);
}

static void offer_place(struct rank *r, uint32_t iteration)
{
  struct step step = {0};
  r->place_due = false;
  take_event(r, &(struct event){.kind = EVENT_PLACE, .outcome = iteration}, &step);
}

/* A clock shows the time of its alarm, or nearly: it cannot stop between two numbers. */
static bool alarm_is_due(const struct rank *r)
{
  static const double NEARLY = 1e-12;
  return r->alarm.checkpoint && machine_now() >= r->alarm.at - NEARLY;
}

/* Negative: none is set. */
static double alarm_time(const struct rank *r)
{
  return r->alarm.checkpoint ? MAX(r->alarm.at, 0.0) : -1.0;
}

static void take_alarm(struct rank *r)
{
  struct step step = {0};
  uint32_t checkpoint = r->alarm.checkpoint;
  r->alarm.checkpoint = 0;
  take_event(r, &(struct event){.kind = EVENT_TIMER, .checkpoint = checkpoint}, &step);
}

/* ---- by schedule ---- */

/* Takes in the first message that needs no turn or, with a turn, brings what is to happen. */
static bool take_in_first(struct rank *r, const struct event *turn)
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

/* Above the matching: the first message that the receive, or nobody, asks for. */
static bool match_scheduled(struct rank *r, const struct event *event)
{
  for (GList *item = r->unexpected.head; item; item = item->next) {
    struct message *message = item->data;
    struct request *request = matching_receive(r->face, message);
    if (!schedule_brings(message, event) || message->tag != event->tag ||
        message->comm != event->comm || (request ? request->number : NO_REQUEST) != event->request)
      continue;
    take_message(r, message, request);
    host_handle(r);
    return true;
  }
  return false;
}

static bool notice_scheduled(struct rank *r)
{
  struct event down;
  struct step step = {0};
  if (!independent()) {
    note_down(r);
    return true;
  }
  if (!audit_next_down(r->index, &down))
    return false;
  take_event(r, &down, &step);
  disconnect(r, down.peer);
  look_again(r);
  return true;
}

static bool go_on_by_schedule(struct rank *r)
{
  const struct move *turn = schedule_turn(r->index);
  struct request *request = matching_unannounced(r->face);
  struct step step = {0};
  if (take_in_first(r, NULL))
    return true;
  if (!turn || schedule_is_program(r) != (turn->event.kind == EVENT_RECEIVE && request))
    return false;
  switch ((enum event_kind)turn->event.kind) {
  case EVENT_DOWN:
    return notice_scheduled(r);
  case EVENT_TIMER:
    take_event(r, &turn->event, &step);
    return true;
  case EVENT_CAPTURED:
    if (!r->capture)
      return false;
    capture(r);
    return true;
  case EVENT_RECEIVE:
    announce(r, request);
    return true;
  case EVENT_PLACE:
    offer_place(r, turn->event.outcome);
    return true;
  case EVENT_ARRIVED:
    return below_matching() ? take_in_first(r, &turn->event) : match_scheduled(r, &turn->event);
  default:
    return take_in_first(r, &turn->event);
  }
}

/* ---- the loop ---- */

/* Receives that are posted later are announced at once. */
static struct request *next_announced(struct rank *r)
{
  if (!r->reannounce || r->held)
    return NULL;
  struct request *request = matching_unannounced(r->face);
  r->reannounce = request != NULL;
  return request;
}

/* One thing of those that can happen now; false when there is nothing. */
static bool go_on(struct rank *r)
{
  struct request *request;
  if (r->dead || r->roll_back)
    go_back(r);
  if (schedule_on())
    return go_on_by_schedule(r);
  if (r->capture) {
    capture(r);
  } else if (r->down_due) {
    note_deaths(r);
  } else if (!g_queue_is_empty(&r->inbox)) {
    take_in(r, g_queue_pop_head(&r->inbox));
  } else if (alarm_is_due(r)) {
    take_alarm(r);
  } else if ((request = next_announced(r))) {
    announce(r, request);
  } else if (r->rematch) {
    match_one(r);
  } else if (r->place_due && !r->held && place_is_allowed(r)) {
    offer_place(r, 0);
  } else {
    return false;
  }
  return true;
}

/* When all programs have ended, a checkpoint that was begun since is nobody's business: the others
 * may have left already. */
static void wait_until(struct rank *r, bool (*done)(const struct rank *, const void *),
                       const void *what, bool alert)
{
  for (;;) {
    while (!r->ended && go_on(r))
      continue;
    if (r->ended || (!r->held && done(r, what)))
      return;
    enum activity before = rank_switch(r, r->held ? ACTIVITY_CHECKPOINT : r->activity);
    r->alert = alert || r->held;
    if (r->alert)
      transport_let_in(r->transport, NULL, NULL);
    transport_wait(r->transport, &r->inbox, alarm_time(r));
    r->alert = false;
    rank_switch(r, before);
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
  if (message->kind == MESSAGE_CONTROL || message->kind == MESSAGE_NOTICE || r->alert ||
      below_matching())
    return true;
  if (!r->face)
    return false;
  return message->kind == MESSAGE_RAW ? raw_expects(r, message)
                                      : matching_receive(r->face, message) != NULL;
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
  transport_let_in(r->transport, NULL, NULL);
  transport_poll(r->transport, &r->inbox);
  host_ready(r);
}

void host_enter(struct rank *r)
{
  r->place_due = true;
  transport_poll(r->transport, &r->inbox);
  host_ready(r);
}

void host_place(struct rank *r, uint32_t iteration)
{
  host_poll(r); /* so that the rank is ready */
  if (iteration)
    iteration_begins(r, iteration);
  r->iterates = iteration > 0;
  if (layer.scenario->checkpoint.places == PLACES_PROGRAM && !below_matching()) {
    host_await_turn(r);
    offer_place(r, iteration);
  }
  host_wait(r, nothing, NULL);
  r->iterates = false;
}

/* ---- what the program does ---- */

uint32_t host_offer(struct rank *r, int peer, int context, int32_t tag, struct payload *payload,
                    bool blocking, enum send_mode mode)
{
  struct message *message = message_new(MESSAGE_PROGRAM, r->index, peer);
  message->comm = context;
  message->tag = tag;
  message->bytes = (uint32_t)payload->size;
  message->payload = payload;
  message->mode = mode;
  struct step step = {.offered = message, .blocking = blocking};
  struct move move = {.kind = MOVE_EVENT,
                      .rank = (int16_t)r->index,
                      .content = audit_compares() ? digest(payload) : 0,
                      .event = {.kind = EVENT_OFFER,
                                .peer = (int16_t)peer,
                                .comm = (int16_t)context,
                                .tag = tag,
                                .bytes = message->bytes}};
  take(r, &move, &step);
  if (step.offered)
    message_free(step.offered);
  return step.send;
}

void host_receive(struct rank *r, struct request *request)
{
  host_await_turn(r);
  request->number = ++r->face->receives;
  matching_post(r->face, request);
  announce(r, request);
  host_wait(r, nothing, NULL);
}

static uint32_t choose(struct rank *r, uint32_t request, uint32_t outcome)
{
  struct step step = {0};
  const struct move *turn = schedule_turn(r->index);
  if (turn)
    outcome = turn->event.outcome;
  take_event(r, &(struct event){.kind = EVENT_CHOOSE, .request = request, .outcome = outcome},
             &step);
  return step.forced ? step.outcome : outcome;
}

uint32_t host_choose(struct rank *r, uint32_t outcome)
{
  host_await_turn(r);
  return choose(r, NO_REQUEST, outcome);
}

bool host_cancel(struct rank *r, struct request *request)
{
  host_await_turn(r);
  bool posted = matching_numbered(r->face, request->number) != NULL;
  if (!choose(r, request->number, posted))
    return false;
  matching_withdraw(r->face, request);
  return true;
}

void host_member(struct rank *r, int comm)
{
  host_ready(r);
  struct step step = {0};
  take_event(r, &(struct event){.kind = EVENT_MEMBER, .comm = (int16_t)comm}, &step);
  host_ready(r);
}

/* What COLLECTIVE and COLLECTED have in common. */
static struct event event_of(const struct call *call, enum event_kind kind)
{
  const struct call_site *site = &call->site;
  bool has_root = site->flow == FLOW_FROM_ROOT || site->flow == FLOW_TO_ROOT;
  return (struct event){.kind = (uint8_t)kind,
                        .flow = (uint8_t)site->flow,
                        .peer = (int16_t)(has_root ? site->comm->member[site->root] : 0),
                        .comm = (int16_t)site->comm->number,
                        .tag = call->number};
}

void host_collective(struct rank *r)
{
  struct call *call = &r->face->call;
  host_await_turn(r);
  call->state = CALL_ANNOUNCED;
  struct step step = {.call = call};
  struct event event = event_of(call, EVENT_COLLECTIVE);
  event.bytes = call->site.bytes;
  take_event(r, &event, &step);
  host_ready(r);
}

static bool is_over(const struct rank *r, const void *call)
{
  (void)r;
  return ((const struct call *)call)->state != CALL_JOINED;
}

void host_collected(struct rank *r)
{
  struct call *call = &r->face->call;
  host_await_turn(r);
  struct step step = {.call = call};
  struct event event = event_of(call, EVENT_COLLECTED);
  event.outcome = call->words[WORDS];
  memcpy(event.words, call->words, sizeof event.words);
  take_event(r, &event, &step);
  host_wait(r, is_over, call);
}

static bool run_has_ended(const struct rank *r, const void *what)
{
  (void)what;
  return r->ended;
}

void host_finish(struct rank *r)
{
  host_ready(r);
  iteration_ends(r);
  struct step step = {0};
  struct move move = {.kind = MOVE_FINISH, .rank = (int16_t)r->index};
  take(r, &move, &step);
  r->face->finalized = true;
  dispatcher_finished();
  host_wait(r, run_has_ended, NULL);
}

/* ---- computation ---- */

static bool has_noticed(const struct rank *r, const void *what)
{
  (void)what;
  return !r->notified && !alarm_is_due(r);
}

/* With clocks a rank listens while it computes: it must not miss when the next checkpoint is. */
static bool listens(void)
{
  return audit_protocol()->clocks;
}

static bool is_interrupted(const struct rank *r)
{
  return r->dead || r->notified || alarm_is_due(r) || (listens() && r->inbox.length > 0);
}

static void listen(void *rank, double until)
{
  struct rank *r = rank;
  double alarm = alarm_time(r);
  transport_wait(r->transport, &r->inbox, alarm >= 0.0 ? MIN(alarm, until) : until);
  if (is_interrupted(r))
    machine_interrupt(&r->computation);
}

static void begin_computing(struct rank *r)
{
  rank_switch(r, ACTIVITY_COMPUTE);
  r->computation.pause = listens() ? listen : NULL;
  r->computation.data = r;
}

static void heed(struct rank *r)
{
  host_wait(r, has_noticed, NULL);
  begin_computing(r); /* perhaps it has gone back to here */
}

void host_compute(struct rank *r, double flops)
{
  begin_computing(r);
  while (flops > 0.0) {
    if (!is_interrupted(r))
      flops = layer.scenario->failures_count || listens() ? machine_compute(&r->computation, flops)
                                                          : machine_execute(flops);
    if (is_interrupted(r))
      heed(r);
  }
}

void host_sleep(struct rank *r, double seconds)
{
  begin_computing(r);
  while (seconds > 0.0) {
    if (!is_interrupted(r))
      seconds = machine_doze(&r->computation, seconds);
    if (is_interrupted(r))
      heed(r);
  }
}
