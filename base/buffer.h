/* Builds a text by appending to it. */
#ifndef RECLINE_BUFFER_H
#define RECLINE_BUFFER_H

#include <stddef.h>

/* A zeroed buffer is empty and ready. The caller frees `text` with free(). */
struct buffer {
  char *text; /* ends with a null; NULL until something was printed */
  size_t used, room;
};

/* Appends the output of printf(), of any length. */
void buffer_printf(struct buffer *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a text that ends with a null. For many lines this is faster than buffer_printf(). */
void buffer_text(struct buffer *, const char *text);

#endif
