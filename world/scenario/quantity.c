/* Times and sizes as scenarios write them: "1.5ms", "64KiB". */
#include <math.h>
#include <string.h>

#include "base/time_units.h"
#include "world/scenario/document.h"
#include "world/scenario/scenario.h"

/* Limits, above which simulated time loses digits: 300 years, an exabyte. */
static const double longest = 1e10, largest = 1e18;

static const struct time_unit sizes[] =
    {/* of bytes */
     {"B", 1, 1},           {"kB", 1e3, 1},           {"MB", 1e6, 1},
     {"GB", 1e9, 1},        {"TB", 1e12, 1},          {"KiB", 1024, 1},
     {"MiB", 1048576.0, 1}, {"GiB", 1073741824.0, 1}, {"TiB", 1099511627776.0, 1},
     {NULL, 0, 0}};

/* Reads "1.5ms". A bare number is good where `bare` is, and 0 always. */
static bool quantity(const char *word, const struct time_unit *units, bool bare, const char *kind,
                     double most, double *value, GError **error)
{
  size_t digits = strspn(word, "+-.0123456789");
  /* "1e3s": an exponent only where a digit follows, so that no unit is taken for one */
  if (digits && (word[digits] == 'e' || word[digits] == 'E'))
    digits += 1 + strspn(word + digits + 1, "+-0123456789");
  g_autofree char *number = g_strndup(word, digits);
  const char *name = word + digits + strspn(word + digits, " ");
  char *end = NULL;
  double read = g_ascii_strtod(number, &end);
  bool good = digits && !*end && g_ascii_isdigit(end[-1]) && isfinite(read);
  const struct time_unit *unit = units;
  while (unit->name && strcmp(unit->name, name))
    unit++;
  if (good && !unit->name && !*name && (bare || read == 0))
    *value = read;
  else if (good && unit->name && isfinite(read * unit->times))
    *value = read * unit->times / unit->over;
  else
    good = false;
  if (good && *value >= 0 && *value <= most)
    return true;
  const char *names[G_N_ELEMENTS(sizes)] = {NULL}; /* the longer of two units that fit */
  for (unsigned i = 0; units[i].name; i++)
    names[i] = units[i].name;
  g_autofree char *shown = document_quote(word), *known = document_alternatives(names);
  if (!good)
    g_set_error(error, SCENARIO_ERROR, 0, "%s is no %s, expected a number with unit %s", shown,
                kind, known);
  else if (*value < 0)
    g_set_error(error, SCENARIO_ERROR, 0, "%s is negative, expected a %s of 0 or more", shown,
                kind);
  else
    g_set_error(error, SCENARIO_ERROR, 0, "%s is too much, expected a %s of at most %g%s", shown,
                kind, most, units[0].over > 1 ? " s" : " B");
  return false;
}

bool scenario_seconds(const char *word, double *seconds, GError **error)
{
  return quantity(word, time_units, false, "time", longest, seconds, error);
}

bool scenario_option_seconds(const char *word, double *seconds, GError **error)
{
  return quantity(word, time_units, true, "time", longest, seconds, error);
}

bool scenario_bytes(const char *word, double *bytes, GError **error)
{
  return quantity(word, sizes, true, "size", largest, bytes, error);
}
