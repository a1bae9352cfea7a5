/* What the environment says, and the end of all processes where something is wrong. */
#include <stdarg.h>
#include <stdlib.h>

#include "mpi/real_inside.h"
#include "protocols/text.h"

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

/* A number from the environment, not negative. */
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
