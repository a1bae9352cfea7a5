#include "verify/base/buffer.h"

#include <stdarg.h>
#include <stdio.h>

#include "verify/base/memory.h"

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
  va_list values, again;
  va_start(values, format);
  va_copy(again, values);
  size_t left = buffer->room - buffer->used;
  size_t bytes = (size_t)vsnprintf(left ? buffer->text + buffer->used : NULL, left, format, values);
  if (bytes >= left) {
    buffer->room = 2 * (buffer->used + bytes + 1);
    buffer->text = memory_grow(buffer->text, buffer->room);
    vsnprintf(buffer->text + buffer->used, bytes + 1, format, again);
  }
  buffer->used += bytes;
  va_end(again);
  va_end(values);
}
