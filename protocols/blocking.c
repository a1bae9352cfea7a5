/* Blocking at a barrier: all ranks are checkpointed in one barrier of the program, with nothing
 * under way, and leave it when the checkpoint is committed.
 *
 * Source: the slides of Stodghill on coordinated checkpoints ("blocking": a global snapshot at a
 * barrier, for bulk-synchronous programs, on the assumption that no messages are in flight across
 * it); "Event Logging", section 2.2.1 (blocking coordination: the processes are synchronised until
 * the recovery line has been set up). It is what application-level checkpointing did before C3.
 *
 *               barrier: wanted, and quiet         captured
 *     RUNNING ------------------------> CAPTURING ----------> WRITING
 *        ^                                                       |
 *        |                  release                              |  durable
 *        +--------------------------------- WAITING <------------+
 *
 * Transitions:
 *     RUNNING -> CAPTURING : leave()  [collected]
 *     CAPTURING -> WRITING : write_image()  [captured]
 *     WRITING -> WAITING : report()  [durable]
 *     WAITING -> RUNNING : release()  [control release, committed]
 *
 * Every rank contributes to a barrier whether it wants a checkpoint (only the coordinator, rank 0,
 * ever does) and how many messages more it has sent than received. All see the same sums, so all
 * decide alike, without a control message: a checkpoint is wanted, all ranks are in this barrier,
 * and no message is under way, as no rank sends before all are in. A barrier that is crossed by
 * messages is passed; the checkpoint is taken at the next one that is quiet. A program without such
 * barriers is never checkpointed, and starts from its beginning after a crash.
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/parts/commit.h"
#include "protocols/parts/outputs.h"

static const char *const invariants[] = {
    /* 1 */ "only the coordinator wants a checkpoint: the next one, and not while it takes one",
    /* 2 */ "the program goes on only when all that was captured is committed",
    /* 3 */ "only the coordinator counts images, at most one per rank", NULL};

enum phase { RUNNING, CAPTURING, WRITING, WAITING };

enum control { DONE = 1, RELEASE };

static const char *const controls[] = {"none", "done", "release", NULL};

enum contribution { WANTED, UNDER_WAY }; /* words of a barrier */

struct state {
  uint32_t phase;
  uint32_t captured;  /* the last checkpoint captured */
  uint32_t committed; /* and the last one that this rank knows to be committed */
  uint32_t wanted;    /* coordinator: whether a checkpoint was asked for and not yet taken */
  uint32_t under_way; /* messages sent less messages received, modulo 2^32 */
  uint32_t pad;
  struct rcl_commit commit;
};

static size_t state_size(const struct rcl_config *config)
{
  (void)config;
  return sizeof(struct state);
}

/* ---- messages and collectives ---- */

static void join(const struct state *state, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  struct rcl_action *join = rcl_act(actions, RCL_ACTION_JOIN);
  if (event->flow != RCL_FLOW_BARRIER)
    return;
  join->words[WANTED] = state->wanted;
  join->words[UNDER_WAY] = state->under_way;
}

/* All that is contributed to a collective is here; in a barrier, by all its ranks. */
static void leave(const struct rcl_config *config, struct state *state,
                  const struct rcl_event *event, struct rcl_actions *actions)
{
  bool all = event->flow == RCL_FLOW_BARRIER && event->contributions == (uint32_t)config->ranks;
  bool quiet = event->words[UNDER_WAY] == 0;
  if (all && quiet && event->words[WANTED]) {
    state->phase = CAPTURING;
    state->wanted = false;
    rcl_act(actions, RCL_ACTION_CAPTURE)->checkpoint = state->captured + 1;
  } else {
    rcl_act(actions, RCL_ACTION_DELIVER);
  }
}

/* ---- a checkpoint ---- */

static void request(struct state *state, struct rcl_actions *actions)
{
  if (rcl_commit_begin(&state->commit, state->phase == RUNNING, state->captured + 1, actions))
    state->wanted = true;
}

/* The barrier is over for the program, but it stays where it is. */
static void write_image(struct state *state, const struct rcl_event *event,
                        struct rcl_actions *actions)
{
  state->phase = WRITING;
  state->captured = event->checkpoint;
  rcl_act(actions, RCL_ACTION_HOLD);
  rcl_act(actions, RCL_ACTION_DELIVER);
  rcl_store(actions, RCL_PART_IMAGE, event->checkpoint);
}

static void report(const struct rcl_config *config, struct state *state,
                   struct rcl_actions *actions)
{
  state->phase = WAITING;
  rcl_commit_done(config, &state->commit, DONE, state->captured, actions);
}

static void release(struct state *state, struct rcl_actions *actions)
{
  state->phase = RUNNING;
  state->committed = state->captured;
  rcl_act(actions, RCL_ACTION_RELEASE);
  if (state->captured > 1)
    rcl_act(actions, RCL_ACTION_ERASE)->checkpoint = state->captured - 1;
}

static void committed(const struct rcl_config *config, struct state *state,
                      struct rcl_actions *actions)
{
  rcl_send_control_to_all(config, actions, RELEASE, state->captured);
  release(state, actions);
  rcl_commit_end(&state->commit, actions);
}

/* ---- recovery: all ranks go back to the last committed checkpoint ---- */

static void start(const struct rcl_config *config, struct state *state, struct rcl_actions *actions)
{
  state->phase = RUNNING;
  state->committed = state->captured;
  state->wanted = false;
  state->commit = (struct rcl_commit){0};
  if (rcl_coordinator(config))
    rcl_act(actions, RCL_ACTION_SET_TIMER);
}

/* ---- the step ---- */

static void step(const struct rcl_config *config, void *memory, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  struct state *state = memory;
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_START:
    start(config, state, actions);
    break;
  case RCL_EVENT_DOWN:
    rcl_act(actions, RCL_ACTION_ROLL_BACK)->checkpoint = event->checkpoint;
    break;
  case RCL_EVENT_TIMER:
    request(state, actions);
    break;
  case RCL_EVENT_SEND:
    state->under_way++;
    rcl_act(actions, RCL_ACTION_TRANSMIT);
    break;
  case RCL_EVENT_RECEIVE:
    rcl_match(actions, event);
    break;
  case RCL_EVENT_ARRIVED:
    state->under_way--;
    rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
    break;
  case RCL_EVENT_COLLECTIVE:
    join(state, event, actions);
    break;
  case RCL_EVENT_COLLECTED:
    leave(config, state, event, actions);
    break;
  case RCL_EVENT_CONTROL:
    if (event->control == DONE)
      rcl_commit_count(config, &state->commit, actions);
    else
      release(state, actions);
    break;
  case RCL_EVENT_CAPTURED:
    write_image(state, event, actions);
    break;
  case RCL_EVENT_DURABLE:
    report(config, state, actions);
    break;
  case RCL_EVENT_COMMITTED:
    committed(config, state, actions);
    break;
  default:
    break;
  }
  rcl_output_with_commit(event, actions);
}

/* ---- invariants, by their numbers ---- */

static int violated_invariant(const struct rcl_config *config, const void *memory)
{
  const struct state *state = memory;
  if (state->wanted && (!rcl_coordinator(config) || state->phase != RUNNING ||
                        state->commit.in_progress != state->captured + 1))
    return 1;
  if (state->phase == RUNNING && state->committed != state->captured)
    return 2;
  return rcl_commit_is_sound(config, &state->commit) ? 0 : 3;
}

/* Phases of a checkpoint, and of recoveries, for results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"write", "captured", "durable"},
                                          {"commit", "durable", "release"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"quiet-channels", "bounded", "frees", NULL};

extern const struct rcl_protocol protocol_blocking;
const struct rcl_protocol protocol_blocking = {
    .name = "blocking",
    .title = "blocking at a barrier (slides of Stodghill, 2003; Event Logging, section 2.2.1)",
    .control_bytes = 12,
    .call_bytes = 1, /* whether a checkpoint is due */
    .collectives = true,
    .barrier_words = true,
    .controls = controls,
    .invariants = invariants,
    .phases = phases,
    .promises = promises,
    .captures_at = "barriers",
    .state_size = state_size,
    .step = step,
    .violated_invariant = violated_invariant,
    .place = &(const struct rcl_place){.back = RCL_BACK_ALL, .assumes = RCL_ASSUMES_BARRIERS}};
