/* Reads and writes times and sizes as in scenarios: "1.5ms", "64KiB". */
#include <math.h>
#include <string.h>

#include "base/time_units.h"
#include "world/scenario/document.h"
#include "world/scenario/quantity.h"
#include "world/scenario/scenario.h"

/* Limits values to 300 years and an exabyte, because simulated time loses digits above. */
static const double longest = 1e10, largest = 1e18;

static const struct time_unit rates[] = /* of bytes per second */
    {{"Bps", 1, 1},           {"kBps", 1e3, 1},           {"MBps", 1e6, 1},
     {"GBps", 1e9, 1},        {"TBps", 1e12, 1},          {"KiBps", 1024, 1},
     {"MiBps", 1048576.0, 1}, {"GiBps", 1073741824.0, 1}, {NULL, 0, 0}};

static const struct time_unit speeds[] = /* of flop per second */
    {{"f", 1, 1},     {"kf", 1e3, 1},  {"Mf", 1e6, 1}, {"Gf", 1e9, 1},
     {"Tf", 1e12, 1}, {"Pf", 1e15, 1}, {NULL, 0, 0}};

static const struct time_unit sizes[] =
    {/* of bytes */
     {"B", 1, 1},           {"kB", 1e3, 1},           {"MB", 1e6, 1},
     {"GB", 1e9, 1},        {"TB", 1e12, 1},          {"KiB", 1024, 1},
     {"MiB", 1048576.0, 1}, {"GiB", 1073741824.0, 1}, {"TiB", 1099511627776.0, 1},
     {NULL, 0, 0}};

/* Returns ": 10Gbps are 1.25GBps" for a rate in bits, as networks are sold, or NULL if the unit
 * does not count bits. The caller frees it. */
static char *bits_hint(double number, const char *unit)
{
  static const char *const names[] = {"bps", "kbps", "Mbps", "Gbps", "Tbps"};
  char bits[G_ASCII_DTOSTR_BUF_SIZE], bytes[G_ASCII_DTOSTR_BUF_SIZE];
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
    if (!strcmp(unit, names[i])) {
      g_ascii_formatd(bits, sizeof bits, "%.9g", number);
      g_ascii_formatd(bytes, sizeof bytes, "%.9g", number / 8);
      return g_strdup_printf(": %s%s are %s%.*sBps", bits, unit, bytes,
                             (int)strlen(unit) - (int)strlen("bps"), unit);
    }
  return NULL;
}

/* Reads a text such as "1.5ms". A number without a unit is allowed if `bare` is set; 0 is always
 * allowed. */
static bool quantity(const char *word, const struct time_unit *units, bool bare, const char *kind,
                     double most, double *value, GError **error)
{
  size_t digits = strspn(word, "+-.0123456789");
  /* an exponent ("1e3s") needs a digit behind its e, so that no unit is taken for one */
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
  const char *names[G_N_ELEMENTS(sizes)] = {NULL}; /* room for the longest list of units */
  for (unsigned i = 0; units[i].name; i++)
    names[i] = units[i].name;
  g_autofree char *shown = document_quote(word), *known = document_alternatives(names);
  g_autofree char *bits = units == rates ? bits_hint(read, name) : NULL;
  if (!good)
    g_set_error(error, SCENARIO_ERROR, 0, "%s is no %s, expected a number with unit %s%s", shown,
                kind, known, bits ? bits : "");
  else if (*value < 0)
    g_set_error(error, SCENARIO_ERROR, 0, "%s is negative, expected a %s of 0 or more", shown,
                kind);
  else
    g_set_error(error, SCENARIO_ERROR, 0, "%s is too much, expected a %s of at most %g %s", shown,
                kind, most, units == time_units ? "s" : units[0].name);
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

bool scenario_rate(const char *word, double *rate, GError **error)
{
  return quantity(word, rates, false, "rate", largest, rate, error);
}

bool scenario_flops(const char *word, double *flops, GError **error)
{
  return quantity(word, speeds, false, "speed", largest, flops, error);
}

char *quantity_text(enum quantity kind, double amount)
{
  static const struct time_unit *const all[] = {[QUANTITY_TIME] = time_units,
                                                [QUANTITY_SIZE] = sizes,
                                                [QUANTITY_RATE] = rates,
                                                [QUANTITY_FLOPS] = speeds};
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  const struct time_unit *best = kind == QUANTITY_NUMBER ? NULL : all[kind];
  for (const struct time_unit *unit = best; unit && unit->name; unit++) {
    bool more = unit->times / unit->over >= best->times / best->over;
    bool binary = unit->name[1] == 'i';
    if (more && amount >= unit->times / unit->over &&
        (!binary || (kind == QUANTITY_SIZE && fmod(amount, unit->times) == 0.0)))
      best = unit;
  }
  g_ascii_formatd(digits, sizeof digits, "%.6g", best ? amount * best->over / best->times : amount);
  return g_strconcat(digits, best ? best->name : "", NULL);
}
