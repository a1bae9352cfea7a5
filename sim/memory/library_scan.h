/* Finds out which loaded shared libraries belong to the program, and which data they have. */
#ifndef RECLINE_LIBRARY_SCAN_H
#define RECLINE_LIBRARY_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
typedef void constructor(int, char **, char **);

struct library {
  char *file;
  /* begin of the library's data: .data and .bss, except for what the dynamic linker writes */
  char *start;
  size_t bytes;
  char *fresh; /* the data for a new program, in libc memory */
  char *first; /* the data as they were when the library was found */
  constructor **constructors;
  size_t constructor_count;
  bool thread_local_data;
};

/* Lists the libraries with data that the program at `inside` needs, directly or not, in the order
 * of construction. Leaves out libraries that the simulator and the layer need themselves. Sets
 * `fresh` to the data before any constructor. Returns the number of libraries. */
enum { LIBRARIES = 32 };
int library_scan(const void *inside, struct library found[LIBRARIES]);

/* Returns whether an object of that name is libgfortran, the runtime of Fortran. */
bool library_scan_is_fortran(const char *file);

#endif
