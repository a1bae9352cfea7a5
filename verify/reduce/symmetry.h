/* Reduces by symmetry: states that differ only in the names of ranks count as one state.
 *
 * If all programs but the coordinator's can do the same, and the protocol can permute ranks in its
 * state (protocol.h), a state represents its *orbit*: all states that result from renaming ranks.
 * The representative of an orbit is the state whose components have the smallest digests, compared
 * one after the other. It is the same in every exploration.
 *
 * A renaming maps components to components; tables have the renamed values.
 */
#ifndef RECLINE_SYMMETRY_H
#define RECLINE_SYMMETRY_H

#include <stdbool.h>
#include <stdint.h>

struct abstraction;
struct model;
struct symmetry;

/* Returns NULL and sets *refused if symmetry does not apply. Every value and message of the
 * abstraction must have an image in the abstraction; otherwise the protocol's permute_ranks() is
 * wrong, which is a breach. */
struct symmetry *symmetry_new(struct model *, const struct abstraction *, const char **refused);
void symmetry_free(struct symmetry *);

/* Holds a worker's tables of renamed values. */
struct symmetry_worker;
struct symmetry_worker *symmetry_worker_new(const struct symmetry *);
void symmetry_worker_free(struct symmetry_worker *);

/* Replaces a state by the representative of its orbit, in place. */
void symmetry_represent(struct symmetry_worker *, uint32_t *numbers);

/* Returns a digest that is the same for all states of an orbit, in every exploration. */
uint64_t symmetry_digest(struct symmetry_worker *, const uint32_t *numbers);

/* Checks that the worker's state leads to the same orbits under other names: renaming and then
 * stepping must give the same as stepping and then renaming. A difference is a breach. The caller
 * does not hold the model's lock `rules`. */
void symmetry_audit(struct symmetry_worker *, const uint32_t *numbers);

#endif
