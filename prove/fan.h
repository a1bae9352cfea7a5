/* Makes one term that says what holds at the ends of all paths. Paths that begin alike share their
 * conditions, so the size of the term grows with the number of places where paths part, not with
 * the number of paths. */
#ifndef RECLINE_PROVE_FAN_H
#define RECLINE_PROVE_FAN_H

#include "prove/execute/execute.h"

struct fan {
  GPtrArray *ends; /* struct fan_end */
};

void fan_init(struct fan *);
void fan_clear(struct fan *);

/* Adds that `holds`, a Boolean term, is true if the conditions of the path are true. */
void fan_add(struct fan *, const struct path *, Z3_ast holds);

/* Returns the term, which is false where no path leads. */
Z3_ast fan_term(const struct fan *, Z3_context);

#endif
