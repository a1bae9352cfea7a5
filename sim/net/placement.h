/* Knows on which node each rank runs, which nodes have failed, and which nodes are spares.
 *
 * A node has the name of its host in SimGrid's platform.
 */
#ifndef RECLINE_PLACEMENT_H
#define RECLINE_PLACEMENT_H

#include <stdbool.h>

/* Prepares the module. Call it before any other function here. */
void node_begin(int ranks);

/* Sets the node of the dispatcher, which is also the node of file server and event logger. The name
 * is not copied. */
void node_set_service(const char *node);
const char *node_service(void);

/* Returns the node of `rank`, or NULL before the rank's MPI_Init. */
const char *node_of(int rank);
void node_set(int rank, const char *node);

/* Sets `count` nodes as spares, and forgets failures. */
void node_set_spares(char *const *node, int count);

/* Notes that `node` has failed, and is no longer a spare. `returns` says whether the node comes
 * back. Returns true if the node's ranks go elsewhere. They go to a spare, which is kept for them
 * or, if there is no spare and the node does not come back, to the node with the fewest ranks. */
bool node_fail(const char *node, bool returns);

/* Returns whether the node has failed and does not come back. */
bool node_is_gone(const char *node);

/* Repairs `node`, if it has failed and comes back. It becomes a spare, unless ranks run on it. */
void node_return(const char *node);

/* Moves the ranks of a failed `node` to the node that is kept for them, and repairs `node`, unless
 * it never comes back. It must be called when these ranks start again. Does nothing if `node` is
 * up. */
void node_replace(const char *node);

#endif
