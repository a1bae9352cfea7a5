/* Names and evaluates the facts that temporal formulas can have. */
#ifndef RECLINE_TEMPORAL_FACTS_H
#define RECLINE_TEMPORAL_FACTS_H

#include <stddef.h>

#include "world/temporal/temporal.h"

/* Returns the number of the fact with that name, or -1 if there is none. */
int temporal_fact_named(const char *name, size_t length);

const char *temporal_fact_name(int name);

/* Writes "a fact (NAME, NAME, ...)" with all names, for messages. */
void temporal_fact_names(char *text, size_t size);

/* Returns NULL if the fact may have the given operands. Otherwise returns a static text for a
 * message that says which operands the fact may have. */
const char *temporal_fact_refuses(const struct temporal_fact *, int ranks);

/* Returns whether the fact is about checkpoints of all ranks together, so that worlds with
 * independent recovery do not have it. */
bool temporal_fact_is_global(int name);

bool temporal_fact_is_true(const struct temporal_fact *, const struct world *);

#endif
