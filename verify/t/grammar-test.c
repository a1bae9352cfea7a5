/* The grammar of a step: the table that hosts read (protocols/grammar.h), the world's answer to the
 * same step, and what protocol.h says, told once more in another form.
 *
 *     grammar-test           steps by name, and every list of up to three actions at every event
 *     grammar-test --list    number, protocol, name and expected text of each step by name
 */
#include <stdlib.h>
#include <string.h>

#include "protocols/grammar.h"
#include "protocols/t/tap.h"
#include "verify/t/grammar-plugin.c"
#include "world/rules/in_place.h"

/* ---- a protocol that answers what it is told ---- */

static const struct grammar_list {
  uint32_t count;
  struct rcl_action item[3];
} * told; /* actions to answer with, or NULL if the protocol under test answers */
static struct rcl_event asked;
static const struct rcl_protocol *under; /* the protocol under test */

static void step_as_told(const struct rcl_config *config, void *state,
                         const struct rcl_event *event, struct rcl_actions *actions)
{
  asked = *event;
  if (!told)
    rcl_protocol_step(under, config, state, event, actions, false);
  for (uint32_t i = 0; told && i < told->count; i++)
    *rcl_act(actions, RCL_ACTION_NONE) = told->item[i];
}

/* ---- situations: a world, and a move of it that is an event ---- */

struct place {
  uint32_t size;
  void *bytes;
};

struct situation {
  struct move move;
  struct place *part;
};

enum { SITUATIONS = 32, RANKS_OF_SCRIPT = 2 };

struct stage {
  struct rcl_protocol protocol;
  struct world world;
  struct parts parts;
  struct script *script;
  struct rcl_actions actions;
  struct situation at[SITUATIONS];
  unsigned count;
  uint32_t kept; /* number of contents that the world keeps for situations */
};

static struct place *save(struct stage *s)
{
  struct place *saved = calloc(s->parts.count, sizeof *saved);
  for (uint32_t i = 0; i < s->parts.count; i++) {
    const void *bytes = s->world.memory.read(s->world.memory.ctx, i, &saved[i].size);
    saved[i].bytes = malloc(saved[i].size + 1);
    if (saved[i].size)
      memcpy(saved[i].bytes, bytes, saved[i].size);
  }
  return saved;
}

static void restore(struct stage *s, const struct place *saved)
{
  while (s->parts.kept_count > s->kept)
    free(s->parts.kept[--s->parts.kept_count].bytes);
  for (uint32_t i = 0; i < s->parts.count; i++) {
    void *bytes = s->world.memory.edit(s->world.memory.ctx, i, saved[i].size);
    if (saved[i].size)
      memcpy(bytes, saved[i].bytes, saved[i].size);
  }
}

static void drop(const struct stage *s, struct place *saved)
{
  for (uint32_t i = 0; i < s->parts.count; i++)
    free(saved[i].bytes);
  free(saved);
}

struct open_moves {
  struct move item[256];
  unsigned count;
};

static void note_open(void *data, const struct move *move)
{
  struct open_moves *moves = data;
  if (moves->count < sizeof moves->item / sizeof *moves->item)
    moves->item[moves->count++] = *move;
}

static bool is_known(const struct stage *s, const struct move *move)
{
  for (unsigned i = 0; i < s->count; i++)
    if (s->at[i].move.event.kind == move->event.kind &&
        s->at[i].move.event.flow == move->event.flow)
      return true;
  return false;
}

static void note_situations(struct stage *s, const struct open_moves *moves)
{
  for (unsigned i = 0; i < moves->count; i++) {
    const struct move *move = &moves->item[i];
    bool stepped =
        move->kind == MOVE_EVENT && !move->fault &&
        (move->event.kind != RCL_EVENT_RECEIVE || s->protocol.level == RCL_LEVEL_APPLICATION);
    if (!stepped || is_known(s, move) || s->count == SITUATIONS)
      continue;
    s->at[s->count++] = (struct situation){.move = *move, .part = save(s)};
  }
}

/* Finds situations by random walks through the world. All runs of the test take the same walks. */
static void find_situations(struct stage *s)
{
  struct place *begin = save(s);
  uint32_t random = 1;
  for (int walk = 0; walk < 400; walk++) {
    restore(s, begin);
    for (int steps = 0; steps < 80; steps++) {
      struct open_moves moves = {.count = 0};
      struct verdict verdict;
      world_moves(&s->world, note_open, &moves);
      note_situations(s, &moves);
      if (!moves.count)
        break;
      random = random * 1664525u + 1013904223u;
      world_step(&s->world, &moves.item[(random >> 16) % moves.count], &s->actions, &verdict);
    }
  }
  drop(s, begin);
}

static const char *const scripts[GRAMMAR_PROTOCOLS] = {
    [ABOVE] = "rank 0: output, send 1, choose 2, recv 1, allreduce, member 1, bcast 0, barrier, "
              "checkpoint\n"
              "rank 1: output, recv 0, choose 2, send 0, allreduce, member 1, bcast 0, barrier, "
              "checkpoint\n",
    [BELOW] = "rank 0: output, send 1, choose 2, recv 1, checkpoint\n"
              "rank 1: output, recv 0, choose 2, send 0, checkpoint\n",
    [ALONE] = "rank 0: output, send 1, choose 2, recv 1, checkpoint\n"
              "rank 1: output, recv 0, choose 2, send 0, checkpoint\n",
    [CLOCKED] = "rank 0: output, send 1, choose 2, recv 1, checkpoint\n"
                "rank 1: output, recv 0, choose 2, send 0, checkpoint\n"};

static void open_stage(struct stage *s, enum grammar_protocol number)
{
  int line;
  char *message = NULL;
  *s = (struct stage){.protocol = protocols[number]};
  under = &protocols[number];
  s->protocol.step = step_as_told;
  world_init(&s->world, &s->protocol, RANKS_OF_SCRIPT, 4);
  s->script = script_parse(scripts[number], RANKS_OF_SCRIPT, &line, &message);
  s->world.script = s->script;
  s->world.bounded = true;
  parts_init(&s->parts, &s->world);
  s->world.memory.forget = NULL; /* situations share kept contents */
  s->kept = UINT32_MAX;
  s->actions.capacity = RCL_ACTIONS_MAX(&s->world.config[0]);
  s->actions.item = calloc(s->actions.capacity, sizeof *s->actions.item);
  told = NULL;
  world_begin(&s->world, 1, 1);
  find_situations(s);
  s->kept = s->parts.kept_count;
  /* this avoids canonical forms, for which the world takes further steps */
  s->world.bounded = false;
}

static void close_stage(struct stage *s)
{
  for (unsigned i = 0; i < s->count; i++)
    drop(s, s->at[i].part);
  parts_clear(&s->parts);
  world_clear(&s->world);
  script_free(s->script);
  free(s->actions.item);
}

/* ---- what protocol.h says ---- */

static bool is_one_of(const char *names, const char *name)
{
  const char *at = strstr(names, name);
  size_t length = strlen(name);
  return at && (at == names || at[-1] == ' ') && (!at[length] || at[length] == ' ');
}

/* Names, for each event, the actions that it allows beyond those that every event allows. */
static const char *const may[RCL_EVENT_KINDS] = {[RCL_EVENT_SEND] = "transmit suppress keep",
                                                 [RCL_EVENT_RECEIVE] = "match deliver",
                                                 [RCL_EVENT_ARRIVED] = "deliver discard keep",
                                                 [RCL_EVENT_COLLECTIVE] = "join suppress deliver",
                                                 [RCL_EVENT_COLLECTED] = "deliver keep",
                                                 [RCL_EVENT_CAPTURED] = "deliver",
                                                 [RCL_EVENT_CHOICE] = "force",
                                                 [RCL_EVENT_DOWN] = "roll-back"};

static const char *const not_all =
    "transmit suppress match deliver discard keep join force roll-back";
static const char *const more_than_once = "forget resend rejoin control erase output";
static const char *const answers = "transmit suppress match deliver discard join";

/* Returns whether a list is legal, provided that the fields of its actions fit. */
static bool is_legal(enum grammar_protocol number, int rank, const struct rcl_event *event,
                     const struct grammar_list *list)
{
  bool seen[RCL_ACTION_KINDS] = {0}, given_up = false;
  unsigned given = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    enum rcl_action_kind kind = list->item[i].kind;
    const char *name = action_name(kind), *here = may[event->kind] ? may[event->kind] : "";
    bool back = number == ALONE && kind == RCL_ACTION_ROLL_BACK,
         passes = number == BELOW && kind == RCL_ACTION_DELIVER && list->item[i].slot,
         barrier = event->kind == RCL_EVENT_COLLECTED && kind == RCL_ACTION_CAPTURE;
    if (kind == RCL_ACTION_NONE || seen[RCL_ACTION_ROLL_BACK])
      return false;
    if (is_one_of(not_all, name) && !is_one_of(here, name) && !back && !passes)
      return false;
    if (barrier && event->flow != RCL_FLOW_BARRIER)
      return false;
    if (seen[kind] && !is_one_of(more_than_once, name) && !passes)
      return false;
    if ((kind == RCL_ACTION_COMMIT && (rank || number == ALONE)) || kind == RCL_ACTION_OPEN ||
        (kind == RCL_ACTION_REJOIN && number != ABOVE) ||
        (kind == RCL_ACTION_DRAIN && number == BELOW))
      return false;
    if (kind == RCL_ACTION_ROLL_BACK &&
        (seen[RCL_ACTION_CAPTURE] || (number != ALONE && seen[RCL_ACTION_STORE])))
      return false;
    if (kind == RCL_ACTION_KEEP && given)
      return false;
    if (kind == RCL_ACTION_DISCARD && seen[RCL_ACTION_KEEP])
      return false;
    given += (is_one_of(answers, name) && !passes) || barrier;
    given_up |= kind == RCL_ACTION_GIVE_UP;
    seen[kind] = true;
  }
  bool needs = event->kind == RCL_EVENT_SEND || event->kind == RCL_EVENT_RECEIVE ||
               event->kind == RCL_EVENT_ARRIVED || event->kind == RCL_EVENT_COLLECTIVE ||
               event->kind == RCL_EVENT_COLLECTED;
  if (event->kind == RCL_EVENT_ARRIVED && seen[RCL_ACTION_KEEP] && !given)
    given = 1;
  return given <= 1 && (given || given_up || !needs);
}

/* Returns an action of kind `kind` whose fields fit the event. */
static struct rcl_action fitting(enum grammar_protocol number, int rank,
                                 const struct rcl_event *event, enum rcl_action_kind kind)
{
  struct rcl_action a = {.kind = (uint8_t)kind};
  bool slot = event->kind != RCL_EVENT_ARRIVED && event->kind != RCL_EVENT_COLLECTED &&
              event->kind != RCL_EVENT_CAPTURED;
  bool named = event->kind == RCL_EVENT_RECEIVE || event->kind == RCL_EVENT_ARRIVED;
  switch (kind) {
  case RCL_ACTION_MATCH:
    a.request = named ? event->request : 1;
    a.peer = RCL_ANY;
    break;
  case RCL_ACTION_DELIVER:
    a.request = named ? event->request : 0;
    a.slot = slot;
    break;
  case RCL_ACTION_KEEP:
  case RCL_ACTION_FORGET:
  case RCL_ACTION_RESEND:
    a.slot = 1;
    break;
  case RCL_ACTION_REJOIN:
  case RCL_ACTION_GIVE_UP:
  case RCL_ACTION_OUTPUT:
    a.call = kind == RCL_ACTION_REJOIN;
    a.output = kind == RCL_ACTION_OUTPUT;
    a.reason = kind == RCL_ACTION_GIVE_UP ? RCL_REASON_PROTOCOL : 0;
    break;
  case RCL_ACTION_CONTROL:
    a.peer = (int16_t)!rank;
    break;
  case RCL_ACTION_CAPTURE:
  case RCL_ACTION_STORE:
  case RCL_ACTION_COMMIT:
    a.checkpoint = 1;
    break;
  case RCL_ACTION_SET_TIMER:
    a.checkpoint = number == CLOCKED;
    break;
  case RCL_ACTION_ROLL_BACK:
    a.checkpoint = event->checkpoint;
    break;
  default:
    break;
  }
  return a;
}

/* ---- comparing ---- */

static struct {
  unsigned lists, legal, differ;
} tried;

static void print_list(const struct rcl_event *event, const struct grammar_list *list)
{
  char text[TEXT_MAX];
  note("at %s", event_print(NULL, event, text));
  for (uint32_t i = 0; i < list->count; i++)
    note("  %s", action_print(NULL, &list->item[i], text));
}

/* Compares the answers of the table, of the world, and of protocol.h (`says`, or -1 if it is not
 * asked). */
static void compare(struct stage *s, enum grammar_protocol number, const struct situation *at,
                    const struct grammar_list *list, int says)
{
  struct verdict verdict;
  struct move move = at->move;
  struct grammar_refusal refusal;
  char text[TEXT_MAX];
  restore(s, at->part);
  told = list;
  world_step(&s->world, &move, &s->actions, &verdict);
  told = NULL;
  bool refused =
      grammar_refuses(&s->protocol, &s->world.config[move.rank], &asked, &s->actions, &refusal);
  bool same_text = !refused || !strcmp(verdict.text, grammar_print(&asked, &refusal, text));
  tried.lists++;
  tried.legal += !refused;
  if (verdict.refused == refused && same_text && (says < 0 || refused == !says))
    return;
  if (tried.differ++ < 5) {
    note("protocol %s, rank %d: table %s, world %s, protocol.h %d", protocols[number].name,
         move.rank, refused ? refusal.expected : "legal", verdict.text, says);
    print_list(&asked, list);
  }
}

static void try_lists(struct stage *s, enum grammar_protocol number, const struct situation *at,
                      struct grammar_list *list)
{
  asked = at->move.event;
  compare(s, number, at, list, is_legal(number, at->move.rank, &asked, list));
  if (list->count == 3)
    return;
  for (int kind = 0; kind < RCL_ACTION_KINDS; kind++) {
    list->item[list->count++] =
        fitting(number, at->move.rank, &at->move.event, (enum rcl_action_kind)kind);
    try_lists(s, number, at, list);
    list->count--;
  }
}

/* Sets each field of each action to a value at the end of its range. Tries this action alone and
 * after an answer. */
static void try_fields(struct stage *s, enum grammar_protocol number, const struct situation *at)
{
  static const unsigned char values[] = {0, 1, 2, 127, 128, 254, 255};
  const struct rcl_event *event = &at->move.event;
  struct grammar_list list = {.count = 1};
  int answer = RCL_ACTION_NONE;
  for (int kind = RCL_ACTION_KINDS - 1; kind > 0; kind--) {
    list.item[0] = fitting(number, at->move.rank, event, (enum rcl_action_kind)kind);
    answer = is_legal(number, at->move.rank, event, &list) ? kind : answer;
  }
  list.item[0] = fitting(number, at->move.rank, event, (enum rcl_action_kind)answer);
  for (int kind = 0; kind <= RCL_ACTION_KINDS; kind++)
    for (size_t byte = 0; byte < sizeof *list.item; byte++)
      for (unsigned i = 0; i < sizeof values; i++)
        for (uint32_t before = 0; before <= 1; before++) {
          list.count = before + 1;
          list.item[before] = fitting(number, at->move.rank, event, (enum rcl_action_kind)kind);
          ((unsigned char *)&list.item[before])[byte] = values[i];
          compare(s, number, at, &list, -1);
          list.item[0] = fitting(number, at->move.rank, event, (enum rcl_action_kind)answer);
        }
}

/* ---- fields of events ---- */

/* Names, for each event, the fields that it names, as protocol.h says. */
static const char *const names_fields[RCL_EVENT_KINDS] = {
    [RCL_EVENT_START] = "closed checkpoint request outcome",
    [RCL_EVENT_DOWN] = "peer checkpoint outcome",
    [RCL_EVENT_TIMER] = "checkpoint",
    [RCL_EVENT_SEND] = "peer comm tag bytes",
    [RCL_EVENT_RECEIVE] = "peer comm tag request",
    [RCL_EVENT_CHOICE] = "request outcome",
    [RCL_EVENT_SAFE_POINT] = "outcome",
    [RCL_EVENT_MEMBER] = "comm",
    [RCL_EVENT_COLLECTIVE] = "flow makes peer comm tag bytes",
    [RCL_EVENT_OUTPUT] = "request bytes",
    [RCL_EVENT_ARRIVED] = "wildcard peer comm tag request bytes words",
    [RCL_EVENT_CONTROL] = "peer words",
    [RCL_EVENT_COLLECTED] = "flow makes peer comm tag outcome words",
    [RCL_EVENT_CAPTURED] = "closed checkpoint request",
    [RCL_EVENT_DURABLE] = "part checkpoint",
    [RCL_EVENT_COMMITTED] = "checkpoint"};

static const struct {
  const char *name;
  size_t at;
} event_fields[] = {{"part", offsetof(struct rcl_event, part)},
                    {"wildcard", offsetof(struct rcl_event, wildcard)},
                    {"flow", offsetof(struct rcl_event, flow)},
                    {"closed", offsetof(struct rcl_event, closed)},
                    {"makes", offsetof(struct rcl_event, makes)},
                    {"padding", offsetof(struct rcl_event, pad[0])},
                    {"padding", offsetof(struct rcl_event, pad[1])},
                    {"peer", offsetof(struct rcl_event, peer)},
                    {"comm", offsetof(struct rcl_event, comm)},
                    {"tag", offsetof(struct rcl_event, tag)},
                    {"request", offsetof(struct rcl_event, request)},
                    {"bytes", offsetof(struct rcl_event, bytes)},
                    {"checkpoint", offsetof(struct rcl_event, checkpoint)},
                    {"outcome", offsetof(struct rcl_event, outcome)},
                    {"words", offsetof(struct rcl_event, words[0])},
                    {"words", offsetof(struct rcl_event, words[1])},
                    {"words", offsetof(struct rcl_event, words[2])}};

/* Tests that the world refuses an event of a host with a field that its kind does not have, unless
 * the field is zero. The events that the world lists for the explorer must have no such field,
 * either. */
static void try_event_fields(struct stage *s, const struct situation *at)
{
  const char *wrong = grammar_unnamed_field(&at->move.event);
  for (unsigned i = 0; i < sizeof event_fields / sizeof *event_fields && !wrong; i++) {
    struct move move = at->move;
    struct verdict verdict;
    ((unsigned char *)&move.event)[event_fields[i].at] ^= 1;
    bool named = is_one_of(names_fields[move.event.kind], event_fields[i].name);
    const char *unnamed = grammar_unnamed_field(&move.event);
    restore(s, at->part);
    world_step(&s->world, &move, &s->actions, &verdict);
    if (named ? unnamed != NULL
              : !unnamed || strcmp(unnamed, event_fields[i].name) ||
                    verdict.kind != VERDICT_IMPOSSIBLE)
      wrong = event_fields[i].name;
  }
  if (!ok(!wrong, "and every field of the event"))
    note("%s", wrong);
}

static void try_all(enum grammar_protocol number)
{
  struct stage s;
  open_stage(&s, number);
  uint32_t kinds = 0;
  for (unsigned i = 0; i < s.count; i++) {
    struct grammar_list list = {.count = 0};
    kinds |= 1u << s.at[i].move.event.kind;
    try_lists(&s, number, &s.at[i], &list);
    ok(!tried.differ, "%s, rank %d: every list of up to three actions at %s",
       protocols[number].name, s.at[i].move.rank, event_name(s.at[i].move.event.kind));
    try_fields(&s, number, &s.at[i]);
    ok(!tried.differ, "and every field");
    try_event_fields(&s, &s.at[i]);
  }
  ok(number != ABOVE || kinds == (1u << RCL_EVENT_KINDS) - 2, "%s: %u situations",
     protocols[number].name, s.count);
  close_stage(&s);
}

/* ---- by name ---- */

static void try_by_name(const struct grammar_case *c)
{
  const struct rcl_config config = {
      .self = (int16_t)(c->event == RCL_EVENT_ARRIVED || c->event == RCL_EVENT_CONTROL),
      .ranks = 2,
      .capacity = 4};
  struct rcl_event event = {.kind = (uint8_t)c->event,
                            .flow = c->event == RCL_EVENT_COLLECTED ? RCL_FLOW_FROM_ROOT : 0,
                            .checkpoint = c->event == RCL_EVENT_CAPTURED};
  if (c->event == RCL_EVENT_RECEIVE || (c->event == RCL_EVENT_ARRIVED && c->protocol != BELOW))
    event.request = 1;
  struct rcl_action item[64];
  struct rcl_actions actions = {.capacity = 64, .item = item};
  struct state state = {0};
  if (!c->instead)
    answer(&config, &state, &event, &actions);
  for (uint32_t i = 0; i < c->count; i++)
    *rcl_act(&actions, RCL_ACTION_NONE) = c->list[i];
  struct grammar_refusal refusal;
  char text[TEXT_MAX] = "legal";
  if (grammar_refuses(&protocols[c->protocol], &config, &event, &actions, &refusal))
    grammar_print(&event, &refusal, text);
  if (!ok(!strcmp(text, c->expected), "%s", c->name))
    note("%s", text);
}

int main(int argc, char **argv)
{
  if (argc > 1 && !strcmp(argv[1], "--list")) {
    for (unsigned i = 0; i < GRAMMAR_CASES; i++)
      printf("%u|%s|%s|%s\n", i + 1, protocols[grammar_cases[i].protocol].name,
             grammar_cases[i].name, grammar_cases[i].expected);
    return 0;
  }
  for (unsigned i = 0; i < GRAMMAR_CASES; i++)
    try_by_name(&grammar_cases[i]);
  for (int number = 0; number < RANDOM; number++)
    try_all((enum grammar_protocol)number);
  note("%u lists, of which %u are legal", tried.lists, tried.legal);
  return done();
}
