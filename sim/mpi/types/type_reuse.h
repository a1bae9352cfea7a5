/* Reuses datatypes and groups. Datatypes and groups belong to the simulator, and a rollback can
 * restore a handle that the program freed later. So they are never freed. To bound their number, a
 * call gets a freed type, or a group, that was made from the same arguments. */
#ifndef RECLINE_TYPE_REUSE_H
#define RECLINE_TYPE_REUSE_H

#include "sim/host/rank/rank.h"
#include "sim/host/rank/typemap.h"

/* Returns whether the rank has freed a type that the same constructor had made from the same
 * arguments. If so, sets `*made` to that type, committed and without a name. */
bool type_again(struct rank *, const struct typemap_recipe *, MPI_Datatype *made);

/* Does what MPI_Type_free does for the program. */
void type_release(struct rank *, MPI_Datatype);

/* Replaces `*made`, which a call of SMPI has just made, by the group that all ranks have for the
 * same members. Returns `result`. */
int group_keep(int result, MPI_Group *made);

/* Makes the group of these ranks of the program. Returns an error of MPI or MPI_SUCCESS. */
int group_of_ranks(int count, const int *ranks, MPI_Group *);

#endif
