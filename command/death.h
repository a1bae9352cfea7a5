/* Explains why a simulation ended without a result. */
#ifndef RECLINE_DEATH_H
#define RECLINE_DEATH_H

#include <stdbool.h>

#include "world/scenario/scenario.h"

/* Prints the reason, as far as the wait status and the files program.out and program.err in
 * `directory` tell. Returns the exit code of the command. Sets `keeps` if the program died and its
 * output may say why. */
int death_explain(const char *directory, const struct scenario *, int status, bool *keeps);

#endif
