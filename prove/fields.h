/* Names the fields of a protocol's state. The names come from clang's debug information: fields of
 * `struct state` have their own names. The arrays and lists of RCL_STATE that follow the struct
 * (protocols/parts/lists.h) have the names of their accessors. A value of a field `x` has the name
 * of that value in `enum x`. */
#ifndef RECLINE_PROVE_FIELDS_H
#define RECLINE_PROVE_FIELDS_H

#include "prove/prove_rank.h"

struct fields {
  GPtrArray *types; /* struct field_type, by name: all types of the module */
  GArray *pieces;   /* struct field_piece: the pieces of a state of one rank_world */
};

/* Reads the debug information of w->x.module. Without it fields have no names. */
void fields_init(struct fields *, struct rank_world *w);
void fields_clear(struct fields *);

/* Appends " NAME=VALUE" for each field in the four bytes at `at` that is not zero; " @AT=VALUE" if
 * no name is known. If `was` is not NULL, it has the earlier value of the four bytes, and only
 * fields that differ from that are appended. */
void fields_print(const struct fields *, uint32_t at, uint32_t word, const uint32_t *was,
                  GString *out);

#endif
