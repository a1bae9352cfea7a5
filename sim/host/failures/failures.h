/* Schedules failures that have a time: failures of single ranks, and random failures of nodes.
 * Nodes that carry ranks, and spare nodes, fail by law. Each node has a stream of its own
 * (failure_times.h), with the node's name in the scenario's first layout. */
#ifndef RECLINE_FAILURES_H
#define RECLINE_FAILURES_H

#include "sim/host/rank/agenda.h"

/* Puts these failures on the agenda. Of each stream of a law, only the first failure is put
 * there. */
void failures_begin(void);

int failures_nodes(void); /* number of nodes that can fail: nodes with ranks first, then spares */

/* Returns whether two nodes, by their indices in the layout, are in one zone. */
bool failures_share_zone(int node, int other);

/* Puts the next failure of the entry's stream on the agenda, counted from the repair of the node.
 * It must be called when the failure of the entry has struck. */
void failures_next(const struct entry *);

#endif
