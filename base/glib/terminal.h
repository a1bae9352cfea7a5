/* What commands do only where a person looks on: colours, and a line that says how far they are. In
 * the library recline-base-glib. */
#ifndef RECLINE_TERMINAL_H
#define RECLINE_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* What switches a colour on and off, or empty texts. */
struct look {
  const char *strong, *good, *wrong, *plain;
};

/* Returns the look of standard output: with colours on a terminal that has them (TERM is not
 * "dumb"), unless NO_COLOR is set (https://no-color.org). */
struct look terminal_look(void);

/* Returns whether standard error is a terminal on which a line can be written again. */
bool terminal_shows_progress(void);

/* From two seconds on a line on such a terminal says `what` (static) is done, and for how many
 * seconds, until progress_end(); nothing elsewhere. One at a time. A thread writes it, without
 * locks: the process may fork. */
void progress_begin(const char *what);
void progress_end(void);

/* The same for a caller that waits in a loop of its own: call it often. `began`: when, by
 * g_get_monotonic_time(). Returns whether the line is there. */
bool progress_line(int64_t began, const char *what);

/* Takes the line away, if it is `there`. */
void progress_clear(bool there);

#endif
