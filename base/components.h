/* Finds the strongly connected components of a directed graph by depth-first search.
 *
 * Nodes are numbers below 2^48. The search asks the caller for the edges of a node one at a time,
 * perhaps more than once, and keeps none. It takes 4 bytes for each node, 12 more for each node on
 * the current path, and 8 more for each node that has left the path and whose component is not
 * complete.
 *
 * Source: D. J. Pearce, A space-efficient algorithm for finding strongly connected components,
 * Information Processing Letters 116 (2016).
 */
#ifndef RECLINE_COMPONENTS_H
#define RECLINE_COMPONENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* COMPONENT_ALONE is the number of every node that is a component by itself; other components are
 * numbered downwards from it. */
#define COMPONENT_ALONE UINT32_MAX

/* As the value of an `edge`, EDGE_NONE says that the node has no further edge. */
#define EDGE_NONE UINT32_MAX

struct components {
  /* The caller sets these fields. */
  uint32_t *number; /* by node: 0 at first, later the number of its component */
  /* the last number given to a component, COMPONENT_ALONE at first. Searches that have no node
   * in common may share `number` and `last`, and may run at the same time */
  uint32_t *last;
  /* number of bytes that all searches together may still take, or NULL if there is no bound */
  size_t *left;
  void *ctx;
  /* Finds the first edge of `node` whose number is at least *edge. Sets *edge to the number of the
   * next edge, or to EDGE_NONE if the caller knows that there is no next edge. Returns false if
   * there is no edge. */
  bool (*edge)(void *ctx, uint64_t node, uint32_t *edge, uint64_t *to);
  /* The search calls this for each component of several nodes, once number[] of each holds its
   * number. */
  void (*found)(void *ctx, const uint64_t *nodes, size_t count);
  /* if true, the search ends; the caller sets it, or the search when memory is short */
  bool stopped;

  struct {
    struct components_frame *item;
    size_t count, room;
  } path;
  struct {
    uint64_t *item;
    size_t count, room;
  } open;
  /* number of nodes that are on the path, or have left it and whose component is not complete */
  uint32_t met;
};

/* Finds the components of all nodes that can be reached from `node` and have no number yet. */
void components_from(struct components *, uint64_t node);

/* Frees what the search has allocated. */
void components_clear(struct components *);

#endif
