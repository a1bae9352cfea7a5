/* Loads the bitcode of a protocol: the one that was compiled with recline, or one that is compiled
 * now, from its source. */
#ifndef RECLINE_PROVE_BITCODE_H
#define RECLINE_PROVE_BITCODE_H

#include <glib.h>
#include <llvm-c/Core.h>

/* Loads a protocol, linked with door_bitcode.c. `name` names a protocol ("c3"), a mutant
 * ("c3~no-suppress") or a file in C. Returns the module, which the caller disposes of, or NULL with
 * `error` set to what was expected. `*found` becomes the protocol's name, which the caller frees.
 * For a file in C `*found` is not changed: the file's first protocol is meant. */
LLVMModuleRef bitcode_load(const char *name, char **found, GError **error);

#endif
