/* The end of a process in which something is wrong: one line on standard error and an exit code. */
#ifndef RECLINE_DIE_H
#define RECLINE_DIE_H

/* The exit codes: the program, the scenario or the platform is wrong; the simulator is wrong. */
enum { DIE_INPUT = 64, DIE_BREACH = 3 };

/* Flushes the program's output, prints "recline: " and the line (at most 1 KiB), and ends the
 * process with `code`, without handlers of atexit(). Allocates nothing, so that it can be called in
 * every state of the heap. Hidden, as programs have functions of this name: each library of recline
 * has its own copy. */
_Noreturn void die(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3), visibility("hidden")));

#endif
