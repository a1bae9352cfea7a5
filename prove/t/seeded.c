/* A protocol that keeps drained messages, with one flaw that `recline prove --memory` must find.
 * SEED names the flaw: NONE, OVERRUN, BEFORE, OVERFLOW, SHIFT, DIVISION, NULLED, CONSTANT, LIST,
 * FIELD, ROOM, ARRAY, MEETING, UNKEPT or ONCE. ONCE is a flaw with the value `once` of the
 * parameter `exchange` only. */
#include <recline/lists.h>
#include <recline/mailbox.h>

#ifndef SEED
#define SEED NONE
#endif

enum {
  NONE,
  OVERRUN,
  BEFORE,
  OVERFLOW,
  SHIFT,
  DIVISION,
  NULLED,
  CONSTANT,
  LIST,
  FIELD,
  ROOM,
  ARRAY,
  MEETING,
  UNKEPT,
  ONCE
};

struct state {
  uint32_t kept, total;
  int32_t difference;
  uint32_t pad;
};

struct sum {
  uint32_t bytes;
};

#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(sums, struct sum, config->ranks)                                                           \
  LIST(kept_of, struct rcl_kept, config->capacity, state->kept, RCL_FULL_KEPT)
RCL_STATE(LISTS)

/* Counts by rank in an array whose length depends on the number of ranks. */
static void count_by_rank(const struct rcl_config *config, struct state *state,
                          const struct rcl_event *event)
{
  uint32_t count[config->ranks];
  memset(count, 0, sizeof count);
  count[event->peer + (SEED == ARRAY ? config->ranks : 0)] += event->bytes;
  for (int i = 0; i < config->ranks; i++)
    sums(config, state)[i].bytes ^= count[i];
}

/* Takes one of two branches, and then uses an index that only one of them has set. */
static void meet(const struct rcl_config *config, struct state *state,
                 const struct rcl_event *event)
{
  if (event->tag == 5) {
    state->total = SEED == MEETING ? 1000 : 1;
  } else {
    state->total = 0;
    state->difference = 1;
  }
  if (event->bytes == 9)
    sums(config, state)[state->total].bytes = 1;
}

static void arrived(const struct rcl_config *config, struct state *state,
                    const struct rcl_event *event, struct rcl_actions *actions)
{
  struct rcl_mailbox box = {.capacity = config->capacity + (SEED == OVERRUN),
                            .used = RCL_COUNT(state, kept),
                            .item = kept_of(config, state)};
  if (event->request == RCL_NO_REQUEST)
    rcl_mailbox_keep(&box, event, actions);
  else
    rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request + (SEED == FIELD);
  bool before = SEED == BEFORE || (SEED == ONCE && config->parameter[0] == 1);
  sums(config, state)[event->peer - (before ? 8 : 0)].bytes += event->bytes;
  count_by_rank(config, state, event);
  meet(config, state, event);
  if (SEED == OVERFLOW)
    state->difference += (int32_t)event->bytes;
  if (SEED == SHIFT)
    state->total = 1u << event->bytes;
  if (SEED == DIVISION)
    state->total = event->bytes / state->total;
  if (SEED == NULLED && event->tag == 77777)
    *(volatile uint32_t *)(uintptr_t)(event->bytes == 5 ? 0 : (uintptr_t)&state->total) = 1;
  if (SEED == CONSTANT && event->tag == 77777)
    ((struct rcl_event *)(uintptr_t)event)->tag = 0;
  if (SEED == LIST && event->bytes == 12345)
    rcl_act(actions, RCL_ACTION_DISCARD);
  for (int i = 0; SEED == ROOM && i < 100; i++)
    rcl_act(actions, RCL_ACTION_FORGET)->slot = 1;
}

static void step(const struct rcl_config *config, void *memory, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  if (event->kind == RCL_EVENT_SEND)
    rcl_act(actions, RCL_ACTION_TRANSMIT);
  if (event->kind == RCL_EVENT_RECEIVE)
    rcl_match(actions, event);
  if (event->kind == RCL_EVENT_SAFE_POINT)
    rcl_act(actions, RCL_ACTION_DRAIN)->peer = RCL_ANY;
  if (event->kind == RCL_EVENT_ARRIVED)
    arrived(config, memory, event, actions);
}

static const char *const invariants[] = {"every kept message has a slot of its own", NULL};

static const char *const parameters[] = {"exchange", NULL};

static int violated_invariant(const struct rcl_config *config, const void *memory)
{
  const struct state *state = memory;
  struct rcl_mailbox box = {
      .capacity = config->capacity, .used = RCL_COUNT(state, kept), .item = kept_of(config, state)};
  return SEED == UNKEPT || !rcl_mailbox_is_sound(config, &box);
}

static const struct rcl_protocol protocol_seeded = {.name = "seeded",
                                                    .title = "a flaw to be found",
                                                    .control_bytes = 12,
                                                    .invariants = invariants,
                                                    .parameters = parameters,
                                                    .state_size = state_size,
                                                    .in_use = in_use,
                                                    .step = step,
                                                    .violated_invariant = violated_invariant};

RECLINE_PROTOCOLS(&protocol_seeded);
