/* Copies of pages that images share: each has a count of references, and is kept as long as there
 * is one. They are not in libc's heap, where blocks of this size are not aligned to pages and do
 * not go back to the system while another block lies behind them. */
#ifndef RECLINE_PAGES_H
#define RECLINE_PAGES_H

#include <stddef.h>

enum { PAGE = 4096 }; /* bytes that are shared, whatever the size of the system's pages */

/* Returns a copy with one reference, PAGE bytes for the caller to write; NULL: no memory. */
char *page_new(void);

/* Add a reference to a copy, and remove one. */
char *page_share(char *copy);
void page_drop(char *copy);

#endif
