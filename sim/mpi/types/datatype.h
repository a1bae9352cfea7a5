/* Handles elements of MPI datatypes in memory: allocates room for them, copies them, and combines
 * them by operations. */
#ifndef RECLINE_DATATYPE_H
#define RECLINE_DATATYPE_H

#include "sim/host/rank/rank.h"

/* Returns the distance in bytes from one element of the type to the next. */
MPI_Aint elements_extent(MPI_Datatype);

/* Returns whether all data of an element lie from its address on within its extent, as SMPI's
 * reductions assume. They allocate only that memory, and free it wrongly if a lower bound is not 0.
 */
bool elements_stay_within(MPI_Datatype);

/* Allocates room in the arena for `count` elements, which begin at the result. `*memory` must be
 * given to rank_free(). */
void *elements_new(struct rank *, MPI_Aint count, MPI_Datatype, void **memory);

/* Does what MPI_Type_dup does, without attributes. */
int type_duplicate(struct rank *, MPI_Datatype, MPI_Datatype *made);

/* Copies elements within the rank from one type to another, as many as there is room for. */
void elements_copy(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                   MPI_Datatype to_type);

/* Computes `into` = `before` op `into`, where `before` comes from lower ranks. */
void elements_combine(const void *before, void *into, int count, MPI_Datatype, MPI_Op);

#endif
