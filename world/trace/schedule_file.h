/* A counterexample of the explorer as a scenario for `recline run`. */
#ifndef RECLINE_COUNTEREXAMPLE_H
#define RECLINE_COUNTEREXAMPLE_H

#include "world/scenario/scenario.h"
#include "world/script/script.h"
#include "world/trace/trace.h"

/* Returns NULL when real programs can repeat a counterexample of the claim; otherwise why not. */
const char *counterexample_refuses(const struct scenario *claim, const struct script *script);

/* Writes to `file` the scenario by which they repeat it, for that property, with the trace of that
 * name beside the file as schedule. The file is written under a temporary name and renamed. */
bool counterexample_write(const struct scenario *claim, const char *property, const char *trace,
                          const char *file, GError **error);

/* Reads the schedule of a scenario; trace_story_clear() frees it. False when real programs cannot
 * do what it says, or it is not of the scenario's protocol and number of ranks. */
bool counterexample_read(const struct scenario *, struct trace_story *, GError **error);

#endif
