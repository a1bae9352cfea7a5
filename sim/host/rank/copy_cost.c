#include "sim/host/rank/copy_cost.h"

#include "sim/host/rank/shadow.h"

#include <string.h>

static double take_time(double seconds)
{
  double before = machine_now();
  machine_sleep(seconds);
  return machine_now() - before;
}

void copy_payload(struct rank *r, double bytes)
{
  enum activity before = rank_switch(r, ACTIVITY_PROTOCOL);
  r->copies.payload_bytes += (uint64_t)bytes;
  r->copies.payload_s += take_time(machine_log_seconds(bytes));
  rank_switch(r, before);
}

void copy_tagged(struct rank *r, double bytes)
{
  enum activity before = rank_switch(r, ACTIVITY_PROTOCOL);
  take_time(machine_copy_seconds(bytes + shadow_protocol()->piggyback_bytes));
  rank_switch(r, before);
}

void copy_state(struct rank *r, double bytes)
{
  r->copies.state_bytes += (uint64_t)bytes;
  r->copies.state_s += take_time(machine_copy_seconds(bytes));
}

void copy_iteration(struct rank *r, double bytes)
{
  r->copies.state_bytes += (uint64_t)bytes;
  r->copies.state_s += take_time(machine_repeat_seconds(bytes));
}

void work_count(struct rank *r, const struct rcl_event *event)
{
  const struct rcl_protocol *protocol = shadow_protocol();
  if (!protocol->work)
    return;
  if (!r->work)
    r->work = g_new0(struct rcl_work, (gsize)layer.ranks);
  if (event->kind == RCL_EVENT_START)
    memset(r->work, 0, (size_t)layer.ranks * sizeof *r->work);
  struct rcl_work *work = &r->work[event->kind == RCL_EVENT_CONTROL ? event->peer : r->index];
  work->records = work->matches = work->probes = 0.0;
  shadow_work(r->index, event, work);
  r->work_s += work->records * r->record_s + work->matches * r->match_s + work->probes * r->probe_s;
}

void work_charge(struct rank *r)
{
  double seconds = r->work_s;
  if (seconds <= 0.0)
    return;
  enum activity before = rank_switch(r, ACTIVITY_PROTOCOL);
  r->work_s = 0.0;
  machine_sleep(seconds);
  rank_switch(r, before);
}

void iteration_ends(struct rank *r)
{
  if (r->mpi->iteration)
    r->iterations++;
}

void iteration_begins(struct rank *r, uint32_t iteration)
{
  iteration_ends(r);
  r->mpi->iteration = iteration;
}

void copy_cost_report(struct result *result)
{
  result->rank_iterations = g_new0(uint64_t, (gsize)layer.ranks);
  for (int i = 0; i < layer.ranks; i++) {
    const struct rank *r = &layer.rank[i];
    result->rank_iterations[i] = r->iterations;
    result->iterations += r->iterations;
    result->copies.payload_bytes += r->copies.payload_bytes;
    result->copies.state_bytes += r->copies.state_bytes;
    result->copies.payload_s += r->copies.payload_s / layer.ranks;
    result->copies.state_s += r->copies.state_s / layer.ranks;
  }
}
