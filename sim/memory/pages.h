/* Keeps copies of pages that images share. Each copy counts its references, and is freed after the
 * last one. Copies do not lie in libc's heap, because there blocks of this size would not be
 * aligned to pages, and would not go back to the system while another block lies behind them. */
#ifndef RECLINE_PAGES_H
#define RECLINE_PAGES_H

#include <stddef.h>

enum { PAGE = 4096 }; /* number of bytes in a copy, whatever the size of the system's pages is */

/* Returns a copy of PAGE bytes with one reference, for the caller to write, or NULL if there is no
 * memory. */
char *page_new(void);

/* page_share() adds a reference to a copy and returns the copy; page_drop() removes a reference. */
char *page_share(char *copy);
void page_drop(char *copy);

#endif
