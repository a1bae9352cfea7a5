/* Computes the best time between checkpoints, by theory. All times are in one unit. */
#ifndef RECLINE_OPTIMUM_H
#define RECLINE_OPTIMUM_H

/* Describes a machine whose times between failures have an exponential distribution. */
struct machine_model {
  double mtbf;       /* mean time between failures, of all nodes together */
  double checkpoint; /* cost of a checkpoint */
  double recovery;   /* cost of reading a checkpoint, during which failures can happen */
  double downtime;   /* time after each failure during which nothing fails */
};

double optimum_young(const struct machine_model *); /* Young 1974, CACM 17(9) */
double optimum_daly(const struct machine_model *);  /* Daly 2006, FGCS 22, eq. 37 */

/* Returns the interval at which optimum_time() is least, exactly, by Lambert's W. */
double optimum_exact(const struct machine_model *);

/* Returns the mean time of `work` with a checkpoint after every `interval` of work: Daly 2006,
 * section 3, with a downtime. */
double optimum_time(const struct machine_model *, double work, double interval);

#endif
