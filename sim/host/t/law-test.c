/* Compares 10,000 draws of each law with its distribution function, which GSL computes. The
 * test is the one by Kolmogorov and Smirnov: at a level of 0.1 per cent, the largest distance of
 * the two may be 1.95 / sqrt(n). */
#include "sim/host/failures/failure_times.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DRAWS = 10000 };
static const double CRITICAL = 1.95;
static const double MEAN = 86400.0;

static int tests, wrong;

static void ok(bool good, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void ok(bool good, const char *format, ...)
{
  va_list values;
  va_start(values, format);
  g_autofree char *name = g_strdup_vprintf(format, values);
  va_end(values);
  printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
  wrong += !good;
}

static double distribution(const struct failure *f, double x)
{
  double k = f->shape;
  switch (f->law) {
  case LAW_WEIBULL:
    return gsl_cdf_weibull_P(x, f->mtbf / tgamma(1.0 + 1.0 / k), k);
  case LAW_LOGNORMAL:
    return gsl_cdf_lognormal_P(x, log(f->mtbf) - k * k / 2.0, k);
  case LAW_GAMMA:
    return gsl_cdf_gamma_P(x, k, f->mtbf / k);
  default:
    return gsl_cdf_exponential_P(x, f->mtbf);
  }
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Returns sqrt(n) times the largest distance between the draws' distribution and the law's. */
static double distance(double *draws, const struct failure *f)
{
  double most = 0.0;
  qsort(draws, DRAWS, sizeof *draws, by_value);
  for (int i = 0; i < DRAWS; i++) {
    double p = distribution(f, draws[i]);
    most = fmax(most, fmax(p - (double)i / DRAWS, (double)(i + 1) / DRAWS - p));
  }
  return most * sqrt(DRAWS);
}

/* Tests the draws of one node, and the first draws of many nodes. */
static void follows(enum law law, double shape)
{
  static double draws[DRAWS];
  const struct failure f = {.law = law, .mtbf = MEAN, .shape = shape},
                       other = {.law = law, .mtbf = 1.2 * MEAN, .shape = shape};
  uint64_t stream = law_stream(7, 0, "node-3");
  for (int i = 0; i < DRAWS; i++)
    draws[i] = law_draw(&f, stream, 2 * (uint64_t)i);
  double found = distance(draws, &f), wide = distance(draws, &other);
  ok(found < CRITICAL, "%s %g: the draws of one node (%.3f)", scenario_law_name(law), shape, found);
  ok(wide > CRITICAL, "and not those of another law (%.3f)", wide);
  for (int i = 0; i < DRAWS; i++) {
    g_autofree char *name = g_strdup_printf("node-%d", i);
    draws[i] = law_draw(&f, law_stream(7, 0, name), 0);
  }
  found = distance(draws, &f);
  ok(found < CRITICAL, "%s %g: the first draws of many nodes (%.3f)", scenario_law_name(law), shape,
     found);
}

/* Returns the correlation of two first draws over seeds 0, 1, 2, ...: for failure 0 of "node-0",
 * and for failure `index` of `name`. */
static double correlation(unsigned index, const char *name)
{
  double sum = 0.0;
  for (uint64_t seed = 0; seed < DRAWS; seed++)
    sum += (law_uniform(law_stream(seed, 0, "node-0"), 0) - 0.5) *
           (law_uniform(law_stream(seed, index, name), 0) - 0.5);
  return 12.0 * sum / DRAWS;
}

int main(void)
{
  follows(LAW_EXPONENTIAL, -1.0);
  follows(LAW_WEIBULL, 0.7);
  follows(LAW_WEIBULL, 3.0);
  follows(LAW_LOGNORMAL, 1.5);
  follows(LAW_GAMMA, 0.3);
  follows(LAW_GAMMA, 4.5);
  ok(fabs(correlation(0, "node-1")) < 3.3 / sqrt(DRAWS), "two nodes fail independently");
  ok(fabs(correlation(1, "node-0")) < 3.3 / sqrt(DRAWS), "so do two laws of one node");
  ok(correlation(0, "node-0") > 0.9, "and a node fails as it does");
  printf("1..%d\n", tests);
  return wrong > 0;
}
