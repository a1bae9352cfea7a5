/* Hands the runs of a campaign to Slurm, as elements of job arrays, on any node that sees the
 * campaign's folder. In DIR/slurm, while the campaign runs:
 *
 *     task              the script of an element
 *     lists-XXXXXX/N    the runs of element N, a line "JOB CELL SEED RECORDING" each
 *     array             number of the last array, as sbatch printed it
 *     results/JOB.CODE  output of `recline run --json`, and its exit code; JOB.err has its messages
 *     log               other output of elements
 *
 * A result is renamed when it is whole. If Slurm loses contact with a node, an element may run
 * twice at once; both write the same bytes. Runs without a result at the end of an array are
 * submitted again. A site sets its options for sbatch in the variables SBATCH_*. */
#ifndef RECLINE_SLURM_H
#define RECLINE_SLURM_H

#include "command/campaign/pool.h"

struct slurm;

/* Begins job arrays for the campaign in `folder`. At most `jobs` elements run at once; 0 stands
 * for as many as Slurm starts. Each element makes `chunk` runs; 0 stands for a hundredth of all
 * runs. `pool` notes signals; the caller frees it later. Returns NULL with `error` if the folder
 * cannot be written. */
struct slurm *slurm_new(const char *folder, unsigned jobs, unsigned chunk, struct pool *pool,
                        GError **error);

/* Cancels the last array. If `ended`, also removes the folder, which is no longer needed. */
void slurm_free(struct slurm *, bool ended);

/* Removes the folder of a campaign that has ended without Slurm but may have begun with it. */
void slurm_remove(const char *folder);

/* Adds a run under the number `job`. The run replays `recording`, a folder in the campaign's
 * folder; if `recording` is empty, the run executes the program. */
void slurm_want(struct slurm *, uint64_t job, unsigned cell, uint64_t seed, const char *recording);
bool slurm_is_empty(const struct slurm *); /* true if no run is waiting to be handed over */

/* Waits for the result of a run. Returns 0; the signal that stopped this process; or -1 with
 * `error` if sbatch refuses, or several arrays in a row left no result. */
int slurm_wait(struct slurm *, struct ended *, GError **error);

/* Returns the number of the last array, for messages, or empty if there is none. */
const char *slurm_array(const struct slurm *);

#endif
