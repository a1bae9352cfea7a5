/* What the programs of this folder share: an archive of its own, linked into each. */
#ifndef SUITE_H
#define SUITE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a number that depends on `key` only. */
uint64_t suite_hash(uint64_t key);

/* Collective, before MPI_Finalize: adds up what all ranks found wrong, and rank 0 says PASS or
 * FAIL. Returns what main is to return. */
int suite_verdict(const char *name, long wrong);

#ifdef __cplusplus
}
#endif
#endif
