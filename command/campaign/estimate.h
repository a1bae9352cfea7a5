/* Estimates a mean from a sample. */
#ifndef RECLINE_ESTIMATE_H
#define RECLINE_ESTIMATE_H

struct estimate {
  unsigned count;
  double mean, deviation; /* of the sample; NAN without values */
  double half; /* half the 95 % confidence interval of the mean, by Student's t; INFINITY for fewer
                  than two values */
  double least, most;
};

struct estimate estimate_of(const double *values, unsigned count);

#endif
