/* Shared libraries as they are loaded: which ones are the program's, and what data they have. */
#ifndef RECLINE_LIBRARY_SCAN_H
#define RECLINE_LIBRARY_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
typedef void constructor(int, char **, char **);

struct library {
  char *file;
  char *start; /* of its data: .data and .bss, what the dynamic linker writes left out */
  size_t bytes;
  char *fresh; /* the same as a program finds them that begins: libc memory */
  char *first; /* and as they were found */
  constructor **constructors;
  size_t constructor_count;
  bool thread_local_data;
};

/* Those that the program at `inside` needs, directly or not, beside what the simulator and the
 * layer need themselves: those with data of any size, in the order in which they are to be
 * constructed. `fresh` is what is there before any constructor has run. Returns how many. */
enum { LIBRARIES = 32 };
int library_scan(const void *inside, struct library found[LIBRARIES]);

/* Returns whether the object of that name is the runtime of Fortran, libgfortran. */
bool library_scan_is_fortran(const char *file);

#endif
