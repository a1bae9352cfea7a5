#include "base/components.h"

#include <stdlib.h>

#include "base/breach.h"
#include "base/memory.h"

/* Describes a node on the path. */
struct components_frame {
  uint32_t node_low;
  uint16_t node_high;
  bool root;     /* no edge that was followed so far leads further up the path */
  uint32_t edge; /* number of the next edge to follow */
};

static uint64_t node_of(const struct components_frame *frame)
{
  return (uint64_t)frame->node_high << 32 | frame->node_low;
}

/* Subtracts `bytes` from the bytes that the searches may still use. If fewer are left, stops this
 * search and returns false. */
static bool take_bytes(struct components *c, size_t bytes)
{
  size_t left = c->left ? __atomic_load_n(c->left, __ATOMIC_RELAXED) : SIZE_MAX;
  while (c->left && bytes <= left &&
         !__atomic_compare_exchange_n(c->left, &left, left - bytes, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED))
    ;
  c->stopped |= bytes > left;
  return bytes <= left;
}

/* Returns the list, perhaps moved, with room for another item, or NULL if there is no memory for
 * it. */
static void *grow(struct components *c, void *list, size_t count, size_t *room, size_t item)
{
  size_t more = *room ? *room / 2 : 256;
  if (count < *room)
    return list;
  if (!take_bytes(c, more * item))
    return NULL;
  *room += more;
  return memory_grow(list, *room * item);
}

static void enter(struct components *c, uint64_t node)
{
  void *list = grow(c, c->path.item, c->path.count, &c->path.room, sizeof *c->path.item);
  if (!list)
    return;
  c->path.item = list;
  c->path.item[c->path.count++] = (struct components_frame){
      .node_low = (uint32_t)node, .node_high = (uint16_t)(node >> 32), .root = true};
  REQUIRE(node >> 48 == 0, "the number of a node has 48 bits");
  REQUIRE(c->met < __atomic_load_n(c->last, __ATOMIC_RELAXED) - 1,
          "numbers of nodes and of components do not meet");
  c->number[node] = ++c->met;
}

/* Numbers a complete component, which is `node` and all open nodes that were met after it. */
static void complete(struct components *c, uint64_t node)
{
  size_t first = c->open.count - 1;
  while (first > 0 && c->number[c->open.item[first - 1]] >= c->number[node])
    first--;
  size_t count = c->open.count - first;
  uint32_t number = count > 1 ? __atomic_sub_fetch(c->last, 1, __ATOMIC_RELAXED) : COMPONENT_ALONE;
  for (size_t i = first; i < c->open.count; i++)
    c->number[c->open.item[i]] = number;
  c->met -= (uint32_t)count;
  c->open.count = first;
  if (count > 1)
    c->found(c->ctx, c->open.item + first, count);
}

/* Passes what was learned about a node on to the node above it on the path. */
static void lift(struct components *c, struct components_frame *frame, uint32_t number)
{
  if (number >= c->number[node_of(frame)])
    return;
  c->number[node_of(frame)] = number;
  frame->root = false;
}

static void leave(struct components *c)
{
  const struct components_frame frame = c->path.item[--c->path.count];
  uint64_t node = node_of(&frame);
  void *list = grow(c, c->open.item, c->open.count, &c->open.room, sizeof *c->open.item);
  if (!list)
    return;
  c->open.item = list;
  c->open.item[c->open.count++] = node;
  if (frame.root)
    complete(c, node);
  if (c->path.count)
    lift(c, &c->path.item[c->path.count - 1], c->number[node]);
}

void components_from(struct components *c, uint64_t node)
{
  if (c->number[node] || c->stopped)
    return;
  enter(c, node);
  while (c->path.count && !c->stopped) {
    struct components_frame *frame = &c->path.item[c->path.count - 1];
    uint64_t to;
    if (frame->edge == EDGE_NONE || !c->edge(c->ctx, node_of(frame), &frame->edge, &to))
      leave(c);
    else if (!c->number[to])
      enter(c, to);
    else
      lift(c, frame, c->number[to]);
  }
}

void components_clear(struct components *c)
{
  free(c->path.item);
  free(c->open.item);
  c->path.item = NULL;
  c->open.item = NULL;
}
