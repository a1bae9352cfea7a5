/* The Test Anything Protocol for tests in C: a failed check is a line, not the end of the file. */
#ifndef RECLINE_TAP_H
#define RECLINE_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_tests, tap_failed;

__attribute__((format(printf, 2, 3))) static inline bool ok(bool right, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  printf("%sok %d - ", right ? "" : "not ", ++tap_tests);
  vprintf(format, args);
  printf("\n");
  va_end(args);
  tap_failed += !right;
  return right;
}

__attribute__((format(printf, 1, 2))) static inline void note(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  printf("# ");
  vprintf(format, args);
  printf("\n");
  va_end(args);
}

/* Prints the plan. Returns what main() must return. */
static inline int done(void)
{
  printf("1..%d\n", tap_tests);
  return tap_failed > 0;
}

#endif
