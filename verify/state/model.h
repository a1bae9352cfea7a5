/* What is explored, apart from the states themselves: the world, the values that its parts and
 * components take, the cache of its rules, and how states are packed. Reductions see a model, never
 * a worker of the search.
 */
#ifndef RECLINE_MODEL_H
#define RECLINE_MODEL_H

#include "base/platform.h"
#include "verify/state/options.h"
#include "verify/state/packing.h"
#include "verify/state/transition_cache.h"

/* Parts whose values go together (world_component()). Its own values are tuples of theirs, numbered
 * from 0. */
struct component {
  uint32_t *parts;
  uint32_t count;
  struct intern values;
  uint8_t bits; /* in the present packing */
};

/* A state, by the numbers of its components; `serial` changes whenever they do. */
struct position {
  uint32_t *numbers;
  uint64_t serial;
};

/* A move that is enabled in the state being expanded. */
struct enabled_move {
  uint32_t origin;
  uint32_t option; /* of those that the origin has in this state */
  uint8_t action;  /* with stubborn sets: the action of its rank that it is */
  uint8_t kind;    /* enum crash_move */
};

struct model {
  struct world *world;
  const struct explorer_options *options;
  bool judges_end;  /* a property of world_at_end() is checked */
  bool judges_line; /* property line-invariant is, of a protocol that states one */

  /* Values. `rules` is held to read or add them while workers run. */
  struct platform_lock *rules;
  struct transition_cache rules_cache;
  struct component *component;
  uint32_t components;
  uint32_t *component_of;        /* of each part, */
  uint32_t *place_of;            /* and its place among the component's parts */
  uint32_t *first;               /* numbers of the first state */
  const struct position *loaded; /* whose state rules_cache.values are, */
  uint64_t loaded_serial;        /* and which of its states */

  /* The present packing, and all there were: states of the frontier may still be in an old one. */
  struct packing *packing;
  struct packing **packings;
  uint32_t packings_count;
};

/* `world` and `options` are the caller's and stay. The first state is that of world_begin(crashes,
 * timers) and options->from; it has a packing. */
void model_init(struct model *, struct world *, const struct explorer_options *, unsigned crashes,
                unsigned timers);
void model_clear(struct model *);

/* Loads rules_cache.values with a state. Under `rules`. */
void model_load(struct model *, const struct position *);

/* The same with the state of those components, of which nothing else is known; and the numbers of
 * the components of the state that is loaded. Under `rules`. */
void model_load_numbers(struct model *, const uint32_t *numbers);
void model_store_numbers(struct model *, uint32_t *numbers);

/* A digest of the value of that number of a component: of what it is, not of how it is numbered, so
 * it is the same in every search and every process. Loads that component. Under `rules`. */
uint64_t model_digest(struct model *, uint32_t component, uint32_t number);

/* The same of a value of a part, which it loads. */
uint64_t model_digest_value(struct model *, uint32_t part, uint32_t value);

/* A new packing for all values that there are. While no worker runs. */
void model_make_packing(struct model *);

/* Returns whether there are more values than the present packing can name. */
bool model_outgrown(const struct model *);

uint64_t model_bytes(const struct model *); /* memory taken */

/* Returns whether a property is to be checked. */
bool model_checks(const struct model *, const char *property);

/* Returns whether property progress was asked for by name: then the search is such that it can be
 * judged.
 */
bool model_needs_cycles(const struct model *);

/* Returns whether a verdict is a violation of a property that is checked, or of the grammar of a
 * step. One that the protocol gives up is made one of `recovers`. */
bool model_violates(const struct model *, struct verdict *);

#endif
