#include "sim/host/rank/timer.h"

#include "sim/host/rank/agenda.h"
#include "sim/host/rank/shadow.h"

/* Returns the first instant for which the rank's timer has not gone off yet, or -1 if there is
 * none. */
static double next_instant(const struct rank *r)
{
  const struct scenario *scenario = layer.scenario;
  for (unsigned i = 0; i < scenario->checkpoint.instants_count; i++)
    if (!r->timer.now.told || scenario->checkpoint.instants[i] > r->timer.now.last)
      return MAX(scenario->checkpoint.instants[i], machine_now());
  return -1.0;
}

/* Returns the time at which a timer that is set now goes off, or -1 if it never does. */
static double next_time(const struct rank *r)
{
  double every = layer.scenario->checkpoint.every, instant = next_instant(r);
  int count = layer.scenario->checkpoint.count;
  if (count && r->timer.now.told >= (uint32_t)count)
    return -1.0;
  if (r->timer.now.called)
    return machine_now();
  if (every <= 0.0)
    return instant;
  double interval = machine_now() + every;
  return instant >= 0.0 ? MIN(instant, interval) : interval;
}

static void tell_at(struct rank *r, double time)
{
  struct message notice = {.notice = NOTICE_TIMER,
                           .incarnation = shadow_rank(r->index)->incarnation,
                           .for_life = r->life,
                           .checkpoint = ++r->timer.serial};
  r->timer.waits = TIMER_WAITS_FOR_TIME;
  if (time >= 0.0)
    agenda_add(
        &(struct entry){.time = time, .kind = ENTRY_NOTICE, .rank = r->index, .notice = notice});
}

void timer_set(struct rank *r)
{
  tell_at(r, next_time(r));
}

/* Makes the timer wait for the kind of step that `step` names. The timer goes off after that step,
 * but not before `time`. If `time` is -1, the timer does not go off. */
static void tell_behind(struct rank *r, enum timer_waits step, double time)
{
  r->timer.serial++;
  r->timer.waits = time >= 0.0 ? step : TIMER_WAITS_FOR_TIME;
  r->timer.due = time;
}

/* ---- what the program has done since the rank's last image ---- */

bool timer_moves_program(enum rcl_event_kind kind)
{
  return kind == RCL_EVENT_SEND || kind == RCL_EVENT_RECEIVE || kind == RCL_EVENT_ARRIVED ||
         kind == RCL_EVENT_CHOICE || kind == RCL_EVENT_COLLECTIVE || kind == RCL_EVENT_COLLECTED ||
         kind == RCL_EVENT_MEMBER || kind == RCL_EVENT_OUTPUT || kind == RCL_EVENT_START;
}

static void note_progress(struct rank *r, const struct rcl_event *event,
                          const struct rcl_actions *answer)
{
  r->timer.moved |= timer_moves_program((enum rcl_event_kind)event->kind);
  for (uint32_t i = 0; i < answer->count; i++)
    if (answer->item[i].kind == RCL_ACTION_CAPTURE) {
      r->timer.moved = false;
      r->timer.computed = r->time.compute;
    }
}

/* Returns whether the program has moved since the rank's last image. This matters only with
 * independent recovery. Otherwise one request is for all ranks, and this function returns true. */
static bool has_moved(const struct rank *r)
{
  return r->timer.moved || !shadow_independent() || r->activity == ACTIVITY_COMPUTE ||
         r->time.compute > r->timer.computed;
}

/* ---- requests ---- */

bool timer_goes_off(struct rank *r, const struct message *notice)
{
  if (notice->checkpoint != r->timer.serial || !shadow_rank(r->index)->timer)
    return false;
  if (!has_moved(r)) {
    tell_behind(r, TIMER_WAITS_FOR_PROGRAM, machine_now());
    return false;
  }
  r->timer.before = r->timer.now;
  r->timer.now = (struct requests){.told = r->timer.now.told + 1, .last = machine_now()};
  r->timer.open = true;
  return true;
}

/* Repeats the last request as if the protocol had not been told. A request that was put off waits
 * for another step of the protocol. The protocol's answer follows from its state, so without a step
 * the protocol would put off the request again. The program itself repeats a call that a failure
 * has undone.
 */
static void tell_again(struct rank *r, bool put_off)
{
  bool called = put_off ? r->timer.before.called : r->timer.now.called;
  r->timer.now = r->timer.before;
  r->timer.now.called = called;
  r->timer.open = false;
  if (put_off)
    tell_behind(r, TIMER_WAITS_FOR_STEP, next_time(r));
  else
    timer_set(r);
}

static bool sets_timer(const struct rcl_actions *answer)
{
  bool sets = false;
  for (uint32_t i = 0; i < answer->count; i++)
    sets |= answer->item[i].kind == RCL_ACTION_SET_TIMER;
  return sets;
}

static bool is_awaited(const struct rank *r)
{
  return r->timer.waits == TIMER_WAITS_FOR_STEP ||
         (r->timer.waits == TIMER_WAITS_FOR_PROGRAM && has_moved(r));
}

/* ---- room in logs ---- */

static void call(struct rank *asked)
{
  asked->timer.now.called = true;
  if (shadow_rank(asked->index)->timer)
    timer_set(asked);
}

/* Returns the rank whose timer asks for a checkpoint of this rank: the rank itself if it has a
 * timer, otherwise the coordinator. */
static struct rank *asked_for(struct rank *r)
{
  return r->timer.serial ? r : &layer.rank[RCL_COORDINATOR_RANK];
}

static bool takes_checkpoints(void)
{
  const struct scenario *scenario = layer.scenario;
  return scenario->checkpoint.every > 0.0 || scenario->checkpoint.instants_count ||
         scenario->checkpoint.calls == CALLS_TAKEN;
}

static bool is_logged_by_peers(void)
{
  const struct rcl_place *place = shadow_protocol()->place;
  bool by_peers = false;
  for (int i = 0; place && i < RCL_PLACE_LOGS; i++)
    by_peers |= place->logs[i].when && place->logs[i].where == RCL_LOGGED_BY_PEERS;
  return by_peers;
}

/* Lets the rank ask again after a checkpoint of its own, and once its logs are almost empty. */
static void note_room(struct rank *r, const struct fill *fill, bool stored)
{
  if (!stored && !fill->low)
    return;
  r->timer.sent_full = MIN(r->timer.sent_full, fill->sent);
  r->timer.events_full = MIN(r->timer.events_full, fill->events);
}

/* Asks for checkpoints each time that the room in a log has halved. A log also has messages and
 * events of other ranks. These are needed until the other ranks have later checkpoints, so all
 * ranks are asked. */
static void ask_for_room(struct rank *r, bool stored)
{
  if (!takes_checkpoints() || layer.scenario->schedule)
    return;
  const struct fill fill = shadow_fill(r->index);
  note_room(r, &fill, stored);
  bool sent = fill.sent > r->timer.sent_full, events = fill.events > r->timer.events_full;
  bool of_all = sent || (events && is_logged_by_peers());
  r->timer.sent_full = MAX(r->timer.sent_full, fill.sent);
  r->timer.events_full = MAX(r->timer.events_full, fill.events);
  if (events && !of_all)
    call(asked_for(r));
  for (int rank = 0; of_all && rank < layer.ranks; rank++)
    if (!layer.rank[rank].dead && asked_for(&layer.rank[rank])->index == rank)
      call(&layer.rank[rank]);
}

void timer_step(struct rank *r, const struct rcl_event *event, const struct rcl_actions *answer)
{
  bool stored =
      event->kind == RCL_EVENT_COMMITTED ||
      (shadow_independent() && event->kind == RCL_EVENT_DURABLE && event->part == RCL_PART_IMAGE);
  if (shadow_protocol()->clocks || r->dead)
    return;
  note_progress(r, event, answer);
  if (shadow_puts_off())
    tell_again(r, true);
  else if (event->kind == RCL_EVENT_START && r->timer.open && sets_timer(answer))
    tell_again(r, false);
  else if (stored)
    r->timer.open = false;
  else if (is_awaited(r))
    tell_at(r, MAX(r->timer.due, machine_now()));
  ask_for_room(r, stored);
}

void timer_require_none(void)
{
  for (int i = 0; i < layer.ranks && !shadow_protocol()->clocks; i++)
    if (shadow_rank(i)->phase == RANK_RUNNING && shadow_rank(i)->timer &&
        layer.rank[i].timer.waits == TIMER_WAITS_FOR_TIME && next_time(&layer.rank[i]) >= 0.0)
      die(DIE_BREACH, "breach: the run stands still, and the timer of rank %d never goes off", i);
}

void timer_call(struct rank *r)
{
  if (layer.scenario->checkpoint.calls == CALLS_TAKEN)
    call(asked_for(r));
}

bool timer_was_last(void)
{
  const struct rank *asked = &layer.rank[RCL_COORDINATOR_RANK];
  int count = layer.scenario->checkpoint.count;
  return count ? asked->timer.now.told >= (uint32_t)count : next_instant(asked) < 0.0;
}
