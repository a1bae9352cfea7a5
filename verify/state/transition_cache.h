/* Keeps results of the world's rules, by the values of the parts that the rules read.
 *
 * While the world lists moves or takes a step, the cache records which parts it reads, in order, in
 * a trie:
 *
 *     step "rank 1 receives the marker" -> read GLOBAL -> 12 -> read RANK 1 -> 17 -> changes
 *                                                                           -> 19 -> changes
 *                                                      -> 13 -> ...
 *
 * In another state the look-up follows the values of that state; the rules and the protocol run
 * only where the trie ends. A step that depends on anything other than parts violates property
 * `pure`.
 *
 * The cache is not thread-safe: callers hold the lock of the model.
 */
#ifndef RECLINE_TRANSITION_CACHE_H
#define RECLINE_TRANSITION_CACHE_H

#include "base/intern.h"
#include "world/rules/world.h"

/* Holds a part that a step changes, its new value, and its old value. */
struct change {
  uint32_t part, value, old;
};

struct effect {
  uint32_t first; /* index in transition_cache.changes */
  uint16_t count;
  uint16_t verdict; /* index in rules_cache.verdicts, or 0 if nothing is violated */
  struct reached reached;
};

/* Holds the moves of one origin; if the origin is a rank by itself, also the standing of the
 * rank. */
struct enabled_list {
  uint32_t first; /* index in transition_cache.list_moves, which has numbers in rules_cache.moves */
  uint16_t count;
  struct world_standing standing;
};

struct edge;
struct scratch;

/* Holds the cache. An entry of the trie names a part or, with `count` added, only the head of a
 * part. */
struct transition_cache {
  struct world *world;
  uint32_t count;      /* number of parts of the world */
  struct intern parts; /* values of parts, and bytes that the world keeps */
  struct intern moves; /* struct move */
  uint32_t *values;    /* values of the parts in the loaded state */
  uint32_t *heads;     /* for each value: the number of its head, or 0 if it is not known */
  uint32_t heads_room;
  uint32_t *looked; /* parts that the last look-up depends on, in the order of reading */
  uint32_t looked_count;
  uint64_t steps; /* how often world_step() really ran */
  bool audit;     /* repeats what is noted, and compares; a difference is a breach */

  struct edge *edges; /* open addressing */
  uint32_t edges_count, edges_room;
  struct effect *effects;
  uint32_t effects_count, effects_room;
  struct change *changes;
  uint32_t changes_count, changes_room;
  struct enabled_list *lists;
  uint32_t lists_count, lists_room;
  uint32_t *list_moves;
  uint32_t list_moves_count, list_moves_room;
  struct verdict *verdicts;
  uint32_t verdicts_count;

  /* The step or list that is being recorded: */
  struct scratch *scratch;
  uint8_t *is_looked, *is_edited;
  struct rcl_actions actions;
};

/* Makes a transition cache, to which world->memory belongs from then on. The first values of parts
 * are those that world_begin(crashes, timers) writes. */
void transition_cache_init(struct transition_cache *, struct world *, unsigned crashes,
                           unsigned timers);
void transition_cache_clear(struct transition_cache *);

/* These functions look up a step, or a list of moves, in the state of `values`. Results are valid
 * until the next call. It is a breach if the world refuses a step. */
const struct effect *transition_cache_step(struct transition_cache *, uint32_t move);
const struct enabled_list *transition_cache_list(struct transition_cache *, uint32_t origin);

/* Applies the step's changes to `values`. */
void transition_cache_apply(struct transition_cache *, const struct effect *);

/* Returns the number of the head of a rank's value, which is the value without the protocol's
 * state. */
uint32_t transition_cache_head(struct transition_cache *, uint32_t value);

/* Forgets what the world has read of `values` outside of the two look-ups. */
void transition_cache_forget_reads(struct transition_cache *);

size_t transition_cache_bytes(const struct transition_cache *); /* memory taken */

#endif
