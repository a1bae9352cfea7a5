#include "command/campaign/numbers.h"

#include <glib.h>
#include <math.h>
#include <string.h>

char *number_digits(double value, int digits)
{
  if (!isfinite(value) || value == 0.0)
    return g_strdup_printf("%g", value);
  int after = MAX(digits - 1 - (int)floor(log10(fabs(value))), 0);
  char *text = g_strdup_printf("%.*f", after, value);
  size_t length = strlen(text);
  while (after > 0 && text[length - 1] == '0')
    text[--length] = '\0';
  if (text[length - 1] == '.')
    text[length - 1] = '\0';
  return text;
}

char *number_percent(double share)
{
  double percent = 100 * share;
  return percent >= 99.5  ? g_strdup_printf("%.0f %%", percent)
         : percent < 0.01 ? g_strdup("less than 0.01 %")
                          : g_strdup_printf("%.2g %%", percent);
}

char *number_half(double mean, double half)
{
  static const double SHOWN = 1e-7;
  return half < fabs(mean) * SHOWN ? g_strdup("0") : number_digits(half, 3);
}

char *number_change(double share)
{
  double percent = 100 * share;
  return fabs(percent) < 0.005 ? g_strdup("0.00") : g_strdup_printf("%+.2f", percent);
}
