/* Searches without any of the explorer's optimisations: it has no interning and no memory of
 * steps, and its states are complete byte strings. This file also has worlds to search. */
#ifndef RECLINE_REFERENCE_H
#define RECLINE_REFERENCE_H

#include <glib.h>
#include <string.h>

#include "verify/explore/explorer.h"

struct plain {
  _Alignas(8) unsigned char bytes[8192]; /* as protocols are promised */
  uint32_t size;
};

struct reference {
  struct world *world;
  struct plain *parts;
  uint32_t count;
  GHashTable *kept; /* GBytes -> number */
  GPtrArray *kept_list;
  GArray *moves;
  struct rcl_actions actions;
};

static const void *read_part(void *ctx, uint32_t part, uint32_t *size)
{
  const struct plain *p = &((struct reference *)ctx)->parts[part];
  *size = p->size;
  return p->bytes;
}

static void *edit_part(void *ctx, uint32_t part, uint32_t size)
{
  struct plain *p = &((struct reference *)ctx)->parts[part];
  g_assert(size <= sizeof p->bytes);
  if (size > p->size)
    memset(p->bytes + p->size, 0, size - p->size);
  p->size = size;
  return p->bytes;
}

static uint32_t keep(void *ctx, const void *bytes, uint32_t size)
{
  struct reference *r = ctx;
  GBytes *key = g_bytes_new(bytes, size);
  gpointer number = g_hash_table_lookup(r->kept, key);
  if (number) {
    g_bytes_unref(key);
    return GPOINTER_TO_UINT(number);
  }
  g_ptr_array_add(r->kept_list, key);
  g_hash_table_insert(r->kept, key, GUINT_TO_POINTER(r->kept_list->len));
  return r->kept_list->len;
}

static const void *kept(void *ctx, uint32_t number, uint32_t *size)
{
  gsize length;
  const void *bytes = g_bytes_get_data(
      g_ptr_array_index(((struct reference *)ctx)->kept_list, number - 1), &length);
  *size = (uint32_t)length;
  return bytes;
}

static inline GBytes *save(const struct reference *r)
{
  GByteArray *all = g_byte_array_new();
  for (uint32_t i = 0; i < r->count; i++) {
    g_byte_array_append(all, (const guint8 *)&r->parts[i].size, sizeof r->parts[i].size);
    g_byte_array_append(all, r->parts[i].bytes, r->parts[i].size);
  }
  return g_byte_array_free_to_bytes(all);
}

static inline void load(struct reference *r, GBytes *state)
{
  const unsigned char *at = g_bytes_get_data(state, NULL);
  for (uint32_t i = 0; i < r->count; i++) {
    memcpy(&r->parts[i].size, at, sizeof r->parts[i].size);
    at += sizeof r->parts[i].size;
    memcpy(r->parts[i].bytes, at, r->parts[i].size);
    at += r->parts[i].size;
  }
}

static inline void list_move(void *data, const struct move *move)
{
  g_array_append_val(((struct reference *)data)->moves, *move);
}

/* Begins the world. From then on its memory belongs to `r`. */
static inline void reference_begin(struct reference *r, struct world *world, unsigned crashes,
                                   unsigned timers, const char *const *properties)
{
  *r = (struct reference){.world = world, .count = world_parts(world)};
  r->parts = g_new0(struct plain, r->count);
  r->kept = g_hash_table_new(g_bytes_hash, g_bytes_equal);
  r->kept_list = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
  r->moves = g_array_new(FALSE, FALSE, sizeof(struct move));
  r->actions.capacity = RCL_ACTIONS_MAX(&world->config[0]);
  r->actions.item = g_new0(struct rcl_action, r->actions.capacity);
  world->memory = (struct world_memory){r, read_part, NULL, edit_part, NULL, keep, kept, NULL};
  world->properties = properties;
  world_begin(world, crashes, timers);
}

static inline void reference_clear(struct reference *r)
{
  g_hash_table_unref(r->kept);
  g_ptr_array_unref(r->kept_list);
  g_array_unref(r->moves);
  g_free(r->actions.item);
  g_free(r->parts);
}

/* Holds a function that is called with the moves of each state, or NULL if there is none. */
struct visitor {
  void (*visit)(void *data, const GArray *moves); /* of struct move */
  void *data;
};

/* Expands `state`; new states go to `queue` and `seen`. Returns the moves taken. */
static inline uint64_t expand(struct reference *r, GBytes *state, GHashTable *seen, GQueue *queue,
                              const struct visitor *visitor)
{
  g_array_set_size(r->moves, 0);
  load(r, state);
  world_moves(r->world, list_move, r);
  if (visitor)
    visitor->visit(visitor->data, r->moves);
  for (guint i = 0; i < r->moves->len; i++) {
    struct verdict verdict;
    load(r, state);
    world_step(r->world, &g_array_index(r->moves, struct move, i), &r->actions, &verdict);
    GBytes *next = save(r);
    if (g_hash_table_add(seen, g_bytes_ref(next)))
      g_queue_push_tail(queue, g_bytes_ref(next));
    g_bytes_unref(next);
  }
  return r->moves->len;
}

/* Counts states and transitions by a search that has none of the explorer's optimisations. */
static inline void plain_search(struct world *world, unsigned crashes, unsigned timers,
                                uint64_t *states, uint64_t *transitions,
                                const struct visitor *visitor)
{
  static const char *const nothing[] = {NULL};
  struct reference r;
  reference_begin(&r, world, crashes, timers, nothing);

  GHashTable *seen =
      g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  GQueue queue = G_QUEUE_INIT;
  GBytes *state = save(&r);
  g_hash_table_add(seen, g_bytes_ref(state));
  g_queue_push_tail(&queue, state);
  *transitions = 0;
  while ((state = g_queue_pop_head(&queue))) {
    *transitions += expand(&r, state, seen, &queue, visitor);
    g_bytes_unref(state);
  }
  *states = g_hash_table_size(seen);

  g_hash_table_unref(seen);
  reference_clear(&r);
}

/* ---- worlds ---- */

struct small {
  const char *protocol;
  int ranks;
  unsigned crashes, timers;
  bool fifo, anywhere;
  unsigned faults;
  const char *script;
};

static inline struct script *set_up(const struct small *small, struct world *world)
{
  int line;
  char *message;
  struct script *script = script_parse(small->script, small->ranks, &line, &message);
  if (!script)
    g_error("line %d: %s", line, message);
  world_init(world, rcl_protocol_named(small->protocol), small->ranks, 3);
  world->fifo = small->fifo;
  world->places_anywhere = small->anywhere;
  world->faults = small->faults;
  world->bounded = true;
  world->check = true;
  world->script = script;
  return script;
}

#endif
