#include "sim/host/result/result_notes.h"

#include <math.h>

#include "sim/host/rank/rank.h"
#include "sim/host/rank/shadow.h"

static struct {
  unsigned timers, places, iterations, barriers;
} seen;

/* Counts what has become of a failure of the scenario. */
struct fate {
  unsigned points;
  bool struck;
  const char *why;
};

static struct fate *fate_of(const struct failure *failure)
{
  static struct fate *fates;
  if (!fates)
    fates = g_new0(struct fate, layer.scenario->failures_count + 1);
  return &fates[failure - layer.scenario->failures];
}

void notes_event(const struct rcl_event *event)
{
  bool is_place = event->kind == RCL_EVENT_SAFE_POINT;
  seen.timers += event->kind == RCL_EVENT_TIMER;
  seen.places += is_place;
  seen.iterations += is_place && event->iteration > 0;
  seen.barriers += event->kind == RCL_EVENT_COLLECTIVE && event->flow == RCL_FLOW_BARRIER;
}

unsigned notes_point(const struct failure *failure)
{
  return ++fate_of(failure)->points;
}

void notes_struck(const struct failure *failure)
{
  fate_of(failure)->struck = true;
}

void notes_missed(const struct failure *failure, const char *why)
{
  fate_of(failure)->why = why;
}

void notes_abandoned(uint32_t checkpoint)
{
  int attempts = layer.scenario->recovery.attempts;
  layer.result.checkpoints_abandoned++;
  result_note(&layer.result, "checkpoint %u was abandoned at %.9g s, as %d %s from it failed",
              checkpoint, machine_now(), attempts, attempts == 1 ? "restart" : "restarts");
}

void notes_unshared(const char *why)
{
  static bool is_noted;
  if (!is_noted)
    result_note(&layer.result, "MPI_Win_allocate_shared was refused: %s", why);
  is_noted = true;
}

/* Notes each value that a description of the machine leaves out although figures of the result
 * depend on it. */
static void report_defaults(void)
{
  struct machine_default each;
  g_autoptr(GString) others = g_string_new("");
  for (unsigned i = 0; (each = scenario_presumed(layer.scenario, i)).taken; i++) {
    if (each.decisive) {
      result_note(&layer.result, "platform.%s: not stated, taken as %s", each.key, each.taken);
      result_warn(&layer.result);
    } else {
      g_string_append_printf(others, "%s%s %s", others->len ? ", " : "", each.key, each.taken);
    }
    g_free(each.taken);
  }
  if (others->len)
    result_note(&layer.result, "platform: taken, as it says nothing else: %s", others->str);
}

static void report_assumptions(void)
{
  const char *assumed;
  bool decisive;
  const char *where = layer.scenario->platform.machine.nodes ? "platform" : "platform.file";
  for (int i = 0; (assumed = machine_assumption(i, &decisive)); i++) {
    result_note(&layer.result, "%s: no %s", where, assumed);
    if (decisive)
      result_warn(&layer.result);
  }
}

/* Notes that far fewer checkpoints were taken than were due. A program that seldom calls MPI has
 * few places at which a checkpoint can be taken. */
static void report_few_checkpoints(void)
{
  enum { FEW = 4 };
  double every = layer.scenario->checkpoint.every, taken = layer.result.checkpoints_committed;
  double due = every > 0 ? floor(machine_now() / every) : 0.0;
  bool crashed = layer.result.crashes > 0; /* if so, time went by while nothing ran */
  if (!crashed && layer.scenario->checkpoint.count == 0 && due >= FEW && taken * FEW <= due)
    result_note(&layer.result,
                "checkpoint.every: about %.0f checkpoints were due and %.0f committed; the program "
                "came to %u safe points, asked for %u times",
                due, taken, seen.places, seen.timers);
}

static void report_checkpoints(void)
{
  const struct rcl_protocol *protocol = shadow_protocol();
  const struct scenario *scenario = layer.scenario;
  bool asks = scenario_asks(scenario) || scenario->protocol.interval > 0;
  if (protocol->controls && layer.result.checkpoints_committed > 0)
    report_few_checkpoints();
  if (!protocol->controls || !asks || layer.result.checkpoints_committed > 0)
    return;
  if (!seen.timers && !protocol->captures_at && scenario_asks(scenario))
    result_note(&layer.result, "checkpoint.%s: no checkpoint was taken, the run ended before",
                scenario->checkpoint.every > 0        ? "every"
                : scenario->checkpoint.instants_count ? "at"
                                                      : "calls");
  else
    result_note(&layer.result,
                "checkpoint: none was committed, asked for %u times; %s takes them at %s, and the "
                "program came to %u safe points, %u iterations, %u barriers",
                seen.timers, protocol->name,
                protocol->captures_at ? protocol->captures_at : "safe points", seen.places,
                seen.iterations, seen.barriers);
}

static void report_stop(void)
{
  if (layer.scenario->checkpoint.then == AFTERWARDS_STOP && layer.result.verdict != RUN_STOPPED)
    result_note(&layer.result, "checkpoint.then: not stopped, the run ended before its last "
                               "checkpoint had committed");
}

static void report_failure(unsigned i)
{
  const struct failure *failure = &layer.scenario->failures[i];
  const struct fate *fate = fate_of(failure);
  if (fate->struck || failure->trigger >= TRIGGER_LAW)
    return;
  if (fate->why)
    result_note(&layer.result, "failures.%u: did not strike, rank %d %s", i, failure->rank,
                fate->why);
  else if (failure->trigger == TRIGGER_TIME)
    result_note(&layer.result, "failures.%u: did not strike, the run ended at %.9g s", i,
                machine_now());
  else
    result_note(&layer.result, "failures.%u: did not strike, its point came %u times, expected %u",
                i, fate->points, MAX(failure->after.count, 1));
}

void notes_report(void)
{
  report_defaults();
  report_assumptions();
  report_checkpoints();
  report_stop();
  for (unsigned i = 0; i < layer.scenario->failures_count; i++)
    report_failure(i);
}
