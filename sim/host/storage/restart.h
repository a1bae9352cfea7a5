/* A run that goes on from the checkpoint that another one has left (manifest.h, stop.h).
 * `recline run --restart FOLDER` passes the folder in the environment variable RECLINE_RESTART.
 *
 * The shadow world is taken through the trace of the run before, then all ranks fail and are
 * detected: they restart as after any failure, each when its program comes to MPI_Init.
 *
 *     trace of the run before, to its last commit | crash of all, detected | ranks read, START ...
 *                                          simulated time of this run: 0 ^
 */
#ifndef RECLINE_RESTART_H
#define RECLINE_RESTART_H

#include "sim/host/rank/rank.h"

/* Once, before the shadow world begins: reads what is not of one rank. The trace of what was
 * before; NULL: the run begins at the beginning. */
const char *restart_history(void);

/* Once, behind that. */
void restart_begin(void);

/* The rank, which has begun, has the image and the payloads of the checkpoint on storage. False:
 * the run begins at the beginning. */
bool restart_adopt(struct rank *);

/* Returns whether the rank has not gone on from there yet, and has not failed since. */
bool restart_is_first(const struct rank *);

#endif
