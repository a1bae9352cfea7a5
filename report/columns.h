/* Columns of numbers and chunks of text in a page: deflated, in base64, each in a script element
 * that the page reads when it needs it. Numbers are bytes of 7 bits, low ones first, the last
 * without the eighth bit (LEB128). */
#ifndef RECLINE_COLUMNS_H
#define RECLINE_COLUMNS_H

#include <glib.h>

/* Adds a number to the end of a column. */
void column_add(GByteArray *column, guint64 value);

/* The same for a number that may be negative: 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
void column_add_signed(GByteArray *column, gint64 value);

/* Adds the element PREFIX-NAME with these bytes to a page. */
void column_put(GString *page, const char *prefix, const char *name, const void *bytes, gsize size);

/* The same for a column, which it frees. */
void column_end(GString *page, const char *prefix, const char *name, GByteArray *column);

#endif
