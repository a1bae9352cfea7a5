/* Ends a process in which something is wrong, with one line on standard error and an exit code. */
#ifndef RECLINE_DIE_H
#define RECLINE_DIE_H

#include <stdbool.h>

#include "base/exit_codes.h"

/* Exit codes. DIE_INPUT means that the program, the scenario or the platform is wrong; DIE_BREACH
 * means that the simulator is wrong. */
enum { DIE_INPUT = EXIT_BAD_INPUT, DIE_BREACH = EXIT_BREACH };

/* Flushes the program's output, prints "recline: " and the line (at most 1 KiB), and ends the
 * process with `code`, without calling handlers of atexit(). Allocates nothing, so it works in
 * every state of the heap. The symbol is hidden, because programs may have functions with this
 * name; each library of recline has its own copy. */
_Noreturn void die(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3), visibility("hidden")));

/* die() first calls this function, once, unless it is NULL. Each library sets its own. */
extern void (*die_before)(void) __attribute__((visibility("hidden")));

/* States an invariant: `condition` must be true, and `text` (a string) says so in words. REQUIRE()
 * is always checked, so its condition must be cheap. CHECK() is checked if the environment variable
 * RECLINE_CHECKS is set, as tests do; its condition may take long. */
#define REQUIRE(condition, text)                                                                   \
  do {                                                                                             \
    if (__builtin_expect(!(condition), 0))                                                         \
      die(DIE_BREACH, "breach: %s:%d: %s", __FILE__, __LINE__, text);                              \
  } while (0)

#define CHECK(condition, text)                                                                     \
  do {                                                                                             \
    if (checks_are_on)                                                                             \
      REQUIRE(condition, text);                                                                    \
  } while (0)

extern bool checks_are_on __attribute__((visibility("hidden")));

#endif
