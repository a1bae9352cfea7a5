/* The functions that the program can call, as far as its relocations tell. */
#ifndef RECLINE_PROGRAM_CALLS_H
#define RECLINE_PROGRAM_CALLS_H

#include <stdbool.h>

/* Returns whether the program, or a library that is loaded with it, names a function of MPI that
 * begins so, in lower case and without "mpi_", in C or Fortran, by either name. Objects that define
 * it do not count. Functions that a program looks up by itself (dlsym) are not found. */
bool program_calls(const char *beginning);

#endif
