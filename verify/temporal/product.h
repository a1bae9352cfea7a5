/* Looks for a weakly fair run of a graph of states that an automaton accepts.
 *
 * A run may stay in a state for ever unless a move that is not a fault leads from that state to
 * another one. The search knows nothing of worlds: states, moves and facts are numbers.
 *
 * A state of the *product* is a state of the graph together with a state of the automaton that
 * allows its facts. From some point on, a run stays in one strongly connected component of the
 * product. A component has a run that is fair and accepted exactly if two conditions hold: (1) the
 * component has a state in each acceptance set, and (2) each move that is no fault and is possible
 * in all states of the component also leads from one of its states to one of its states. If a
 * subset of a component has such a run, the whole component has one, too, so it is enough to look
 * at whole components.
 */
#ifndef RECLINE_PRODUCT_H
#define RECLINE_PRODUCT_H

#include <stddef.h>

#include "verify/temporal/automaton.h"

struct graph_edge {
  uint32_t to;
  uint32_t move; /* number of the move, below graph.moves */
};

/* Holds a graph of states. A run begins in state 0. `edge` has the edges out of state 0 first, then
 * the edges out of state 1, and so on; no edge leads from a state to itself. */
struct graph {
  uint32_t states, moves;
  /* by state: the number of its first edge; edges[states] is the number of all edges */
  uint64_t *edges;
  struct graph_edge *edge;
  uint32_t *facts; /* by state: the facts that are true, one bit each */
  bool *is_fault;  /* by move: true if the move need not happen, however long it is possible */
};

/* Holds a run: `count` edges of the graph, the last `again` of which repeat for ever. If `again` is
 * 0, the run stays in its last state. The caller frees `edge`. */
struct lasso {
  uint64_t *edge;
  uint32_t count, room, again;
};

enum product_answer { PRODUCT_NONE, PRODUCT_FOUND, PRODUCT_STOPPED };

struct product_bounds {
  size_t bytes;               /* number of bytes that the search may take */
  bool (*is_late)(void *ctx); /* returns whether the time is up; NULL if there is no limit */
  void *ctx;
};

/* Fills in `lasso` if there is such a run. The run is a shortest way to a component, followed by a
 * round in it. The same graph, with the same order of edges, and the same automaton always give the
 * same run.
 */
enum product_answer product_search(const struct graph *, const struct automaton *,
                                   const struct product_bounds *, struct lasso *lasso);

#endif
