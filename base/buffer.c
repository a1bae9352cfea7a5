#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

void buffer_text(struct buffer *buffer, const char *text)
{
  size_t bytes = strlen(text);
  if (buffer->room - buffer->used <= bytes) {
    buffer->room = 2 * (buffer->used + bytes + 1);
    buffer->text = memory_grow(buffer->text, buffer->room);
  }
  memcpy(buffer->text + buffer->used, text, bytes + 1);
  buffer->used += bytes;
}

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
