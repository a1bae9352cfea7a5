/* Durations of the phases of checkpoints and recoveries, as the protocol names them (struct
 * rcl_phase): of simulated runs, and of runs on real MPI. */
#ifndef RECLINE_PHASES_H
#define RECLINE_PHASES_H

#include "protocols/protocol.h"
#include "world/result/result.h"

struct phases;

/* The caller ends with phases_free(). */
struct phases *phases_new(const struct rcl_protocol *, int ranks);
void phases_free(struct phases *);

/* To be called with each step of a rank's protocol, at `now` seconds, and the actions of its
 * answer. */
void phases_step(struct phases *, int rank, double now, const struct rcl_event *,
                 const struct rcl_actions *);

/* Writes into the result the seconds of each phase of each checkpoint, over the ranks that were in
 * it. Where a checkpoint was taken again or restarted again, the last time counts. */
void phases_report(const struct phases *, struct result *);

#endif
