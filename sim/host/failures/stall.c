#include "sim/host/failures/stall.h"

#include "sim/host/rank/agenda.h"
#include "sim/host/rank/node_memory.h"
#include "sim/host/rank/timer.h"
#include "sim/host/result/run_end.h"
#include "sim/host/storage/storage.h"
#include "sim/net/transport.h"

/* Returns whether the rank computes, is captured, starts again or takes in a message. Such a rank
 * may still send a message.
 */
static bool is_busy(const struct rank *r)
{
  if (r->stopped && sharing_stops(r)) /* otherwise the ranks that this rank waits for are busy */
    return false;
  return r->dead || (r->activity != ACTIVITY_MPI && r->activity != ACTIVITY_PROTOCOL) ||
         (r->transport && transport_fetches(r->transport));
}

static bool all_wait(void)
{
  for (int rank = 0; rank < layer.ranks; rank++)
    if (is_busy(&layer.rank[rank]))
      return false;
  return true;
}

/* Returns whether only a timer can come next: no message of a program or of the protocol is in
 * transit, no write is pending, and no failure or recovery is due. */
static bool nothing_is_due(void)
{
  return !transport_in_transit() && !storage_is_writing() && !agenda_has_failure();
}

static bool is_at_rest(void)
{
  return all_wait() && nothing_is_due();
}

/* Ends the run at its time limit. Reports a deadlock if nothing would happen after that time
 * either. */
void watch_limit(void)
{
  g_autofree char *why = g_strdup_printf("not at its end after %g s (limits.simulated)",
                                         layer.scenario->limits.simulated);
  if (is_at_rest())
    run_waits();
  run_stop(RUN_GAVE_UP, why);
}

/* Returns whether any program has computed since the last call. A program that computes raises no
 * event, but it makes progress. */
static bool has_computed(void)
{
  static double before;
  double now = 0.0;
  for (int rank = 0; rank < layer.ranks; rank++)
    now += layer.rank[rank].time.compute;
  bool more = now > before;
  before = now;
  return more;
}

/* Looks at the timers of the coordinator. If nothing is due at several timers in a row, and no
 * program had an event between them, then complete rounds of the protocol have changed nothing for
 * any program. If control messages or writes of a protocol never come to rest, the run is given up
 * after many timers, unless a message of a program is in transit. */
void watch_event(const struct move *move)
{
  enum { RESTS = 3, TIMERS = 1000 };
  static unsigned rests, timers;
  enum rcl_event_kind kind = (enum rcl_event_kind)move->event.kind;
  if (timer_moves_program(kind))
    rests = timers = 0;
  if (kind != RCL_EVENT_TIMER || move->rank != RCL_COORDINATOR_RANK)
    return;
  bool waiting = all_wait();
  if (has_computed())
    rests = timers = 0;
  rests = is_at_rest() ? rests + 1 : 0;
  timers += waiting && !transport_program_in_transit() && !agenda_has_failure();
  if (rests == RESTS || timers == TIMERS)
    run_waits();
}
