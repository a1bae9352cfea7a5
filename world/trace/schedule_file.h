/* Writes a counterexample of the explorer as a scenario for `recline run`, and reads schedules. */
#ifndef RECLINE_SCHEDULE_FILE_H
#define RECLINE_SCHEDULE_FILE_H

#include "world/scenario/scenario.h"
#include "world/script/script.h"
#include "world/trace/trace.h"

/* Returns NULL if real programs can repeat a counterexample of the claim, otherwise the reason why
 * they cannot. */
const char *schedule_file_refuses(const struct scenario *claim, const struct script *script);

/* Writes to `file` the scenario by which real programs repeat a counterexample: a run of `claim`
 * that violates `property`. The schedule is the trace `trace`, a name relative to the folder of
 * `file`. The file is written under a temporary name and renamed. */
bool schedule_file_write(const struct scenario *claim, const char *property, const char *trace,
                         const char *file, GError **error);

/* Reads the schedule of a scenario. The caller ends with trace_story_clear(). Returns false with
 * `error` set if real programs cannot follow it, or if it does not have the scenario's protocol and
 * number of ranks. */
bool schedule_file_read(const struct scenario *, struct trace_story *, GError **error);

#endif
