/* Tells which pages of a range a process has touched, from /proc/self/pagemap. If the kernel does
 * not tell, all pages count as touched; then untouched pages are read and turn out to be zeros. */
#ifndef RECLINE_PAGEMAP_H
#define RECLINE_PAGEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pagemap_range {
  /* the entries of pages `first` to `last` - 1 are known; `end` is the number of the page behind
   * the range */
  uintptr_t first, last, end;
};

/* Begins a range of pages from `start` to `end`. The caller then asks for pages in this order. */
struct pagemap_range pagemap_begin(const char *start, const char *end);

/* Returns whether the page of `address` may have changed after it was mapped. */
bool pagemap_is_touched(struct pagemap_range *, const char *address);

size_t pagemap_page_bytes(void); /* size of the system's pages */

#endif
