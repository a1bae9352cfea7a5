/* Computes the amounts of a machine (docs/platform.md) from samples. */
#ifndef RECLINE_FIT_H
#define RECLINE_FIT_H

#include "command/calibrate/sample_file.h"
#include "world/scenario/quantity.h"

/* Holds an amount, and the series on which it rests. If `value` is 0, the amount was not
 * measured. */
struct fitted {
  double value;
  /* the series that tells the spread of the amount, or NULL if there is none */
  const struct series *from;
  GString *by; /* the amounts by size and number of writers, or NULL if there is only one */
};

struct fitted_disk {
  int disk; /* the number of a disk in the samples, or -1 if none was measured */
  struct fitted bandwidth, read_bandwidth, write_latency;
};

struct fit {
  /* `copy`: copying messages in memory; `memory`: copying a captured image */
  struct fitted speed, copy, memory;
  struct {
    struct fitted latency, bandwidth;
  } within, between;
  struct fitted overhead, eager;
  struct fitted_disk local, storage;
};

/* Fits medians. The caller ends with fit_clear(), and frees the samples after that. */
void fit_machine(struct fit *, const struct sample_file *);
void fit_clear(struct fit *);

#endif
