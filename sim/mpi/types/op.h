/* Computes the predefined operations of reductions (MPI 3.1, section 5.9), on all predefined types.
 * SMPI's own operations multiply the two parts of Fortran's complex numbers separately, and end the
 * run on types that they do not know. */
#ifndef RECLINE_OP_H
#define RECLINE_OP_H

#include <smpi/smpi.h>
#include <stdbool.h>

/* Returns whether the operation may be used on elements of the type. An operation of the program's
 * own may be used on elements of any type. */
bool op_allowed(MPI_Op, MPI_Datatype);

/* Computes `into` = `before` op `into`. Returns false, with nothing done, if the operation is the
 * program's own or is not allowed on the type. */
bool op_apply(MPI_Op, const void *before, void *into, int count, MPI_Datatype);

#endif
