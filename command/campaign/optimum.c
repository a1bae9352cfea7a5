#include "command/campaign/optimum.h"

#include <gsl/gsl_sf_lambert.h>
#include <math.h>

double optimum_young(const struct machine_model *m)
{
  return sqrt(2.0 * m->checkpoint * m->mtbf);
}

double optimum_daly(const struct machine_model *m)
{
  double half = m->checkpoint / (2.0 * m->mtbf);
  if (half >= 1.0)
    return m->mtbf;
  return optimum_young(m) * (1.0 + sqrt(half) / 3.0 + half / 9.0) - m->checkpoint;
}

double optimum_exact(const struct machine_model *m)
{
  return m->mtbf * (1.0 + gsl_sf_lambert_W0(-exp(-1.0 - m->checkpoint / m->mtbf)));
}

double optimum_time(const struct machine_model *m, double work, double interval)
{
  return work / interval * (m->mtbf + m->downtime) * exp(m->recovery / m->mtbf) *
         expm1((interval + m->checkpoint) / m->mtbf);
}
