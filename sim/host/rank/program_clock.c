#include "sim/host/rank/program_clock.h"

#include <math.h>

static const double NEARLY = 1e-9;

void program_clock_passes(struct rank *r, double seconds)
{
  if (r->mpi->clock.is_known)
    r->mpi->clock.derived += seconds;
}

void program_clock_computes(struct rank *r, double flops)
{
  program_clock_passes(r, flops / r->first_speed);
}

double program_clock_reading(const struct rank *r, double now)
{
  const struct program_clock *clock = &r->mpi->clock;
  double time = fmax(now, clock->read);
  return fabs(time - clock->derived) < NEARLY ? clock->derived : time;
}

double program_clock_read(struct rank *r, double reading)
{
  struct program_clock *clock = &r->mpi->clock;
  clock->read = clock->derived = fmax(reading, clock->read);
  clock->is_known = true;
  program_clock_passes(r, machine_smpi_reading());
  return clock->read;
}

void program_clock_forget(struct rank *r)
{
  r->mpi->clock = (struct program_clock){0};
}
