/* Which pages of a range a process has touched, as the kernel tells in /proc/self/pagemap. Where it
 * does not tell, all of them: then untouched pages are read, and found to be zeros. */
#ifndef RECLINE_PAGEMAP_H
#define RECLINE_PAGEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pagemap_range {
  uintptr_t first, last, end; /* numbers of pages: known are first to last - 1; the range's end */
};

/* For pages from `start` to `end`, in this order, one range at a time. */
struct pagemap_range pagemap_begin(const char *start, const char *end);

/* Returns whether the page that holds `address` can be anything but what it was when it was mapped.
 */
bool pagemap_is_touched(struct pagemap_range *, const char *address);

size_t pagemap_page_bytes(void); /* of the system's pages */

#endif
