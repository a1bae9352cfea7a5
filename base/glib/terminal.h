/* Writes for a person at a terminal: texts in colours, and a line that shows what a command is
 * doing. Belongs to the library recline-base-glib. */
#ifndef RECLINE_TERMINAL_H
#define RECLINE_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* Holds the texts that switch to a colour, and `plain`, which switches back. All texts are empty
 * without colours. */
struct look {
  const char *strong, *good, *wrong, *plain;
};

/* Returns the look of standard output: with colours on a terminal that has them (TERM is not
 * "dumb"), unless NO_COLOR is set (https://no-color.org). */
struct look terminal_look(void);

/* Returns whether standard error is a terminal where a line can be overwritten. */
bool terminal_shows_progress(void);

/* Shows a progress line on that terminal, from two seconds after the call until progress_end(). The
 * line says what is being done (`what`, a static text), and for how many seconds. Does nothing
 * without such a terminal. Only one such line exists at a time. A thread writes the line and holds
 * no lock meanwhile, so the process may fork. */
void progress_begin(const char *what);
void progress_end(void);

/* Shows the same line for a caller that waits in a loop of its own and calls this function often.
 * `began` is the start, by g_get_monotonic_time(). Returns whether the line is shown. */
bool progress_line(int64_t began, const char *what);

/* Writes the same as a line of its own, every 30 seconds, if standard error is no such terminal.
 * `told` is what the last call returned, and 0 for the first. */
int64_t progress_tell(int64_t began, int64_t told, const char *what);

/* Removes the progress line if `there` is true. */
void progress_clear(bool there);

#endif
