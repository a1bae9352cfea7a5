#include "report/columns.h"

#include "base/glib/page.h"

void column_add(GByteArray *column, guint64 value)
{
  guint8 bytes[10];
  guint length = 0;
  do {
    bytes[length++] = (guint8)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    value >>= 7;
  } while (value);
  g_byte_array_append(column, bytes, length);
}

void column_add_signed(GByteArray *column, gint64 value)
{
  column_add(column, value < 0 ? ((guint64) - (value + 1) << 1) + 1 : (guint64)value << 1);
}

void column_put(GString *page, const char *prefix, const char *name, const void *bytes, gsize size)
{
  g_autofree char *text = page_pack(bytes, size);
  g_string_append_printf(page, "<script type=\"text/plain\" id=\"%s-%s\">", prefix, name);
  g_string_append(page, text);
  g_string_append(page, "</script>\n");
}

void column_end(GString *page, const char *prefix, const char *name, GByteArray *column)
{
  column_put(page, prefix, name, column->data ? column->data : (guint8 *)"", column->len);
  g_byte_array_unref(column);
}
