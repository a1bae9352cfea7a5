/* Copies of pages that images share: each is counted, and kept for as long as somebody counts on
 * it. Not in libc's heap, whose blocks of this size neither lie on a page nor ever go back to the
 * system while another lies behind them. */
#ifndef RECLINE_PAGES_H
#define RECLINE_PAGES_H

#include <stddef.h>

enum { PAGE = 4096 }; /* bytes; what is shared, whatever the size of the system's pages */

/* A copy with one reference, of PAGE bytes that are to be written; NULL: no memory. */
char *page_new(void);

/* One reference more to a copy, and one less. */
char *page_share(char *copy);
void page_drop(char *copy);

#endif
