#include "sim/host/storage/server.h"

#include "sim/host/rank/agenda.h"
#include "sim/host/result/result_notes.h"
#include "sim/net/placement.h"

static double down_until; /* simulated time, in seconds, until which the server is down */

bool server_fail(const struct failure *failure)
{
  if (machine_now() < down_until)
    return false;
  down_until = machine_now() + failure->repair;
  agenda_add(&(struct entry){.time = down_until, .kind = ENTRY_SERVES});
  layer.result.crashes++;
  if (failure->trigger < TRIGGER_LAW)
    notes_struck(failure);
  return true;
}

bool server_is_in(const struct step_of_transfer *step, unsigned count)
{
  for (unsigned i = 0; i < count; i++)
    if ((step[i].kind == STEP_WRITE && !g_strcmp0(step[i].to, node_service())) ||
        (step[i].kind == STEP_READ && !g_strcmp0(step[i].from, node_service())))
      return true;
  return false;
}

unsigned server_await(struct step_of_transfer *step, unsigned count)
{
  double wait = down_until - machine_now();
  if (wait <= 0.0 || !server_is_in(step, count))
    return count;
  memmove(step + 1, step, count * sizeof *step);
  *step = (struct step_of_transfer){.kind = STEP_WORK, .seconds = wait};
  return count + 1;
}
