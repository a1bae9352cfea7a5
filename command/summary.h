/* Prints the summary of a run for a person. */
#ifndef RECLINE_SUMMARY_H
#define RECLINE_SUMMARY_H

#include "world/result/result.h"
#include "world/scenario/scenario.h"

/* Prints the summary to standard output, in colour and with bars on a terminal that can show them.
 * `path` is the program's path, `out` is the folder of --out or NULL. `wrong` says what is not as
 * expected, or is NULL. */
void summary_print(const struct scenario *scenario, const struct result *result, const char *path,
                   const char *out, const char *wrong);

#endif
