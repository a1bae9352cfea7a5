/* Protocols kept in other repositories: shared objects built against the installed headers. */
#ifndef RECLINE_PLUGIN_H
#define RECLINE_PLUGIN_H

#include <glib.h>
#include <stdbool.h>

/* Loads shared object `file` (an absolute path), which ends with RECLINE_PROTOCOLS (protocol.h),
 * and adds its protocols to the registry until the process ends. A file that was loaded before is
 * not loaded again. Before threads start. On error false, and `error` says in one line what is
 * wrong with the file. */
bool plugin_load(const char *file, GError **error);

#define PLUGIN_ERROR plugin_error_quark()
GQuark plugin_error_quark(void);

#endif
