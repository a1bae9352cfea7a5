/* Judges property `line-invariant` in the states of a search, without asking every clause in each
 * state. Successive states share most components. The number of a component, together with GLOBAL,
 * determines what clauses are shown of the component (world/line/line_view.h). So each worker
 * keeps what was shown of recent components. The worker also keeps the pairs of ranks, with the
 * channels between them, for which all clauses about a pair hold. Both tables have a fixed size,
 * and new entries replace old ones. */
#ifndef RECLINE_LINE_CACHE_H
#define RECLINE_LINE_CACHE_H

#include "verify/state/model.h"

struct line_cache;

/* Returns a cache for one worker, or NULL if the line invariant is not judged. */
struct line_cache *line_cache_new(struct model *);
void line_cache_free(struct line_cache *);          /* may be NULL */
size_t line_cache_bytes(const struct line_cache *); /* memory taken, in bytes; 0 for NULL */

/* Judges the line invariant in a state. If something must be shown anew, takes the model's lock and
 * loads the state. */
void line_cache_judge(struct line_cache *, const struct position *, struct verdict *);

#endif
