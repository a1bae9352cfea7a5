/* The layout of a protocol's state: `struct state`, then lists whose lengths depend on the config.
 *
 * A protocol says once, in a macro, which lists there are and in which order:
 *
 *     #define LISTS(LIST)                                \
 *       LIST(peers, struct peer, config->ranks)          \
 *       LIST(log_of, struct entry, config->capacity)
 *     RCL_STATE(LISTS)
 *
 * Each LIST names an accessor, the type of an entry, and how many entries there are. RCL_STATE,
 * behind the definition of `struct state`, makes of that
 *
 *     struct peer *peers(config, state), struct entry *log_of(config, state)
 *     struct offsets offsets_of(config)    where each list begins, and `end`, in bytes
 *     size_t state_size(config)            for rcl_protocol.state_size
 *
 * Lists are aligned as their types ask for; the size is a multiple of 8, as the door requires.
 */
#ifndef RECLINE_LISTS_H
#define RECLINE_LISTS_H

#include "protocols/protocol.h"

/* The memory `offset` bytes behind the beginning of `state`. As with strchr(), the result can be
 * written to although `state` is const: a check of invariants reads a state through the same
 * accessors as a step, and must not write. No other place drops const. */
static inline void *rcl_at(const void *state, size_t offset)
{
  return (char *)(uintptr_t)state + offset;
}

static inline size_t rcl_aligned(size_t offset, size_t alignment)
{
  return (offset + alignment - 1) / alignment * alignment;
}

/* The counter MEMBER of a state, for parts that keep the length of a list there. */
#define RCL_COUNT(STATE, MEMBER) ((uint32_t *)rcl_at(STATE, offsetof(struct state, MEMBER)))

#define RCL_LIST_OFFSET(NAME, TYPE, COUNT) size_t NAME;

#define RCL_LIST_PLACE(NAME, TYPE, COUNT)                                                          \
  at.NAME = rcl_aligned(at.end, _Alignof(TYPE));                                                   \
  at.end = at.NAME + (size_t)(COUNT) * sizeof(TYPE);

#define RCL_LIST_ACCESSOR(NAME, TYPE, COUNT)                                                       \
  static inline TYPE *NAME(const struct rcl_config *config, const struct state *state)             \
  {                                                                                                \
    return rcl_at(state, offsets_of(config).NAME);                                                 \
  }

#define RCL_STATE(LISTS)                                                                           \
  struct offsets {                                                                                 \
    LISTS(RCL_LIST_OFFSET)                                                                         \
    size_t end;                                                                                    \
  };                                                                                               \
  static inline struct offsets offsets_of(const struct rcl_config *config)                         \
  {                                                                                                \
    struct offsets at = {.end = sizeof(struct state)};                                             \
    LISTS(RCL_LIST_PLACE)                                                                          \
    at.end = rcl_aligned(at.end, 8);                                                               \
    return at;                                                                                     \
  }                                                                                                \
  LISTS(RCL_LIST_ACCESSOR)                                                                         \
  static inline size_t state_size(const struct rcl_config *config)                                 \
  {                                                                                                \
    return offsets_of(config).end;                                                                 \
  }

#endif
