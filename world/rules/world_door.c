/* Calls the protocol, and judges property `pure`.
 *
 * In a check the protocol works on copies. Each copy of an object lies alone in memory:
 *
 *     ........ | A5 A5 A5 A5 A5 | state | ........        . cannot be touched
 *                what is found       ends at the end      A5 filled, and looked at afterwards
 *                changed is a flaw   of a page
 *
 * Objects that the protocol may only read (config, event; the state in all functions but `step`)
 * are mapped read-only. An audit takes each step again in other places, with other bytes around the
 * objects, and with the stack at another address and filled with other bytes. Then a result that
 * depends on an address, or on memory that was never written, differs. Only the addresses of the
 * protocol's own code and tables stay the same. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/breach.h"
#include "base/confine.h"
#include "base/memory.h"
#include "protocols/text.h"
#include "world/rules/world_step.h"

/* ---- memory ---- */

enum spot {
  SPOT_STATE,
  SPOT_LIST,
  SPOT_ITEMS,
  SPOT_PIECES,
  SPOT_WORK,
  SPOT_WRITABLE, /* objects before this one may be written; the others may only be read */
  SPOT_CONFIG = SPOT_WRITABLE,
  SPOT_NEIGHBOURS,
  SPOT_EVENT,
  SPOT_RANKS,
  SPOTS
};

static const char *const spot_names[SPOTS] = {[SPOT_STATE] = "its state",
                                              [SPOT_LIST] = "struct rcl_actions",
                                              [SPOT_ITEMS] = "the room for actions",
                                              [SPOT_PIECES] = "the room for pieces",
                                              [SPOT_WORK] = "struct rcl_work",
                                              [SPOT_CONFIG] = "its config",
                                              [SPOT_NEIGHBOURS] = "its neighbours",
                                              [SPOT_EVENT] = "the event",
                                              [SPOT_RANKS] = "the new ranks"};

/* Says where objects are: at the end of their pages, at the end of other pages whose addresses have
 * the opposite bits, or at the beginning of their pages. */
enum place { PLACE_END, PLACE_APART, PLACE_FRONT };

static const unsigned char filling[] = {
    [PLACE_END] = 0xA5, [PLACE_APART] = 0x5A, [PLACE_FRONT] = 0x3C};

/* lower[] has the number of bytes by which the stack begins lower at each place. Each bit of an
 * address, from the fifth to the twentieth, differs between two of the three places. */
static const uint32_t lower[] = {[PLACE_END] = 0, [PLACE_APART] = 0x55550, [PLACE_FRONT] = 0xAAAA0};

struct guard {
  bool audit;
  const unsigned char *stack; /* for audits: the caller's frame, the same for all places */
  enum place place;
  struct confine_memory memory[SPOTS];
  void *made; /* the state that a step has made, which is kept while the step is taken again */
};

static unsigned char *pages_of(const struct guard *g, enum spot spot)
{
  return g->memory[spot].first[g->place == PLACE_APART];
}

static unsigned char *object(const struct guard *g, enum spot spot)
{
  return g->place == PLACE_FRONT ? pages_of(g, spot)
                                 : g->memory[spot].place[g->place == PLACE_APART];
}

static const void *read_only(const struct guard *g, enum spot spot)
{
  return object(g, spot) + g->memory[spot].read_only;
}

static void fill_pages(const struct guard *g)
{
  for (enum spot spot = 0; spot < SPOTS; spot++)
    memset(pages_of(g, spot), filling[g->place], g->memory[spot].room[g->place == PLACE_APART]);
}

static bool is_filled(const struct guard *g, const unsigned char *at, size_t bytes)
{
  return !bytes || (*at == filling[g->place] && !memcmp(at, at + 1, bytes - 1));
}

static void go_to(struct guard *g, enum place place)
{
  g->place = place;
  fill_pages(g);
}

/* ---- a call ---- */

struct call {
  const struct world *w;
  const struct rcl_protocol *protocol;
  const struct rcl_config *config;
  /* the event, or NULL for permute_ranks and for functions without an event */
  const struct rcl_event *event;
  void *state;
  const void *state_read;
  struct rcl_actions *actions;
  struct rcl_piece *piece;
  struct rcl_work *work; /* NULL if the protocol's work is not wanted */
  const int16_t *to;     /* argument of permute_ranks */
  bool check;
  int stack;  /* the byte that fills the stack, or 0 if the stack is left as it is */
  int broken; /* the broken invariant, or 0 if there is none */
  /* number of pieces in use after the call, and before it; `offset` has their beginnings */
  uint32_t pieces, before;
  uint32_t offset[RCL_PIECES];
  const char *volatile within; /* the function of the protocol that runs, or NULL for `step` */
};

/* Fills the stack below the caller with a byte, which the next step finds there. */
static __attribute__((noinline)) void fill_stack(int byte)
{
  enum { DEPTH = 1 << 16 };
  unsigned char room[DEPTH];
  memset(room, byte, sizeof room);
  __asm__ volatile("" : : "r"(room) : "memory");
}

static uint32_t ask_pieces(struct call *c)
{
  c->within = "in_use";
  return rcl_protocol_in_use(c->protocol, c->config, c->state_read, c->piece);
}

static void run_functions(struct call *c)
{
  c->before = ask_pieces(c);
  for (uint32_t k = 0; k < c->before && k < RCL_PIECES; k++)
    c->offset[k] = c->piece[k].offset;
  c->within = "work";
  if (c->work)
    c->protocol->work(c->config, c->state_read, c->event, c->work);
  c->within = c->event ? NULL : "permute_ranks";
  if (c->event)
    rcl_protocol_step(c->protocol, c->config, c->state, c->event, c->actions, false);
  else if (c->to)
    c->protocol->permute_ranks(c->config, c->state, c->to);
  c->pieces = ask_pieces(c);
  c->within = "violated_invariant";
  if (c->check && c->protocol->violated_invariant)
    c->broken = c->protocol->violated_invariant(c->config, c->state_read);
}

/* Runs the functions with the stack `bytes` lower, and the memory below it filled. */
static __attribute__((noinline)) void run_lower(struct call *c, size_t bytes)
{
  unsigned char room[bytes];
  __asm__ volatile("" : : "r"(room) : "memory");
  fill_stack(c->stack);
  run_functions(c);
}

static void run_call(void *data)
{
  /* most bytes of stack between the caller of confine_run() and this function */
  enum { FRAMES = 1 << 13 };
  struct call *c = data;
  const unsigned char here = 0;
  if (!c->stack) {
    run_functions(c);
    return;
  }
  const struct guard *g = c->w->guard;
  uintptr_t from = ((uintptr_t)g->stack - FRAMES - lower[g->place]) & ~(uintptr_t)15;
  ptrdiff_t bytes = (ptrdiff_t)((uintptr_t)&here - from) & ~(ptrdiff_t)15;
  run_lower(c, bytes > 0 ? (size_t)bytes : 16);
}

/* ---- what is wrong with it ---- */

/* Writes into `flaw` which function breaks a rule, and how. Returns false. */
static bool wrong(const struct call *c, char *flaw, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool wrong(const struct call *c, char *flaw, const char *format, ...)
{
  char what[FLAW_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  const char *within = c->within;
  snprintf(flaw, FLAW_MAX, "%.60s %.110s%s%s%s%s", c->protocol->name, what, within ? " in " : "",
           within ? within : "", c->event ? " at " : "",
           c->event ? event_name((enum rcl_event_kind)c->event->kind) : "");
  return false;
}

static const char *did(const struct confine_end *end)
{
  return end->access == CONFINE_WRITTEN ? "wrote"
         : end->access == CONFINE_READ  ? "read"
                                        : "touched";
}

/* Writes into `flaw` which object of the guard the address is in or near. Returns false if it is
 * near none. */
static bool wrong_at_object(const struct call *c, const struct confine_end *end, char *flaw)
{
  const struct guard *g = c->w->guard;
  for (enum spot spot = 0; g && spot < SPOTS; spot++) {
    const struct confine_memory *m = &g->memory[spot];
    size_t offset = (size_t)(end->at - m->base[g->place == PLACE_APART]);
    if (offset >= 2 * m->span)
      continue;
    ptrdiff_t alias = offset >= m->span ? m->read_only : 0,
              from = end->at - (object(g, spot) + alias), behind = from - (ptrdiff_t)m->bytes;
    ptrdiff_t beyond = from < 0 ? -from : behind + 1;
    if (from >= 0 && behind < 0)
      wrong(c, flaw, "%s to %s", did(end), spot_names[spot]);
    else
      wrong(c, flaw, "%s %td byte%s %s %s", did(end), beyond, beyond == 1 ? "" : "s",
            from < 0 ? "before" : "behind", spot_names[spot]);
    return true;
  }
  return false;
}

/* Writes into `flaw` how a call ended, if it did not return. Returns false. */
static bool wrong_end(const struct call *c, const struct confine_end *end, char *flaw)
{
  enum { NOWHERE = 1 << 12 };
  if (end->late)
    return wrong(c, flaw, "does not end within %d s of processor time", CONFINE_SECONDS);
  if (!end->memory)
    return wrong(c, flaw, "ended by signal %d (%s)", end->signal, end->name);
  if (wrong_at_object(c, end, flaw))
    return false;
  const char *where = (uintptr_t)end->at < NOWHERE ? "through a null pointer"
                      : confine_has(end->at)       ? "to a variable of its shared object"
                      : end->stack                 ? "beyond its stack"
                                                   : "memory that is not its own";
  return wrong(c, flaw, "%s %s (%s)", did(end), where, end->name);
}

/* Returns the first byte that has changed after it was filled, or NULL if none has. */
static const unsigned char *changed(const struct guard *g, const unsigned char *at,
                                    const unsigned char *end)
{
  if (is_filled(g, at, (size_t)(end - at)))
    return NULL;
  while (*at == filling[g->place])
    at++;
  return at;
}

static bool wrong_around(const struct call *c, enum spot spot, char *flaw)
{
  const struct guard *g = c->w->guard;
  const unsigned char *from = pages_of(g, spot), *at = object(g, spot),
                      *end = at + g->memory[spot].bytes,
                      *last = from + g->memory[spot].room[g->place == PLACE_APART];
  const unsigned char *before = changed(g, from, at), *behind = changed(g, end, last);
  ptrdiff_t beyond = before ? at - before : behind ? behind - end + 1 : 0;
  if (beyond)
    wrong(c, flaw, "wrote %td byte%s %s %s", beyond, beyond == 1 ? "" : "s",
          before ? "before" : "behind", spot_names[spot]);
  return beyond;
}

/* Returns whether the list ends with an action after which rcl_protocol_step() drops all others. */
static bool is_cut(const struct rcl_actions *list)
{
  if (!list->count)
    return false;
  const struct rcl_action *last = &list->item[list->count - 1];
  return last->kind == RCL_ACTION_GIVE_UP && last->reason == RCL_REASON_FULL;
}

/* Returns whether the list of actions is wrong, because it was moved, is too long, or is not
 * written up to its count. */
static bool wrong_list(const struct call *c, const struct rcl_actions *host, char *flaw)
{
  enum { LOOKED = 1 << 12 }; /* number of bytes that are examined behind the last action */
  const struct guard *g = c->w->guard;
  const struct rcl_actions *list = c->actions;
  const unsigned char *items = object(g, SPOT_ITEMS);
  size_t used = list->count * sizeof *list->item, rest = g->memory[SPOT_ITEMS].bytes - used;
  if ((const unsigned char *)list->item != items || list->capacity != host->capacity)
    return !wrong(c, flaw, "changed the room for actions");
  if (list->overflow || list->count > list->capacity)
    return !wrong(c, flaw, "wants more than %u actions", list->capacity);
  if (!is_cut(list) &&
      changed(g, items + used, items + used + (g->audit || rest < LOOKED ? rest : LOOKED)))
    return !wrong(c, flaw, "wrote behind the %u actions that it counts", list->count);
  uint32_t stale;
  memset(&stale, filling[g->place], sizeof stale);
  for (uint32_t i = 0; i < list->count; i++) {
    uint32_t word[sizeof(struct rcl_action) / sizeof stale];
    memcpy(word, &list->item[i], sizeof word);
    bool unwritten =
        list->item[i].bare == filling[g->place] || list->item[i].pad2 == filling[g->place];
    for (size_t k = 0; k < sizeof word / sizeof *word; k++)
      unwritten |= word[k] == stale;
    if (unwritten)
      return !wrong(c, flaw, "counts action %u, of which it has not written all", i + 1);
  }
  return false;
}

/* Returns whether in_use() is wrong about the state, because pieces are out of order or outside of
 * the state, or bytes outside of pieces are not zero. */
static bool wrong_pieces(struct call *c, char *flaw)
{
  const unsigned char *state = c->state_read;
  uint32_t bytes = c->w->state_bytes, at = 0;
  c->within = "in_use";
  if (c->pieces > RCL_PIECES)
    return !wrong(c, flaw, "tells of %u pieces, expected %d at most,", c->pieces, RCL_PIECES);
  bool same = c->pieces == c->before;
  for (uint32_t k = 0; k <= c->pieces; k++) {
    const struct rcl_piece end = {.offset = bytes > at ? bytes : at},
                           *piece = k < c->pieces ? &c->piece[k] : &end;
    if (piece->offset < at ||
        (piece->bytes && (piece->offset > bytes || piece->bytes > bytes - piece->offset)))
      return !wrong(c, flaw, "tells of %u bytes from byte %u, of a state of %u, behind byte %u",
                    piece->bytes, piece->offset, bytes, at);
    for (; at < piece->offset && at < bytes; at++)
      if (state[at])
        return !wrong(c, flaw, "does not tell of byte %u of its state, which is not zero", at);
    at = piece->offset + piece->bytes;
    same &= k == c->pieces || piece->offset == c->offset[k];
  }
  if (!same)
    return !wrong(c, flaw, "tells of other pieces than before the step");
  c->within = NULL;
  return false;
}

static bool wrong_invariant(struct call *c, char *flaw)
{
  int known = 0;
  while (c->protocol->invariants && c->protocol->invariants[known])
    known++;
  if (c->broken >= 0 && c->broken <= known)
    return false;
  c->within = "violated_invariant";
  return !wrong(c, flaw, "tells of invariant %d, of %d,", c->broken, known);
}

/* ---- guarded ---- */

/* Holds the arguments of a call. The caller owns all memory. */
struct given {
  int rank;
  const void *state;
  const struct rcl_event *event; /* the event, or NULL for permute_ranks */
  /* argument of permute_ranks, or NULL if ranks are not permuted */
  const int16_t *to;
  const struct rcl_actions *actions; /* only their capacity matters */
  bool check;
};

/* Copies the arguments of the call into the guard's memory. */
static struct call enter(const struct world *w, const struct given *given)
{
  const struct guard *g = w->guard;
  struct call c = {.w = w, .protocol = w->protocol, .check = given->check};
  c.state = memcpy(object(g, SPOT_STATE), given->state, w->state_bytes);
  c.state_read = read_only(g, SPOT_STATE);
  c.piece = (struct rcl_piece *)(void *)object(g, SPOT_PIECES);
  struct rcl_config *config = (struct rcl_config *)(void *)object(g, SPOT_CONFIG);
  *config = w->config[given->rank];
  if (config->neighbours) {
    memcpy(object(g, SPOT_NEIGHBOURS), config->neighbours, g->memory[SPOT_NEIGHBOURS].bytes);
    config->neighbours = read_only(g, SPOT_NEIGHBOURS);
  }
  c.config = read_only(g, SPOT_CONFIG);
  if (g->audit)
    c.stack = filling[g->place];
  if (given->to) {
    memcpy(object(g, SPOT_RANKS), given->to, g->memory[SPOT_RANKS].bytes);
    c.to = read_only(g, SPOT_RANKS);
  }
  if (!given->event)
    return c;
  memcpy(object(g, SPOT_EVENT), given->event, sizeof *given->event);
  c.event = read_only(g, SPOT_EVENT);
  c.actions = (struct rcl_actions *)(void *)object(g, SPOT_LIST);
  *c.actions = (struct rcl_actions){.capacity = given->actions->capacity,
                                    .item = (struct rcl_action *)(void *)object(g, SPOT_ITEMS)};
  if (w->protocol->work) /* a run calls `work` at each event, so `work` must be pure, too */
    c.work = memset(object(g, SPOT_WORK), 0, sizeof *c.work);
  return c;
}

static bool call_guarded(struct call *c, const struct given *given, char *flaw)
{
  struct confine_end end;
  if (!confine_run(run_call, c, &end))
    return wrong_end(c, &end, flaw);
  c->within = c->event ? NULL : "permute_ranks";
  for (enum spot spot = 0; spot < SPOT_WRITABLE; spot++)
    if (wrong_around(c, spot, flaw))
      return false;
  return !(c->event && wrong_list(c, given->actions, flaw)) && !wrong_pieces(c, flaw) &&
         !wrong_invariant(c, flaw);
}

/* Makes the same call with all objects at another place, and compares the results. */
static bool call_again(const struct world *w, enum place place, const struct given *given,
                       const struct rcl_actions *actions, int broken, char *flaw)
{
  struct guard *g = w->guard;
  go_to(g, place);
  struct call c = enter(w, given);
  if (!call_guarded(&c, given, flaw))
    return false;
  const char *other = memcmp(c.state, g->made, w->state_bytes) != 0 ? "makes another state"
                      : c.broken != broken                          ? "violates another invariant"
                                                                    : NULL;
  if (!other && actions &&
      (c.actions->count != actions->count ||
       memcmp(c.actions->item, actions->item, actions->count * sizeof *actions->item) != 0))
    other = "takes other actions";
  return !other || wrong(&c, flaw, "is impure: elsewhere in memory it %s", other);
}

/* Makes the call in the guard. Leaves the new state in g->made and the actions in `actions`. */
static bool call_in_guard(const struct world *w, const struct given *given,
                          struct rcl_actions *actions, int *broken, char *flaw)
{
  struct guard *g = w->guard;
  struct call c = enter(w, given);
  if (!call_guarded(&c, given, flaw))
    return false;
  *broken = c.broken;
  memcpy(g->made, c.state, w->state_bytes);
  if (actions) {
    size_t used = c.actions->count * sizeof *actions->item;
    size_t written = is_cut(c.actions) ? g->memory[SPOT_ITEMS].bytes : used;
    actions->count = c.actions->count;
    memcpy(actions->item, c.actions->item, used);
    memset(c.actions->item, filling[g->place], written);
  }
  return !g->audit || (call_again(w, PLACE_APART, given, actions, *broken, flaw) &&
                       call_again(w, PLACE_FRONT, given, actions, *broken, flaw));
}

static bool guarded(const struct world *w, const struct given *given, void *state,
                    struct rcl_actions *actions, int *broken, char *flaw)
{
  const unsigned char here = 0;
  w->guard->stack = &here;
  bool fine = call_in_guard(w, given, actions, broken, flaw);
  w->guard->stack = NULL;
  if (fine)
    memcpy(state, w->guard->made, w->state_bytes);
  else if (actions)
    actions->count = 0;
  if (!fine || w->guard->audit)
    go_to(w->guard, PLACE_END);
  return fine;
}

/* ---- for the world ---- */

/* Steps without a guard, in the memory of the caller. */
static void run_step(void *data)
{
  struct call *c = data;
  c->broken = rcl_protocol_step(c->protocol, c->config, c->state, c->event, c->actions, c->check);
}

static bool step_in_place(struct call *c, char *flaw)
{
  struct confine_end end;
  if (!confine_run(run_step, c, &end))
    return wrong_end(c, &end, flaw);
  if (c->actions->overflow)
    return wrong(c, flaw, "wants more than %u actions", c->actions->capacity);
  return !wrong_invariant(c, flaw);
}

bool world_call_step(const struct world *w, int rank, void *state, const struct rcl_event *event,
                     struct rcl_actions *actions, int *broken, char *flaw)
{
  const struct given given = {.rank = rank,
                              .state = state,
                              .event = event,
                              .actions = actions,
                              .check = w->check && broken};
  int unseen;
  broken = broken ? broken : &unseen;
  if (w->guard)
    return guarded(w, &given, state, actions, broken, flaw);
  struct call c = {.w = w,
                   .protocol = w->protocol,
                   .config = &w->config[rank],
                   .event = event,
                   .state = state,
                   .actions = actions,
                   .check = given.check};
  bool fine = step_in_place(&c, flaw);
  *broken = c.broken;
  actions->count = fine ? actions->count : 0;
  return fine;
}

void world_call_permute(const struct world *w, int rank, void *state, const int16_t *to)
{
  const struct given given = {.rank = rank, .state = state, .to = to};
  char flaw[FLAW_MAX];
  int broken;
  if (!w->guard)
    w->protocol->permute_ranks(&w->config[rank], state, to);
  else if (!guarded(w, &given, state, NULL, &broken, flaw))
    breach("%s", flaw);
}

/* Returns whether in_use() is wrong about a state of zeroes, about which the world asks before the
 * first step. */
static bool first_is_wrong(struct world *w)
{
  void *zeros = memory_table(1, w->state_bytes + 1);
  bool fine = true;
  char flaw[FLAW_MAX];
  w->guard->stack = (const unsigned char *)flaw;
  for (int rank = 0; rank < w->ranks && fine; rank++) {
    const struct given given = {.rank = rank, .state = zeros};
    struct call c = enter(w, &given);
    fine = call_guarded(&c, &given, flaw);
  }
  free(zeros);
  w->guard->stack = NULL;
  go_to(w->guard, PLACE_END);
  return !fine;
}

void world_guard(struct world *w, bool audit)
{
  size_t ranks = (size_t)w->ranks;
  const size_t bytes[SPOTS] = {[SPOT_STATE] = w->state_bytes,
                               [SPOT_LIST] = sizeof(struct rcl_actions),
                               [SPOT_ITEMS] =
                                   RCL_ACTIONS_MAX(&w->config[0]) * sizeof(struct rcl_action),
                               [SPOT_PIECES] = RCL_PIECES * sizeof(struct rcl_piece),
                               [SPOT_WORK] = sizeof(struct rcl_work),
                               [SPOT_CONFIG] = sizeof(struct rcl_config),
                               [SPOT_NEIGHBOURS] = (ranks + 31) / 32 * sizeof(uint32_t),
                               [SPOT_EVENT] = sizeof(struct rcl_event),
                               [SPOT_RANKS] = ranks * sizeof(int16_t)};
  world_unguard(w);
  w->guard = memory_table(1, sizeof *w->guard);
  w->guard->audit = audit;
  w->guard->made = memory_grow(NULL, w->state_bytes + 1);
  for (enum spot spot = 0; spot < SPOTS; spot++)
    confine_memory_new(&w->guard->memory[spot], bytes[spot]);
  go_to(w->guard, PLACE_END);
  w->all_in_use = first_is_wrong(w);
}

void world_unguard(struct world *w)
{
  for (enum spot spot = 0; w->guard && spot < SPOTS; spot++)
    confine_memory_free(&w->guard->memory[spot]);
  if (w->guard)
    free(w->guard->made);
  free(w->guard);
  w->guard = NULL;
}
