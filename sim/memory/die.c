#define _GNU_SOURCE
#include "sim/memory/die.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool checks_are_on;
void (*die_before)(void);

__attribute__((constructor)) static void read_environment(void)
{
  checks_are_on = getenv("RECLINE_CHECKS") != NULL;
}

enum { LINE_MAX_BYTES = 1024 };

void die(int code, const char *format, ...)
{
  char line[LINE_MAX_BYTES] = "recline: ";
  size_t length = strlen(line);
  va_list args;
  va_start(args, format);
  vsnprintf(line + length, sizeof line - length - 1, format, args);
  va_end(args);
  length = strlen(line);
  line[length++] = '\n';
  void (*before)(void) = die_before;
  die_before = NULL;
  if (before)
    before();
  fflush(NULL);
  if (write(STDERR_FILENO, line, length) < 0) {
    /* if this fails, there is nothing left to do */
  }
  /* _exit() would call the layer, which would take this as a call of the program */
  syscall(SYS_exit_group, code);
  _exit(code);
}
