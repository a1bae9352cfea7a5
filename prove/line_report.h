/* What `recline prove PROTOCOL` prints of a proof. */
#ifndef RECLINE_PROVE_LINE_REPORT_H
#define RECLINE_PROVE_LINE_REPORT_H

#include "prove/line_proof.h"

/* Prints it; returns the exit code: proved 0, fails 1, undecided 2. */
int line_report(const char *name, const struct line_asked *, const struct line_proof *,
                double seconds);

#endif
