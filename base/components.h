/* Strongly connected components of a directed graph, by depth-first search.
 *
 * Nodes are numbers below 2^48; the caller tells the edges of a node one at a time, as often as it
 * is asked: the search keeps none. It takes 4 bytes for each node there is, 12 for each on the path
 * that it stands on, and 8 for each whose component is not complete yet, and which is on the path
 * no more.
 *
 * Source: D. J. Pearce, A space-efficient algorithm for finding strongly connected components,
 * Information Processing Letters 116 (2016).
 */
#ifndef RECLINE_COMPONENTS_H
#define RECLINE_COMPONENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of each node that is a component by itself; then of a graph's other components,
 * downwards. */
#define COMPONENT_ALONE UINT32_MAX

/* The edges of a node behind the last one. */
#define EDGE_NONE UINT32_MAX

struct components {
  /* Set by the caller. */
  uint32_t *number; /* of each node, 0 at first; then its component's */
  uint32_t *last;   /* the last number of a component, COMPONENT_ALONE at first; searches that meet
                       no node of each other may share both, and run at the same time */
  size_t *left;     /* bytes that searches may take beside them; NULL: no bound; shared likewise */
  void *ctx;
  /* The first edge of `node` from number *edge on. *edge becomes the number of the next one,
   * EDGE_NONE where the caller knows that there is none. False: there is no edge. */
  bool (*edge)(void *ctx, uint64_t node, uint32_t *edge, uint64_t *to);
  /* A component of several nodes, in number[] of which its number is now. */
  void (*found)(void *ctx, const uint64_t *nodes, size_t count);
  bool stopped; /* by the caller, or for want of memory: the search goes no further */

  struct {
    struct components_frame *item;
    size_t count, room;
  } path;
  struct {
    uint64_t *item;
    size_t count, room;
  } open;
  uint32_t met; /* nodes on either */
};

/* Finds the components of all nodes that are reached from `node` and have no number yet. */
void components_from(struct components *, uint64_t node);

/* Frees what is not the caller's. */
void components_clear(struct components *);

#endif
