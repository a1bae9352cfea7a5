/* Loads protocols from shared objects: protocols of other repositories, built against the installed
 * headers, and the mutants. */
#ifndef RECLINE_PLUGIN_H
#define RECLINE_PLUGIN_H

#include <glib.h>
#include <stdbool.h>

#include "protocols/protocol.h"

/* Loads shared object `file` (an absolute path), which ends with RECLINE_PROTOCOLS (protocol.h),
 * and adds its protocols to the registry until the process ends. The object must be pure
 * (shared_object.h). A file that was loaded before is not loaded again. The call must come before
 * threads start. Returns false if something is wrong with the file, with `error` set to one
 * line. */
bool plugin_load(const char *file, GError **error);

/* Loads librecline-mutants.so of this build or installation, which holds the mutants and the
 * reference worlds (verify/mutants). Errors and repeated calls are as with plugin_load(). */
bool plugin_mutants(GError **error);

/* Returns the protocol called `name` in the registry, or NULL if there is none. If a mutant
 * ("c3~no-suppress") or a reference world ("cl-c") has such a name, loads the mutants first. */
const struct rcl_protocol *plugin_protocol(const char *name);

/* Returns the path of the shared object from which the protocol `name` was loaded, or NULL if the
 * protocol is recline's own. The text stays until the process ends. */
const char *plugin_file(const char *name);

#define PLUGIN_ERROR plugin_error_quark()
GQuark plugin_error_quark(void);

#endif
