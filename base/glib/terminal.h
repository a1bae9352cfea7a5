/* Output for a person at a terminal: colours, and a line that shows how far a command is. In the
 * library recline-base-glib. */
#ifndef RECLINE_TERMINAL_H
#define RECLINE_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* Texts that switch a colour on and off; empty where there are no colours. */
struct look {
  const char *strong, *good, *wrong, *plain;
};

/* Returns the look of standard output: with colours on a terminal that has them (TERM is not
 * "dumb"), unless NO_COLOR is set (https://no-color.org). */
struct look terminal_look(void);

/* Returns whether standard error is a terminal on which a line can be written again. */
bool terminal_shows_progress(void);

/* From two seconds on a line on such a terminal says `what` (static) is done, and for how many
 * seconds, until progress_end(); nothing elsewhere. There is one such line at a time. A thread
 * writes it and holds no lock meanwhile, so that the process may fork. */
void progress_begin(const char *what);
void progress_end(void);

/* The same for a caller that waits in a loop of its own: call it often. `began`: when, by
 * g_get_monotonic_time(). Returns whether the line is there. */
bool progress_line(int64_t began, const char *what);

/* Takes the line away, if it is `there`. */
void progress_clear(bool there);

#endif
