/* Measures the phases of checkpoints and recoveries that a protocol names (struct rcl_phase), in
 * simulated runs and in runs on real MPI. */
#ifndef RECLINE_PHASES_H
#define RECLINE_PHASES_H

#include "protocols/protocol.h"
#include "world/result/result.h"

struct phases;

/* Returns an empty measurement. The caller ends with phases_free(). */
struct phases *phases_new(const struct rcl_protocol *, int ranks);
void phases_free(struct phases *);

/* Takes a step of a rank's protocol, at `now` seconds, with the actions that the protocol
 * answered. */
void phases_step(struct phases *, int rank, double now, const struct rcl_event *,
                 const struct rcl_actions *);

/* Writes the seconds of each phase of each checkpoint into the result, over the ranks that were in
 * the phase. If a checkpoint was taken or restarted several times, the last time counts. */
void phases_report(const struct phases *, struct result *);

#endif
