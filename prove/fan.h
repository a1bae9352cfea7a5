/* What holds at the ends of paths, as one term: paths that begin alike share what they have in
 * common, so that the term grows with the places where they part, not with their number. */
#ifndef RECLINE_PROVE_FAN_H
#define RECLINE_PROVE_FAN_H

#include "prove/execute.h"

struct fan {
  GPtrArray *ends; /* struct fan_end */
};

void fan_init(struct fan *);
void fan_clear(struct fan *);

/* Adds that `holds`, a Boolean term, is so where the conditions of the path are. */
void fan_add(struct fan *, const struct path *, Z3_ast holds);

/* Returns the term: false where no path leads. */
Z3_ast fan_term(const struct fan *, Z3_context);

#endif
