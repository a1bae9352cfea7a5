#include "command/replicate/expression.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

struct reader {
  const char *text, *at;
  expression_lookup *lookup;
  void *data;
  GError **error;
};

static bool sum(struct reader *, double *);

static char look(struct reader *reader)
{
  reader->at += strspn(reader->at, " \t");
  return *reader->at;
}

static bool take(struct reader *reader, char wanted)
{
  bool there = look(reader) == wanted;
  reader->at += there;
  return there;
}

static bool fail(const struct reader *reader, const char *expected)
{
  g_set_error(reader->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "\"%s\": at \"%s\", expected %s",
              reader->text, reader->at, expected);
  return false;
}

static bool reference(struct reader *reader, double *value)
{
  const char *end = strchr(reader->at, ']');
  g_autofree char *text = end ? g_strndup(reader->at, (gsize)(end - reader->at)) : NULL;
  g_auto(GStrv) words = g_strsplit(text ? text : "", " ", -1);
  if (g_strv_length(words) != 2)
    return fail(reader, "[RUN FIELD]");
  reader->at = end + 1;
  return reader->lookup(reader->data, words[0], words[1], value, reader->error);
}

static bool call(struct reader *reader, double *value)
{
  static const char *const names[] = {"min(", "max(", "abs("};
  double (*const of[])(double, double) = {fmin, fmax, NULL};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    if (!g_str_has_prefix(reader->at, names[i]))
      continue;
    reader->at += strlen(names[i]);
    if (!sum(reader, value))
      return false;
    while (of[i] && take(reader, ',')) {
      double next;
      if (!sum(reader, &next))
        return false;
      *value = of[i](*value, next);
    }
    *value = of[i] ? *value : fabs(*value);
    return take(reader, ')') || fail(reader, ")");
  }
  return fail(reader, "a number, [RUN FIELD], (, min, max or abs");
}

static bool factor(struct reader *reader, double *value)
{
  if (take(reader, '-')) {
    bool good = factor(reader, value);
    *value = -*value;
    return good;
  }
  if (take(reader, '('))
    return sum(reader, value) && (take(reader, ')') || fail(reader, ")"));
  if (take(reader, '['))
    return reference(reader, value);
  char *end;
  *value = g_ascii_strtod(reader->at, &end);
  if (end == reader->at || g_ascii_isalpha(*reader->at))
    return call(reader, value);
  reader->at = end;
  return true;
}

static bool product(struct reader *reader, double *value)
{
  if (!factor(reader, value))
    return false;
  for (char op; (op = look(reader)) == '*' || op == '/';) {
    double next;
    reader->at++;
    if (!factor(reader, &next))
      return false;
    *value = op == '*' ? *value * next : *value / next;
  }
  return true;
}

static bool difference(struct reader *reader, double *value)
{
  if (!product(reader, value))
    return false;
  for (char op; (op = look(reader)) == '+' || op == '-';) {
    double next;
    reader->at++;
    if (!product(reader, &next))
      return false;
    *value += op == '+' ? next : -next;
  }
  return true;
}

/* Reads an expression with at most one comparison. The result of a comparison is the number 1 or 0,
 * so that a product means "and". */
static bool sum(struct reader *reader, double *value)
{
  double other;
  if (!difference(reader, value))
    return false;
  char op = look(reader);
  if (op != '<' && op != '>')
    return true;
  reader->at++;
  if (!difference(reader, &other))
    return false;
  *value = op == '<' ? *value < other : *value > other;
  return true;
}

bool expression_value(const char *text, expression_lookup *lookup, void *data, double *value,
                      GError **error)
{
  struct reader reader = {text, text, lookup, data, error};
  return sum(&reader, value) && (!look(&reader) || fail(&reader, "an operator or the end"));
}
