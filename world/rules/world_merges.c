/* Merges stored states (explorer).
 *
 * A stored state is only used for a START from it. So worlds should not differ by details that
 * START forgets. The world stores the state that START would leave, if the results of all STARTs
 * that can come are the same. Such a START names the state's checkpoint, with any number of
 * outputs, because the image may be captured once more. An audit keeps each state that was
 * replaced, and takes every START from it, too. */
#include <stdlib.h>

#include "base/breach.h"
#include "base/memory.h"
#include "world/rules/world_step.h"

/* Keeps a state that was replaced when it was stored under `number`. */
struct merge {
  int rank;
  uint32_t number;
  unsigned char *state;
};

struct world_merges {
  struct merge *item;
  uint32_t count, room;
};

struct world_merges *world_merges_new(void)
{
  return memory_table(1, sizeof(struct world_merges));
}

void world_merges_free(struct world_merges *m)
{
  for (uint32_t i = 0; m && i < m->count; i++)
    free(m->item[i].state);
  if (m)
    free(m->item);
  free(m);
}

/* Holds the result of a START from a state. */
struct trial {
  bool fine; /* false if the step is not pure, so that it has no result */
  unsigned char *state;
  struct rcl_actions actions;
};

static struct trial trial_of(const struct world *w, int rank)
{
  struct trial t = {.state = memory_grow(NULL, w->state_bytes + 1),
                    .actions = {.capacity = RCL_ACTIONS_MAX(&w->config[rank])}};
  t.actions.item = memory_table(t.actions.capacity, sizeof *t.actions.item);
  return t;
}

static void trial_clear(struct trial *t)
{
  free(t->actions.item);
  free(t->state);
}

static void start(const struct world *w, int rank, const void *from, const struct rcl_event *event,
                  struct trial *t)
{
  memcpy(t->state, from, w->state_bytes);
  memset(t->actions.item, 0, t->actions.capacity * sizeof *t->actions.item);
  char flaw[FLAW_MAX];
  t->fine = world_call_step(w, rank, t->state, event, &t->actions, NULL, flaw);
}

/* Returns whether the trial ended in this state with these actions. A START that is not pure has no
 * result. */
static bool ends_same(const struct world *w, const void *state, const struct rcl_actions *actions,
                      const struct trial *t)
{
  return t->fine && !memcmp(state, t->state, w->state_bytes) &&
         actions->count == t->actions.count &&
         !memcmp(actions->item, t->actions.item, actions->count * sizeof *actions->item);
}

/* Returns the highest number of outputs that an image of the rank can have. */
static uint32_t most_outputs(const struct world *w, int rank)
{
  uint32_t outputs = 0;
  if (!w->script || !w->script->outputs || w->blind)
    return 0;
  for (const struct operation *op = w->script->ops[rank]; op->kind != SCRIPT_END; op++)
    outputs += op->kind == SCRIPT_OUTPUT;
  return outputs;
}

/* Returns the START of that checkpoint, with global recovery. The world knows the image. */
static struct rcl_event start_of(const struct world *w, uint32_t checkpoint, uint32_t outputs)
{
  return (struct rcl_event){.kind = RCL_EVENT_START,
                            .checkpoint = checkpoint,
                            .output = outputs,
                            .closed = w->closes && checkpoint != RCL_FRESH};
}

void world_merge_state(const struct world *w, int rank, uint32_t checkpoint, void *state)
{
  struct trial first = trial_of(w, rank), again = trial_of(w, rank), other = trial_of(w, rank);
  struct rcl_event event = start_of(w, checkpoint, 0);
  start(w, rank, state, &event, &first);
  bool same = true;
  for (uint32_t outputs = 0, most = most_outputs(w, rank); same && outputs <= most; outputs++) {
    event.output = outputs;
    start(w, rank, state, &event, &other);
    start(w, rank, first.state, &event, &again);
    same = first.fine && other.fine && ends_same(w, other.state, &other.actions, &again);
  }
  if (same)
    memcpy(state, first.state, w->state_bytes);
  trial_clear(&first);
  trial_clear(&again);
  trial_clear(&other);
}

static bool is_known(const struct world *w, int rank, uint32_t number, const void *state)
{
  for (uint32_t i = 0; i < w->merges->count; i++) {
    const struct merge *merge = &w->merges->item[i];
    if (merge->rank == rank && merge->number == number &&
        !memcmp(merge->state, state, w->state_bytes))
      return true;
  }
  return false;
}

void world_note_merge(const struct world *w, int rank, uint32_t number, const void *state)
{
  struct world_merges *m = w->merges;
  if (!m || is_known(w, rank, number, state))
    return;
  m->item = memory_zeroed_room(m->item, m->count, &m->room, sizeof *m->item);
  m->item[m->count++] =
      (struct merge){.rank = rank,
                     .number = number,
                     .state = memcpy(memory_grow(NULL, w->state_bytes + 1), state, w->state_bytes)};
}

void world_audit_merges(const struct step_context *t)
{
  const struct world *w = t->w;
  if (!w->merges || t->event.kind != RCL_EVENT_START || !t->stored)
    return;
  struct trial trial = trial_of(w, t->rank);
  for (uint32_t i = 0; i < w->merges->count; i++) {
    const struct merge *merge = &w->merges->item[i];
    if (merge->rank != t->rank || merge->number != t->stored)
      continue;
    start(w, t->rank, merge->state, &t->event, &trial);
    if (!ends_same(w, read_rank(w, t->rank) + 1, t->actions, &trial))
      breach("start of rank %d from checkpoint %u, with %u outputs, differs in states that are "
             "stored as one",
             t->rank, t->event.checkpoint, t->event.output);
  }
  trial_clear(&trial);
}
