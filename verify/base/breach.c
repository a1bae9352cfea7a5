#include "verify/base/breach.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "verify/base/exit_codes.h"

void breach(const char *format, ...)
{
  va_list args;
  fputs("breach: ", stderr);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  fflush(stderr);
  _Exit(EXIT_BREACH);
}
