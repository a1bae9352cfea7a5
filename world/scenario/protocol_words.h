/* Has the words for the declarations of protocols (struct rcl_place), so that all outputs use the
 * same words. */
#ifndef RECLINE_PROTOCOL_WORDS_H
#define RECLINE_PROTOCOL_WORDS_H

#include <glib.h>

#include "protocols/protocol.h"

/* assumption_name() returns the name of assumption `i` for programs ("control-order"),
 * assumption_text() its text for people. `i` is the number of a bit of enum rcl_assumes. Both texts
 * are static, and NULL behind the last bit. */
const char *assumption_name(unsigned i);
const char *assumption_text(unsigned i);

/* Returns the texts of all that a protocol assumes, separated by `between`; "" if it assumes
 * nothing. The caller frees it. */
char *assumptions_of(const struct rcl_place *, const char *between);

#endif
