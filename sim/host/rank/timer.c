#include "sim/host/rank/timer.h"

#include "sim/host/rank/agenda.h"
#include "sim/host/rank/shadow.h"

/* The first instant that the rank has not been told of; -1: none. */
static double next_instant(const struct rank *r)
{
  const struct scenario *scenario = layer.scenario;
  for (unsigned i = 0; i < scenario->checkpoint.instants_count; i++)
    if (!r->timer.now.told || scenario->checkpoint.instants[i] > r->timer.now.last)
      return MAX(scenario->checkpoint.instants[i], machine_now());
  return -1.0;
}

/* Returns the time at which a timer that is set now goes off, or -1: never. */
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

void timer_set(struct rank *r)
{
  r->timer.waits = false;
  double time = next_time(r);
  struct message notice = {.notice = NOTICE_TIMER,
                           .incarnation = shadow_rank(r->index)->incarnation,
                           .for_life = r->life,
                           .checkpoint = ++r->timer.serial};
  if (time >= 0.0)
    agenda_add(
        &(struct entry){.time = time, .kind = ENTRY_NOTICE, .rank = r->index, .notice = notice});
}

bool timer_goes_off(struct rank *r, const struct message *notice)
{
  if (notice->checkpoint != r->timer.serial || !shadow_rank(r->index)->timer)
    return false;
  r->timer.before = r->timer.now;
  r->timer.now = (struct requests){.told = r->timer.now.told + 1, .last = machine_now()};
  r->timer.open = true;
  return true;
}

/* As if the last request had not been told: it is told again. What is due at once and was put off
 * would be put off again until the protocol has taken another step. A call that a failure has
 * undone the program makes again itself. */
static void tell_again(struct rank *r, bool put_off)
{
  bool called = put_off ? r->timer.before.called : r->timer.now.called;
  r->timer.now = r->timer.before;
  r->timer.now.called = called;
  r->timer.open = false;
  timer_set(r);
  double time = next_time(r);
  r->timer.waits = put_off && time >= 0.0 && time <= machine_now();
  r->timer.serial += r->timer.waits;
}

static bool sets_timer(const struct rcl_actions *answer)
{
  bool sets = false;
  for (uint32_t i = 0; i < answer->count; i++)
    sets |= answer->item[i].kind == RCL_ACTION_SET_TIMER;
  return sets;
}

void timer_step(struct rank *r, const struct rcl_event *event, const struct rcl_actions *answer)
{
  bool stored =
      event->kind == RCL_EVENT_COMMITTED ||
      (shadow_independent() && event->kind == RCL_EVENT_DURABLE && event->part == RCL_PART_IMAGE);
  if (shadow_protocol()->clocks || r->dead)
    return;
  if (event->kind == RCL_EVENT_TIMER && answer->count == 1 && sets_timer(answer))
    tell_again(r, true);
  else if (event->kind == RCL_EVENT_START && r->timer.open && sets_timer(answer))
    tell_again(r, false);
  else if (stored)
    r->timer.open = false;
  else if (r->timer.waits)
    timer_set(r);
}

void timer_require_none(void)
{
  for (int i = 0; i < layer.ranks && !shadow_protocol()->clocks; i++)
    if (shadow_rank(i)->phase == RANK_RUNNING && shadow_rank(i)->timer &&
        next_time(&layer.rank[i]) >= 0.0)
      die(DIE_BREACH, "breach: the run stands still, and the timer of rank %d never goes off", i);
}

void timer_call(struct rank *r)
{
  struct rank *asked = r->timer.serial ? r : &layer.rank[RCL_COORDINATOR_RANK];
  if (layer.scenario->checkpoint.calls != CALLS_TAKEN)
    return;
  asked->timer.now.called = true;
  if (shadow_rank(asked->index)->timer)
    timer_set(asked);
}

bool timer_was_last(void)
{
  const struct rank *asked = &layer.rank[RCL_COORDINATOR_RANK];
  int count = layer.scenario->checkpoint.count;
  return count ? asked->timer.now.told >= (uint32_t)count : next_instant(asked) < 0.0;
}
