#include "sim/host/rank/shadow.h"

#include "protocols/text.h"
#include "sim/host/rank/communicators.h"
#include "world/rules/in_place.h"
#include "world/rules/properties.h"
#include "world/trace/trace.h"
#include "world/trace/world_of.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct world world;
static struct parts parts;
static struct trace *trace;
static bool scheduled; /* the run is by schedule */
static bool strict;    /* the run is by schedule, and the schedule has not ended */

static const char HOST[] = "smpi"; /* name of this host in traces */

enum { LAST_LINES = 12 };
struct line {
  double time;
  struct move move;
};
static struct line last[LAST_LINES]; /* the last lines of the trace, for the report of a breach */
static unsigned last_count;

static void note_history(double time, const struct move *move, const struct rcl_actions *actions,
                         const struct verdict *verdict)
{
  struct verdict told = *verdict;
  if (trace)
    trace_move(trace, time, &world, move, actions, &told);
}

/* Returns the hazards that the earlier run had. They may happen in this run, because it takes over
 * the moves of the earlier run. */
static unsigned hazards_of(const char *history)
{
  GError *error = NULL;
  unsigned hazards = 0;
  if (history && !trace_hazards(history, &hazards, &error))
    die(DIE_INPUT, "%s", error->message);
  return hazards;
}

void shadow_begin(const struct scenario *scenario, const char *trace_file, const char *history)
{
  const struct rcl_protocol *protocol = rcl_protocol_named(scenario->protocol.name);
  if (!protocol)
    die(DIE_INPUT, "there is no protocol %s", scenario->protocol.name);
  world_init(&world, protocol, scenario->program.ranks, scenario->protocol.capacity);
  world_of_protocol(&world, scenario);
  world.places_anywhere = scenario->checkpoint.places == PLACES_ANYWHERE;
  world.script = NULL;
  world.bounded = false;
  world.member = communicator_has;
  world.hazards = scenario->check.hazards | hazards_of(history);
  for (unsigned i = 0; i < scenario->failures_count; i++) {
    const struct failure *failure = &scenario->failures[i];
    if (failure->after.actions >= 0 && failure->trigger == TRIGGER_POINT)
      world.hazards |= HAZARD_CUT_STEPS;
    if (failure->ends_after >= 0.0)
      world.hazards |= HAZARD_FALSE_DETECTION;
  }
  world.properties = scenario->check.properties ? (const char *const *)scenario->check.properties
                                                : properties_promised(protocol);
  world.line_stamps = properties_need_stamps(world.properties);
  world_of_levels(&world, scenario);
  if (scenario->schedule) /* a schedule crashes nodes, and they have as many ranks here as in the
                             explorer */
    world.per_node = scenario->check.per_node;
  parts_init(&parts, &world);
  parts_group_shares(&parts, &world);
  world_begin(&world, 0, 0);
  GError *error = NULL;
  if (trace_file && !(trace = trace_open(trace_file, &world, HOST, false, &error)))
    die(DIE_INPUT, "%s", error->message);
  if (history && !trace_continue(history, &world, HOST, note_history, &error))
    die(DIE_INPUT, "%s", error->message);
}

const struct rcl_protocol *shadow_protocol(void)
{
  return world.protocol;
}

bool shadow_cuts_steps(void)
{
  return world.hazards & HAZARD_CUT_STEPS;
}

bool shadow_control_overtakes(void)
{
  return world.hazards & HAZARD_CONTROL_OVERTAKES;
}

bool shadow_independent(void)
{
  return world.protocol->independent;
}

/* Returns a part of the world's state without world.memory, because the host asks for parts several
 * times for each message. */
static const void *read_part(enum part_kind kind, int rank)
{
  return parts.part[world_part(&world, kind, rank, 0)].bytes;
}

const struct world_rank *shadow_rank(int rank)
{
  return read_part(WORLD_RANK, rank);
}

const struct world_global *shadow_global(void)
{
  return read_part(WORLD_GLOBAL, 0);
}

uint32_t shadow_slots(int rank)
{
  uint32_t size;
  world.memory.read(world.memory.ctx, world_part(&world, WORLD_SLOTS, rank, 0), &size);
  return size / (uint32_t)sizeof(struct world_slot);
}

int shadow_draining(int rank)
{
  return shadow_rank(rank)->draining - 2; /* world.h says what the values mean */
}

void shadow_work(int rank, const struct rcl_event *event, struct rcl_work *work)
{
  world.protocol->work(&world.config[rank], shadow_rank(rank) + 1, event, work);
}

uint32_t shadow_actions_max(void)
{
  return RCL_ACTIONS_MAX(&world.config[0]);
}

bool shadow_allows(const struct move *move)
{
  return world_refuses(&world, move) == NULL;
}

/* Returns whether to check invariants after the move. The time of the check grows with a protocol's
 * lists. So only debug builds check every step. Other builds check only steps of checkpoints and
 * recoveries. */
static bool worth_checking(const struct move *move)
{
#ifndef NDEBUG
  (void)move;
  return true;
#else
  switch ((enum rcl_event_kind)move->event.kind) {
  case RCL_EVENT_START:
  case RCL_EVENT_DOWN:
  case RCL_EVENT_CAPTURED:
  case RCL_EVENT_COMMITTED:
    return true;
  case RCL_EVENT_DURABLE: /* if ranks recover independently, each message may be logged */
    return !shadow_independent() || move->event.part != RCL_PART_LOG;
  default:
    return false;
  }
#endif
}

static void note_move(const struct move *move)
{
  last[last_count++ % LAST_LINES] = (struct line){machine_now(), *move};
}

static void print_line(const struct line *line)
{
  static const char *const kinds[] = {"event", "crash", "detect", "finish", "lie", "sent"};
  char text[TEXT_MAX];
  fprintf(stderr, "recline: %.9f %d %s\n", line->time, line->move.rank,
          line->move.kind == MOVE_EVENT ? event_print(world.protocol, &line->move.event, text)
                                        : kinds[line->move.kind]);
}

static _Noreturn void breach(const struct verdict *verdict)
{
  for (unsigned i = last_count > LAST_LINES ? last_count - LAST_LINES : 0; i < last_count; i++)
    print_line(&last[i % LAST_LINES]);
  GError *error = NULL;
  if (trace)
    trace_close(trace, &error);
  die(DIE_BREACH, "breach: %s", verdict->text);
}

/* Puts the step in front of the verdict: "protocol NAME, rank 0, timer: commit at timer: expected
 * ..." */
static void name_refused(const struct move *move, struct verdict *verdict)
{
  char event[TEXT_MAX];
  g_autofree char *text =
      g_strdup_printf("protocol %s, rank %d, %s: %s", world.protocol->name, move->rank,
                      event_print(world.protocol, &move->event, event), verdict->text);
  g_strlcpy(verdict->text, text, sizeof verdict->text);
}

static void count_violation(const struct verdict *verdict)
{
  if (layer.result.audit_violations++ == 0) {
    layer.result.audit_first = g_strdup_printf("%s: %s", verdict->property, verdict->text);
    fprintf(stderr, "recline: violated: %s\n", layer.result.audit_first);
  }
}

static char why[sizeof(((struct verdict *)0)->text)]; /* the reason why a protocol gave up */

const char *shadow_why(void)
{
  return why;
}

static uint32_t in_use(int rank, const void *state, struct rcl_piece *piece)
{
  return rcl_protocol_in_use(world.protocol, &world.config[rank], state, piece);
}

/* Warns before a list is full. A list may never shrink, and a run that gives up near its end has
 * wasted much time. */
static void warn_before_full(int rank)
{
  static bool warned;
  struct rcl_piece piece[RCL_PIECES];
  uint32_t pieces = warned ? 0 : in_use(rank, shadow_rank(rank) + 1, piece);
  for (uint32_t k = 0; k < pieces && !warned; k++) {
    if (piece[k].list == RCL_FULL_UNNAMED || piece[k].bytes < piece[k].room / 4 * 3)
      continue;
    char text[TEXT_MAX];
    fprintf(stderr, "recline: warning: rank %d, %.6f s: %s\n", rank, machine_now(),
            nearly_full_print(piece[k].list, world.config[rank].capacity, text));
    warned = true;
  }
}

static uint32_t halvings(const struct rcl_piece *piece)
{
  enum { MOST = 20 }; /* number of bytes of a list of RCL_CAPACITY_MAX entries */
  uint32_t left = piece->room - piece->bytes, count = 0;
  while (count < MOST && left <= piece->room >> (count + 1))
    count++;
  return count;
}

struct fill shadow_fill(int rank)
{
  struct fill fill = {.low = true};
  struct rcl_piece piece[RCL_PIECES];
  uint32_t pieces = in_use(rank, shadow_rank(rank) + 1, piece);
  for (uint32_t k = 0; k < pieces; k++) {
    if (piece[k].list != RCL_FULL_SENT && piece[k].list != RCL_FULL_EVENTS)
      continue;
    uint32_t *most = piece[k].list == RCL_FULL_SENT ? &fill.sent : &fill.events;
    *most = MAX(*most, halvings(&piece[k]));
    fill.low &= piece[k].bytes < piece[k].room / 4;
  }
  return fill;
}

static bool is_place(const struct move *move)
{
  return move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_SAFE_POINT;
}

/* Returns a digest of the state, or 0 if the safe point is not at the beginning of an iteration. If
 * the digest stays the same, the safe point is left out of the trace. A safe point without an
 * action can change the state only at the beginning of an iteration. */
static uint64_t digest_at_place(const struct move *move)
{
  if (!trace || !is_place(move) || !move->event.iteration)
    return 0;
  return rcl_protocol_digest_state(world.protocol, &world.config[move->rank],
                                   shadow_rank(move->rank) + 1);
}

static bool puts_off;

bool shadow_puts_off(void)
{
  return puts_off;
}

bool shadow_step(struct move *move, struct rcl_actions *actions, enum rcl_reason *reason)
{
  struct verdict verdict = {.kind = VERDICT_FINE};
  if (move->kind == MOVE_EVENT)
    move->index = WORLD_FIND;
  world.check = worth_checking(move) || strict;
  actions->count = 0;
  note_move(move);
  uint64_t digest_before = digest_at_place(move);
  world_step(&world, move, actions, &verdict);
  puts_off = verdict.puts_off;
  if (verdict.refused)
    name_refused(move, &verdict);
  if (verdict.kind == VERDICT_IMPOSSIBLE || verdict.refused || properties_impure(&verdict))
    breach(&verdict);
  bool silent = is_place(move) && actions->count == 0 && digest_at_place(move) == digest_before;
  if (move->rank >= 0)
    warn_before_full(move->rank);
  if (trace && !silent)
    trace_move(trace, layer.before + machine_now(), &world, move, actions, &verdict);
  if (verdict.kind == VERDICT_VIOLATION)
    count_violation(&verdict);
  if (verdict.kind == VERDICT_GAVE_UP)
    memcpy(why, verdict.text, sizeof why);
  *reason = move->rank < 0 ? RCL_REASON_NONE : (enum rcl_reason)shadow_rank(move->rank)->gave_up;
  return *reason == RCL_REASON_NONE; /* this is true also when the step violates a property */
}

void shadow_set_strict(bool on)
{
  scheduled = scheduled || on;
  strict = on;
}

static void judge_state(void (*verdict_on)(const struct world *, struct verdict *))
{
  struct verdict verdict;
  verdict_on(&world, &verdict);
  if (verdict.kind != VERDICT_VIOLATION)
    return;
  if (trace)
    trace_violation(trace, &verdict);
  count_violation(&verdict);
}

char *shadow_digest(void)
{
  return trace_digest(&world);
}

void shadow_judge_repeated(const char *state)
{
  g_autofree char *now = shadow_digest();
  if (!strcmp(now, state))
    judge_state(world_for_ever);
}

void shadow_judge_rest(void)
{
  judge_state(world_at_rest);
}

void shadow_require_rest(void)
{
  char text[TEXT_MAX];
  struct move owed;
  if (layer.repairs || shadow_finished() || !world_owes(&world, &owed))
    return;
  struct verdict verdict;
  snprintf(verdict.text, sizeof verdict.text, "the run stands still, and rank %d was to get: %s",
           owed.rank,
           owed.kind == MOVE_EVENT ? event_print(world.protocol, &owed.event, text) : "detected");
  breach(&verdict);
}

void shadow_require_end(void)
{
  if (!shadow_finished())
    breach(&(struct verdict){.text = "the run has ended, and not all programs have"});
}

void shadow_end(void)
{
  if (world_finished(&world))
    judge_state(world_at_end);
  /* The last state that the explorer saw was at rest, or violated a property. */
  if (world_finished(&world) && scheduled)
    judge_state(world_at_rest);
  GError *error = NULL;
  if (trace && !trace_close(trace, &error))
    die(DIE_INPUT, "%s", error->message);
  trace = NULL;
}

/* Returns the first of the words of a state that a piece touches. */
static uint32_t first_word(const struct rcl_piece *piece)
{
  return piece->offset / (uint32_t)sizeof(uint64_t);
}

static uint32_t end_word(const struct rcl_piece *piece)
{
  return (piece->offset + piece->bytes + (uint32_t)sizeof(uint64_t) - 1) /
         (uint32_t)sizeof(uint64_t);
}

uint32_t shadow_state_bytes(int rank)
{
  const uint64_t *word = (const uint64_t *)(shadow_rank(rank) + 1);
  struct rcl_piece piece[RCL_PIECES];
  uint32_t used = 0, at = 0, pieces = in_use(rank, word, piece);
  for (uint32_t k = 0; k < pieces; k++)
    for (at = MAX(at, first_word(&piece[k])); at < end_word(&piece[k]); at++)
      used += word[at] != 0;
  return used * (uint32_t)sizeof *word;
}

uint32_t shadow_state_increment(int rank, void **before)
{
  const uint64_t *word = (const uint64_t *)(shadow_rank(rank) + 1);
  if (!*before)
    *before = g_malloc0(world.state_bytes);
  uint64_t *old = *before;
  struct rcl_piece now[RCL_PIECES], then[RCL_PIECES];
  uint32_t changed = 0, at = 0, pieces = in_use(rank, word, now);
  in_use(rank, old, then);
  for (uint32_t k = 0; k < pieces; k++)
    for (at = MAX(at, first_word(&now[k])); at < MAX(end_word(&now[k]), end_word(&then[k])); at++)
      if (word[at] != old[at]) {
        old[at] = word[at];
        changed++;
      }
  return changed * (uint32_t)sizeof *word;
}

static const struct world_record *stored_of(int rank, uint32_t *count)
{
  uint32_t size;
  const struct world_record *stored =
      world.memory.read(world.memory.ctx, world_part(&world, WORLD_STORED, rank, 0), &size);
  *count = size / (uint32_t)sizeof *stored;
  return stored;
}

bool shadow_is_stored(int rank, uint32_t checkpoint, enum rcl_part part)
{
  uint32_t count;
  const struct world_record *stored = stored_of(rank, &count);
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].checkpoint == checkpoint && stored[i].part == part && stored[i].durable)
      return true;
  return false;
}

static const struct world_record *image_of(int rank, uint32_t checkpoint)
{
  uint32_t count;
  const struct world_record *stored = stored_of(rank, &count);
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].checkpoint == checkpoint && stored[i].part == RCL_PART_IMAGE)
      return &stored[i];
  return NULL;
}

bool shadow_loses(void)
{
  return world.levels > 0;
}

bool shadow_holds(int rank, uint32_t checkpoint)
{
  return image_of(rank, checkpoint);
}

bool shadow_has_lost(int rank, uint32_t checkpoint)
{
  const struct world_record *image = image_of(rank, checkpoint);
  return image && image->harm & HARM_LOST;
}

bool shadow_has_lost_log(int rank, uint32_t checkpoint)
{
  const struct world_record *lost = world_lost_record(&world, rank, checkpoint);
  return lost && lost->part == RCL_PART_LOG;
}

bool shadow_has_to_lose(int rank, enum crash_leaves leaves)
{
  return world_has_to_lose(&world, rank, leaves);
}

enum next_line shadow_next_line(void)
{
  return shadow_independent() ? NEXT_NEWEST : world_next_line(&world);
}

bool shadow_can_read(int rank, uint32_t checkpoint)
{
  const struct move start = {.kind = MOVE_EVENT,
                             .rank = (int16_t)rank,
                             .event = {.kind = RCL_EVENT_START, .checkpoint = checkpoint}};
  return !world.levels || world_refuses(&world, &start) == NULL;
}

int shadow_stranded(void)
{
  for (int rank = 0; !shadow_independent() && rank < world.ranks; rank++) {
    uint8_t phase = shadow_rank(rank)->phase;
    if ((phase == RANK_RESTORING || phase == RANK_RESTARTING) &&
        !shadow_can_read(rank, shadow_global()->target))
      return rank;
  }
  return -1;
}

bool shadow_starts_behind(int rank)
{
  return world_lost_record(&world, rank, shadow_rank(rank)->origin) != NULL;
}

uint32_t shadow_write_ends(int rank, bool (*begun)(int rank, uint32_t, enum rcl_part))
{
  enum write_end end = world.hazards & HAZARD_TORN_WRITES ? WRITE_TORN : WRITE_WHOLE;
  uint32_t count, all = world_write_ends(&world, rank), digit = 1, ends = 0;
  const struct world_record *stored = stored_of(rank, &count);
  for (uint32_t i = 0; i < count && digit < all; i++) {
    if (stored[i].durable)
      continue;
    ends += begun(rank, stored[i].checkpoint, stored[i].part) ? digit * end : 0;
    digit *= WRITE_ENDS;
  }
  return ends;
}

bool shadow_next_down(int rank, struct rcl_event *event)
{
  return world_next_down(&world, rank, event);
}

bool shadow_compares_contents(void)
{
  return layer.scenario->failures_count > 0 || scheduled || trace;
}

uint32_t shadow_left(int rank)
{
  uint32_t size;
  world.memory.read(world.memory.ctx, world_part(&world, WORLD_LEFT, rank, 0), &size);
  return size / (uint32_t)sizeof(struct content);
}

uint32_t shadow_outputs(int rank)
{
  const struct world_program *program = read_part(WORLD_PROGRAM, rank);
  return program->outputs;
}

static bool has_finished(int rank)
{
  const struct world_program *program = read_part(WORLD_PROGRAM, rank);
  return program->finished && world_standing(&world, rank).finished;
}

/* Remembers a rank that has not finished and asks about it first. The question is asked with each
 * message, and the state of that rank usually answers it again. */
bool shadow_finished(void)
{
  static int rank;
  for (int i = 0; i < world.ranks; i++, rank = (rank + 1) % world.ranks)
    if (!has_finished(rank) && !(layer.repairs && layer.rank[rank].dead))
      return false;
  return true;
}
