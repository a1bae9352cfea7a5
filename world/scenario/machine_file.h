/* Reads files that describe a machine (machine_amounts.h) in YAML, with the keys under `platform`
 * of a scenario. */
#ifndef RECLINE_MACHINE_FILE_H
#define RECLINE_MACHINE_FILE_H

#include "world/scenario/machine_amounts.h"

/* Returns whether the name of `file` is the name of such a description; other platforms are XML. */
bool is_machine_file(const char *file);

/* Reads the values that `file` states, and the number of ranks on a node (1 if it names none).
 * Returns false with `error` set to one line `file:line: key: what, expected what`. */
bool machine_read(const char *file, struct machine *, int *per_node, GError **error);

/* Returns the platform of such a file, with defaults, as XML, which the caller frees. Returns NULL
 * after an error. */
char *machine_load(const char *file, GError **error);

#endif
