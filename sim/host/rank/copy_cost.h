/* Copies in memory that a protocol asks for, and what they cost the rank: payloads into its log,
 * its state at a checkpoint or at the beginning of an iteration, and back. They take the bandwidths
 * that the platform gives (machine.h). And the protocol's own operations. */
#ifndef RECLINE_COPY_COST_H
#define RECLINE_COPY_COST_H

#include "sim/host/rank/rank.h"

/* A payload that the calling rank sends, into its log. */
void copy_payload(struct rank *, double bytes);

/* A message of the calling rank, to make it one with its header or to take it apart, where the
 * protocol has one. */
void copy_tagged(struct rank *, double bytes);

/* State of the calling rank, as part of what it does: a checkpoint or a restart; and what each
 * iteration copies, as it has said. */
void copy_state(struct rank *, double bytes);
void copy_iteration(struct rank *, double bytes);

/* Counts what an event, which the rank is about to take, costs its protocol, in operations whose
 * seconds the platform gives; and what has been counted since, which the rank spends now. */
void work_count(struct rank *, const struct rcl_event *);
void work_charge(struct rank *);

/* The program begins or ends an iteration of its own (recline_iteration, MPI_Finalize). Counts the
 * one that is over by it. */
void iteration_begins(struct rank *, uint32_t iteration);
void iteration_ends(struct rank *);

/* Writes what all ranks have copied and how many iterations they have executed, into the result. */
void copy_cost_report(struct result *);

#endif
