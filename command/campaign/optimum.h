/* The best time between checkpoints, by theory. All times are in one unit. */
#ifndef RECLINE_OPTIMUM_H
#define RECLINE_OPTIMUM_H

/* Exponential failures. */
struct machine_model {
  double mtbf;       /* mean time between failures of all nodes together */
  double checkpoint; /* cost of a checkpoint */
  double recovery;   /* cost of reading it back, during which failures can happen */
  double downtime;   /* time after each failure in which nothing fails */
};

double optimum_young(const struct machine_model *); /* Young 1974, CACM 17(9) */
double optimum_daly(const struct machine_model *);  /* Daly 2006, FGCS 22, eq. 37 */

/* The minimum of optimum_time() over `interval`, exactly: by Lambert's W. */
double optimum_exact(const struct machine_model *);

/* The mean time of `work` with a checkpoint after every `interval` of it: Daly 2006, section 3,
 * with a downtime. */
double optimum_time(const struct machine_model *, double work, double interval);

#endif
