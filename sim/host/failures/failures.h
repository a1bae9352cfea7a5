/* When the failures of the scenario strike that are due at a time: one rank's at a time, and those
 * of nodes by law. Nodes that fail by law are those that carry ranks and the spares; each has a
 * stream of its own (failure_times.h), named as the node is in the scenario's first layout.
 */
#ifndef RECLINE_FAILURES_H
#define RECLINE_FAILURES_H

#include "sim/host/rank/agenda.h"

/* Puts them on the agenda: by law, the first of each stream. */
void failures_begin(void);

int failures_nodes(void); /* that can fail: those of ranks, then spares */

/* Returns whether two nodes, by their indices in the layout, are in one zone. */
bool failures_share_zone(int node, int other);

/* The entry has struck: puts the next one of its stream on the agenda, counted from the repair of
 * the node. */
void failures_next(const struct entry *);

#endif
