/* The cost, for a rank, of the copies in memory that a protocol asks for: payloads into its log,
 * its state at a checkpoint or at the beginning of an iteration, and back. Copies take the
 * bandwidths that the platform gives (machine.h). The cost of the protocol's own operations is here
 * as well. */
#ifndef RECLINE_COPY_COST_H
#define RECLINE_COPY_COST_H

#include "sim/host/rank/rank.h"

/* Charges the copy of a payload that the calling rank sends into its log. */
void copy_payload(struct rank *, double bytes);

/* Charges the copy that joins a message of the calling rank with its header, or takes them apart,
 * where the protocol has headers. */
void copy_tagged(struct rank *, double bytes);

/* Charge copies of the calling rank's state to its present activity: for a checkpoint, for a
 * restart, and for an iteration, of the size that the program has given. */
void copy_state(struct rank *, double bytes);
void copy_iteration(struct rank *, double bytes);

/* The first counts the operations of the protocol for the event that the rank is about to take; the
 * platform gives their seconds. The second makes the rank spend the time that has been counted. */
void work_count(struct rank *, const struct rcl_event *);
void work_charge(struct rank *);

/* To be called when the program begins or ends an iteration (recline_iteration, MPI_Finalize).
 * Counts the iteration that ends with it. */
void iteration_begins(struct rank *, uint32_t iteration);
void iteration_ends(struct rank *);

/* Writes the bytes that all ranks have copied and the iterations that they have executed into the
 * result. */
void copy_cost_report(struct result *);

#endif
