/* Writes messages about a document: "file:line: path: what, expected what". */
#include <string.h>

#include "world/scenario/document_inside.h"
#include "world/scenario/scenario.h"

enum { QUOTE_MAX = 60, ID_MAX = 100 };

G_DEFINE_QUARK(recline - scenario - error - quark, scenario_error)

char *document_quote(const char *text)
{
  GString *quoted = g_string_new("\"");
  const char *end = text;
  g_utf8_validate(text, -1, &end);
  for (const char *at = text; at < end && quoted->len <= QUOTE_MAX; at = g_utf8_next_char(at)) {
    gunichar c = g_utf8_get_char(at);
    g_string_append_unichar(quoted, g_unichar_iscntrl(c) ? ' ' : c);
  }
  if (quoted->len > QUOTE_MAX)
    g_string_append(quoted, "...");
  return g_string_free(g_string_append_c(quoted, '"'), FALSE);
}

bool document_is_name(const char *text)
{
  size_t length = strlen(text);
  if (!g_ascii_isalnum(*text) || length > ID_MAX)
    return false;
  for (size_t i = 0; i < length; i++)
    if (!g_ascii_isalnum(text[i]) && !strchr("._-~", text[i]))
      return false;
  return true;
}

char *document_alternatives(const char *const *items)
{
  GString *text = g_string_new(NULL);
  for (unsigned i = 0; items[i]; i++)
    g_string_append_printf(text, "%s%s", i == 0 ? "" : items[i + 1] ? ", " : " or ", items[i]);
  return g_string_free(text, FALSE);
}

const struct document_place *document_find(GHashTable *lines, const char *path)
{
  g_autofree char *key = g_strdup(path);
  for (;;) {
    const struct document_place *place = g_hash_table_lookup(lines, key);
    if (place || !*key)
      return place;
    char *dot = strrchr(key, '.');
    *(dot ? dot : key) = '\0';
  }
}

void document_fail(GError **error, const char *file, int line, bool set, const char *path,
                   const char *text)
{
  g_autofree char *place = file ? g_strdup_printf("%s:%d: ", file, line) : g_strdup("");
  g_set_error(error, SCENARIO_ERROR, 0, "%s%s%s%s%s", place, path, *path ? ": " : "", text,
              set ? " (from --set)" : "");
}

void document_error(GError **error, const char *file, GHashTable *lines, const char *path,
                    const char *format, va_list values)
{
  const struct document_place *place = document_find(lines, path);
  g_autofree char *text = g_strdup_vprintf(format, values);
  document_fail(error, file, place ? place->line : 1, place && place->set, path, text);
}
