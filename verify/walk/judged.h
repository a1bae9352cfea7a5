/* Selects the properties that a walk judges: safety after each step, at rest and at the end.
 * Liveness (`progress`) needs all states, and `outcome` all runs without failures, so neither is
 * judged. */
#ifndef RECLINE_JUDGED_H
#define RECLINE_JUDGED_H

#include <glib.h>

#include "protocols/protocol.h"

/* Returns the names of the properties that are judged for a protocol in any world: the default ones
 * that a walk can judge, and those that the protocol promises. The array ends with NULL; the caller
 * frees it, and not the names. */
GPtrArray *judged_of(const struct rcl_protocol *);

/* Returns the properties among `names` (ends with NULL) that a walk can judge, in the same form. */
GPtrArray *judged_among(const char *const *names);

#endif
