/* Keeps the visited set, the packed states in an open-addressed table, for any number of workers.
 *
 * The home of a state is proportional to its hash, so the table is nearly sorted by hash and grows
 * in place, from its end to its beginning, into address space that is reserved at the start.
 * Probing starts at a cache-line boundary; most look-ups touch one line.
 *
 * The table has no locks. A worker claims a free place by writing BUSY into word 0, writes the
 * other words, and then word 0. States are never removed.
 */
#ifndef RECLINE_VISITED_H
#define RECLINE_VISITED_H

#include <stdbool.h>

#include "verify/state/packing.h"

struct visited {
  const struct packing *packing; /* packing of all states in the set, which the caller owns */
  uint32_t *place; /* packing->words words each; word 0 is zero if the place is free */
  uint64_t places; /* number of places */
  uint64_t factor; /* an odd number by which hashes are multiplied, which changes their order */
  uint64_t count;  /* number of states; the caller counts new ones */
  size_t reserved; /* number of bytes of reserved address space */
};

enum visited_answer { VISITED_OLD, VISITED_NEW, VISITED_FULL };

/* Makes an empty set for about `states` states, which may grow to `most` bytes. Ends the process if
 * there is no memory. Sets with different `number` have different orders of places, because a set
 * that is filled by going through another set would otherwise be crowded at its beginning. */
void visited_init(struct visited *, const struct packing *, uint64_t states, size_t most,
                  uint32_t number);
void visited_clear(struct visited *);

/* Takes all states out of the set, encoded with their tags and sorted as in sorted_file.h, by
 * `threads` threads. The set keeps its places. The caller frees the result with free(). Returns
 * NULL, and changes nothing, if there is no memory for the result. */
uint8_t *visited_take_all(struct visited *, unsigned threads, uint64_t *count);

/* Adds `state`, whose tag is set. Answers FULL if no place near its home is free; the caller then
 * grows the set and calls again. */
enum visited_answer visited_add(struct visited *, const uint32_t *state, uint64_t hash);

/* visited_find() returns the tag that `state` has in the set, or 0 if it is not there.
 * visited_place() returns the number of its place (visited_at()), or visited_end() if it is not
 * there. The tag in `state` does not matter. */
uint32_t visited_find(const struct visited *, const uint32_t *state, uint64_t hash);
uint64_t visited_place(const struct visited *, const uint32_t *state, uint64_t hash);

/* These functions do the work of visited_add() in two steps. visited_home() prefetches the memory
 * in which the state is looked for; visited_add_at() looks there. */
uint32_t *visited_home(const struct visited *, uint64_t hash);
enum visited_answer visited_add_at(struct visited *, const uint32_t *state, uint32_t *home);

/* Makes room for `places` places in `packing`, with that number of threads. Returns false if that
 * needs more memory than was reserved. No other thread may use the set meanwhile. */
bool visited_rebuild(struct visited *, uint64_t places, const struct packing *, unsigned threads);

bool visited_crowded(const struct visited *); /* returns whether it is time to grow */
size_t visited_bytes(const struct visited *); /* memory taken */

/* visited_at() returns place number n, perhaps a free one, for n < visited_end(). */
uint64_t visited_end(const struct visited *);

static inline const uint32_t *visited_at(const struct visited *visited, uint64_t n)
{
  return visited->place + n * visited->packing->words;
}

#endif
