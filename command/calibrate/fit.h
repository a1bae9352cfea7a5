/* From samples to the amounts of a machine (docs/platform.md). */
#ifndef RECLINE_FIT_H
#define RECLINE_FIT_H

#include "command/calibrate/sample_file.h"
#include "world/scenario/quantity.h"

/* An amount, and the series on which it rests. `value` 0: not measured. */
struct fitted {
  double value;
  const struct series *from; /* whose spread is the amount's; NULL: none */
  GString *by;               /* the same by size and writers; NULL: it is one number */
};

struct fitted_disk {
  int disk; /* of the samples; -1: none was measured */
  struct fitted bandwidth, read_bandwidth, write_latency;
};

struct fit {
  struct fitted speed, copy, memory; /* copy: in memory; memory: of a capture */
  struct {
    struct fitted latency, bandwidth;
  } within, between;
  struct fitted overhead, eager;
  struct fitted_disk local, storage;
};

/* Takes medians. The caller ends with fit_clear(); series must stay as long. */
void fit_machine(struct fit *, const struct sample_file *);
void fit_clear(struct fit *);

#endif
