/* Runs of a campaign as elements of Slurm's job arrays, from any node that sees the campaign's
 * folder. In DIR/slurm, while the campaign runs:
 *
 *     task              the script of an element
 *     lists-XXXXXX/N    the runs of element N, a line "JOB CELL SEED RECORDING" each
 *     array             number of the last array, as sbatch printed it
 *     results/JOB.CODE  output of `recline run --json`, and its exit code; JOB.err: its messages
 *     log               other output of elements
 *
 * A result is renamed when it is whole: two runs of one element can overlap when Slurm has lost
 * contact with a node, and then write the same bytes. Runs of which an array leaves no result are
 * submitted again. Options of a site for sbatch come from its variables, SBATCH_*. */
#ifndef RECLINE_SLURM_H
#define RECLINE_SLURM_H

#include "command/campaign/pool.h"

struct slurm;

/* Begins job arrays for the campaign in `folder`: at most `jobs` elements at once (0: as many as
 * Slurm starts), each of `chunk` runs (0: a hundredth of all). `pool` notes signals, and outlives
 * it. NULL with `error`: the folder cannot be written. */
struct slurm *slurm_new(const char *folder, unsigned jobs, unsigned chunk, struct pool *pool,
                        GError **error);

/* `ended`: removes the folder, which is no longer needed; the last array is cancelled. */
void slurm_free(struct slurm *, bool ended);

/* The same for a campaign that has ended without Slurm but may have begun with it. */
void slurm_remove(const char *folder);

/* Adds a run under the number `job`. `recording`: the recording in the campaign's folder to replay;
 * empty: the program is run. */
void slurm_want(struct slurm *, uint64_t job, unsigned cell, uint64_t seed, const char *recording);
bool slurm_is_empty(const struct slurm *); /* no run is wanted */

/* Waits for the result of a run. Returns 0, the signal that stopped us, or -1 with `error`: sbatch
 * refuses, or several arrays in a row left no result. */
int slurm_wait(struct slurm *, struct ended *, GError **error);

/* Returns the last array, for messages; empty: none. */
const char *slurm_array(const struct slurm *);

#endif
