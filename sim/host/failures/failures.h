/* Schedules failures that have a time: single ranks, and nodes that fail at random. The nodes that
 * carry ranks, and the spares, fail by law. Each has a stream of its own (failure_times.h), named
 * as the node is in the scenario's first layout. */
#ifndef RECLINE_FAILURES_H
#define RECLINE_FAILURES_H

#include "sim/host/rank/agenda.h"

/* Puts these failures on the agenda: of each stream of a law, only the first failure. */
void failures_begin(void);

int failures_nodes(void); /* nodes that can fail: those with ranks, then spares */

/* Returns whether two nodes, by their indices in the layout, are in one zone. */
bool failures_share_zone(int node, int other);

/* Puts the next failure of the entry's stream on the agenda, counted from the repair of the node.
 * Call it when the entry has struck. */
void failures_next(const struct entry *);

#endif
