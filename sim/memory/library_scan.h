/* Shared libraries as they are loaded: which ones are the program's, and what data they have. */
#ifndef RECLINE_LIBRARY_SCAN_H
#define RECLINE_LIBRARY_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
typedef void constructor(int, char **, char **);

struct library {
  char *file;
  char *start; /* its data: .data and .bss, without the part that the dynamic linker writes */
  size_t bytes;
  char *fresh; /* the data that a new program finds: libc memory */
  char *first; /* the data as they were found */
  constructor **constructors;
  size_t constructor_count;
  bool thread_local_data;
};

/* Lists the libraries with data that the program at `inside` needs, directly or not, without those
 * that the simulator and the layer need themselves, in the order of construction. `fresh` has the
 * data before any constructor has run. Returns their number. */
enum { LIBRARIES = 32 };
int library_scan(const void *inside, struct library found[LIBRARIES]);

/* Returns whether the object of that name is the runtime of Fortran, libgfortran. */
bool library_scan_is_fortran(const char *file);

#endif
