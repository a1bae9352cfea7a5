/* Charges a rank for the copies in memory that a protocol asks for: copies of payloads into its
 * log, of its state at a checkpoint or at the beginning of an iteration, and of that state back.
 * The platform gives the bandwidths of copies (machine.h). The protocol's own operations are
 * charged here as well. */
#ifndef RECLINE_COPY_COST_H
#define RECLINE_COPY_COST_H

#include "sim/host/rank/rank.h"

/* Charges the copy of a payload that the calling rank sends into its log. */
void copy_payload(struct rank *, double bytes);

/* If the protocol has headers, charges the copy that joins a message of the calling rank with its
 * header, or takes the two apart. */
void copy_tagged(struct rank *, double bytes);

/* Both functions charge a copy of the calling rank's state to its present activity. copy_state() is
 * for a checkpoint or a restart; copy_iteration() is for an iteration, whose size the program has
 * given. */
void copy_state(struct rank *, double bytes);
void copy_iteration(struct rank *, double bytes);

/* work_count() counts the operations of the protocol for the event that the rank is about to take;
 * the platform gives the seconds of each operation. work_charge() makes the rank spend the time
 * that was counted. */
void work_count(struct rank *, const struct rcl_event *);
void work_charge(struct rank *);

/* These functions must be called when the program begins an iteration (recline_iteration) and when
 * it ends its last one (MPI_Finalize). They count the iteration that ends with the call. */
void iteration_begins(struct rank *, uint32_t iteration);
void iteration_ends(struct rank *);

/* Writes into the result the bytes that all ranks have copied and the iterations that they have
 * executed. */
void copy_cost_report(struct result *);

#endif
