/* Whether a reduction keeps what is judged when all programs have finished.
 *
 * A reduction keeps all states at rest, but leaves out states on the way to them, and a state in
 * which all programs have finished need not be at rest: protocols go on. What is judged there
 * survives if it stays: if no action of a rank whose program has finished changes the program or
 * what it was given, nor takes away what was left over for it.
 */
#ifndef RECLINE_TERMINAL_H
#define RECLINE_TERMINAL_H

#include "verify/reduce/abstraction.h"

/* NULL, or why not. Changes the values of the explorer's transition cache. */
const char *terminal_unsound(const struct abstraction *);

#endif
