/* Tells which functions the program can call, as far as its relocations show. */
#ifndef RECLINE_PROGRAM_CALLS_H
#define RECLINE_PROGRAM_CALLS_H

#include <stdbool.h>

/* Returns whether the program, or a library that is loaded with it, refers to a function of MPI
 * whose name begins with `beginning`, in C or Fortran, also with the prefix "__wrap_P" of
 * recline-cc. `beginning` is in lower case and without "mpi_". Objects that define the function do
 * not count. Functions that a program looks up by itself (dlsym) are not found. */
bool program_calls(const char *beginning);

#endif
