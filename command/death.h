/* Why a simulation ended without a result. */
#ifndef RECLINE_DEATH_H
#define RECLINE_DEATH_H

#include <stdbool.h>

#include "world/scenario/scenario.h"

/* Prints why, as far as the wait status and program.out and program.err in `directory` tell, and
 * returns the exit code of the command. `keeps`: the program died, and its output may say why. */
int death_explain(const char *directory, const struct scenario *, int status, bool *keeps);

#endif
