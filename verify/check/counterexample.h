/* Keeps a run to a violation as files, for `recline check` and `recline walk`. */
#ifndef RECLINE_COUNTEREXAMPLE_KEEP_H
#define RECLINE_COUNTEREXAMPLE_KEEP_H

#include "verify/explore/explorer.h"
#include "world/scenario/scenario.h"

/* Takes the moves of `found` again in a new world, and writes ID.trace into the folder `out`. If
 * real programs can follow this trace, also writes ID.scenario.yaml. `script` is the script of the
 * claim, as claim_script() returns it. In the text of `found->why`, messages get the numbers that
 * they have in the trace. Returns the path of the trace, for g_free(), or NULL with `error` set if
 * a file cannot be written. Aborts if the world refuses one of the moves. */
char *counterexample_keep(const struct scenario *claim, const struct script *script,
                          struct exploration *found, const char *out, GError **error);

#endif
