/* Implements the parts of machine.h for which SimGrid has no interface in C: activities in the
 * background, the handling of deadlocks, and settings with a unit. */
#include <algorithm>
#include <exception>
#include <functional>
#include <glib.h>
#include <map>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Disk.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Io.hpp>
#include <simgrid/s4u/Link.hpp>
#include <simgrid/s4u/NetZone.hpp>
#include <simgrid/version.h>
#include <string>
#include <utility>
#include <vector>
#include <xbt/config.hpp>
#include <xbt/parse_units.hpp>

extern "C" {
#include "sim/net/machine.h"
}

using simgrid::s4u::Comm;
using simgrid::s4u::Host;

static Host *host_named(const char *name)
{
  return name ? Host::by_name(name) : simgrid::s4u::this_actor::get_host();
}

/* Moves bytes through network and disk at the same time, as a file server does: it writes bytes
 * that have come while other bytes are on their way. Both the network and the disk are shared with
 * other users. The slower of the two decides how long the move takes. */
static void stream(Host *from, Host *to, Host *stored_at, double bytes, bool write, bool synced)
{
  auto size = static_cast<sg_size_t>(bytes);
  auto disks = stored_at->get_disks();
  simgrid::s4u::IoPtr on_disk;
  if (disks.empty())
    machine_assume("disk where checkpoints are stored", "one that takes no time", true);
  else
    on_disk = write ? disks[0]->write_async(size) : disks[0]->read_async(size);
  if (from != to)
    Comm::sendto_async(from, to, size)->wait();
  if (!on_disk)
    return;
  on_disk->wait();
  const char *latency = write && synced ? disks[0]->get_property("write_latency_s") : nullptr;
  if (latency)
    simgrid::s4u::this_actor::sleep_for(g_ascii_strtod(latency, nullptr));
}

namespace
{
struct step {
  step_kind kind;
  Host *from, *to;
  double bytes, seconds;
  bool unsynced;

  void take() const
  {
    if (seconds > 0.0)
      simgrid::s4u::this_actor::sleep_for(seconds);
    if (bytes <= 0.0)
      return;
    if (kind == STEP_WRITE)
      stream(from, to, to, bytes, true, !unsynced);
    else if (kind == STEP_READ)
      stream(from, to, from, bytes, false, false);
    else
      Comm::sendto_async(from, to, static_cast<sg_size_t>(bytes))->wait();
  }
};
} // namespace

static simgrid::s4u::ActorPtr start_actor(const char *name, Host *host,
                                          const std::function<void()> &code)
{
#if SIMGRID_VERSION_MAJOR >= 4
  return simgrid::s4u::Engine::get_instance()->add_actor(name, host, code);
#else
  return simgrid::s4u::Actor::create(name, host, code);
#endif
}

/* A helper is an actor that does one job after the other, because making an actor takes longer than
 * most jobs. Between a request and the first step of its job lie always the same number of rounds
 * of the scheduler. So times do not depend on whether the actor is new. SimGrid 3.32 keeps an
 * actor's reads and writes until the actor ends, and goes through them at each turn, so a helper
 * ends after JOBS jobs. */
struct helper {
  simgrid::s4u::ActorPtr actor;
  std::function<void()> job; /* the next job */
};

static void help(helper *self, std::vector<helper *> *idle)
{
  static const int JOBS = 32;
  simgrid::s4u::Actor::self()->daemonize(); /* a daemon does not prolong the run */
  for (int jobs = 1;; jobs++) {
    std::exchange(self->job, {})();
    if (jobs == JOBS)
      break;
    idle->push_back(self);
    simgrid::s4u::this_actor::suspend();
    simgrid::s4u::this_actor::yield();
  }
  delete self;
}

static helper *ask_for_help(Host *home, std::function<void()> job)
{
  static std::map<const Host *, std::vector<helper *>> all;
  auto *idle = &all[home];
  if (idle->empty()) {
    auto *fresh = new helper;
    fresh->job = std::move(job);
    fresh->actor = start_actor("helper", home, [=] { help(fresh, idle); });
    return fresh;
  }
  auto *kept = idle->back();
  idle->pop_back();
  kept->job = std::move(job);
  kept->actor->resume();
  return kept;
}

struct transfer {
  helper *by;
  bool over; /* `done` is being called, and the transfer is freed after that */
  bool cut;  /* the helper of the transfer is being killed, but may still get a turn */
};

/* Begins a transfer. If the helper is killed, SimGrid cancels its activities. */
struct transfer *machine_transfer(const char *home, const struct step_of_transfer *step,
                                  unsigned count, void (*done)(void *), void *data)
{
  auto *transfer = new struct transfer();
  std::vector<struct step> steps;
  for (unsigned i = 0; i < count; i++)
    steps.push_back({step[i].kind, host_named(step[i].from), host_named(step[i].to), step[i].bytes,
                     step[i].seconds, step[i].unsynced});
  transfer->by = ask_for_help(host_named(home), [=] {
    simgrid::s4u::this_actor::yield(); /* the helper waits until `by` points to it */
    for (const auto &each : steps)
      each.take();
    while (transfer->cut)
      simgrid::s4u::this_actor::suspend();
    transfer->over = true;
    done(data);
    delete transfer;
  });
  return transfer;
}

bool machine_cut(struct transfer *transfer)
{
  if (transfer->over)
    return false;
  transfer->cut = true;
  transfer->by->actor->kill();
  delete transfer->by;
  delete transfer;
  return true;
}

void machine_relay(const char *from, const char *to, double seconds, void (*done)(void *),
                   void *data)
{
  static std::map<const Host *, double> busy_until;
  const Host *first = host_named(from);
  Host *second = host_named(to);
  ask_for_help(second, [=] {
    for (const Host *host : {first, static_cast<const Host *>(second)}) {
      double &until = busy_until[host];
      until = std::max(until, simgrid::s4u::Engine::get_clock()) + seconds;
      simgrid::s4u::this_actor::sleep_until(until);
      if (first == second)
        break;
    }
    done(data);
  });
}

static const char *find_property(const Host *host, const char *name)
{
  const char *value = host->get_property(name);
  auto *zone = host->get_englobing_zone(),
       *root = simgrid::s4u::Engine::get_instance()->get_netzone_root();
  while (!value) {
    value = zone->get_property(name);
    if (zone == root) /* for the root, SimGrid returns a parent that is not null */
      break;
    zone = zone->get_parent();
  }
  return value;
}

/* Returns a property. Keeps the result, because each message needs it and it never changes. */
const char *machine_property(const char *name)
{
  static std::map<std::pair<const Host *, const char *>, const char *> known;
  const Host *host = simgrid::s4u::this_actor::get_host();
  auto found = known.find({host, name});
  if (found == known.end())
    found = known.emplace(std::make_pair(host, name), find_property(host, name)).first;
  return found->second;
}

/* Returns whether there is a route. If there is no route, SimGrid throws an exception if the zones
 * are not joined, and otherwise gives an empty route. */
bool machine_has_route(const char *from, const char *to)
{
  std::vector<simgrid::s4u::Link *> links;
  double latency = 0.0;
  try {
    Host::by_name(from)->route_to(Host::by_name(to), links, &latency);
  } catch (const std::exception &) {
    return false;
  }
  return !links.empty() || latency > 0.0;
}

void machine_on_deadlock(void (*told)(void))
{
  simgrid::s4u::Engine::on_deadlock_cb(told);
}

double machine_smpi_speed(void)
{
  static const char *const name = "smpi/host-speed";
  if (simgrid::config::is_default(name))
    machine_assume("smpi/host-speed, by which smpi_execute() computes", "SimGrid's 20000 flop/s",
                   true);
  return xbt_parse_get_speed("", 0, simgrid::config::get_value<std::string>(name), name);
}
