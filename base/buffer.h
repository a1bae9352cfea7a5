/* A text that grows. */
#ifndef RECLINE_BUFFER_H
#define RECLINE_BUFFER_H

#include <stddef.h>

/* Begin with {0}. The caller frees `text` with free(). */
struct buffer {
  char *text; /* ends with a null; NULL: nothing was printed yet */
  size_t used, room;
};

/* printf() to the end of the text, in bytes of any number. */
void buffer_printf(struct buffer *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The text that ends with a null to the end of the text: where lines are many, for printf() costs.
 */
void buffer_text(struct buffer *, const char *text);

#endif
