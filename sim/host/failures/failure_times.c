#include "sim/host/failures/failure_times.h"

#include <math.h>

static const uint64_t GAMMA = UINT64_C(0x9E3779B97F4A7C15);

static uint64_t mix(uint64_t x)
{
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

uint64_t law_stream(uint64_t seed, unsigned index, const char *name)
{
  uint64_t stream = mix(mix(seed + GAMMA) + index);
  for (; *name; name++)
    stream = mix(stream + GAMMA + (unsigned char)*name);
  return stream;
}

double law_uniform(uint64_t stream, uint64_t number)
{
  return ((double)(mix(stream + (number + 1) * GAMMA) >> 11) + 0.5) * 0x1p-53;
}

/* Draws from the normal distribution (Box and Muller 1958). Uses number `*next` of the stream and
 * the number after it. */
static double draw_normal(uint64_t stream, uint64_t *next)
{
  const double turn = 6.283185307179586;
  double radius = sqrt(-2.0 * log(law_uniform(stream, (*next)++)));
  return radius * cos(turn * law_uniform(stream, (*next)++));
}

/* Draws from the gamma distribution of scale 1 by rejection (Marsaglia and Tsang 2000). For shapes
 * below 1, uses the method of their section 6. */
static double draw_gamma(double shape, uint64_t stream)
{
  uint64_t next = 0;
  double boost = shape < 1.0 ? pow(law_uniform(stream, next++), 1.0 / shape) : 1.0;
  double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
  for (;;) {
    double x = draw_normal(stream, &next), v = 1.0 + c * x;
    double u = law_uniform(stream, next++);
    v = v * v * v;
    if (v > 0.0 && log(u) < 0.5 * x * x + d - d * v + d * log(v))
      return boost * d * v;
  }
}

/* Draws a time as a multiple of the mean time. */
static double draw(enum law law, double shape, uint64_t stream)
{
  uint64_t first = 0;
  switch (law) {
  case LAW_WEIBULL:
    return pow(-log(law_uniform(stream, 0)), 1.0 / shape) / tgamma(1.0 + 1.0 / shape);
  case LAW_LOGNORMAL:
    return exp(shape * draw_normal(stream, &first) - shape * shape / 2.0);
  case LAW_GAMMA:
    return draw_gamma(shape, stream) / shape;
  default:
    return -log(law_uniform(stream, 0));
  }
}

static double draw_seconds(enum law law, double mean, double shape, uint64_t stream)
{
  return fmax(round(mean * draw(law, shape, stream) * 1e9), 1.0) / 1e9;
}

double law_draw(const struct failure *failure, uint64_t stream, uint64_t number)
{
  return draw_seconds(failure->law, failure->mtbf, failure->shape, mix(stream + number * GAMMA));
}

double law_draw_repair(const struct failure *failure, uint64_t stream, uint64_t number)
{
  if (failure->repair_law == LAW_NONE)
    return failure->repair;
  return draw_seconds(failure->repair_law, failure->repair, failure->repair_shape,
                      mix(stream + number * GAMMA));
}
