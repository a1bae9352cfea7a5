/* Nodes: on which host of the platform each rank runs, which nodes have failed, and which stand by.
 *
 * Names of nodes are those of SimGrid's hosts.
 */
#ifndef RECLINE_PLACEMENT_H
#define RECLINE_PLACEMENT_H

#include <stdbool.h>

/* Before any other function here. */
void node_begin(int ranks);

/* Sets the node of the dispatcher, which carries the file server and the event logger, too. The
 * name is not copied. */
void node_set_service(const char *node);
const char *node_service(void);

/* Returns where `rank` runs; NULL before its MPI_Init. */
const char *node_of(int rank);
void node_set(int rank, const char *node);

/* `count` nodes stand by as spares from here on, and no node has failed. */
void node_set_spares(char *const *node, int count);

/* `node` has failed: it is no longer a spare, and comes back or not. Returns true if its ranks go
 * elsewhere: to a spare, which is kept for them, or, without a spare and if the node does not come
 * back, to the node with the fewest ranks. */
bool node_fail(const char *node, bool returns);

/* Returns whether the node has failed and does not come back. */
bool node_is_gone(const char *node);

/* `node` is repaired, if it had failed and comes back: it is a spare, unless ranks run on it. */
void node_return(const char *node);

/* The ranks of `node` can start again: at the node that is kept for them, else where they were. A
 * node that has failed is repaired by then (node_return()). */
void node_replace(const char *node);

#endif
