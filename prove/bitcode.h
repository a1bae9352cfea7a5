/* The bitcode of a protocol: compiled when recline was built, or now, from its source. */
#ifndef RECLINE_PROVE_BITCODE_H
#define RECLINE_PROVE_BITCODE_H

#include <glib.h>
#include <llvm-c/Core.h>

/* Loads a protocol, linked with door_bitcode.c. `name` names a protocol ("c3"), a mutant
 * ("c3~no-suppress") or a file in C. Returns the module, which the caller disposes of, or NULL, and
 * then `error` says what was expected. `*found` gets the name of the protocol, which the caller
 * frees; it stays as it is for a file in C, whose first protocol is meant. */
LLVMModuleRef bitcode_load(const char *name, char **found, GError **error);

#endif
