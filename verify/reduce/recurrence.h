/* Tells which steps a run can repeat for ever. It uses only the steps, not the states.
 *
 * A run that comes back to a state comes back to the value of each part. So consider, for each
 * part, the graph of its values with an edge for each change that some step makes. A step on a
 * cycle of states makes only changes that lie on cycles of these graphs. A step that makes any
 * other change is dropped, together with its changes of other parts, which leaves fewer cycles.
 * This goes on until no step is dropped. If no step is left, there is no cycle of states. Most
 * protocols are of this kind, because programs, incarnations and numbers of checkpoints only go
 * forwards, and messages follow them.
 *
 * If steps are left, values of a part that are on one cycle are called alike. All states of a
 * strongly connected component are alike, part by part, so components need to be looked for only
 * among alike states.
 */
#ifndef RECLINE_RECURRENCE_H
#define RECLINE_RECURRENCE_H

#include "verify/state/model.h"

struct recurrence;

/* Holds a change of a part from one value to another, by numbers or by digests. */
struct recurrence_change {
  uint64_t part, from, to;
};

/* Makes a recurrence of all steps that the model's transition cache has run, which are at least the
 * steps of the whole search. If the model is NULL, there are no steps yet. */
struct recurrence *recurrence_new(const struct model *);
void recurrence_free(struct recurrence *); /* may be NULL */

/* Adds a step. Steps with the same changes count as one step. */
void recurrence_add(struct recurrence *, const struct recurrence_change *, uint32_t count);

/* Adds the steps of another recurrence whose values have the same numbers. */
void recurrence_join(struct recurrence *, const struct recurrence *from);

/* Calls `each` for each step. With a model, the step is given by digests of the model's values,
 * which are the same in every process. If the model is NULL, it is given by the numbers with which
 * it was added. */
void recurrence_each(const struct recurrence *, struct model *,
                     void step(void *ctx, const struct recurrence_change *, uint32_t count),
                     void *ctx);

/* Drops all steps that can be dropped. Returns whether some step is left. */
bool recurrence_solve(struct recurrence *);

/* Finds which of the model's states are alike. It must be called after recurrence_solve(). */
void recurrence_compare(struct recurrence *, const struct model *);

/* These functions judge states by the numbers of their components, as far as steps are known.
 * recurrence_may_return() returns whether a state can be on a cycle. recurrence_are_alike() returns
 * whether two states can be on one cycle. recurrence_digest() returns a number that all states on
 * one cycle share.
 */
bool recurrence_may_return(const struct recurrence *, const uint32_t *numbers);
bool recurrence_are_alike(const struct recurrence *, const uint32_t *one, const uint32_t *other);
uint64_t recurrence_digest(const struct recurrence *, const uint32_t *numbers);

#endif
