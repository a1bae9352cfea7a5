/* The names of the fields of a protocol's state, from clang's debug information: `struct state`,
 * and behind it the arrays and lists of RCL_STATE (protocols/parts/lists.h), named as their
 * accessors are. The values of a field `x` are named as those of an `enum x`. */
#ifndef RECLINE_PROVE_FIELDS_H
#define RECLINE_PROVE_FIELDS_H

#include "prove/prove_rank.h"

struct fields {
  GPtrArray *types; /* struct field_type, by name: what the module has */
  GArray *pieces;   /* struct field_piece, of a state of one rank_world */
};

/* Reads the debug information of w->x.module. A state of which it says nothing has no names. */
void fields_init(struct fields *, struct rank_world *w);
void fields_clear(struct fields *);

/* Appends " NAME=VALUE" for each field that is not zero in the four bytes at `at`; " @AT=VALUE"
 * where no name is known. `was` is what they were before, or NULL: then fields that differ are
 * appended. */
void fields_print(const struct fields *, uint32_t at, uint32_t word, const uint32_t *was,
                  GString *out);

#endif
