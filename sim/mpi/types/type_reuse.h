/* Datatypes and groups are the simulator's, and a rollback may lead a program to where it has one
 * that it has freed since. So none is ever freed; that they do not become more and more, one serves
 * again where a program asks for the same. */
#ifndef RECLINE_TYPE_REUSE_H
#define RECLINE_TYPE_REUSE_H

#include "sim/host/rank/rank.h"
#include "sim/host/rank/typemap.h"

/* Returns whether the rank has freed a type that this constructor made from these arguments. Then
 * `*made` is that type, committed and without a name. */
bool type_again(struct rank *, const struct typemap_recipe *, MPI_Datatype *made);

/* The program's MPI_Type_free. */
void type_release(struct rank *, MPI_Datatype);

/* The group that all ranks have for the members of `*made`, which a call of SMPI has just made.
 * Returns `result`. */
int group_keep(int result, MPI_Group *made);

/* The group of these ranks of the program. Returns an error of MPI or MPI_SUCCESS. */
int group_of_ranks(int count, const int *ranks, MPI_Group *);

#endif
