/* Captures images of a rank, and takes the rank back to them. */
#include "sim/host/rank/accounting.h"
#include "sim/host/rank/activity.h"
#include "sim/host/result/run_end.h"
#include "sim/host/step/host_inside.h"
#include "sim/host/storage/application.h"
#include "sim/net/placement.h"

#include "sim/host/failures/dispatcher.h"
#include "sim/host/failures/schedule.h"
#include "sim/host/failures/ulfm.h"
#include "sim/host/rank/communicators.h"
#include "sim/host/rank/copy_cost.h"
#include "sim/host/rank/node_memory.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/rank/synchronous.h"
#include "sim/host/step/collective_messages.h"
#include "sim/host/storage/restart.h"
#include "sim/host/storage/storage.h"
#include "sim/net/transport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- going back ---- */

static void ignore(struct message *message, void *data)
{
  (void)message;
  (void)data;
}

/* Drops a message. With independent recovery, the sender may live and wait in a rendezvous for this
 * rank, so the rank takes the payload. With global recovery, all ranks have forgotten their
 * sends. */
void host_drop(struct rank *r, struct message *message)
{
  if (shadow_independent() && message->lane)
    transport_fetch(r->transport, message, ignore, NULL);
  else
    message_free(message);
}

/* Drops the program's messages of earlier incarnations that no receive has taken. */
static void drop_stale(struct rank *r, uint32_t incarnation, int source)
{
  for (GList *item = r->unexpected.head, *next; item; item = next) {
    struct message *message = item->data;
    next = item->next;
    if ((source != RCL_ANY && message->source != source) || message->incarnation >= incarnation)
      continue;
    g_queue_delete_link(&r->unexpected, item);
    host_drop(r, message);
  }
}

/* Puts messages of incarnations that the rank had not reached back into the inbox, because they may
 * belong to the present one. */
void host_look_again(struct rank *r)
{
  struct message *message;
  while ((message = g_queue_pop_tail(&r->future)))
    g_queue_push_head(&r->inbox, message);
}

void host_note_down(struct rank *r)
{
  const struct world_global *global = shadow_global();
  r->notified = false;
  ulfm_join(r);
  if (r->dead)
    return;
  if (shadow_rank(r->index)->noticed == global->incarnation)
    return; /* the rank has already noticed a later detection */
  host_take_event(r,
                  &(struct rcl_event){
                      .kind = RCL_EVENT_DOWN, .peer = global->down, .checkpoint = global->target},
                  NULL);
}

/* Drops messages in transit between this rank and a dead peer. */
void host_disconnect(struct rank *r, int peer)
{
  transport_disconnect(r->transport, peer);
  drop_stale(r, shadow_rank(r->index)->noticed, peer);
}

/* With independent recovery, takes notice of each death. A rank that is being rolled back takes
 * notice later. */
void host_note_deaths(struct rank *r)
{
  struct rcl_event down;
  r->notified = r->down_due = false;
  ulfm_join(r);
  while (!r->dead && shadow_next_down(r->index, &down)) {
    host_take_event(r, &down, NULL);
    host_disconnect(r, down.peer);
  }
  host_look_again(r);
}

/* Waits for a notice of that kind, and takes the first such notice out of the inbox. */
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
    transport_wait(r->transport, &r->inbox, G_MAXUINT, -1.0);
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

/* Takes over the properties of the node on which the rank runs. */
static void look_around(struct rank *r)
{
  if (r->first_speed == 0.0)
    r->first_speed = machine_speed();
  r->handling = shadow_protocol()->controls ? machine_figure("message_handling_s", 0.0) : 0.0;
  if (shadow_protocol()->work) {
    r->record_s = machine_figure("envelope_record_s", 0.0);
    r->match_s = machine_figure("envelope_match_s", 0.0);
    r->probe_s = machine_property("request_probe_s") ? machine_figure("request_probe_s", 0.0) : 0.0;
  }
}

/* Moves the rank to a spare node, or to the place to which the failure sends the rank. */
static void go_home(struct rank *r)
{
  const char *home = node_of(r->index);
  if (strcmp(home, machine_host()) != 0)
    machine_move(r->actor, home);
  look_around(r);
}

/* Returns whether there was another detection since the survivor was rolled back. */
static bool must_notice(const struct rank *r)
{
  return shadow_rank(r->index)->phase == RANK_RESTORING &&
         shadow_rank(r->index)->noticed != shadow_global()->incarnation;
}

/* In a run by schedule, waits until it is the turn of a rank that goes back. */
static void await_turn(struct rank *r)
{
  while (schedule_on() && !schedule_turn(r->index) && !r->dead)
    transport_wait(r->transport, &r->inbox, G_MAXUINT, -1.0);
}

static void drop_all(GQueue *queue)
{
  struct message *message;
  while ((message = g_queue_pop_head(queue)))
    message_free(message);
}

/* Counts the time since the image as lost. The time of the recovery itself stays in its account. */
static void account_loss(struct rank *r, const struct capture *capture)
{
  const struct run_time *now = &r->time, *then = &capture->time;
  double lost = (now->compute - then->compute) + (now->mpi - then->mpi) +
                (now->protocol - then->protocol) + (now->checkpoint - then->checkpoint);
  activity_back(r, machine_now(),
                then->compute + then->mpi + then->protocol + then->checkpoint + then->lost +
                    then->restart);
  r->time = (struct run_time){.compute = then->compute,
                              .mpi = then->mpi,
                              .protocol = then->protocol,
                              .checkpoint = then->checkpoint,
                              .lost = now->lost + lost,
                              .restart = now->restart};
}

/* Ends the run as lost. According to the shadow world, the image or log that the rank needs was
 * erased, or was lost with its node. */
static _Noreturn void start_from_nothing(struct rank *r, uint32_t checkpoint)
{
  uint32_t incarnation = shadow_independent() ? shadow_rank(r->index)->noticed : 0;
  bool is_log = shadow_has_lost_log(r->index, checkpoint);
  host_take_event(r,
                  &(struct rcl_event){.kind = RCL_EVENT_START,
                                      .checkpoint = checkpoint,
                                      .incarnation = incarnation},
                  NULL);
  if (!layer.result.audit_violations)
    die(DIE_BREACH, "breach: rank %d has no image of checkpoint %u", r->index, checkpoint);
  run_stop_by_loss(r, is_log);
}

/* Restores the program's memory: the program goes on at the image, or main begins again. */
static _Noreturn void restore_image(struct rank *r, uint32_t checkpoint)
{
  const struct capture *capture = storage_capture(r, checkpoint);
  if (!capture)
    start_from_nothing(r, checkpoint);
  rank_switch(r, ACTIVITY_RESTART);
  r->place = PLACE_NONE;
  if (capture->saved) {
    r->restart.on = true;
    r->restart.checkpoint = checkpoint;
    r->restart.saved = capture->saved;
    image_begin_again(storage_capture(r, RCL_FRESH)->image, application_files(capture->saved));
  }
  account_loss(r, capture);
  image_restore(capture->image);
}

/* Returns whether main begins again, as it does at the application level. If so, slots, records and
 * accounts go back when the data are put back. */
static bool begins_again(const struct rank *r, uint32_t checkpoint)
{
  const struct capture *capture = storage_capture(r, checkpoint);
  return capture && capture->saved;
}

/* Returns whether a living rank goes back only to the beginning of its iteration. */
static bool stays_in_iteration(const struct rank *r, uint32_t target)
{
  const struct capture *capture = storage_capture(r, target);
  return capture && capture->iteration && capture->iteration == r->mpi->iteration;
}

static void set_back_alone(struct rank *r, uint32_t target)
{
  bool died = r->restart.died;
  drop_stale(r, shadow_rank(r->index)->noticed, RCL_ANY);
  accounting_rollback(shadow_rank(r->index)->noticed, !died && !stays_in_iteration(r, target));
  storage_set_back(r, target, died);
}

/* Takes one rank back, with independent recovery. A living rank has its last image in memory. Any
 * other image is read from storage. */
static _Noreturn void go_back_alone(struct rank *r)
{
  accounting_absent(r, true);
  rank_switch(r, ACTIVITY_RESTART);
  transport_abandon(r->transport);
  bool died = r->restart.on && r->restart.died;
  uint32_t target;
  r->restart.on = false;
  do {
    died |= r->dead;
    if (r->dead)
      await_restart(r);
    target = shadow_rank(r->index)->origin;
    if (!died && target == shadow_rank(r->index)->line)
      copy_state(r, storage_capture(r, target)->copied);
    else
      storage_read(r, target);
    await_turn(r);
  } while (r->dead);
  if (died && shadow_starts_behind(r->index))
    start_from_nothing(r, target);
  r->restart.died = died;
  if (!begins_again(r, target))
    set_back_alone(r, target);
  restore_image(r, target);
}

/* Returns whether the image that the rank has read is still there. If a crash that is not detected
 * yet has taken the image, waits until there is another target. */
static bool await_readable(struct rank *r, uint32_t target)
{
  static const double until_interrupted = 1e9;
  if (shadow_can_read(r->index, target))
    return true;
  r->stranded = true;
  machine_doze(&r->reading, until_interrupted);
  return r->stranded = false;
}

/* Ends the process of a rank that has died for good, when all others have ended. */
static _Noreturn void perish(struct rank *r)
{
  rank_switch(r, ACTIVITY_RESTART);
  transport_abandon(r->transport);
  message_free(await_notice(r, NOTICE_END));
  layer.perished(r);
  abort(); /* not reached: the call above does not return */
}

static void set_back(struct rank *r, uint32_t target)
{
  bool survivor = shadow_rank(r->index)->phase == RANK_RESTORING;
  if (!restart_is_first(r)) /* the first return of a run that goes on undoes nothing */
    accounting_rollback(shadow_global()->incarnation, survivor);
  communicators_return(target);
  storage_return_to(r, target);
}

/* Takes the rank from a crash or a ROLL_BACK to the image of the target. */
_Noreturn void host_roll_back(struct rank *r)
{
  if (layer.repairs)
    perish(r);
  if (shadow_independent())
    go_back_alone(r);
  r->restart.on = false;
  accounting_absent(r, true);
  rank_switch(r, ACTIVITY_RESTART);
  storage_cut(r);
  transport_abandon(r->transport);
  drop_all(&r->unexpected);
  drop_all(&r->waiting);
  bypass_clear(r);
  uint32_t target;
  for (;;) {
    if (r->dead)
      await_restart(r);
    go_home(r);
    target = shadow_global()->target;
    bool whole = storage_read(r, target);
    await_turn(r);
    if (r->dead || target != shadow_global()->target)
      continue;
    if (!must_notice(r) && !whole)
      continue;
    if (!must_notice(r) && await_readable(r, target))
      break;
    if (!must_notice(r))
      continue;
    message_free(await_notice(r, NOTICE_DOWN));
    if (!r->dead)
      host_note_down(r);
  }
  if (!begins_again(r, target))
    set_back(r, target);
  restore_image(r, target);
}

/* Starts a restored rank. The rank does nothing before this call. */
static void start_rank(struct rank *r, uint32_t checkpoint)
{
  r->place_due = r->notified = r->stopped = false;
  accounting_absent(r, false);
  r->alarm.checkpoint = 0;
  r->uncopied.bytes = 0.0;
  for (struct request *request = r->mpi->posted; request; request = request->next)
    request->announced = host_below_matching();
  r->reannounce = true;
  if (r->mpi->call.state != CALL_NONE)
    r->mpi->call.state = CALL_ANNOUNCED;
  uint32_t noticed = shadow_rank(r->index)->noticed;
  r->down_due = shadow_independent();
  const struct move *turn = schedule_turn(r->index);
  bool closed = checkpoint != RCL_FRESH && shadow_protocol()->reconnects;
  if (closed)
    transport_close(r->transport);
  host_take_event(r,
                  &(struct rcl_event){.kind = RCL_EVENT_START,
                                      .checkpoint = checkpoint,
                                      .closed = turn ? turn->event.closed : closed,
                                      .incarnation = shadow_independent() ? noticed : 0},
                  NULL);
  host_look_again(r);
  synchronous_return(r);
  r->rematch = true;
  if (host_below_matching()) /* the rank's receives are posted already */
    transport_let_in(r->transport, NULL, NULL);
  rank_switch(r, ACTIVITY_MPI);
  sharing_started(r);
}

/* Returns whether the target for which the rank has begun again still is its target. */
static bool still_goes_there(const struct rank *r)
{
  uint32_t target = r->restart.checkpoint;
  if (r->dead)
    return false;
  if (shadow_independent())
    return shadow_rank(r->index)->origin == target;
  return shadow_global()->target == target && !must_notice(r) && shadow_can_read(r->index, target);
}

void host_put_back(struct rank *r, int place, const struct comm *comm)
{
  uint32_t target = r->restart.checkpoint;
  if (!still_goes_there(r))
    host_roll_back(r);
  const struct capture *capture = storage_capture(r, target);
  application_check(r, capture->saved, (enum place)place, comm);
  r->restart.on = false;
  (shadow_independent() ? set_back_alone : set_back)(r, target);
  account_loss(r, capture);
  application_put_back(r, capture->saved, place != PLACE_NONE);
  start_rank(r, target);
}

/* ---- checkpoints ---- */

/* Closes the rank's connections for a capture. Returns whether the connections are closed. Some
 * interconnects cannot be captured while connections are open. Every interconnect may take time to
 * come to rest, and some take time for each open connection. */
static bool close_connections(const struct rank *r)
{
  const struct move *turn = schedule_turn(r->index);
  if (turn)
    return turn->event.closed;
  bool closes = machine_property("capture_closes") != NULL;
  if (!shadow_protocol()->reconnects)
    return false;
  unsigned peers = closes ? transport_close(r->transport) : 0;
  double each = machine_property("close_peer_s") ? machine_figure("close_peer_s", 0.0) : 0.0;
  if (closes || machine_property("close_s"))
    machine_sleep(machine_figure("close_s", 0.0) + each * peers);
  return closes;
}

/* Captures an image and returns it. Returns NULL, once more each time, when the rank has gone back
 * to the image. */
static struct image *take_image(struct rank *r)
{
  struct image *image = NULL;
  layer.collect(r);
  enum image_outcome outcome = image_capture(r->source, &image);
  if (outcome == IMAGE_FAILED)
    die(DIE_BREACH, "no image of rank %d: %s", r->index, g_strerror(errno));
  return outcome == IMAGE_CAPTURED ? image : NULL;
}

/* Copies the image unless the program is held, because the image can then be written from the
 * program's own memory. */
static void copy_image(struct rank *r, uint32_t checkpoint)
{
  double bytes = storage_next_copy(r);
  bool held = shadow_rank(r->index)->held && !shadow_independent();
  r->uncopied.checkpoint = checkpoint;
  r->uncopied.bytes = held ? bytes : 0.0;
  if (!held && storage_copies_iteration(r))
    copy_iteration(r, bytes);
  else if (!held)
    copy_state(r, bytes);
}

/* Captures the rank. First waits for payloads that are under way, because delivered messages must
 * be in the image. The time for the copy passes before the capture, while the program stands
 * still. */
void host_capture(struct rank *r)
{
  enum activity before = rank_switch(r, ACTIVITY_CHECKPOINT);
  uint32_t checkpoint = shadow_rank(r->index)->capturing;
  if (r->mpi->bypass_posted)
    die(DIE_BREACH, "breach: rank %d is captured while it takes part in a collective", r->index);
  transport_finish_fetches(r->transport, &r->inbox);
  bool closed = close_connections(r);
  copy_image(r, checkpoint);
  if (r->dead)
    return;
  rank_switch(r, before);
  struct saved *saved = application_level() ? application_save(r) : NULL;
  struct image *image = saved ? NULL : take_image(r);
  if (!saved && !image) {
    layer.restored(r);
    start_rank(r, checkpoint);
    return;
  }
  storage_captured(r, checkpoint, image, saved);
  size_t bytes =
      saved ? (size_t)application_bytes(saved) : image_bytes(image) + (size_t)sharing_bytes(r);
  r->image_bytes = MAX(r->image_bytes, bytes);
  struct step step = {.call = r->mpi->call.state == CALL_JOINED ? &r->mpi->call : NULL};
  host_take_event(
      r,
      &(struct rcl_event){.kind = RCL_EVENT_CAPTURED, .checkpoint = checkpoint, .closed = closed},
      &step);
  sharing_wake(r);
}

/* Ends a run that would capture a rank while its connections are open, because a system-level image
 * cannot contain open connections. */
static void refuse_interconnect(void)
{
  const struct scenario *scenario = layer.scenario;
  bool captures = shadow_protocol()->controls != NULL && scenario_asks(scenario);
  if (captures && scenario->checkpoint.places == PLACES_ANYWHERE &&
      machine_property("capture_closes") && !shadow_protocol()->reconnects)
    die(DIE_INPUT,
        "%s leaves connections open, and %s cannot be captured with them, expected another "
        "protocol or checkpoint.places: program",
        shadow_protocol()->name, machine_property("interconnect"));
}

void host_begin(struct rank *r, const void *inside_program)
{
  refuse_interconnect();
  look_around(r);
  r->source = image_source_new(inside_program, r->arena, machine_stack_bytes());
  if (!r->source)
    die(DIE_INPUT, "rank %d cannot be captured: %s", r->index, g_strerror(errno));
  struct image *image = take_image(r);
  if (image) {
    storage_captured(r, RCL_FRESH, image, NULL);
    await_turn(r);
    if (restart_adopt(r))
      host_roll_back(r);
  }
  layer.restored(r);
  if (!r->restart.on)
    start_rank(r, RCL_FRESH);
}
