/* The end of a process in which something is wrong: one line on standard error and an exit code. */
#ifndef RECLINE_DIE_H
#define RECLINE_DIE_H

#include <stdbool.h>

#include "base/exit_codes.h"

/* The exit codes: the program, the scenario or the platform is wrong; the simulator is wrong. */
enum { DIE_INPUT = EXIT_BAD_INPUT, DIE_BREACH = EXIT_BREACH };

/* Flushes the program's output, prints "recline: " and the line (at most 1 KiB), and ends the
 * process with `code`, without handlers of atexit(). Allocates nothing, so that it can be called in
 * every state of the heap. Hidden, as programs have functions of this name: each library of recline
 * has its own copy. */
_Noreturn void die(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3), visibility("hidden")));

/* Called before that, once, with the library's own copy of die(); NULL: nothing. */
extern void (*die_before)(void) __attribute__((visibility("hidden")));

/* The condition of an invariant, which `text` (a string) states. REQUIRE() is always checked: it
 * takes a comparison or two. CHECK() is checked where the environment variable RECLINE_CHECKS is
 * set, as tests do; its condition may take long. */
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
