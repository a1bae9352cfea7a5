/* The end of a process in which something is wrong: one line on standard error and an exit code. */
#ifndef RECLINE_DIE_H
#define RECLINE_DIE_H

#include "verify/base/exit_codes.h"

/* The exit codes: the program, the scenario or the platform is wrong; the simulator is wrong. */
enum { DIE_INPUT = EXIT_BAD_INPUT, DIE_BREACH = EXIT_BREACH };

/* Flushes the program's output, prints "recline: " and the line (at most 1 KiB), and ends the
 * process with `code`, without handlers of atexit(). Allocates nothing, so that it can be called in
 * every state of the heap. Hidden, as programs have functions of this name: each library of recline
 * has its own copy. */
_Noreturn void die(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3), visibility("hidden")));

#endif
