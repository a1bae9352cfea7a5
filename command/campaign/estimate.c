#include "command/campaign/estimate.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

static const double CONFIDENCE = 0.95;

struct estimate estimate_of(const double *values, unsigned count)
{
  struct estimate e = {count, NAN, NAN, INFINITY, NAN, NAN};
  double sum = 0.0, squares = 0.0;
  for (unsigned i = 0; i < count; i++) {
    sum += values[i];
    e.least = fmin(e.least, values[i]);
    e.most = fmax(e.most, values[i]);
  }
  e.mean = count ? sum / count : e.mean;
  for (unsigned i = 0; i < count; i++)
    squares += (values[i] - e.mean) * (values[i] - e.mean);
  if (count < 2)
    return e;
  e.deviation = sqrt(squares / (count - 1));
  e.half = gsl_cdf_tdist_Pinv(0.5 + CONFIDENCE / 2.0, count - 1) * e.deviation / sqrt(count);
  return e;
}
