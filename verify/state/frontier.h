/* Keeps the frontier, that is, the packed states to be expanded, in chunks, first in, first out.
 *
 * When memory is short, chunks are written to a temporary file, in order, and read back when they
 * are taken. One worker uses a frontier at a time; several frontiers may share a `spill`.
 */
#ifndef RECLINE_FRONTIER_H
#define RECLINE_FRONTIER_H

#include <stdbool.h>

#include "verify/state/packing.h"

enum { CHUNK_STATES = 256 };

/* Holds a file without a name, for chunks. The file is used again once all its chunks are gone. */
struct spill {
  int file;
  uint64_t end;
};

struct chunk {
  struct chunk *next;
  const struct packing *packing; /* packing of its states */
  const struct spill *spill;     /* the file with its states, or NULL if they are in memory */
  uint64_t place;
  uint32_t count;
  uint32_t states[]; /* room for CHUNK_STATES states; no room if the chunk is spilled */
};

struct frontier {
  struct chunk *first, *last;
  /* the last of the spilled chunks, which come first, or NULL if none is known to be spilled */
  struct chunk *spilled;
  uint64_t states;
  uint64_t bytes; /* memory taken */
};

bool spill_init(struct spill *); /* makes the file; returns false if it cannot */
void spill_reset(struct spill *);
void spill_clear(struct spill *);

void frontier_append(struct frontier *, const struct packing *, const uint32_t *state);
void frontier_move(struct frontier *to, struct frontier *from); /* moves all that is in `from` */

/* Moves the first chunks to `to`, which is empty. They have `states` states or a few more, because
 * chunks stay whole; if there are fewer states, all are moved. */
void frontier_share(struct frontier *from, struct frontier *to, uint64_t states);

/* Spills all chunks but the last one, which may have room left. Chunks that cannot be written to
 * the file stay in memory. */
void frontier_spill(struct frontier *, struct spill *);

/* Returns the first chunk with its states, which the caller frees with free(), or NULL if there is
 * none. Ends the process if a spilled chunk cannot be read. */
struct chunk *frontier_take(struct frontier *);

/* Returns a copy of `chunk` with its states. The caller frees it with free(). */
struct chunk *chunk_copy(const struct chunk *);

void frontier_clear(struct frontier *);

#endif
