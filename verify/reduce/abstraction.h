/* Makes the abstraction, which has all states that a rank can reach, whatever the others send.
 *
 * A reduction leaves out states, so the facts on which it relies must hold in states that are never
 * visited. For each rank by itself, the abstraction is a graph of the values of the rank's parts.
 * The rank receives any message that a peer could send, at any time, but no message more often than
 * the peer could send it. Steps are taken by the real rules and handlers, through the transition
 * cache. A message that is sent is only added to the set of messages that its receiver may take.
 * The iteration ends at a fixed point, which is an over-approximation.
 *
 *     node     values of the parts of one rank; how often the rank has changed each part that all
 *              ranks share; in bounded abstractions, what can still come from each peer
 *     action   a move of the rank's own; taking in a message; or gathering what others contribute
 *              to a collective, which is one message of each
 *     edge     what an action does to the rank and to the shared part, and what it sends. A move of
 *              the rank's own that changes nothing has no edge
 *
 * Before a crash no rule looks at stored contents. So values leave contents out. Instead an edge
 * tells which contents it writes, as it tells which messages it sends.
 *
 * The abstraction, and with it the reduction, is refused if a step reaches further: if the world
 * has faults, or if a step looks at more of other ranks than their heads. In worlds with crashes,
 * the abstraction covers runs up to the first crash.
 */
#ifndef RECLINE_ABSTRACTION_H
#define RECLINE_ABSTRACTION_H

#include "verify/reduce/dfa.h"
#include "verify/state/model.h"
#include "world/rules/world_parts.h"

enum {
  ABSTRACTION_ACTIONS = 64, /* largest number of actions of one rank */
  OWN = -1,                 /* value of abstraction_action.peer: no peer */
  GATHER = -2,              /* value of abstraction_action.peer: several ranks */
  SHARED_GLOBAL = 0,        /* first part that all ranks share */
  SHARED_TOKENS = 1,
  SHARED_PARTS = 2,
  VIOLATES = UINT32_MAX
};

/* Identifies an action of one rank. */
struct abstraction_action {
  int16_t peer;  /* the sender of the message, or OWN, or GATHER */
  uint16_t kind; /* WORLD_CHANNEL or WORLD_CONTROL, or WORLD_SHARE with GATHER */
  /* with OWN the move; with GATHER an index of abstraction.gathers; otherwise the value of a
   * part that holds this message alone */
  uint32_t what;
};

struct abstraction_edge {
  uint32_t target; /* a node, or VIOLATES if a property is always violated */
  uint32_t sends;  /* what the action sends: index in abstraction.sends, or 0 for nothing */
  /* what the action does to a shared part: index in abstraction.shares, or 0 for nothing */
  uint32_t shares;
  uint32_t move;   /* index in rules_cache.moves */
  uint32_t action; /* number of the action, from 0 */
  /* the contents that the action stores: index in abstraction.contents, or 0 if there are none */
  uint32_t writes;
  /* contents that the action writes, moves, changes or removes; each content has a bit, which
   * several may share */
  uint64_t stores;
};

struct abstraction_rank {
  struct intern values;  /* values of the rank's parts, in order */
  struct intern actions; /* struct abstraction_action; the number of action n is n + 1 */
  struct intern shares;  /* struct abstraction_send: contributions that can come to the rank */
  /* Languages of the messages that can come through each queue, by kind and peer. */
  uint32_t *comes;
  /* For each action whose message keeps no order: how often that message can come. */
  uint32_t *most;
  /* uint32_t[]: keys of nodes; the value comes first, then the coordinator's GLOBAL */
  struct intern nodes;
  uint32_t *first; /* the edges of node n begin at first[n] and end at first[n + 1] */
  struct abstraction_edge *edges;
  uint32_t edges_count, edges_room, first_room, most_room;
  uint32_t *order; /* nodes in order, the target of an edge before its source */
  uint32_t *heads; /* values of the rank's part RANK, one for each head */
  uint32_t heads_count;
};

/* Holds something that is sent, as the value of a part that has nothing else. */
struct abstraction_send {
  uint32_t part, value;
};

struct answer;

struct abstraction {
  struct model *model;
  uint32_t ranks;
  struct abstraction_rank *rank;
  bool before_crash; /* the abstraction covers runs up to the first crash */
  bool bounded;      /* true if nodes know which messages can still come */
  bool grown;        /* this round has added entries, or added to what can come */
  uint32_t tries;    /* number of steps taken so far */
  uint32_t most;     /* the limit on steps */
  const char *refused;
  uint32_t *first; /* values of the world's first state */
  struct dfas dfas;
  struct intern sends; /* struct abstraction_send[], by part */
  /* struct abstraction_send[]: the contributions that a rank gathers, one from each peer */
  struct intern gathers;
  struct intern contents; /* struct world_record[]: contents that a step stores (before a crash) */
  /* By shared part: its values, each together with how often each rank has changed the part. */
  struct intern shared[SHARED_PARTS];
  /* uint32_t[]: what an action does to a shared part. The first word is the number of the part.
   * Pairs of entries of `shared` follow, one pair for each entry that the part can have at the
   * node: the entry before the action, and the entry after it (or VIOLATES). */
  struct intern shares;
  /* Results about a rank, by its value, its changes of shared parts, and the action. */
  struct intern asked, lists;
  struct answer *answers;
  uint32_t answers_room;
};

/* Returns the entry of GLOBAL with that value, or 0 if there is none. */
uint32_t abstraction_global(const struct abstraction *, uint32_t value);

/* Returns whether messages of that kind come out in the order in which they went in. */
static inline bool abstraction_is_queue(const struct abstraction *c, unsigned kind)
{
  const struct world *w = c->model->world;
  return kind == WORLD_CONTROL || (kind == WORLD_CHANNEL && (w->fifo || below_matching(w)));
}

/* Limits for the number of steps that an abstraction may try. That many steps take seconds, a
 * minute, or minutes. */
enum { ABSTRACTION_FEW = 1 << 20, ABSTRACTION_SOME = 1 << 22, ABSTRACTION_MANY = 1 << 26 };

/* Says that an abstraction is refused because it needs more steps than its limit allows. */
extern const char abstraction_unfinished[];

/* Makes the abstraction, by means of the explorer's transition cache, whose values it changes. If
 * `before_crash`, the abstraction covers runs up to the first crash. Returns NULL and sets *refused
 * if there is no abstraction. */
struct abstraction *abstraction_new(struct model *, bool before_crash, uint32_t most_tries,
                                    const char **refused);
void abstraction_free(struct abstraction *);

static inline uint32_t abstraction_actions(const struct abstraction *c, uint32_t rank)
{
  return c->rank[rank].actions.count;
}

static inline const struct abstraction_action *abstraction_action(const struct abstraction *c,
                                                                  uint32_t rank, uint32_t action)
{
  return c->rank[rank].actions.item[action + 1].bytes;
}

/* Returns the number of a node's value. */
static inline uint32_t abstraction_value(const struct abstraction_rank *r, uint32_t node)
{
  return *(const uint32_t *)r->nodes.item[node].bytes;
}

/* Returns the values of the parts of the rank at a node, in order. */
static inline const uint32_t *abstraction_values(const struct abstraction *c, uint32_t rank,
                                                 uint32_t node)
{
  const struct abstraction_rank *r = &c->rank[rank];
  return r->values.item[abstraction_value(r, node)].bytes;
}

/* Sets the values of the parts of a rank, in order and without contents, as the abstraction has
 * them. Once workers run, the caller must hold the lock `rules`. */
void abstraction_cut(const struct abstraction *, uint32_t rank, const uint32_t *values,
                     uint32_t *cut);

/* Returns the number of that action, or UINT32_MAX if there is none. */
uint32_t abstraction_find(const struct abstraction *, uint32_t rank,
                          const struct abstraction_action *);

/* Lists the messages that an action takes in, with their parts; there is at most one from each
 * rank. Returns their number. */
static inline uint32_t abstraction_takes(const struct abstraction *c, uint32_t rank,
                                         const struct abstraction_action *action,
                                         struct abstraction_send *takes)
{
  if (action->peer == OWN)
    return 0;
  if (action->peer != GATHER) {
    enum part_kind kind = (enum part_kind)action->kind;
    takes->part = world_part(c->model->world, kind, action->peer, (int)rank);
    takes->value = action->what;
    return 1;
  }
  const struct interned *list = &c->gathers.item[action->what];
  memcpy(takes, list->bytes, list->size);
  return list->size / (uint32_t)sizeof *takes;
}

/* Returns whether an action takes in that message. */
static inline bool abstraction_takes_it(const struct abstraction *c, uint32_t rank,
                                        const struct abstraction_action *action,
                                        const struct abstraction_send *message)
{
  struct abstraction_send takes[c->ranks];
  for (uint32_t left = abstraction_takes(c, rank, action, takes); left-- > 0;)
    if (takes[left].part == message->part && takes[left].value == message->value)
      return true;
  return false;
}

/* Returns the rank that has sent the messages in that part of a pair. */
static inline uint32_t abstraction_sender(const struct abstraction *c, uint32_t part)
{
  uint32_t first = world_part(c->model->world, WORLD_CHANNEL, 0, 0);
  return (part - first) % (c->ranks * c->ranks) / c->ranks;
}

/* Returns the edge of `action` at `node`, or NULL. */
const struct abstraction_edge *abstraction_edge(const struct abstraction *, uint32_t rank,
                                                uint32_t node, uint32_t action);

#endif
