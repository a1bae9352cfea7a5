#include "sim/net/machine.h"

#include <glib.h>
#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/cond.h>
#include <simgrid/config.h>
#include <simgrid/engine.h>
#include <simgrid/exec.h>
#include <simgrid/host.h>
#include <simgrid/mutex.h>
#include <stdlib.h>
#include <xbt/config.h>

static const double MEMORY_BANDWIDTH = 500e6;

static double origin; /* time at which the run began, on SimGrid's clock */

double machine_now(void)
{
  return simgrid_get_clock() - origin;
}

void machine_begin(int actors, double came)
{
  static sg_bar_t meeting;
  static double last;
  last = MAX(last, came);
  if (!meeting)
    meeting = sg_barrier_init((unsigned)actors);
  sg_barrier_wait(meeting);
  origin = simgrid_get_clock() - last;
}

double machine_since_begin(double clock)
{
  return clock - origin;
}

void machine_sleep(double seconds)
{
  if (seconds > 0.0)
    sg_actor_sleep_for(seconds);
}

long machine_actor(void)
{
  return sg_actor_self() ? (long)sg_actor_self_get_pid() : 0;
}

sg_actor_t machine_self(void)
{
  return sg_actor_self();
}

int machine_rank(void)
{
  const char *rank = sg_actor_get_property_value(sg_actor_self(), "rank");
  return rank ? atoi(rank) : -1;
}

void machine_exit(void)
{
  sg_actor_exit();
  abort();
}

void machine_on_exit(void (*told)(int failed, void *data), void *data)
{
  sg_actor_on_exit(told, data);
}

void machine_move(sg_actor_t actor, const char *host)
{
  sg_actor_set_host(actor, sg_host_by_name(host));
}

const char *machine_host(void)
{
  return sg_host_self_get_name();
}

int machine_cores(void)
{
  return sg_host_core_count(sg_host_self());
}

double machine_speed(void)
{
  return sg_host_get_speed(sg_host_self());
}

int machine_eager_bytes(void)
{
  return sg_cfg_get_int("smpi/send-is-detached-thresh");
}

double machine_smpi_threshold(void)
{
  return sg_cfg_get_double("smpi/cpu-threshold");
}

double machine_smpi_reading(void)
{
  return sg_cfg_get_double("smpi/wtime");
}

unsigned machine_stack_bytes(void)
{
  return 1024u * (unsigned)sg_cfg_get_int("contexts/stack-size");
}

/* Waits until that time, or until the bell rings. */
static void pause_until(struct computation *computation, double end)
{
  if (computation->pause) {
    computation->pause(computation->data, end);
    return;
  }
  if (!computation->bell)
    computation->bell = bell_new();
  bell_wait(computation->bell, end);
}

/* Waits for the bell, not for the execution. If one actor cancels an activity of another actor,
 * SimGrid throws an exception into the other actor, and crashes later because of that exception
 * (docs/warts-smpi.md). If other ranks share the core, the execution takes longer than was computed
 * at its beginning. */
double machine_compute(struct computation *computation, double flops)
{
  static const double NEARLY = 1e-9;
  double speed = machine_speed(), remaining = flops;
  sg_exec_t exec = sg_actor_exec_init(flops);
  computation->under_way = true;
  sg_exec_start(exec);
  while (remaining > 2.0 * NEARLY * flops) {
    pause_until(computation, machine_now() + remaining / speed * (1.0 - NEARLY));
    remaining = sg_exec_get_remaining(exec);
    if (!computation->under_way) {
      sg_exec_cancel(exec);
      return remaining;
    }
  }
  computation->under_way = false;
  sg_exec_wait(exec);
  return 0.0;
}

double machine_execute(double flops)
{
  sg_actor_execute(flops);
  return 0.0;
}

double machine_doze(struct computation *computation, double seconds)
{
  double end = machine_now() + seconds;
  computation->under_way = true;
  do
    pause_until(computation, end);
  while (computation->under_way && end > machine_now());
  computation->under_way = false;
  return end > machine_now() ? end - machine_now() : 0.0;
}

void machine_interrupt(struct computation *computation)
{
  if (!computation->under_way)
    return;
  computation->under_way = false;
  if (computation->bell)
    bell_ring(computation->bell);
}

struct reading {
  struct computation *computation;
  bool whole;
};

/* Ends a read: rings the bell, as an interruption does. */
static void end_read(void *data)
{
  struct reading *reading = data;
  reading->whole = true;
  machine_interrupt(reading->computation);
}

bool machine_await(struct computation *computation, const struct step_of_transfer *step,
                   unsigned count)
{
  struct reading reading = {.computation = computation};
  double size = 0.0;
  for (unsigned i = 0; i < count; i++)
    size += step[i].bytes + step[i].seconds;
  if (size <= 0.0)
    return true;
  if (!computation->bell)
    computation->bell = bell_new();
  computation->under_way = true;
  struct transfer *transfer = machine_transfer(NULL, step, count, end_read, &reading);
  while (computation->under_way)
    bell_wait(computation->bell, -1.0);
  return reading.whole || !machine_cut(transfer);
}

/* ---- properties of hosts in the platform ---- */

double machine_figure(const char *name, double otherwise)
{
  const char *value = machine_property(name);
  if (value)
    return g_ascii_strtod(value, NULL);
  if (!machine_is_assumed(name)) {
    bool speed = g_str_has_suffix(name, "_bw");
    g_autofree char *taken =
        g_strdup_printf(speed ? "%g MB/s" : "%g s", speed ? otherwise / 1e6 : otherwise);
    machine_assume(name, taken, otherwise != 0.0);
  }
  return otherwise;
}

double machine_copy_seconds(double bytes)
{
  return bytes / machine_figure("memory_copy_bw", MEMORY_BANDWIDTH);
}

/* Returns how many seconds the bytes take at the bandwidth that this property gives. Without the
 * property, takes the bandwidth of copies. */
static double seconds_at(const char *property, double bytes)
{
  return machine_property(property) ? bytes / machine_figure(property, 0.0)
                                    : machine_copy_seconds(bytes);
}

double machine_log_seconds(double bytes)
{
  return seconds_at("log_copy_bw", bytes);
}

double machine_repeat_seconds(double bytes)
{
  bool fits = machine_property("cache_bytes") && bytes <= machine_figure("cache_bytes", 0.0);
  return fits ? seconds_at("cache_copy_bw", bytes) : machine_copy_seconds(bytes);
}

double machine_encode_seconds(double bytes)
{
  return seconds_at("encode_bw", bytes);
}

/* ---- bells ---- */

/* A bell wakes one actor. sg_cond_wait_for() takes the mutex in a separate round of the scheduler.
 * So a notification can come between the look at `rung` and the wait, and be missed. A bell rings
 * in several rounds so that it is not missed. Semaphores would remember a notification, but they
 * damage SimGrid's memory when they time out. docs/warts-smpi.md describes both defects. */
struct bell {
  sg_mutex_t mutex;
  sg_cond_t cond;
  bool rung;
};

enum { ROUNDS = 3 };

struct bell *bell_new(void)
{
  struct bell *bell = malloc(sizeof *bell);
  if (bell == NULL)
    abort();
  *bell = (struct bell){.mutex = sg_mutex_init(), .cond = sg_cond_init()};
  return bell;
}

void bell_wait(struct bell *bell, double until)
{
  sg_mutex_lock(bell->mutex);
  if (!bell->rung && until < 0.0)
    sg_cond_wait(bell->cond, bell->mutex);
  else if (!bell->rung && until > machine_now())
    sg_cond_wait_for(bell->cond, bell->mutex, until - machine_now());
  bell->rung = false;
  sg_mutex_unlock(bell->mutex);
}

void bell_ring(struct bell *bell)
{
  if (bell == NULL || bell->rung)
    return;
  bell->rung = true;
  for (int i = 0; i < ROUNDS && bell->rung; i++)
    sg_cond_notify_one(bell->cond);
}
