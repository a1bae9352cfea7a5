/* Tells whether a reduction preserves the properties that are judged at the end of all programs.
 *
 * A reduction preserves all states at rest, but not the states before them, and a state in which
 * all programs have finished need not be at rest: protocols continue. A violation in such a state
 * is preserved if it persists. It persists if no action of a rank whose program has finished
 * changes the program or what the program was given, holds the program, or removes messages that
 * are left over for the program.
 */
#ifndef RECLINE_AT_END_H
#define RECLINE_AT_END_H

#include "verify/reduce/abstraction.h"

/* Returns NULL if the reduction preserves these properties, otherwise the reason why it does not.
 * Changes the values of the explorer's transition cache. */
const char *terminal_unsound(const struct abstraction *);

/* Returns whether a rank with these values has ended its program, and is not held. */
bool terminal_is_at_end(const struct abstraction *, const uint32_t *values);

#endif
