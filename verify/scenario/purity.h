/* Lock 1 of docs/architecture.md for protocols that are kept elsewhere: a shared object of
 * protocols has no data that can be written, and needs nothing but mem*. Read from the file (ELF,
 * 64 bits, the byte order of this machine) before it is loaded, so that no code of it has run. */
#ifndef RECLINE_PURITY_H
#define RECLINE_PURITY_H

#include <glib.h>

/* Why the protocols of shared object `file` can keep state that the host does not hold, in one line
 * that the caller frees with g_free(): the first symbol that it needs, or the first variable that
 * it can write; or that it is no such file. NULL: they cannot. An object without a symbol table
 * (stripped) is judged by the sizes of its sections. Objects built with sanitizers pass: these add
 * data and symbols of their own. */
char *purity_problem(const char *file);

#endif
