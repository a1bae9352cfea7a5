/* Names of the properties that can be judged (docs/architecture.md). */
#ifndef RECLINE_PROPERTIES_H
#define RECLINE_PROPERTIES_H

#include <stdbool.h>

#include "protocols/protocol.h"

/* All of them, and those that are judged where a claim names none; both end with NULL. */
extern const char *const properties_known[];
extern const char *const properties_default[];

/* Whether the list `names`, which ends with NULL, has `property`. */
bool properties_include(const char *const *names, const char *property);

/* The default ones and those of protocol->promises, which a run is audited for; ends with NULL.
 * Static, until the next call. */
const char *const *properties_promised(const struct rcl_protocol *protocol);

/* Whether messages must carry their sender's lines (world.line_stamps): for the claims of C3 that
 * compare lines across messages. In all others stamps would only multiply the states. `names` as
 * above; NULL: the default ones. */
bool properties_need_stamps(const char *const *names);

#endif
