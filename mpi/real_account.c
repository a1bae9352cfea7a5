/* Accounts for the time of this process, as a simulated run does in `time_s` of result.json. The
 * account goes into the trace, so it is kept only if a trace is written. */
#include "base/platform.h"
#include "mpi/real_inside.h"

enum real_activity real_switch(enum real_activity activity)
{
  enum real_activity before = real.activity;
  if (!real.options.trace)
    return before;
  double now = platform_now();
  if (real.restart) /* the program is restarting until the data are put back */
    activity = REAL_RESTART;
  real.spent[before] += now - real.since;
  real.since = now;
  real.activity = activity;
  return before;
}

void real_account_begin(void)
{
  real.since = platform_now();
  real.activity = REAL_MPI;
}

/* Returns what a held process waits for. Until the process is released for the first time in its
 * life, it waits for a recovery. After that, it waits for a checkpoint. */
enum real_activity real_held_activity(void)
{
  return real.recovers ? REAL_RESTART : REAL_CHECKPOINTS;
}
