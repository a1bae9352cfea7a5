/* Declares what the files of the abstraction share.
 *
 *     abstraction.c           nodes and edges, round after round until nothing is new
 *     abstraction_step.c      one action tried at a node
 *     abstraction_gather.c    contributions to collectives
 *     abstraction_contents.c  contents of what is stored
 *     abstraction_order.c     nodes in order; what can be sent along them
 */
#ifndef RECLINE_ABSTRACTION_PARTS_H
#define RECLINE_ABSTRACTION_PARTS_H

#include "verify/reduce/abstraction.h"
#include "world/rules/world_parts.h"

/* Lays out the key of a node. First comes the value of the rank. Then comes what the rank knows of
 * shared parts through its own actions: for the coordinator, which alone changes GLOBAL, the entry
 * of GLOBAL; for every rank, how often it has changed TOKENS. In bounded abstractions, what can
 * still come through each queue follows, and how often each message without order has come. */
enum { KEY_VALUE, KEY_CHANGES, KEY_QUEUES = KEY_CHANGES + SHARED_PARTS, KINDS = 2, PAIR_KINDS = 3 };

/* Holds the outcome of an action at all nodes with one value and the same number of changes of
 * shared parts. */
struct outcome {
  uint32_t value, sends, shares, writes;
  uint8_t shared;          /* the shared part */
  bool violates, survives; /* whether this is so in some combination */
};

/* Holds the cached answer to a query. */
struct answer {
  union {
    struct outcome outcome;
    uint32_t list;
  };
};

/* Holds an action that is being tried at a node. */
struct attempt {
  uint32_t rank;
  const uint32_t *key; /* key of the node */
  struct abstraction_action action;
  uint32_t move;
  /* things outside of the rank that the action reads, a bit for each: heads of ranks, shared
   * parts, queues to the rank by kind and peer */
  uint32_t varied;
  uint32_t choice[32]; /* for each thing in `varied`: the choice that is tried */
  /* entries of the shared part in which the node can be; ends with 0 */
  uint32_t *fits[SHARED_PARTS];
  struct outcome outcome;
  uint32_t *table, count; /* pairs of an entry of the shared part and its value afterwards */
};

static inline void refuse(struct abstraction *c, const char *why)
{
  if (!c->refused)
    c->refused = why;
}

static inline uint32_t part_of(const struct abstraction *c, enum part_kind kind, uint32_t a,
                               uint32_t b)
{
  return world_part(c->model->world, kind, (int)a, (int)b);
}

/* ---- abstraction_step.c ---- */

/* These functions note an action, a value and so on, and return its number. A new entry makes
 * another round necessary. `by` is the rank that has changed a shared part, after the changes in
 * `counts`. If `counts` is NULL, no rank has changed it. */
uint32_t abstraction_add_action(struct abstraction *, uint32_t rank,
                                const struct abstraction_action *);
uint32_t abstraction_add_value(struct abstraction *, uint32_t rank, const uint32_t *values);
uint32_t abstraction_add_shared(struct abstraction *, unsigned shared, uint32_t value,
                                const uint32_t *counts, uint32_t by);

/* Returns the moves of `origin` at the node of an attempt, whatever the shared parts are. The
 * result is an index of abstraction.lists. `asked` tells different questions about one node
 * apart. */
uint32_t abstraction_list(struct abstraction *, struct attempt *, uint32_t origin, uint32_t asked);

/* Returns the outcome of the action with that number in an attempt. */
struct outcome abstraction_try(struct abstraction *, struct attempt *, uint32_t number);

void abstraction_forget(struct attempt *);

/* ---- abstraction_gather.c ---- */

/* Notes an action for each choice of contributions that the rank could gather at the node of an
 * attempt. */
void abstraction_add_gathers(struct abstraction *, const struct attempt *);

/* Returns whether the rank waits, at the node of an attempt, for the contributions that the action
 * gathers. */
bool abstraction_gathers_now(const struct abstraction *, const struct attempt *);

/* Returns the listed move that gathers, or 0 if there is none. */
uint32_t abstraction_gathering_move(const struct abstraction *, const struct interned *moves);

/* ---- abstraction_contents.c ---- */

/* Returns, as an index of abstraction.contents, the contents that are in `values` but not in `cut`,
 * or 0 if there are none. */
uint32_t abstraction_contents(struct abstraction *, const uint32_t *values, const uint32_t *cut);

/* Returns abstraction_edge.stores for a step from the values `before` to `after` that writes those
 * contents. */
uint64_t abstraction_stores(const struct abstraction *, const uint32_t *before,
                            const uint32_t *after, uint32_t writes);

/* ---- abstraction_order.c ---- */

/* Puts nodes in order, targets first. Refuses an abstraction with a cycle, because a move could be
 * left out for ever along the cycle. */
void abstraction_sort(struct abstraction *, uint32_t rank);

/* Finds the messages that can come to a rank, by the nodes of the other ranks. */
void abstraction_find_coming(struct abstraction *, uint32_t rank);

#endif
