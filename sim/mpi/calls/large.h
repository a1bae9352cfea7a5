/* Converts the arguments of calls with large counts (large.awk). SMPI's counts are ints, so a count
 * that does not fit into an int ends the run with the name of the call. Arrays are allocated with
 * malloc(), in the program's heap, because a call may be rolled back; the caller frees them. NULL
 * is an array without elements. */
#ifndef RECLINE_LARGE_H
#define RECLINE_LARGE_H

#include <smpi/smpi.h>
#include <stdbool.h>
#include <stdlib.h>

int large_count(const char *call, MPI_Count count);
int *large_counts(const char *call, const MPI_Count *counts, int length);
int *large_places(const char *call, const MPI_Aint *places, int length);
MPI_Aint *large_addresses(const char *call, const MPI_Count *addresses, int length);

/* Each function returns the number of counts that the arguments of a kind of collective have.
 * large_blocks() returns the number of ranks with which data are exchanged. large_blocks_of_root()
 * returns the same at the root, and 0 elsewhere. large_members() returns the number of ranks in the
 * rank's own group, large_neighbours() the number of neighbours. */
int large_blocks(MPI_Comm);
int large_blocks_of_root(MPI_Comm, int root);
int large_members(MPI_Comm);
int large_neighbours(MPI_Comm, bool sent);

#endif
