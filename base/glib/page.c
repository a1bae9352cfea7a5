#include "base/glib/page.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/breach.h"
#include "base/glib/json.h"
#include "base/output.h"

char *page_tree(void)
{
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *bin = g_path_get_dirname(self ? self : ".");
  return g_path_get_dirname(bin);
}

char *page_load(const char *name)
{
  g_autofree char *tree = page_tree(), *file = g_build_filename(tree, name, NULL);
  char *page = NULL;
  return g_file_get_contents(file, &page, NULL, NULL) ? page : NULL;
}

char *page_put(char *page, const char *id, const char *content)
{
  g_autofree char *before = g_strdup_printf("id=\"%s\">", id);
  const char *from = strstr(page, before) + strlen(before), *rest = strstr(from, "</script>");
  g_autofree char *head = g_strndup(page, (gsize)(from - page));
  char *all = g_strconcat(head, content, rest, NULL);
  g_free(page);
  return all;
}

char *page_pack(const void *bytes, gsize size)
{
  uLongf length = compressBound(size);
  g_autofree guint8 *packed = g_malloc(length);
  REQUIRE(compress2(packed, &length, bytes, size, Z_DEFAULT_COMPRESSION) == Z_OK,
          "there is room for what is compressed");
  return g_base64_encode(packed, length);
}

char *page_json(JsonBuilder *builder)
{
  g_autofree char *text = json_text(builder, false);
  g_auto(GStrv) parts = g_strsplit(text, "<", -1);
  return g_strjoinv("\\u003c", parts);
}

bool page_write(const char *file, const char *page, GError **error)
{
  if (output_write(file, page, strlen(page)))
    return true;
  int code = errno;
  g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code), OUTPUT_CANNOT, file,
              g_strerror(code));
  return false;
}
