/* Formats a calibrated machine as the text of a FILE.yaml (docs/platform.md). */
#ifndef RECLINE_MACHINE_TEXT_H
#define RECLINE_MACHINE_TEXT_H

#include "command/calibrate/fit.h"

/* Returns the text. Each amount has its spread, its number of values and, if its measurements are
 * unstable, a mark. Comments name the amounts that were not measured. Equal samples give equal
 * bytes. The caller frees the text. */
char *machine_text(const struct fit *, const struct sample_file *);

#endif
