/* Declares functions that the programs of this folder share. They are in an archive that is linked
 * into each program. */
#ifndef SUITE_H
#define SUITE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a number that depends on `key` only. */
uint64_t suite_hash(uint64_t key);

/* Adds up the errors that all ranks have found, and prints PASS or FAIL at rank 0. All ranks must
 * call it, before MPI_Finalize. Returns the exit code of main(). */
int suite_verdict(const char *name, long wrong);

#ifdef __cplusplus
}
#endif
#endif
