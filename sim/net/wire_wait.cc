/* Waiting for transfers, or a time. In C, sg_comm_wait_any_for() frees all transfers that it was
 * given when the time comes first (docs/warts-smpi.md). */
#include <simgrid/s4u/Comm.hpp>
#include <vector>

extern "C" {
#include "sim/net/wire.h"
}

int wire_wait(sg_comm_t *transfers, int count, double timeout)
{
  std::vector<simgrid::s4u::CommPtr> each(transfers, transfers + count);
  auto ended = simgrid::s4u::Comm::wait_any_for(each, timeout);
  if (ended >= 0)
    transfers[ended]->unref();
  return static_cast<int>(ended);
}
