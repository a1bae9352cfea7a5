/* Names the properties that can be judged (docs/architecture.md). */
#ifndef RECLINE_PROPERTIES_H
#define RECLINE_PROPERTIES_H

#include <stdbool.h>

#include "world/rules/world.h"

/* A property's number is its place in properties_known. */
enum property {
  PROPERTY_NO_LOSS,
  PROPERTY_NO_DUPLICATE,
  PROPERTY_RESTORABLE,
  PROPERTY_LEGAL,
  PROPERTY_QUIET_CHANNELS,
  PROPERTY_UNCROSSED,
  PROPERTY_C3_1_1,
  PROPERTY_C3_1_2,
  PROPERTY_C3_1_3,
  PROPERTY_DEADLOCK,
  PROPERTY_COMMITS,
  PROPERTY_OUTCOME,
  PROPERTY_RECOVERS,
  PROPERTY_AGREEMENT,
  PROPERTY_INVARIANT,
  PROPERTY_NO_ORPHAN,
  PROPERTY_C3_2_2,
  PROPERTY_C3_2_3,
  PROPERTY_LOCAL_ROLLBACK,
  PROPERTY_NO_DOMINO,
  PROPERTY_OWN_ITERATION,
  PROPERTY_TOKENS,
  PROPERTY_BOUNDS,
  PROPERTY_PROGRESS,
  PROPERTY_REQUESTS,
  PROPERTY_BOUNDED,
  PROPERTY_FREES,
  PROPERTY_FREES_AT_CAPTURE,
  PROPERTY_USEFUL,
  PROPERTY_OUTPUT,
  PROPERTY_OUTPUT_AT_REST,
  PROPERTY_OUTPUT_LOCAL,
  PROPERTY_ONCE_PER_FAILURE,
  PROPERTY_PURE,
  PROPERTY_LINE_INVARIANT,
  PROPERTY_LTL,
  PROPERTIES
};

/* properties_known has all properties, and properties_default the properties that are judged if a
 * claim names none. Each list ends with NULL.
 */
extern const char *const properties_known[PROPERTIES + 1];
extern const char *const properties_default[];

/* Returns whether the list `names`, which ends with NULL, has `property`. */
bool properties_include(const char *const *names, const char *property);

/* Returns whether the property is judged in a world that asks for the properties `names`, or for
 * all properties if that is NULL. `pure` is always judged, because without it no other verdict
 * about a protocol counts. */
bool properties_judge(const char *const *names, const char *property);

/* Returns whether the verdict says that a step is not `pure`. */
bool properties_impure(const struct verdict *);

/* Returns the properties for which a run is audited: the default properties and the protocol's
 * promises. The list ends with NULL and is valid until the next call. */
const char *const *properties_promised(const struct rcl_protocol *protocol);

/* Returns whether messages must carry their sender's lines (world.line_stamps). `uncrossed` and the
 * properties of C3 that compare lines across messages need these lines; for all other properties
 * the lines would only multiply the states. `names` ends with NULL; if it is NULL, the default
 * properties are meant. */
bool properties_need_stamps(const char *const *names);

#endif
