/* Tests whether a file is well-formed XML. Usage: xml-test FILE. The exit code is 0 if it is. */
#include <glib.h>

int main(int argc, char **argv)
{
  g_autofree char *text = NULL;
  gsize length;
  g_autoptr(GError) error = NULL;
  static const GMarkupParser PARSER = {NULL, NULL, NULL, NULL, NULL};
  if (argc != 2 || !g_file_get_contents(argv[1], &text, &length, &error))
    return 64;
  GMarkupParseContext *context = g_markup_parse_context_new(&PARSER, 0, NULL, NULL);
  gboolean good = g_markup_parse_context_parse(context, text, (gssize)length, &error) &&
                  g_markup_parse_context_end_parse(context, &error);
  if (!good)
    g_printerr("%s: %s\n", argv[1], error->message);
  g_markup_parse_context_free(context);
  return good ? 0 : 1;
}
