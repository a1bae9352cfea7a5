/* Holds what a search needs besides states: the world, the values of its parts and components, the
 * cache of its rules, and how states are packed. Reductions see a model, never a worker of the
 * search.
 */
#ifndef RECLINE_MODEL_H
#define RECLINE_MODEL_H

#include "base/platform.h"
#include "verify/state/options.h"
#include "verify/state/packing.h"
#include "verify/state/transition_cache.h"

/* Holds parts whose values go together (world_component()). A component's values are tuples of
 * values of its parts, numbered from 0. */
struct component {
  uint32_t *parts;
  uint32_t count;
  struct intern values;
  uint8_t bits; /* width of its field in the present packing */
};

/* Holds a state, as the numbers of its components; `serial` changes whenever these numbers do. */
struct position {
  uint32_t *numbers;
  uint64_t serial;
};

/* Describes a move that is enabled in the state being expanded. */
struct enabled_move {
  uint32_t origin;
  uint32_t option; /* index among the moves of its origin in this state */
  uint8_t action;  /* with stubborn sets: number of the action of its rank */
  uint8_t kind;    /* enum crash_move */
};

struct model {
  struct world *world;
  const struct explorer_options *options;
  bool judges_end;  /* a property of world_at_end() is checked */
  bool judges_line; /* property line-invariant is checked, and the protocol states one */

  /* The next fields are about values. While workers run, the lock `rules` must be held to read or
   * add values. */
  struct platform_lock *rules;
  struct transition_cache rules_cache;
  struct component *component;
  uint32_t components;
  uint32_t *component_of;        /* component of each part */
  uint32_t *place_of;            /* index of each part in its component */
  uint32_t *first;               /* numbers of the first state */
  const struct position *loaded; /* the position whose state is in rules_cache.values */
  uint64_t loaded_serial;        /* the serial of that position when it was loaded */

  /* The present packing, and all earlier packings, because states of the frontier may still be in
   * an old packing.
   */
  struct packing *packing;
  struct packing **packings;
  uint32_t packings_count;
};

/* Makes a model, with a packing for the first state, which is reached by world_begin(crashes,
 * timers) and options->from. The caller keeps `world` and `options`. */
void model_init(struct model *, struct world *, const struct explorer_options *, unsigned crashes,
                unsigned timers);
void model_clear(struct model *);

/* Loads a state into rules_cache.values. The caller holds the lock `rules`. */
void model_load(struct model *, const struct position *);

/* Loads a state that the world will read outside of the cache's two look-ups. The caller holds the
 * lock `rules`. */
void model_show(struct model *, const struct position *);

/* model_load_numbers() loads the state with those numbers of components. model_store_numbers()
 * returns the numbers of the loaded state. The caller of either holds the lock `rules`. */
void model_load_numbers(struct model *, const uint32_t *numbers);
void model_store_numbers(struct model *, uint32_t *numbers);

/* Returns a digest of a component's value, given its number. The digest depends on contents, not on
 * numbers, so it is the same in every search and every process. Loads that component. The caller
 * holds the lock `rules`. */
uint64_t model_digest(struct model *, uint32_t component, uint32_t number);

/* Does the same for a value of a part, which it loads. */
uint64_t model_digest_value(struct model *, uint32_t part, uint32_t value);

/* Makes a new packing for all values. No worker may run. */
void model_make_packing(struct model *);

/* Returns whether there are more values than the present packing can name. */
bool model_outgrown(const struct model *);

uint64_t model_bytes(const struct model *); /* memory taken */

/* Returns whether the property is to be checked. */
bool model_checks(const struct model *, const char *property);

/* Returns whether the claim names property `progress`, so that the search must keep all that is
 * needed to judge it. */
bool model_needs_cycles(const struct model *);

/* Returns whether a verdict is a violation of a property that is checked, or of the grammar of a
 * step. A verdict that the protocol gives up becomes a violation of `recovers`. */
bool model_violates(const struct model *, struct verdict *);

#endif
