/* SimGrid reports a deadlock through its C++ interface only. */
#include <simgrid/s4u/Engine.hpp>

extern "C" {
#include "sim/net/machine.h"
}

void machine_on_deadlock(void (*told)(void))
{
  simgrid::s4u::Engine::on_deadlock_cb(told);
}
