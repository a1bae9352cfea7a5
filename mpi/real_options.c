/* Reads settings from the environment, and ends all processes after an error. */
#define _DEFAULT_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "mpi/real_inside.h"
#include "protocols/text.h"

extern char **environ;

struct real real;

_Noreturn void real_die(int code, const char *format, ...)
{
  char text[2 * TEXT_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  fprintf(stderr, "recline: %s\n", text);
  PMPI_Abort(MPI_COMM_WORLD, code);
  abort();
}

_Noreturn void real_refuse(const char *call, const char *expected)
{
  real_die(64, "process %d: %s, expected %s", real.rank, call, expected);
}

/* ---- the environment ---- */

/* Refuses unknown settings. A misspelt setting would be ignored, and nobody would see that a
 * program takes no checkpoints until the program is killed. */
void real_check_environment(void)
{
  static const char *const settings[] = {
      "RECLINE_CHECKPOINTS", "RECLINE_PROTOCOL", "RECLINE_EVERY", "RECLINE_CAPACITY",
      "RECLINE_TRACE",
      /* settings of other parts: */
      "RECLINE_ALONE", "RECLINE_AUDIT", "RECLINE_AXE", "RECLINE_BUILD", "RECLINE_CHECKS",
      "RECLINE_CMAKE", "RECLINE_COUNT", "RECLINE_DATA", "RECLINE_DISK", "RECLINE_HEAP_WATCH",
      "RECLINE_JOBS", "RECLINE_KEEP", "RECLINE_LARGEST", "RECLINE_LONG", "RECLINE_MOMENT",
      "RECLINE_OUT", "RECLINE_PLATFORMS", "RECLINE_PREFIX", "RECLINE_PROGRAM", "RECLINE_PROGRAMS",
      "RECLINE_PROTOCOLS", "RECLINE_QUICK", "RECLINE_RANDOM", "RECLINE_RECORD",
      "RECLINE_RECORD_SKEW", "RECLINE_REPLAY", "RECLINE_RESTART", "RECLINE_RESULT",
      "RECLINE_REVISION", "RECLINE_SCENARIO", "RECLINE_SEED", "RECLINE_SOURCE", "RECLINE_STATES",
      "RECLINE_STEP", "RECLINE_TOPOLOGY", "RECLINE_WALKS", NULL};
  for (char **each = environ; *each; each++) {
    size_t length = strcspn(*each, "="), i = 0;
    if (strncmp(*each, "RECLINE_", strlen("RECLINE_")) != 0)
      continue;
    char *name = strndup(*each, length);
    while (settings[i] && strcmp(settings[i], name) != 0)
      i++;
    if (!settings[i])
      real_die(64, "there is no setting %s, expected RECLINE_CHECKPOINTS and its like%s", name,
               did_you_mean(name, settings));
    free(name);
  }
}

/* Returns a number from the environment, which must not be negative. Returns `otherwise` if the
 * environment has no such number. */
static double number(const char *variable, double otherwise)
{
  const char *text = getenv(variable);
  char *end;
  double value = text ? strtod(text, &end) : otherwise;
  if (text && (end == text || *end || !(value >= 0)))
    real_die(64, "%s is '%s', expected a number from 0 on", variable, text);
  return value;
}

struct real_options real_options_of_environment(void)
{
  enum { EVERY = 60, CAPACITY = 1024 };
  const char *protocol = getenv("RECLINE_PROTOCOL");
  double capacity = number("RECLINE_CAPACITY", CAPACITY);
  return (struct real_options){.protocol = protocol ? protocol : "bookmark",
                               .folder = getenv("RECLINE_CHECKPOINTS"),
                               .every = number("RECLINE_EVERY", EVERY),
                               .capacity = capacity > RCL_CAPACITY_MAX ? RCL_CAPACITY_MAX
                                                                       : (uint32_t)capacity,
                               .trace = number("RECLINE_TRACE", 0) > 0};
}
