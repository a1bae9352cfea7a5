/* Predicts, on a calibrated machine, measurements that did not go into its description. */
#ifndef RECLINE_MACHINE_CHECK_H
#define RECLINE_MACHINE_CHECK_H

#include "command/calibrate/sample_file.h"

/* Simulates the messages and collectives of the samples on the machine `file`, prints measured and
 * simulated times, with a sentence on the largest miss. Returns false with `error` if a simulation
 * fails. */
bool check_machine(const struct sample_file *, const char *file, GError **error);

#endif
