/* What a calibrated machine predicts for what was measured besides. */
#ifndef RECLINE_MACHINE_CHECK_H
#define RECLINE_MACHINE_CHECK_H

#include "command/calibrate/sample_file.h"

/* Simulates the messages and collectives of the samples on the machine `file`, and prints both,
 * with a sentence on the largest miss. False with `error` if a simulation fails. */
bool check_machine(const struct sample_file *, const char *file, GError **error);

#endif
