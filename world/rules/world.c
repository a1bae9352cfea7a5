/* Takes a move of the world. world_rules.c judges whether a move can happen, and world_moves.c
 * lists the moves that can happen. */
#include "world/rules/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "protocols/grammar.h"
#include "protocols/neighbours.h"
#include "protocols/text.h"
#include "world/rules/properties.h"
#include "world/rules/world_step.h"

void world_init(struct world *w, const struct rcl_protocol *protocol, int ranks, uint32_t capacity)
{
  *w = (struct world){.protocol = protocol,
                      .ranks = ranks,
                      .places_anywhere = true,
                      .per_node = 1,
                      .stored_per_node = 1};
  w->config = memory_table((size_t)ranks, sizeof *w->config);
  for (int rank = 0; rank < ranks; rank++)
    w->config[rank] =
        (struct rcl_config){.self = (int16_t)rank, .ranks = (int16_t)ranks, .capacity = capacity};
  w->state_bytes = world_ask_state_size(w);
}

void world_set_parameter(struct world *w, const char *name, uint32_t value)
{
  for (int i = 0; w->protocol->parameters && w->protocol->parameters[i]; i++)
    for (int rank = 0; rank < w->ranks && strcmp(w->protocol->parameters[i], name) == 0; rank++)
      w->config[rank].parameter[i] = value;
}

bool world_set_topology(struct world *w, const char *text, char *problem)
{
  if (!text)
    return true;
  w->neighbours = neighbours_read(text, w->ranks, problem);
  if (!w->neighbours)
    return false;
  size_t bytes = strlen(text) + 1;
  w->topology = memcpy(memory_table(bytes, 1), text, bytes);
  for (int rank = 0; rank < w->ranks; rank++)
    w->config[rank].neighbours = &w->neighbours[(size_t)rank * neighbours_row(w->ranks)];
  return true;
}

void world_add_level(struct world *w, struct world_level level)
{
  if (w->levels == WORLD_LEVELS)
    breach("there are more than %d levels of storage", WORLD_LEVELS);
  w->level[w->levels++] = level;
}

void world_clear(struct world *w)
{
  free(w->config);
  free(w->neighbours);
  free(w->topology);
  world_unguard(w);
  w->config = NULL;
  w->neighbours = NULL;
  w->topology = NULL;
}

/* Lets all ranks of a world of free programs start, because such a world begins with ranks that
 * have started. */
static void start_all(struct world *w)
{
  struct rcl_actions actions = {.capacity = RCL_ACTIONS_MAX(&w->config[0])};
  actions.item = memory_table(actions.capacity, sizeof *actions.item);
  for (int rank = 0; rank < w->ranks; rank++) {
    struct move start = {.rank = (int16_t)rank, .event = {.kind = RCL_EVENT_START}};
    struct verdict verdict;
    world_step(w, &start, &actions, &verdict);
  }
  free(actions.item);
}

void world_begin(struct world *w, unsigned crashes, unsigned timers)
{
  for (int rank = 0; rank < w->ranks; rank++) {
    edit_rank(w, rank)->phase = RANK_NEW;
    world_begin_program(w, rank);
  }
  struct world_global *global = edit_global(w);
  global->crashes = (uint16_t)crashes;
  global->timers = (uint16_t)timers;
  global->down = -1;
  global->settled = world_settles(w);
  if (are_free(w))
    start_all(w);
}

/* ---- the move ---- */

static void *copy_of(const void *state, uint32_t bytes)
{
  return memcpy(memory_grow(NULL, bytes + 1), state, bytes);
}

/* Takes the protocol's step. Returns false if it is not pure. */
static bool step_protocol(struct step_context *t)
{
  const struct world *w = t->w;
  struct world_rank *me = edit_rank(w, t->rank);
  bool timer = t->event.kind == RCL_EVENT_TIMER;
  void *before = timer ? copy_of(me + 1, w->state_bytes) : NULL;
  char flaw[FLAW_MAX];
  int broken;
  bool pure = world_call_step(w, t->rank, me + 1, &t->event, t->actions, &broken, flaw);
  t->verdict->puts_off =
      timer && grammar_puts_off(t->actions, !memcmp(before, me + 1, w->state_bytes));
  free(before);
  world_occasion(t, PROPERTY_PURE);
  if (!pure) {
    world_violate(t, "pure", "%s", flaw);
    return false;
  }
  world_audit_merges(t);
  world_occasion(t, PROPERTY_LEGAL);
  world_occasion(t, PROPERTY_RECOVERS);
  if (w->check && w->protocol->violated_invariant)
    world_occasion(t, PROPERTY_INVARIANT);
  if (broken) {
    const char *text = w->protocol->invariants[broken - 1];
    world_violate(t, "invariant", "invariant %d: %.*s", broken, invariant_length(text), text);
  }
  world_after_step(t);
  world_judge_waiting(t);
  return true;
}

static bool leaves_topology(const struct step_context *t)
{
  return t->event.kind == RCL_EVENT_SEND && t->event.peer != t->rank &&
         !rcl_is_neighbour(&t->w->config[t->rank], t->event.peer);
}

/* Gives up at a message outside of the topology. The protocol may rely on the absence of such
 * messages, and could not replace a lost message. */
static void refuse_message(struct step_context *t)
{
  edit_rank(t->w, t->rank)->gave_up = RCL_REASON_PROTOCOL;
  t->verdict->kind = VERDICT_GAVE_UP;
  t->verdict->rank = t->rank;
  t->verdict->reason = RCL_REASON_PROTOCOL;
  snprintf(t->verdict->text, sizeof t->verdict->text,
           "a message from rank %d to rank %d, outside of program.topology", t->rank,
           t->event.peer);
}

static void take_event(struct step_context *t)
{
  const struct world *w = t->w;
  world_before_step(t);
  if (read_rank(w, t->rank)->phase != RANK_RUNNING)
    return; /* there is no image to start from */
  if (leaves_topology(t)) {
    refuse_message(t);
    return;
  }
  bool sees = t->event.kind != RCL_EVENT_RECEIVE || !below_matching(w);
  if (sees && !step_protocol(t))
    return;
  if (read_rank(w, t->rank)->phase == RANK_RUNNING)
    world_script_advance(w, t->rank);
  if (world_cut(t->move) >= 0)
    world_crash_in_step(t);
}

static void fault(struct step_context *t)
{
  const struct world *w = t->w;
  uint32_t count;
  struct world_message message = READ_LIST(struct world_message, w, WORLD_CHANNEL,
                                           t->move->event.peer, t->rank, &count)[t->move->index];
  if (t->move->fault == FAULT_DROP)
    list_remove(w, WORLD_CHANNEL, t->move->event.peer, t->rank, t->move->index, sizeof message);
  else
    list_insert(w, WORLD_CHANNEL, t->move->event.peer, t->rank, t->move->index, &message,
                sizeof message);
  edit_global(w)->injected = true;
}

static bool fits(const struct world *w, const struct world_message *message,
                 const struct rcl_event *event)
{
  bool control = event->kind == RCL_EVENT_CONTROL;
  if (is_control(message) != control)
    return false;
  if (control) /* control messages are in order, so only the first one can have come */
    return !is_unordered(w, control_part(w)) ||
           !memcmp(message->words, event->words, sizeof event->words);
  return message->tag == event->tag && message->comm == event->comm;
}

/* If the host does not know the place of the message in its channel, finds the first message that
 * fits. */
static void find_index(const struct world *w, struct move *move)
{
  bool control = move->event.kind == RCL_EVENT_CONTROL;
  uint32_t count;
  if (move->event.peer < 0 || move->event.peer >= w->ranks)
    return;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, control ? control_part(w) : WORLD_CHANNEL,
                move->event.peer, move->rank, &count);
  const struct world_rank *me = read_rank(w, move->rank);
  for (uint32_t i = 0; i < count; i++)
    if (world_exists(me, &channel[i]) && fits(w, &channel[i], &move->event)) {
      move->index = i;
      return;
    }
}

void world_step(struct world *w, struct move *move, struct rcl_actions *actions,
                struct verdict *verdict)
{
  actions->count = 0;
  *verdict = (struct verdict){.kind = VERDICT_FINE, .rank = move->rank};
  if (move->kind == MOVE_EVENT && move->index == WORLD_FIND)
    find_index(w, move);
  const char *why = world_refuses(w, move), *unnamed = NULL;
  if (!w->bounded && move->kind == MOVE_EVENT) /* the move comes from a host */
    unnamed = grammar_unnamed_field(&move->event);
  if (why || unnamed) {
    verdict->kind = VERDICT_IMPOSSIBLE;
    snprintf(verdict->text, sizeof verdict->text, "%s%s", why ? why : "the event does not name ",
             why ? "" : unnamed);
    return;
  }
  struct step_context t = {.w = w,
                           .move = move,
                           .actions = actions,
                           .verdict = verdict,
                           .rank = move->rank,
                           .event = move->event};
  switch ((enum move_kind)move->kind) {
  case MOVE_EVENT:
    take_event(&t);
    break;
  case MOVE_CRASH:
    world_crash(&t);
    break;
  case MOVE_DETECT:
    world_detect(&t);
    break;
  case MOVE_FINISH:
    edit_program(w, move->rank)->finished = true;
    break;
  case MOVE_FAULT:
    fault(&t);
    break;
  case MOVE_SENT:
    edit_program(w, move->rank)->sending = 0;
    world_script_advance(w, move->rank);
    break;
  }
  move->event = t.event;
}
