/* Lets a run go on from the checkpoint that another run has left (manifest.h, stop.h). `recline run
 * --restart FOLDER` passes the folder in the environment variable RECLINE_RESTART.
 *
 * The shadow world, the model that every run takes along, takes all moves of the earlier run's
 * trace. Then all ranks fail in it, and these
 * failures are detected. The ranks restart as after any failure, each when its program comes to
 * MPI_Init.
 *
 *     trace of earlier run, to its last commit | crash of all, detected | ranks read, START ...
 *                                          simulated time of this run: 0 ^ */
#ifndef RECLINE_RESTART_H
#define RECLINE_RESTART_H

#include "sim/host/rank/rank.h"

/* Reads the manifest and the trace, which belong to all ranks. Call it once, before the shadow
 * world begins. Returns the trace of the earlier run, or NULL if this run begins at the beginning.
 */
const char *restart_history(void);

/* Crashes all ranks in the shadow world. Call it once, after the shadow world has begun. */
void restart_begin(void);

/* Gives a rank that has begun the image and the payloads of the checkpoint, as if the rank had
 * stored them. Returns false if the run begins at the beginning. */
bool restart_adopt(struct rank *);

/* Returns true until the rank goes on from the checkpoint of the earlier run, or fails in this
 * run. */
bool restart_is_first(const struct rank *);

#endif
