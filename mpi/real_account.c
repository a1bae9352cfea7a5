/* Where the time of this process goes, as a simulated run accounts for it (`time_s` of
 * result.json). The account goes into the trace, so it is kept only where a trace is written. */
#include "base/platform.h"
#include "mpi/real_inside.h"

enum real_activity real_switch(enum real_activity activity)
{
  enum real_activity before = real.activity;
  if (!real.options.trace)
    return before;
  double now = platform_now();
  if (real.restart) /* until the data are put back, whatever the program does */
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

/* A process that is held waits for a recovery until it is released for the first time in its life,
 * and for a checkpoint later. */
enum real_activity real_held_activity(void)
{
  return real.recovers ? REAL_RESTART : REAL_CHECKPOINTS;
}
