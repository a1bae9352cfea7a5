/* Keeps a run to a violation as files, for `recline check` and `recline walk`. */
#ifndef RECLINE_COUNTEREXAMPLE_KEEP_H
#define RECLINE_COUNTEREXAMPLE_KEEP_H

#include "verify/explore/explorer.h"
#include "world/scenario/scenario.h"

/* Takes the moves of `found` again, in a world of their own, and writes ID.trace into the folder
 * `out` and, where real programs can follow it, ID.scenario.yaml. `script` is the claim's, as
 * claim_script() returns it. The text of `found->why` gets the numbers that its messages have in
 * the trace. Returns the path of the trace, for g_free(); NULL with `error` set when a file cannot
 * be written. Aborts when the world refuses one of the moves. */
char *counterexample_keep(const struct scenario *claim, const struct script *script,
                          struct exploration *found, const char *out, GError **error);

#endif
