/* Implements functions for which SimGrid has no C interface: for transfers between hosts and their
 * ends, and for waits that end with a transfer or at a time. The C function sg_comm_wait_any_for()
 * would free all its transfers if the time comes first (docs/warts-smpi.md). */
#include <algorithm>
#include <simgrid/comm.h>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/version.h>
#include <vector>
#if SIMGRID_VERSION_MAJOR >= 4
#include <simgrid/Exception.hpp>
#include <simgrid/s4u/ActivitySet.hpp>
#endif

extern "C" {
#include "sim/net/wire.h"
}

/* Returns the index of the transfer that ended first, or -1 if none has ended in time. */
static ssize_t wait_any(sg_comm_t *transfers, int count, double timeout)
{
#if SIMGRID_VERSION_MAJOR >= 4
  simgrid::s4u::ActivitySet each;
  for (int i = 0; i < count; i++)
    each.push(transfers[i]);
  try {
    simgrid::s4u::ActivityPtr ended = each.wait_any_for(timeout);
    return std::find(transfers, transfers + count, ended.get()) - transfers;
  } catch (const simgrid::TimeoutException &) {
    return -1;
  }
#else
  return simgrid::s4u::Activity::wait_any_for({transfers, transfers + count}, timeout);
#endif
}

sg_comm_t wire_transfer(sg_host_t from, sg_host_t to, long bytes)
{
  simgrid::s4u::CommPtr comm =
      simgrid::s4u::Comm::sendto_async(from, to, static_cast<uint64_t>(bytes));
  comm->add_ref();
  return comm.get();
}

bool wire_is_over(sg_comm_t transfer)
{
  return transfer->get_remaining() <= 0.0;
}

/* Tests a transfer. If the transfer has ended, also waits for it. Otherwise SimGrid would keep the
 * transfer in a list of tested transfers, and would search that list at the end of each
 * transfer. */
bool wire_test(sg_comm_t transfer)
{
  if (transfer->get_finish_time() < 0.0)
    return sg_comm_test(transfer) != 0;
  sg_comm_wait(transfer);
  return true;
}

int wire_wait(sg_comm_t *transfers, int count, double timeout)
{
  ssize_t ended = wait_any(transfers, count, timeout);
  if (ended >= 0)
    transfers[ended]->unref();
  return static_cast<int>(ended);
}
