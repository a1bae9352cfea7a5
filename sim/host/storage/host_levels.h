/* Lists the steps by which an image is stored on a level of storage, and by which it is read.
 *
 *     memory, local   a copy in memory, a write to the node's disk
 *     partner         after these steps, the same steps at the next node of the set
 *     xor, and m      then, with g nodes in a set (m = 1 for xor): m times the image's bytes are
 *     losses          sent to other nodes, as pieces of a reduction, and encoded; m / (g - m) times
 *                     the image's bytes are stored as parity
 *     nfs             a write to the service host
 *
 * A node that has lost its images reads them from its partner, or receives them as the reduction of
 * the images of the other nodes of its set. After that the node stores its images again, and also
 * what it keeps for others.
 */
#ifndef RECLINE_HOST_LEVELS_H
#define RECLINE_HOST_LEVELS_H

#include "sim/host/rank/rank.h"

enum { LEVEL_STEPS = 4 };

/* levels_store() and levels_read() set the steps for writing and reading `bytes` bytes of `rank`.
 * They return the number of steps. Names of nodes are not copied. */
unsigned levels_store(int rank, uint32_t checkpoint, double bytes, struct step_of_transfer *);
unsigned levels_read(int rank, uint32_t checkpoint, double bytes, struct step_of_transfer *);

#endif
