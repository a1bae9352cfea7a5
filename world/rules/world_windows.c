/* Serves windows of scripts. A message of a window names the operation in its sender's script, and
 * holds the values that the operation gives or that were fetched. So two messages are equal exactly
 * if their operations and their values are equal. */
#include "world/rules/world_parts.h"
#include "world/script/window_rules.h"

static struct world_window *window_of(struct world_program *program)
{
  return (struct world_window *)(program + 1);
}

static const struct world_window *window_in(const struct world_program *program)
{
  return (const struct world_window *)(program + 1);
}

static const struct operation *operation_of(const struct world *w, int rank,
                                            const struct world_program *program)
{
  return &w->script->ops[rank][program->next];
}

/* Returns the first access of `rank`, from `at` on, that belongs to `op` and goes to `target`, or
 * NULL if there is none. */
static const struct operation *next_access(const struct world *w, int rank,
                                           const struct operation *op, int target, unsigned *at)
{
  for (; *at < op->to; ++*at) {
    const struct operation *access = &w->script->written[rank][*at];
    if (access->kind == SCRIPT_ACCESS && (target == RCL_ANY || access->peer == target)) {
      ++*at;
      return access;
    }
  }
  return NULL;
}

/* Returns whether the operation sends a message that carries accesses to their target. */
static bool has_accesses(const struct operation *op)
{
  return op->tag == TAG_ACCESSES || op->tag == TAG_PASSIVE;
}

/* ---- contents: the place of the operation, from 1, then numbers ---- */

static struct content content_with(uint16_t place, const uint16_t *item)
{
  struct content content = content_of(place + 1u);
  memcpy(&content.word[1], item, SCRIPT_PENDING * sizeof *item);
  return content;
}

static void items_of(const struct content *content, uint16_t *item)
{
  memcpy(item, &content->word[1], SCRIPT_PENDING * sizeof *item);
}

_Static_assert(SCRIPT_PENDING * sizeof(uint16_t) == 2 * sizeof(uint32_t), "items fill two words");

struct content world_window_content(const struct world *w, int rank)
{
  const struct world_program *program = read_program(w, rank);
  const struct world_window *window = window_in(program);
  const struct operation *op = operation_of(w, rank, program), *access;
  uint16_t given[SCRIPT_PENDING] = {0};
  unsigned at = op->from;
  if (is_serving(op) || (op->kind == SCRIPT_SEND && op->tag == TAG_ANSWER))
    return content_with(program->next, window->answer);
  while (op->kind == SCRIPT_SEND && has_accesses(op) &&
         (access = next_access(w, rank, op, op->peer, &at)))
    given[access->name] = window->item[access->name];
  return content_with(program->next, given);
}

/* ---- accesses ---- */

/* Carries out the accesses of `origin` to `target` that belong to `op`. Replaces each given value
 * by the value fetched. */
static void carry_out(const struct world *w, struct world_window *window, int origin, int target,
                      const struct operation *op, uint16_t *item)
{
  const struct operation *access;
  for (unsigned at = op->from; (access = next_access(w, origin, op, target, &at));) {
    uint16_t *cell = &window->cell[access->cell], before = *cell, given = item[access->name];
    if (access->flow == ACCESS_PUT)
      *cell = given;
    else if (access->flow != ACCESS_GET)
      *cell = (uint16_t)(*cell + given);
    item[access->name] = access_fetches(access) ? before : 0;
  }
}

/* ---- locks ---- */

static const struct operation *asks(const struct world *w, const struct world_wait *wait)
{
  return &w->script->ops[wait->origin][wait->place];
}

static struct world_wait take_out(struct world_window *window, unsigned place)
{
  struct world_wait taken = window->wait[place];
  window->waits--;
  memmove(&window->wait[place], &window->wait[place + 1],
          (window->waits - place) * sizeof *window->wait);
  memset(&window->wait[window->waits], 0, sizeof *window->wait);
  return taken;
}

/* Returns the next waiting message that may be carried out, or SCRIPT_WINDOW_RANKS. */
static unsigned next_wait(const struct world *w, const struct world_window *window)
{
  struct lock_wait wait[SCRIPT_WINDOW_RANKS];
  for (unsigned i = 0; i < window->waits; i++)
    wait[i] = (struct lock_wait){.origin = window->wait[i].origin,
                                 .lock = asks(w, &window->wait[i])->lock,
                                 .next = i + 1u < window->waits ? &wait[i + 1] : NULL};
  const struct lock_wait *next =
      window->waits ? locks_next(&wait[0], window->held, w->ranks) : NULL;
  return next ? (unsigned)(next - wait) : SCRIPT_WINDOW_RANKS;
}

/* Carries out waiting messages as far as allowed, up to a message that needs an answer. */
static void carry_out_next(const struct world *w, int rank, struct world_window *window)
{
  unsigned place;
  while (!window->reply && (place = next_wait(w, window)) < SCRIPT_WINDOW_RANKS) {
    struct world_wait wait = take_out(window, place);
    const struct operation *op = asks(w, &wait);
    if (op->lock)
      window->held[wait.origin] = (uint8_t)op->lock;
    if (wait.origin == rank) {
      window->granted = true;
      continue;
    }
    carry_out(w, window, wait.origin, rank, op, wait.item);
    memcpy(window->answer, wait.item, sizeof window->answer);
    if (op->unlocks)
      window->held[wait.origin] = LOCK_NONE;
    window->reply = (uint8_t)(wait.origin + 1);
  }
}

/* Adds a message that waits. If there is no room, an injected fault has doubled a message, which
 * properties detect, so the message is left out. */
static void add_wait(const struct world *w, int rank, struct world_window *window,
                     struct world_wait wait)
{
  if (window->waits < SCRIPT_WINDOW_RANKS)
    window->wait[window->waits++] = wait;
  carry_out_next(w, rank, window);
}

static void lock_own(const struct world *w, int rank, struct world_program *program)
{
  struct world_window *window = window_of(program);
  add_wait(w, rank, window, (struct world_wait){(uint16_t)rank, program->next, {0}});
  program->next++;
  if (!window->granted)
    return; /* the next operation waits for the answer */
  window->granted = false;
  program->next++;
}

/* Ends the rank's own lock, and serves messages that waited for it. Returns whether no answer is
 * left to send. */
static bool unlock_own(const struct world *w, int rank, struct world_window *window)
{
  window->held[rank] = LOCK_NONE;
  carry_out_next(w, rank, window);
  return !window->reply;
}

/* ---- service ---- */

bool world_window_event(const struct world *w, int rank, struct rcl_event *event, unsigned *choices)
{
  const struct world_program *program = read_program(w, rank);
  const struct world_window *window = window_in(program);
  *event = (struct rcl_event){.kind = RCL_EVENT_CHOICE};
  *choices = (unsigned)w->ranks + 1;
  if (window->reply)
    *event = (struct rcl_event){.kind = RCL_EVENT_SEND,
                                .peer = (int16_t)(window->reply - 1),
                                .tag = TAG_REPLY,
                                .comm = SCRIPT_WINDOW_COMM,
                                .bytes = sizeof(struct content)};
  else if (window->source)
    *event = (struct rcl_event){.kind = RCL_EVENT_RECEIVE,
                                .peer = (int16_t)(window->source - 1),
                                .tag = TAG_PASSIVE,
                                .comm = SCRIPT_WINDOW_COMM,
                                .request = program->receives + 1};
  return true;
}

static bool is_passive(const struct world_message *message)
{
  return message->comm == SCRIPT_WINDOW_COMM && message->tag == TAG_PASSIVE;
}

/* Returns whether a message is kept and was not yet given to the program. */
static bool is_waiting(const struct world *w, int rank, const struct world_slot *slot)
{
  uint32_t place, count;
  const struct world_flow *flow =
      world_find_flow(w, rank, slot->peer, slot->message.comm, slot->message.tag, &place, &count);
  return !flow || slot->message.sequence > flow->delivered;
}

/* Returns whether a probe finds a message of `peer`. */
static bool has_come(const struct world *w, int rank, int peer)
{
  uint32_t count;
  enum part_kind kept = below_matching(w) ? WORLD_UNEXPECTED : WORLD_SLOTS;
  const struct world_slot *slots = READ_LIST(struct world_slot, w, kept, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (slots[i].peer == peer && !slots[i].sent && is_passive(&slots[i].message) &&
        (below_matching(w) || is_waiting(w, rank, &slots[i])))
      return true;
  if (below_matching(w))
    return false;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, WORLD_CHANNEL, peer, rank, &count);
  for (uint32_t i = 0; i < count; i++)
    if (is_passive(&channel[i]) && world_exists(read_rank(w, rank), &channel[i]))
      return true;
  return false;
}

bool world_window_allows(const struct world *w, int rank, uint32_t outcome)
{
  const struct world_program *program = read_program(w, rank);
  const struct world_window *window = window_in(program);
  const struct operation *op = operation_of(w, rank, program);
  if (outcome)
    return (int)outcome - 1 != rank && has_come(w, rank, (int)outcome - 1);
  if (op->name == SCRIPT_GRANT)
    return window->granted;
  return op->name == SCRIPT_NOTHING || program->given & 1u << op->name;
}

void world_window_choose(const struct world *w, int rank, uint32_t outcome)
{
  struct world_program *program = edit_program(w, rank);
  struct world_window *window = window_of(program);
  window->source = (uint8_t)outcome;
  if (outcome)
    return;
  window->granted = false;
  program->next++;
}

/* ---- messages ---- */

bool world_window_sent(const struct world *w, int rank, struct world_program *program)
{
  const struct operation *op = operation_of(w, rank, program), *access;
  struct world_window *window = window_of(program);
  unsigned at = op->from;
  if (!op->unseen)
    return true;
  if (is_serving(op) || op->tag == TAG_ANSWER)
    memset(window->answer, 0, sizeof window->answer);
  if (is_serving(op)) {
    window->reply = 0;
    carry_out_next(w, rank, window);
    return false;
  }
  while (has_accesses(op) && (access = next_access(w, rank, op, op->peer, &at)))
    window->item[access->name] = 0;
  return true;
}

/* Takes the message that was served. */
static void serve(const struct world *w, int rank, struct world_window *window,
                  const struct content *content)
{
  struct world_wait wait = {.origin = (uint16_t)(window->source - 1),
                            .place = (uint16_t)(content->word[0] - 1)};
  items_of(content, wait.item);
  window->source = 0;
  add_wait(w, rank, window, wait);
}

void world_window_take(const struct world *w, int rank, struct world_program *program,
                       const struct content *content)
{
  const struct operation *op = operation_of(w, rank, program), *access;
  struct world_window *window = window_of(program);
  uint16_t item[SCRIPT_PENDING];
  unsigned at = op->from;
  items_of(content, item);
  if (is_serving(op))
    serve(w, rank, window, content);
  if (op->tag == TAG_ACCESSES && content->word[0]) {
    const struct operation *sent = &w->script->ops[op->peer][content->word[0] - 1];
    carry_out(w, window, op->peer, rank, sent, item);
    memcpy(window->answer, item, sizeof item);
  }
  bool answers = op->tag == TAG_ANSWER || op->tag == TAG_REPLY;
  while (answers && (access = next_access(w, rank, op, op->peer, &at)))
    window->item[access->name] = item[access->name];
}

static void see(const struct world *w, int rank, struct world_program *program,
                const struct operation *op)
{
  const struct operation *access;
  struct world_window *window = window_of(program);
  for (unsigned at = op->from; (access = next_access(w, rank, op, op->peer, &at));) {
    if (access_fetches(access)) {
      program->last = window->item[access->name];
      program->history = content_fold(program->history, content_of(program->last));
    }
    window->item[access->name] = 0;
  }
}

bool world_window_pass(const struct world *w, int rank, struct world_program *program)
{
  const struct operation *op = operation_of(w, rank, program);
  struct world_window *window = window_of(program);
  switch (op->kind) {
  case SCRIPT_ACCESS:
    window->item[op->name] = (uint16_t)(op->value + (op->last ? program->last : 0));
    break;
  case SCRIPT_OWN:
    carry_out(w, window, rank, rank, op, window->item);
    break;
  case SCRIPT_SEE:
    see(w, rank, program, op);
    break;
  case SCRIPT_LOCK_OWN:
    lock_own(w, rank, program);
    return true;
  case SCRIPT_UNLOCK_OWN:
    if (!unlock_own(w, rank, window))
      return false;
    break;
  case SCRIPT_LOAD:
    program->last = window->cell[op->cell];
    program->history = content_fold(program->history, content_of(program->last));
    break;
  default:
    return false;
  }
  program->next++;
  return true;
}

void world_window_restored(const struct world *w, int rank)
{
  struct world_window *window = window_of(edit_program(w, rank));
  if (w->faults & FAULT_WINDOWS_LOST)
    memset(window->cell, 0, sizeof window->cell);
  if (!(w->faults & FAULT_LOCKS_LOST))
    return;
  memset(window->held, 0, sizeof window->held);
  memset(window->wait, 0, sizeof window->wait);
  window->waits = 0;
}
