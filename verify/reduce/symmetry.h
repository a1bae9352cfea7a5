/* Symmetry: states that differ only in the names of ranks are one.
 *
 * Where all programs but the coordinator's can do the same, and the protocol can permute ranks in
 * its state (protocol.h), a state represents its *orbit*: all states that result from it by
 * renaming ranks. The representative is the state whose components have the smallest digests,
 * compared one after the other; it is the same in every exploration.
 *
 * A renaming maps components to components; the renamed values are looked up.
 */
#ifndef RECLINE_SYMMETRY_H
#define RECLINE_SYMMETRY_H

#include <stdbool.h>
#include <stdint.h>

struct abstraction;
struct model;
struct symmetry;

/* NULL and *refused where none applies. Every value and message of the abstraction must be renamed
 * to one of the abstraction: what is not is a breach, as the protocol's rename() is wrong. */
struct symmetry *symmetry_new(struct model *, const struct abstraction *, const char **refused);
void symmetry_free(struct symmetry *);

/* A worker's knowledge of values. */
struct symmetry_worker;
struct symmetry_worker *symmetry_worker_new(const struct symmetry *);
void symmetry_worker_free(struct symmetry_worker *);

/* The state of the orbit that stands for all, in place. */
void symmetry_represent(struct symmetry_worker *, uint32_t *numbers);

/* The same for all states of an orbit, in every exploration. */
uint64_t symmetry_digest(struct symmetry_worker *, const uint32_t *numbers);

/* The worker's state under other names moves to the same orbits as by its own: first renamed, then
 * stepped, or first stepped, then renamed. A difference is a breach. Not under `rules`. */
void symmetry_audit(struct symmetry_worker *, const uint32_t *numbers);

#endif
