/* Describes parts of arrays of up to three dimensions, as boxes of items. Hosts use boxes where a
 * rank reads the parts of other ranks. */
#ifndef RECLINE_BOX_H
#define RECLINE_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BOX_DIMENSIONS = 3 };

/* Holds items `first` to `end` - 1 of each dimension. Dimensions that an array lacks come first and
 * have one item. */
struct box {
  int64_t first[BOX_DIMENSIONS], end[BOX_DIMENSIONS];
};

/* Returns the box that has part[d] items from first[d] on in each dimension d of `dimensions`. */
struct box box_of(int dimensions, const int64_t *first, const int64_t *part);

/* Returns the index of the item at `at` in memory that holds the box by rows. The item must be in
 * the box. */
size_t box_item(const struct box *, const int64_t at[BOX_DIMENSIONS]);

/* Sets *both to the items that are in both boxes; returns whether there are any. */
bool box_meet(const struct box *, const struct box *, struct box *both);

#endif
