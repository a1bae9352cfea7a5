#include "sim/host/rank/rank_clock.h"

#include "sim/host/rank/shadow.h"

/* Returns by how many seconds the clock of the rank is ahead of simulated time. */
static double skew_of(const struct rank *r)
{
  static double *ahead;
  if (!ahead) {
    GRand *random =
        g_rand_new_with_seed((guint32)(layer.scenario->seed ^ layer.scenario->seed >> 32));
    ahead = g_new(double, (gsize)layer.ranks);
    for (int rank = 0; rank < layer.ranks; rank++)
      ahead[rank] = layer.scenario->clocks.skew * g_rand_double_range(random, -1.0, 1.0);
    g_rand_free(random);
  }
  return ahead[r->index];
}

/* Returns the time that all clocks show when the checkpoint is due. */
static double instant_of(const struct rank *r, uint32_t checkpoint)
{
  static struct {
    uint32_t checkpoint, incarnation;
    double time;
  } last;
  uint32_t incarnation = shadow_rank(r->index)->incarnation;
  if (last.checkpoint != checkpoint || last.incarnation != incarnation) {
    last.checkpoint = checkpoint;
    last.incarnation = incarnation;
    last.time = machine_now() + skew_of(r) + layer.scenario->checkpoint.every;
  }
  return last.time;
}

double clock_alarm(const struct rank *r, const struct rcl_action *alarm)
{
  double time = instant_of(r, alarm->checkpoint) - skew_of(r);
  for (int i = 0; i < RCL_BOUNDS; i++)
    time += alarm->after[i] * layer.scenario->clocks.bound[i];
  return time;
}
