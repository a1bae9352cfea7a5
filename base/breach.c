#define _GNU_SOURCE /* vasprintf */
#include "base/breach.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_codes.h"

int bad_input(const char *format, ...)
{
  char *line = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&line, format, args) < 0)
    line = NULL;
  va_end(args);
  for (char *end = line; end && (end = strchr(end, '\n'));)
    *end = ' ';
  fprintf(stderr, "%s\n", line ? line : format);
  free(line);
  return EXIT_BAD_INPUT;
}

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
