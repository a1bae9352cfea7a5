#include "base/box.h"

struct box box_of(int dimensions, const int64_t *first, const int64_t *part)
{
  struct box box = {.end = {1, 1, 1}};
  int missing = BOX_DIMENSIONS - dimensions;
  for (int d = 0; d < dimensions; d++) {
    box.first[missing + d] = first[d];
    box.end[missing + d] = first[d] + part[d];
  }
  return box;
}

size_t box_item(const struct box *box, const int64_t at[BOX_DIMENSIONS])
{
  size_t item = 0;
  for (int d = 0; d < BOX_DIMENSIONS; d++)
    item = item * (size_t)(box->end[d] - box->first[d]) + (size_t)(at[d] - box->first[d]);
  return item;
}

bool box_meet(const struct box *a, const struct box *b, struct box *both)
{
  bool some = true;
  for (int d = 0; d < BOX_DIMENSIONS; d++) {
    both->first[d] = a->first[d] > b->first[d] ? a->first[d] : b->first[d];
    both->end[d] = a->end[d] < b->end[d] ? a->end[d] : b->end[d];
    some &= both->first[d] < both->end[d];
  }
  return some;
}
