#define _POSIX_C_SOURCE 200809L /* strdup */
#include "play/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "play/difference.h"
#include "protocols/neighbours.h"
#include "verify/explore/search.h"
#include "world/line/line_view.h"
#include "world/rules/properties.h"
#include "world/rules/world_parts.h"

/* ---- the description ---- */

/* Finds the next line from `*at` on that begins with `key`. Returns the value of that line and
 * moves `*at` behind the line, or returns NULL if there is no such line. The caller frees the value
 * with free(). */
static char *next_value(const char **at, const char *key)
{
  size_t length = strlen(key);
  for (const char *line = *at; *line;) {
    const char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end;
    if (!strncmp(line, key, length) && line[length] == ' ') {
      size_t size = (size_t)(end - line) - length - 1;
      char *value = memory_grow(NULL, size + 1);
      memcpy(value, line + length + 1, size);
      value[size] = '\0';
      *at = next;
      return value;
    }
    line = next;
  }
  return NULL;
}

static char *value_of(const char *text, const char *key)
{
  return next_value(&text, key);
}

static unsigned number_of(const char *text, const char *key, unsigned otherwise)
{
  char *value = value_of(text, key);
  unsigned number = value ? (unsigned)strtoul(value, NULL, 10) : otherwise;
  free(value);
  return number;
}

static bool says(const char *text, const char *key, const char *expected)
{
  char *value = value_of(text, key);
  bool same = value && !strcmp(value, expected);
  free(value);
  return same;
}

static const char *begin_script(struct session *s, int ranks)
{
  struct buffer script = {0};
  const char *at = s->description;
  char *line, *message = NULL;
  int number;
  while ((line = next_value(&at, "script"))) {
    buffer_text(&script, line);
    buffer_text(&script, "\n");
    free(line);
  }
  s->script = script.text ? script_parse(script.text, ranks, &number, &message) : NULL;
  bool real = !script.text;
  free(script.text);
  free(message);
  return s->script || real ? NULL : "there is no script that can be read";
}

static int by_value(const void *a, const void *b)
{
  const uint32_t *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

static uint32_t member_key(unsigned comm, unsigned rank)
{
  return comm << 16 | rank;
}

static bool is_member(const void *ctx, int comm, int rank)
{
  const struct session *s = ctx;
  uint32_t key = member_key((unsigned)comm, (unsigned)rank);
  return !comm || (s->members && bsearch(&key, s->members, s->members_count, sizeof key, by_value));
}

static void begin_members(struct session *s)
{
  const char *at = s->description;
  char *value;
  while ((value = next_value(&at, "later"))) {
    unsigned rank, comm;
    s->members = memory_room(s->members, s->members_count, &s->members_room, sizeof *s->members);
    if (sscanf(value, "%u member comm=%u", &rank, &comm) == 2)
      s->members[s->members_count++] = member_key(comm, rank);
    free(value);
  }
  if (s->members)
    qsort(s->members, s->members_count, sizeof *s->members, by_value);
}

static void begin_properties(struct session *s)
{
  const char *at = s->description;
  uint32_t count = 0, room = 0;
  char *name;
  while ((name = next_value(&at, "property"))) {
    s->properties = memory_room(s->properties, count, &room, sizeof *s->properties);
    s->properties[count++] = name;
  }
  if (!count)
    return;
  s->properties = memory_room(s->properties, count, &room, sizeof *s->properties);
  s->properties[count] = NULL;
}

static unsigned lies_of(const char *at)
{
  unsigned lies = 0;
  char *name;
  while ((name = next_value(&at, "lie"))) {
    for (size_t i = 0; i < TRACE_LIES; i++)
      if (!strcmp(name, trace_lies[i].name))
        lies |= trace_lies[i].lie;
    free(name);
  }
  return lies;
}

static void add_levels(struct world *world, const char *at)
{
  char *value;
  while ((value = next_value(&at, "level"))) {
    unsigned every, needs, set, losses, ring;
    if (sscanf(value, "%u %u %u %u %u", &every, &needs, &set, &losses, &ring) == 5)
      world_add_level(world, (struct world_level){.every = every,
                                                  .needs = (uint8_t)needs,
                                                  .set = (int16_t)set,
                                                  .losses = (int16_t)losses,
                                                  .ring = ring});
    free(value);
  }
}

static void set_topology(struct world *world, const char *text)
{
  char problem[NEIGHBOURS_PROBLEM], *topology = value_of(text, "topology");
  /* recline has read this topology before, so it is right */
  world_set_topology(world, topology, problem);
  free(topology);
}

static void set_up(struct session *s, struct world *world, const struct rcl_protocol *protocol)
{
  const char *text = s->description;
  world_init(world, protocol, (int)number_of(text, "ranks", 0), number_of(text, "capacity", 0));
  for (int i = 0; protocol->parameters && protocol->parameters[i]; i++)
    world_set_parameter(world, protocol->parameters[i],
                        number_of(text, protocol->parameters[i], 0));
  set_topology(world, text);
  world->fifo = says(text, "order", "fifo");
  world->overtaking = says(text, "order", "none");
  world->places_anywhere = says(text, "places", "anywhere");
  world->closes = number_of(text, "closes", 0);
  world->bounded = s->script;
  world->line_stamps = says(text, "stamps", "lines");
  world->faults = lies_of(text);
  world->hazards = number_of(text, "hazards", 0);
  world->per_node = (int)number_of(text, "per_node", 1);
  world->exceeds = number_of(text, "exceeds", 0);
  world->stored_per_node = (int)number_of(text, "stored_per_node", 1);
  world->attempts = number_of(text, "attempts", 0);
  add_levels(world, text);
  world->check = true;
  world->script = s->script;
  world->properties = s->properties;
  world->member = s->script ? NULL : is_member;
  world->member_ctx = s;
}

/* ---- the present state ---- */

/* Returns the contents of the message with which a real program would report the event. */
static struct content content_of_move(const struct session *s, const struct move *move)
{
  uint32_t count;
  if (s->script || move->kind != MOVE_EVENT || move->event.kind != RCL_EVENT_ARRIVED)
    return move->content;
  return READ_LIST(struct world_message, &s->world, WORLD_CHANNEL, move->event.peer, move->rank,
                   &count)[move->index]
      .content;
}

static void add_enabled(void *data, const struct move *move)
{
  struct session *s = data;
  s->enabled = memory_room(s->enabled, s->enabled_count, &s->enabled_room, sizeof *s->enabled);
  s->enabled[s->enabled_count] = *move;
  s->enabled[s->enabled_count++].content = content_of_move(s, move);
}

static void list_moves(struct session *s)
{
  s->enabled_count = 0;
  world_moves(&s->world, add_enabled, s);
}

static void forget_lines(struct session *s)
{
  if (s->lines)
    trace_lines_free(s->lines);
  s->lines = NULL;
}

/* Clears those bytes of a rank's part that are in use. All other bytes are zero already: in runs,
 * most of a protocol's state is untouched address space. */
static void empty_rank(struct session *s, int rank)
{
  struct parts_bytes *part = &s->parts.part[world_part(&s->world, WORLD_RANK, rank, 0)];
  if (!part->size)
    return;
  struct rcl_piece piece[RCL_PIECES];
  struct world_rank *me = part->bytes;
  unsigned char *state = (unsigned char *)(me + 1);
  for (uint32_t k = world_in_use(&s->world, rank, state, piece); k-- > 0;)
    memset(state + piece[k].offset, 0, piece[k].bytes);
  *me = (struct world_rank){0};
}

/* Makes all parts as parts_init() does, but in the memory that the parts already have, because a
 * page cannot give memory back. */
static void empty_parts(struct session *s)
{
  for (int rank = 0; rank < s->world.ranks; rank++)
    empty_rank(s, rank);
  for (uint32_t i = 0; i < s->parts.count; i++)
    if (i >= (uint32_t)s->world.ranks * WORLD_RANK_PARTS || i % WORLD_RANK_PARTS != WORLD_RANK)
      s->parts.part[i].size = 0;
  for (uint32_t i = 0; i < s->parts.kept_count; i++)
    free(s->parts.kept[i].bytes);
  s->parts.kept_count = 0;
}

static void restart(struct session *s)
{
  forget_lines(s);
  s->lines = trace_lines_new();
  empty_parts(s);
  world_begin(&s->world, s->crashes, s->timers);
  s->at = 0;
  s->verdict = (struct verdict){0};
}

const char *session_begin(struct session *s, const char *description)
{
  s->description = strdup(description);
  char *name = value_of(description, "protocol");
  const struct rcl_protocol *protocol = name ? rcl_protocol_named(name) : NULL;
  free(name);
  if (!protocol)
    return "there is no such protocol here";
  const char *wrong = begin_script(s, (int)number_of(description, "ranks", 0));
  if (wrong)
    return wrong;
  if (s->script && !protocol->collectives && !script_spell_out(s->script))
    return "there are too many messages in its collectives";
  begin_properties(s);
  begin_members(s);
  set_up(s, &s->world, protocol);
  parts_init(&s->parts, &s->world);
  s->crashes = number_of(description, "crashes", 0);
  s->timers = number_of(description, "timers", 0);
  s->actions.capacity = RCL_ACTIONS_MAX(&s->world.config[0]);
  s->actions.item = memory_table(s->actions.capacity, sizeof *s->actions.item);
  difference_find(s);
  restart(s);
  list_moves(s);
  return NULL;
}

void session_clear(struct session *s)
{
  forget_lines(s);
  parts_clear(&s->parts);
  if (s->world.config)
    world_clear(&s->world);
  for (const char **name = s->properties; name && *name; name++)
    free((char *)(uintptr_t)*name);
  script_free(s->script);
  intern_clear(&s->outcomes);
  free(s->actions.item);
  difference_clear(s);
  free(s->properties);
  free(s->description);
  free(s->members);
  free(s->moves);
  free(s->phases);
  free(s->enabled);
  *s = (struct session){0};
}

char *session_header(struct session *s)
{
  struct buffer text = {0};
  char *host = value_of(s->description, "host");
  unsigned at = s->at;
  if (s->script)
    session_go(s, 0, NULL); /* session_go() counts how many crashes there may still be */
  char *header = trace_header(&s->world, host ? host : "explorer");
  session_go(s, at, NULL);
  *strstr(header, "---\n") = '\0';
  buffer_text(&text, header);
  for (uint32_t i = 0; i < s->members_count; i++)
    buffer_printf(&text, "later %u member comm=%u\n", s->members[i] & UINT16_MAX,
                  s->members[i] >> 16);
  buffer_text(&text, "---\n");
  free(header);
  free(host);
  return text.text;
}

/* ---- moves ---- */

bool session_changes(struct session *s, const struct move *move)
{
  if (!s->script) /* a trial would copy memory, and most of that memory is untouched address space
                   */
    return true;
  struct parts before;
  parts_copy(&before, &s->parts);
  uint64_t digest = world_digest(&s->world);
  struct move tried = *move;
  struct verdict verdict = {0};
  s->actions.count = 0;
  world_step(&s->world, &tried, &s->actions, &verdict);
  bool changes = world_digest(&s->world) != digest;
  parts_clear(&s->parts);
  s->parts = before;
  return changes;
}

static bool wants(const struct session *s, const char *property)
{
  return !s->properties || properties_include(s->properties, property);
}

static bool is_violation(const struct session *s, const struct verdict *verdict)
{
  return verdict->kind == VERDICT_VIOLATION && wants(s, verdict->property);
}

/* Names the violation. A protocol that gives up violates `recovers`, as in a search. */
static void name_violation(struct verdict *verdict)
{
  if (verdict->kind != VERDICT_GAVE_UP)
    return;
  char why[sizeof verdict->text];
  memcpy(why, verdict->text, sizeof why);
  verdict->kind = VERDICT_VIOLATION;
  verdict->property = "recovers";
  snprintf(verdict->text, sizeof verdict->text, "the protocol gives up: %.160s", why);
}

static uint32_t phase_of(const struct session *s, int rank)
{
  uint32_t phase = 0;
  if (rank >= 0 && s->world.state_bytes >= sizeof phase)
    memcpy(&phase, read_rank(&s->world, rank) + 1, sizeof phase);
  return phase;
}

static bool step(struct session *s, struct move *move, struct buffer *line)
{
  struct session_phase phase = {.from = phase_of(s, move->rank)};
  char *intact = difference_try(s, move);
  s->actions.count = 0;
  s->verdict = (struct verdict){0};
  world_step(&s->world, move, &s->actions, &s->verdict);
  if (s->verdict.kind != VERDICT_IMPOSSIBLE)
    difference_note(s, move->rank, intact);
  free(intact);
  if (s->verdict.kind == VERDICT_IMPOSSIBLE)
    return false;
  phase.to = phase_of(s, move->rank);
  s->phases = memory_room(s->phases, s->at, &s->phases_room, sizeof *s->phases);
  s->phases[s->at] = phase;
  name_violation(&s->verdict);
  char *text = trace_line(s->lines, &s->world, move, &s->actions, &s->verdict);
  if (line)
    buffer_text(line, text);
  free(text);
  if (line && is_violation(s, &s->verdict)) {
    text = trace_violation_line(s->lines, &s->verdict);
    buffer_text(line, "\n");
    buffer_text(line, text);
    free(text);
  }
  s->at++;
  return true;
}

void session_know(struct session *s, const struct move *move, uint32_t count)
{
  s->count = s->at;
  for (uint32_t i = 0; i < count; i++) {
    s->moves = memory_room(s->moves, s->count, &s->moves_room, sizeof *s->moves);
    s->moves[s->count++] = move[i];
  }
}

bool session_take(struct session *s, const struct move *move, struct buffer *line)
{
  session_know(s, move, 1);
  if (!step(s, &s->moves[s->at], line))
    return false;
  list_moves(s);
  return true;
}

bool session_go(struct session *s, unsigned at, struct buffer *lines)
{
  if (at < s->at || lines || s->verdict.kind == VERDICT_IMPOSSIBLE)
    restart(s);
  while (s->at < at && s->at < s->count) {
    if (!step(s, &s->moves[s->at], lines))
      return false;
    if (lines)
      buffer_text(lines, "\n");
  }
  list_moves(s);
  return true;
}

/* ---- judging ---- */

/* Collects the outcomes of the same script without failures, checkpoints and protocol. */
static void find_outcomes(struct session *s)
{
  static const char *const deadlock[] = {"deadlock", NULL};
  enum { STATES_MAX = 200000, BYTES_MAX = 64 << 20 };
  struct world world;
  struct exploration found;
  const struct explorer_options options = {.properties = deadlock,
                                           .outcomes = &s->outcomes,
                                           .collect = true,
                                           .max_states = STATES_MAX,
                                           .max_bytes = BYTES_MAX};
  world_init(&world, rcl_protocol_named("none"), s->script->ranks, 1);
  world.fifo = s->world.fifo;
  world.overtaking = s->world.overtaking;
  world.bounded = true;
  world.script = s->script;
  explore(&world, 0, 0, &options, &found);
  world_clear(&world);
  s->has_outcomes = true;
  if (found.verdict != EXPLORER_HOLDS)
    intern_clear(&s->outcomes); /* without outcomes, `outcome` is not judged */
  exploration_clear(&found);
}

static struct intern *outcomes_of(struct session *s)
{
  if (!wants(s, "outcome"))
    return NULL;
  if (!s->has_outcomes)
    find_outcomes(s);
  return s->outcomes.count ? &s->outcomes : NULL;
}

static bool wrong_outcome(struct session *s, struct verdict *verdict)
{
  if (!s->script)
    return false;
  const struct intern *outcomes = outcomes_of(s);
  uint32_t ranks = (uint32_t)s->world.ranks, size;
  struct content histories[ranks];
  for (uint32_t rank = 0; rank < ranks; rank++) {
    uint32_t part = world_part(&s->world, WORLD_PROGRAM, (int)rank, 0);
    const struct world_program *program = s->world.memory.read(s->world.memory.ctx, part, &size);
    histories[rank] = program->history;
  }
  if (!outcomes || intern_find(outcomes, histories, ranks * (uint32_t)sizeof *histories))
    return false;
  worker_wrong_outcome(outcomes, histories, ranks, verdict);
  return true;
}

/* Returns whether crashes and injected faults are the only moves that change anything. */
static bool is_at_rest(struct session *s)
{
  for (unsigned i = 0; i < s->enabled_count; i++)
    if (!is_fault(&s->enabled[i]) && session_changes(s, &s->enabled[i]))
      return false;
  return true;
}

bool session_judge(struct session *s, struct verdict *verdict)
{
  struct world_standing each[s->world.ranks];
  for (int rank = 0; rank < s->world.ranks; rank++)
    each[rank] = world_standing(&s->world, rank);
  struct world_standing all = world_standing_of_all(each, s->world.ranks);
  *verdict = (struct verdict){0};
  if (all.gave_up)
    return false;
  if (all.finished && wrong_outcome(s, verdict))
    return true;
  if (all.finished && world_judges_end(&s->world))
    world_at_end(&s->world, verdict);
  if (is_violation(s, verdict))
    return true;
  world_judge_line(&s->world, verdict);
  if (is_violation(s, verdict))
    return true;
  if (s->script && is_at_rest(s))
    world_at_rest(&s->world, verdict);
  return is_violation(s, verdict);
}

/* ---- walks ---- */

unsigned session_draw(uint64_t *seed, unsigned count)
{
  *seed += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
  uint64_t mixed = *seed;
  mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
  return (unsigned)((mixed ^ mixed >> 31) % count);
}

uint64_t session_walk(struct session *s, uint64_t seed, unsigned steps)
{
  enum { LONGEST = 500 };
  uint64_t digest = 0;
  for (unsigned i = 0; i < steps; i++) {
    if (!s->enabled_count || s->at == LONGEST || s->verdict.kind != VERDICT_FINE)
      session_go(s, 0, NULL);
    struct buffer line = {0};
    struct move move = s->enabled[session_draw(&seed, s->enabled_count)];
    bool fine = session_take(s, &move, &line);
    uint64_t state = world_digest(&s->world);
    buffer_printf(&line, " %d %d %s", fine, s->verdict.kind, s->verdict.text);
    digest = world_digest_bytes(digest, line.text, (uint32_t)line.used);
    digest = world_digest_bytes(digest, &state, sizeof state);
    free(line.text);
    if (!fine)
      break;
  }
  return digest;
}

/* ---- searching ---- */

void session_explore(struct session *s, struct explorer_options options, struct exploration *found)
{
  struct world world;
  options.properties = s->properties;
  options.outcomes = outcomes_of(s);
  options.from = s->moves;
  options.from_count = s->at;
  set_up(s, &world, s->world.protocol);
  explore(&world, s->crashes, s->timers, &options, found);
  world_clear(&world);
}
