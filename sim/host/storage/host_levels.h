/* What it takes to store an image on a level of storage, and to read it again.
 *
 *     memory, local   a copy in memory, a write to the node's disk
 *     partner         then the same to the next node of the set
 *     xor, and m      then the image goes to m nodes of the set, as pieces of a reduction; m times
 *     losses          its bytes are encoded, and m / (g - m) of them stored as parity, g nodes in
 *                     a set (xor: m = 1)
 *     nfs             a write to the service host
 *
 * A node that has lost its images reads them from its partner, or as what the others of its set
 * reduce to it; it then stores them, and what it keeps of others, anew.
 */
#ifndef RECLINE_HOST_LEVELS_H
#define RECLINE_HOST_LEVELS_H

#include "sim/host/rank/rank.h"

enum { LEVEL_STEPS = 4 };

/* The steps, for so many bytes of `rank`; returns how many. Names of hosts are not copied. */
unsigned levels_store(int rank, uint32_t checkpoint, double bytes, struct step_of_transfer *);
unsigned levels_read(int rank, uint32_t checkpoint, double bytes, struct step_of_transfer *);

#endif
