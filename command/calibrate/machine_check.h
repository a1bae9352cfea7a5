/* Simulates messages and collectives on a calibrated machine, and compares the times with the
 * measured ones. The measurements of collectives did not go into the description of the machine;
 * the measurements of messages did. */
#ifndef RECLINE_MACHINE_CHECK_H
#define RECLINE_MACHINE_CHECK_H

#include "command/calibrate/sample_file.h"

/* Simulates, on the machine that `file` describes, the messages of every third size in the samples,
 * and all collectives in the samples. Prints measured and simulated times, and a sentence on the
 * largest miss. Returns false with `error` if a simulation fails or no temporary folder can be
 * made. */
bool machine_check(const struct sample_file *, const char *file, GError **error);

#endif
