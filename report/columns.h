/* Puts columns of numbers and chunks of text into a page. Each column or chunk is deflated and in
 * base64, in a script element that the page reads when needed. A number is written with 7 bits in a
 * byte, low bits first; the eighth bit is set in all its bytes but the last (LEB128). */
#ifndef RECLINE_COLUMNS_H
#define RECLINE_COLUMNS_H

#include <glib.h>

/* Adds a number to the end of a column. */
void column_add(GByteArray *column, guint64 value);

/* Adds a number that may be negative: the numbers 0, -1, 1, -2, ... are added as 0, 1, 2, 3, ... */
void column_add_signed(GByteArray *column, gint64 value);

/* Adds the element PREFIX-NAME with these bytes to a page. The caller keeps `bytes`. */
void column_put(GString *page, const char *prefix, const char *name, const void *bytes, gsize size);

/* Adds the element PREFIX-NAME with the column, and frees the column. */
void column_end(GString *page, const char *prefix, const char *name, GByteArray *column);

#endif
