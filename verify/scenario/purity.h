/* Lock 1 of docs/architecture.md for protocols that are kept elsewhere: a shared object of
 * protocols has no data that can be written, and needs nothing but mem*. Read from the file (ELF,
 * 64 bits, the byte order of this machine) before it is loaded, so that no code of it has run. */
#ifndef RECLINE_PURITY_H
#define RECLINE_PURITY_H

#include <glib.h>
#include <stdbool.h>

/* Whether the protocols of shared object `file` can keep no state but the one that the host holds.
 * On error false, with `error` (of PLUGIN_ERROR) in one line: the first symbol that it needs, or
 * the first variable that it can write; or that it is no such file. An object without a symbol
 * table (stripped) is judged by the sizes of its sections. Objects built with sanitizers pass:
 * these add data and symbols of their own. */
bool purity_check(const char *file, GError **error);

#endif
