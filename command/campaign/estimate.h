/* Estimates a mean from a sample. */
#ifndef RECLINE_ESTIMATE_H
#define RECLINE_ESTIMATE_H

struct estimate {
  unsigned count;
  double mean, deviation; /* mean and deviation of the sample, or NAN if the sample has no values */
  /* half the width of the mean's 95 % confidence interval, by Student's t, or INFINITY for fewer
   * than two values */
  double half;
  double least, most;
};

struct estimate estimate_of(const double *values, unsigned count);

#endif
