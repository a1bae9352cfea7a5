/* The bitcode of a protocol: compiled when recline was built, or now, from its source. */
#ifndef RECLINE_PROVE_BITCODE_H
#define RECLINE_PROVE_BITCODE_H

#include <glib.h>
#include <llvm-c/Core.h>

/* Returns the module of a protocol, with door_bitcode.c, for the caller to dispose of. `name` is
 * that of a protocol ("c3"), of a mutant ("c3~no-suppress") or a file in C. `*found` gets the name
 * of the protocol in it, for the caller to free; NULL: the first one. NULL: `error` says what was
 * expected.
 */
LLVMModuleRef bitcode_load(const char *name, char **found, GError **error);

#endif
