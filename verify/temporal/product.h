/* Looks for a weakly fair run of a graph of states that an automaton accepts.
 *
 * A run may stay in a state for ever unless a move that is not a fault leads elsewhere from there.
 * The search knows nothing of worlds: states, moves and facts are numbers.
 *
 * A state of the *product* is a state of the graph together with a state of the automaton that
 * allows its facts. From some point on, a run stays in one strongly connected component of the
 * product. A component has a run that is fair and accepted exactly if (1) it has a state in each
 * acceptance set, and (2) each move that is no fault and is possible in all of its states also
 * leads from one of them into it. If a part of a component has such a run, so has the whole
 * component, so it is enough to look at whole components.
 */
#ifndef RECLINE_PRODUCT_H
#define RECLINE_PRODUCT_H

#include <stddef.h>

#include "verify/temporal/automaton.h"

struct graph_edge {
  uint32_t to;
  uint32_t move; /* below graph.moves */
};

/* Holds a graph of states. A run begins in state 0. `edge` has the edges out of state 0 first, then
 * the edges out of state 1, and so on; no edge leads to the state where it begins. */
struct graph {
  uint32_t states, moves;
  uint64_t *edges; /* by state: the number of its first edge; edges[states]: the count of edges */
  struct graph_edge *edge;
  uint32_t *facts; /* by state */
  bool *is_fault;  /* by move: it need not happen, however long it is possible */
};

/* Holds a run: `count` edges of the graph, the last `again` of which repeat for ever. If `again` is
 * 0, the run stays in its last state. The caller frees `edge`. */
struct lasso {
  uint64_t *edge;
  uint32_t count, room, again;
};

enum product_answer { PRODUCT_NONE, PRODUCT_FOUND, PRODUCT_STOPPED };

struct product_bounds {
  size_t bytes;               /* bytes that the search may take */
  bool (*is_late)(void *ctx); /* whether the time is up, or NULL if there is no limit */
  void *ctx;
};

/* Fills in `lasso` if there is such a run: a shortest way to a component, then a round in it. For
 * the same graph, with the same order of edges, and the same automaton it is always the same run.
 */
enum product_answer product_search(const struct graph *, const struct automaton *,
                                   const struct product_bounds *, struct lasso *lasso);

#endif
