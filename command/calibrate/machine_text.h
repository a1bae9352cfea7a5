/* A calibrated machine as FILE.yaml (docs/platform.md). */
#ifndef RECLINE_MACHINE_TEXT_H
#define RECLINE_MACHINE_TEXT_H

#include "command/calibrate/fit.h"

/* Returns the text: each amount with its spread and number of values, what was unstable, and what
 * was not measured. The same samples give the same bytes. The caller frees it. */
char *machine_text(const struct fit *, const struct sample_file *);

#endif
