/* Files that describe a machine (machine_amounts.h) in YAML: what stands under `platform` of a
 * scenario. */
#ifndef RECLINE_MACHINE_FILE_H
#define RECLINE_MACHINE_FILE_H

#include "world/scenario/machine_amounts.h"

/* Returns whether the name of `file` is one of a description: other platforms are XML. */
bool is_machine_file(const char *file);

/* Reads what `file` states, and the ranks of a node (1 where it says none). Errors: one line,
 * `file:line: key: what, expected what`. */
bool machine_read(const char *file, struct machine *, int *per_node, GError **error);

/* Returns the platform of the same, its defaults filled in, as XML; the caller frees it. */
char *machine_load(const char *file, GError **error);

#endif
