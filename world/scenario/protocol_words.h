/* Has the words for what protocols declare (struct rcl_place), the same wherever people read them.
 */
#ifndef RECLINE_PROTOCOL_WORDS_H
#define RECLINE_PROTOCOL_WORDS_H

#include <glib.h>

#include "protocols/protocol.h"

/* assumption_name() returns the name of assumption `i` for programs ("control-order"),
 * assumption_text() its text for people. `i` is a bit of enum rcl_assumes; NULL behind the last
 * one. Both are static. */
const char *assumption_name(unsigned i);
const char *assumption_text(unsigned i);

/* Returns the texts of all that a protocol assumes, separated by `between`; "" if it assumes
 * nothing. The caller frees it. */
char *assumptions_of(const struct rcl_place *, const char *between);

#endif
