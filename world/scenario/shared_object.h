/* Examines shared objects as files (ELF, 64 bits, the byte order of this machine), before they are
 * loaded and any of their code runs. */
#ifndef RECLINE_SHARED_OBJECT_H
#define RECLINE_SHARED_OBJECT_H

#include <glib.h>
#include <stdbool.h>

/* Returns why the protocols of `file` could keep state that the host does not hold (lock 1 of
 * docs/architecture.md), in one line that the caller frees with g_free(). The line names the first
 * symbol that the object needs besides mem*, or the first variable that it can write, or says that
 * `file` is no shared object. Returns NULL if they cannot. An object without a symbol table
 * (stripped) is judged by the sizes of its sections. Objects built with sanitizers pass, because
 * sanitizers add data and symbols of their own. */
char *shared_object_impurity(const char *file);

/* Returns whether `file`, a shared object or a program built as one, needs the library with that
 * name. */
bool shared_object_needs(GMappedFile *file, const char *library);

#endif
