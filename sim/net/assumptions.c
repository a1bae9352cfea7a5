/* Notes which values a platform does not give, and which values the run uses instead. The result
 * lists both. */
#include <glib.h>
#include <string.h>

#include "sim/net/machine.h"

enum { ASSUMPTIONS_MAX = 16 };
static struct {
  const char *what;
  char *text;
  bool decisive;
} assumptions[ASSUMPTIONS_MAX];
static int assumed;

bool machine_is_assumed(const char *what)
{
  for (int i = 0; i < assumed; i++)
    if (!strcmp(assumptions[i].what, what))
      return true;
  return false;
}

void machine_assume(const char *what, const char *taken, bool decisive)
{
  if (machine_is_assumed(what) || assumed == ASSUMPTIONS_MAX)
    return;
  assumptions[assumed].what = what;
  assumptions[assumed].decisive = decisive;
  assumptions[assumed++].text = g_strdup_printf("%s, taken as %s", what, taken);
}

const char *machine_assumption(int i, bool *decisive)
{
  *decisive = i < assumed && assumptions[i].decisive;
  return i < assumed ? assumptions[i].text : NULL;
}
