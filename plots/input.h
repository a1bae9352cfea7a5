/* Makes errors about files that are read for a picture. Each error is one line `file:line: what,
 * expected what`. */
#ifndef RECLINE_INPUT_H
#define RECLINE_INPUT_H

#include <glib.h>
#include <stdarg.h>
#include <stdbool.h>

#define INPUT_ERROR g_quark_from_static_string("recline-input")

/* Sets `error` to such a line. If `line` is 0, the text has no line number. */
static inline void G_GNUC_PRINTF(4, 0) input_error(GError **error, const char *file, unsigned line,
                                                   const char *format, va_list arguments)
{
  g_autofree char *what = g_strdup_vprintf(format, arguments);
  if (line == 0)
    g_set_error(error, INPUT_ERROR, 0, "%s: %s", file, what);
  else
    g_set_error(error, INPUT_ERROR, 0, "%s:%u: %s", file, line, what);
}

/* Does the same as input_error(), and returns false. */
static inline bool G_GNUC_PRINTF(4, 5)
    input_bad(GError **error, const char *file, unsigned line, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  input_error(error, file, line, format, arguments);
  va_end(arguments);
  return false;
}

#endif
