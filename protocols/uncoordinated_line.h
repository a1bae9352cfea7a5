/* Finds the recovery line of uncoordinated checkpoints from the dependences of each checkpoint of
 * each rank. */
#ifndef RECLINE_UNCOORDINATED_LINE_H
#define RECLINE_UNCOORDINATED_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NOWHERE = UINT16_MAX };

/* Holds what the coordinator knows of a rank. */
struct row {
  uint32_t first;  /* first checkpoint that the rank has */
  uint32_t latest; /* last checkpoint that the rank has */
  /* 1 if the rank has not died, so that its present state counts as a checkpoint */
  uint32_t present;
  /* checkpoint to which the rank has gone back, until all ranks know of that; else NOWHERE */
  uint32_t undone;
  /* epoch for which the rank's table is complete, or NOWHERE while the table is coming */
  uint32_t complete;
  uint32_t line; /* checkpoint of the rank in the recovery line */
};

/* Holds a row for each rank. `known` has, for each rank and each of its `states` from its first
 * checkpoint on, the last interval of every rank on which that state depends. */
struct line {
  int ranks;
  size_t states;
  struct row *rows;
  uint16_t *known;
};

static inline uint16_t *known_of(const struct line *line, int rank, uint32_t at)
{
  size_t state = at - line->rows[rank].first, ranks = (size_t)line->ranks;
  return line->known + ((size_t)rank * line->states + state) * ranks;
}

static inline uint32_t last_of(const struct row *row)
{
  return row->latest + row->present;
}

/* Returns the first interval of a rank on which peers must not depend if the rank stands on its
 * line. */
static inline uint32_t undone_by(const struct row *row)
{
  uint32_t bound = row->present && row->line == last_of(row) ? NOWHERE : row->line;
  return bound < row->undone ? bound : row->undone;
}

/* Moves one rank after the other back until no rank depends on an undone interval. The search ends
 * at the latest when all ranks are at their first checkpoints. */
static inline void find_line(const struct line *line)
{
  struct row *rows = line->rows;
  for (int rank = 0; rank < line->ranks; rank++)
    rows[rank].line = last_of(&rows[rank]);
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < line->ranks; rank++)
      for (int peer = 0; peer < line->ranks; peer++)
        while (known_of(line, rank, rows[rank].line)[peer] > undone_by(&rows[peer]) &&
               rows[rank].line > rows[rank].first) {
          rows[rank].line--;
          moved = true;
        }
  }
}

#endif
