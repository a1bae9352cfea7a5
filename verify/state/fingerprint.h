/* Makes fingerprints, which the visited set keeps instead of states. A fingerprint has two words,
 * whatever the size of a state. Two states with equal fingerprints are taken for one state, so the
 * second state, and what is reachable only from it, may be omitted. The verdict is reported with an
 * upper bound on the probability of an omission.
 *
 * Sources: Wolper and Leroy, Reliable hashing without collision detection (CAV 1993); Stern and
 * Dill, Improved probabilistic verification by hash compaction (CHARME 1995).
 */
#ifndef RECLINE_FINGERPRINT_H
#define RECLINE_FINGERPRINT_H

#include "verify/state/packing.h"

enum { FINGERPRINT_WORDS = 2 };

/* Returns the packing of fingerprints of `bits` bits, 1 to EXPLORER_FINGERPRINT, in the visited
 * set. The caller frees it with free(). */
struct packing *fingerprint_packing(unsigned bits);

/* Makes the fingerprint of a state from the state's hash, with tag 0. Returns the hash of the
 * fingerprint. */
uint64_t fingerprint_pack(const struct packing *, uint64_t hash, uint32_t fingerprint[]);

/* Returns a bound on the probability that any of `states` states was left out. */
double fingerprint_omission(unsigned bits, uint64_t states);

/* Returns a bound on the probability that a search of that depth has missed a violation. A
 * violation is missed only if a state on a shortest way to it was left out, and such a way has at
 * most one state on each level. */
double fingerprint_miss(unsigned bits, uint64_t states, unsigned depth);

#endif
