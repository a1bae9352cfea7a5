/* Bloom filters tell, without reading a file, whether a state may be in it.
 *
 * The hash of a state chooses one cache line and some bits in it, which are set. A state that is
 * not in the filter was never added. With 10 bits for a state, one in a hundred of the states that
 * were never added is found in the filter.
 *
 * Source: Bloom, Space/time trade-offs in hash coding with allowable errors (CACM 1970). For the
 * use of one line: Putze, Sanders and Singler, Cache-, hash- and space-efficient Bloom filters (WEA
 * 2007).
 */
#ifndef RECLINE_FILTER_H
#define RECLINE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter {
  uint64_t *word; /* the bits, FILTER_WORDS words in each line */
  /* number of lines; 0 means that there is no filter, and all states may be in the file */
  uint64_t lines;
};

enum { FILTER_WORDS = 8, FILTER_BITS = 10, FILTER_BITS_LEAST = 4 };

/* Makes a filter for that many states in at most `bytes` bytes, with at most FILTER_BITS bits for
 * each state. If there is no room for FILTER_BITS_LEAST bits for each state, makes no filter. Ends
 * the process if there is no memory. */
void filter_init(struct filter *, uint64_t states, uint64_t bytes);
void filter_clear(struct filter *); /* frees the filter, so that there is none */
uint64_t filter_bytes(const struct filter *);

/* `hash` has all 64 bits of a state's hash. filter_prefetch() prefetches the memory that the other
 * functions will use. */
void filter_prefetch(const struct filter *, uint64_t hash);
void filter_add(struct filter *, uint64_t hash);
bool filter_may_have(const struct filter *, uint64_t hash);

#endif
