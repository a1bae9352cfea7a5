/* Lays out a protocol's state: `struct state`, then arrays and lists whose lengths depend on the
 * config.
 *
 * A protocol says once, in a macro, which arrays and lists it has and in which order:
 *
 *     #define LISTS(ARRAY, LIST)                                                   \
 *       ARRAY(peers, struct peer, config->ranks)                                   \
 *       LIST(log_of, struct entry, config->capacity, state->log, RCL_FULL_LOG)
 *     RCL_STATE(LISTS)
 *
 * Each entry names an accessor, the type of an item, and the number of items. A LIST also names the
 * number of items in use, which are the first ones, and the name that messages have for the list.
 * RCL_STATE stands after the definition of `struct state` and turns the entries into
 *
 *     struct peer *peers(config, state), struct entry *log_of(config, state)
 *     struct offsets offsets_of(config)    where each list begins, and `end`, in bytes
 *     size_t state_size(config)            for rcl_protocol.state_size
 *     uint32_t in_use(config, state, piece)    for rcl_protocol.in_use
 *
 * Lists are aligned as their types require; the size is a multiple of 8, as the door requires. */
#ifndef RECLINE_LISTS_H
#define RECLINE_LISTS_H

#include "protocols/protocol.h"

/* Returns the memory `offset` bytes behind the beginning of `state`. The memory can be written
 * although `state` is const, as with strchr(), because checks of invariants, which must not write,
 * use the same accessors as steps. No other function drops const. */
static inline void *rcl_at(const void *state, size_t offset)
{
  return (char *)(uintptr_t)state + offset;
}

static inline size_t rcl_aligned(size_t offset, size_t alignment)
{
  return (offset + alignment - 1) / alignment * alignment;
}

/* Returns a pointer to the counter MEMBER of a state. The files in protocols/parts keep lengths of
 * lists in such counters. */
#define RCL_COUNT(STATE, MEMBER) ((uint32_t *)rcl_at(STATE, offsetof(struct state, MEMBER)))

#define RCL_MAYBE __attribute__((unused)) /* marks functions that a protocol need not use */

#define RCL_ARRAY_OFFSET(NAME, TYPE, COUNT) size_t NAME;
#define RCL_LIST_OFFSET(NAME, TYPE, ROOM, USED, FULL) size_t NAME;

#define RCL_ARRAY_PLACE(NAME, TYPE, COUNT)                                                         \
  at.NAME = rcl_aligned(at.end, _Alignof(TYPE));                                                   \
  at.end = at.NAME + (size_t)(COUNT) * sizeof(TYPE);
#define RCL_LIST_PLACE(NAME, TYPE, ROOM, USED, FULL) RCL_ARRAY_PLACE(NAME, TYPE, ROOM)

#define RCL_ARRAY_ACCESSOR(NAME, TYPE, COUNT)                                                      \
  RCL_MAYBE static inline TYPE *NAME(const struct rcl_config *config, const struct state *state)   \
  {                                                                                                \
    return rcl_at(state, offsets_of(config).NAME);                                                 \
  }
#define RCL_LIST_ACCESSOR(NAME, TYPE, ROOM, USED, FULL) RCL_ARRAY_ACCESSOR(NAME, TYPE, ROOM)

#define RCL_ARRAY_PIECE(NAME, TYPE, COUNT)                                                         \
  RCL_LIST_PIECE(NAME, TYPE, COUNT, COUNT, RCL_FULL_UNNAMED)
#define RCL_LIST_PIECE(NAME, TYPE, ROOM, USED, FULL)                                               \
  piece[pieces++] = (struct rcl_piece){.offset = (uint32_t)at.NAME,                                \
                                       .bytes = (uint32_t)((size_t)(USED) * sizeof(TYPE)),         \
                                       .room = (uint32_t)((size_t)(ROOM) * sizeof(TYPE)),          \
                                       .list = (FULL)};

#define RCL_STATE(LISTS)                                                                           \
  struct offsets {                                                                                 \
    LISTS(RCL_ARRAY_OFFSET, RCL_LIST_OFFSET)                                                       \
    size_t end;                                                                                    \
  };                                                                                               \
  _Static_assert(sizeof(struct offsets) / sizeof(size_t) <= RCL_PIECES, "too many lists");         \
  static inline struct offsets offsets_of(const struct rcl_config *config)                         \
  {                                                                                                \
    struct offsets at = {.end = sizeof(struct state)};                                             \
    LISTS(RCL_ARRAY_PLACE, RCL_LIST_PLACE)                                                         \
    at.end = rcl_aligned(at.end, 8);                                                               \
    return at;                                                                                     \
  }                                                                                                \
  LISTS(RCL_ARRAY_ACCESSOR, RCL_LIST_ACCESSOR)                                                     \
  static inline size_t state_size(const struct rcl_config *config)                                 \
  {                                                                                                \
    return offsets_of(config).end;                                                                 \
  }                                                                                                \
  RCL_MAYBE static inline uint32_t in_use(const struct rcl_config *config, const void *memory,     \
                                          struct rcl_piece *piece)                                 \
  {                                                                                                \
    const struct state *state = memory;                                                            \
    struct offsets at = offsets_of(config);                                                        \
    uint32_t pieces = 1;                                                                           \
    piece[0] = (struct rcl_piece){.bytes = sizeof *state, .room = sizeof *state};                  \
    LISTS(RCL_ARRAY_PIECE, RCL_LIST_PIECE)                                                         \
    return pieces;                                                                                 \
  }

#endif
