/* Declares the parts of scenario_read.c, which judges the rules between keys. Only world/scenario
 * uses this file. A function that returns false has set `error` to one line. */
#ifndef RECLINE_SCENARIO_JUDGE_H
#define RECLINE_SCENARIO_JUDGE_H

#include "world/scenario/document.h"
#include "world/scenario/scenario.h"

/* ---- scenario_platform.c ---- */

/* Returns whether the file states the key at `path`. */
bool scenario_given(const struct scenario *, const char *path);

/* Makes `*name`, which is relative to the scenario's folder, an absolute path. */
void scenario_make_absolute(const struct scenario *, char **name);

/* Does the same for a file that must exist, whose name is the value of the key at `path`. */
bool scenario_find_file(const struct scenario *, const char *path, char **name,
                        const char *expected, GError **error);

/* Finds the nodes of a layout. The layout's keys are below `path`. */
bool scenario_judge_layout(const struct scenario *, const char *path, struct layout *,
                           GError **error);

/* Judges the keys of `platform`. */
bool scenario_judge_platform(struct scenario *, GError **error);
/* Completes a machine that the scenario describes, and makes the XML of its platform. */
bool scenario_judge_machine(struct scenario *, GError **error);

/* ---- scenario_failures.c ---- */

/* Judges the keys of `failures`, after those of `platform`. */
bool scenario_judge_failures(struct scenario *, GError **error);

#endif
