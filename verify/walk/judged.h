/* Selects the properties that a walk judges: safety after each step, at rest and at the end.
 * `progress` (liveness) and `outcome` are not judged, because the first needs all states, and the
 * second needs all runs without failures. */
#ifndef RECLINE_JUDGED_H
#define RECLINE_JUDGED_H

#include <glib.h>

#include "protocols/protocol.h"

/* Returns the names of the properties that are judged for a protocol in any world: the default
 * properties that a walk can judge, and the properties that the protocol promises. The array ends
 * with NULL. The caller frees the array, but not the names. */
GPtrArray *judged_of(const struct rcl_protocol *);

/* Returns the properties among `names` (ends with NULL) that a walk can judge, in the same form. */
GPtrArray *judged_among(const char *const *names);

#endif
