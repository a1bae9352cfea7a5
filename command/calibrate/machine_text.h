/* Writes a calibrated machine as FILE.yaml (docs/platform.md). */
#ifndef RECLINE_MACHINE_TEXT_H
#define RECLINE_MACHINE_TEXT_H

#include "command/calibrate/fit.h"

/* Returns the text: each amount with its spread and its number of values, unstable measurements,
 * and amounts that were not measured. Equal samples give equal bytes. The caller frees it. */
char *machine_text(const struct fit *, const struct sample_file *);

#endif
