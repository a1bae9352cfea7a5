/* Loads the bitcode of a protocol. It was compiled with recline, or is compiled now from the
 * protocol's source. */
#ifndef RECLINE_PROVE_BITCODE_H
#define RECLINE_PROVE_BITCODE_H

#include <glib.h>
#include <llvm-c/Core.h>

/* Loads a protocol, linked with door_bitcode.c. `name` names a protocol ("c3"), a mutant
 * ("c3~no-suppress") or a file in C. Returns the module, which the caller disposes of, or NULL with
 * `error` set to what was expected. Sets `*found` to the protocol's name, which the caller frees.
 * For a file in C, the file's first protocol is meant and `*found` is not changed. */
LLVMModuleRef bitcode_load(const char *name, char **found, GError **error);

#endif
