/* Hash compaction: the visited set keeps fingerprints instead of states, two words each, whatever
 * the size of a state. Two states with equal fingerprints are taken for one, so the second, and
 * what is reachable only from it, may be omitted; an upper bound on that probability is reported
 * with the verdict.
 *
 * Sources: Wolper and Leroy, Reliable hashing without collision detection (CAV 1993); Stern and
 * Dill, Improved probabilistic verification by hash compaction (CHARME 1995).
 */
#ifndef RECLINE_FINGERPRINT_H
#define RECLINE_FINGERPRINT_H

#include "verify/state/packing.h"

enum { FINGERPRINT_WORDS = 2 };

/* Returns how fingerprints of so many bits, 1 to EXPLORER_FINGERPRINT, lie in the visited set. The
 * caller frees it with free(). */
struct packing *fingerprint_packing(unsigned bits);

/* Makes of the hash of a state its fingerprint, with tag 0. Returns the hash of that. */
uint64_t fingerprint_pack(const struct packing *, uint64_t hash, uint32_t fingerprint[]);

/* At most so likely has any of so many states been left out. */
double fingerprint_omission(unsigned bits, uint64_t states);

/* At most so likely is there a violation that a search of that depth has not found: one of the
 * states on a shortest way to it was left out, of which there are no more than levels. */
double fingerprint_miss(unsigned bits, uint64_t states, unsigned depth);

#endif
