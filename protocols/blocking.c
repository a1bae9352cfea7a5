/* Blocking at a barrier: all ranks are checkpointed in one barrier of the program, with no message
 * under way, and leave the barrier when the checkpoint is committed.
 *
 * Source: the slides of Stodghill on coordinated checkpoints ("blocking": a global snapshot at a
 * barrier, for bulk-synchronous programs, on the assumption that no messages are in flight across
 * it); "Event Logging", section 2.2.1 (blocking coordination: the processes are synchronised until
 * the recovery line has been set up). Application-level checkpointing did this before C3.
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
 * Every rank contributes two numbers to a barrier: 1 if it wants a checkpoint (only the
 * coordinator, rank 0, ever does), and how many more messages it has sent than received. All ranks
 * see the same sums, so they decide alike, without a control message. They are captured if a
 * checkpoint is wanted, all ranks are in this barrier and no message is under way. Then no message
 * comes under way, because no rank sends before all ranks are in the barrier. Ranks pass a barrier
 * that messages cross, and take the checkpoint at the next barrier that no message crosses. A
 * program without such barriers is never checkpointed, and starts from its beginning after a crash.
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/parts/commit.h"
#include "protocols/parts/outputs.h"
#include "protocols/parts/transitions.h"

static const char *const invariants[] = {
    /* 1 */
    "only the coordinator wants a checkpoint: the next one, and not while it takes one: "
    "otherwise ranks would take checkpoints that are no recovery line together",
    /* 2 */
    "the program goes on only when all that was captured is committed: "
    "otherwise a message could cross the checkpoint, and a restart would lose it or have it twice",
    /* 3 */
    "only the coordinator counts images, at most one per rank: "
    "otherwise a checkpoint would be committed that some rank has not stored: no restart finds it",
    NULL};

enum phase { RUNNING, CAPTURING, WRITING, WAITING };

enum control { DONE = 1, RELEASE };

static const char *const controls[] = {"none", "done: my image of checkpoint {about} is stored",
                                       "release: checkpoint {about} is committed: go on", NULL};

enum contribution { WANTED, UNDER_WAY }; /* the words of a contribution to a barrier */

struct state {
  uint32_t phase;
  uint32_t captured;  /* the last captured checkpoint */
  uint32_t committed; /* the last checkpoint that this rank knows to be committed */
  uint32_t wanted;    /* at the coordinator: 1 if a checkpoint was requested and is not yet taken */
  uint32_t sent;      /* number of messages sent */
  uint32_t received;  /* number of messages received */
  struct rcl_commit commit;
};

static size_t state_size(const struct rcl_config *config)
{
  (void)config;
  return sizeof(struct state);
}

/* ---- messages and collectives ---- */

static void join(const struct rank *r)
{
  struct rcl_action *join = rcl_act(r->actions, RCL_ACTION_JOIN);
  if (r->event->flow != RCL_FLOW_BARRIER)
    return;
  join->words[WANTED] = r->state->wanted;
  join->words[UNDER_WAY] = r->state->sent - r->state->received; /* modulo 2^32 */
}

/* Ends a collective call, because all contributions to it have come. If the call is a barrier of
 * all ranks and no message is under way, takes the checkpoint that is wanted. */
static void leave(const struct rank *r)
{
  bool all =
      r->event->flow == RCL_FLOW_BARRIER && r->event->contributions == (uint32_t)r->config->ranks;
  bool quiet = r->event->words[UNDER_WAY] == 0;
  if (all && quiet && r->event->words[WANTED]) {
    r->state->phase = CAPTURING;
    r->state->wanted = false;
    rcl_act(r->actions, RCL_ACTION_CAPTURE)->checkpoint = r->state->captured + 1;
  } else {
    rcl_act(r->actions, RCL_ACTION_DELIVER);
  }
}

/* ---- a checkpoint ---- */

static void request(const struct rank *r)
{
  if (rcl_commit_begin(&r->state->commit, r->state->phase == RUNNING, r->state->captured + 1,
                       r->actions))
    r->state->wanted = true;
}

/* Writes the image. The barrier is over for the program, which stays held behind it. */
static void write_image(const struct rank *r)
{
  r->state->phase = WRITING;
  r->state->captured = r->event->checkpoint;
  rcl_act(r->actions, RCL_ACTION_HOLD);
  rcl_act(r->actions, RCL_ACTION_DELIVER);
  rcl_store(r->actions, RCL_PART_IMAGE, r->event->checkpoint);
}

static void report(const struct rank *r)
{
  r->state->phase = WAITING;
  rcl_commit_done(r->config, &r->state->commit, DONE, r->state->captured, r->actions);
}

static void release(const struct rank *r)
{
  r->state->phase = RUNNING;
  r->state->committed = r->state->captured;
  rcl_act(r->actions, RCL_ACTION_RELEASE);
  if (r->state->captured > 1)
    rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = r->state->captured - 1;
}

static void committed(const struct rank *r)
{
  rcl_send_control_to_all(r->config, r->actions, RELEASE, r->state->captured);
  release(r);
  rcl_commit_end(&r->state->commit, r->actions);
}

/* ---- recovery: all ranks go back to the last committed checkpoint ---- */

static void start(const struct rank *r)
{
  r->state->phase = RUNNING;
  r->state->committed = r->state->captured;
  r->state->wanted = false;
  r->state->commit = (struct rcl_commit){0};
  if (rcl_coordinator(r->config))
    rcl_act(r->actions, RCL_ACTION_SET_TIMER);
}

/* ---- the step ---- */

static void send(const struct rank *r)
{
  r->state->sent++;
  rcl_act(r->actions, RCL_ACTION_TRANSMIT);
}

static void arrived(const struct rank *r)
{
  r->state->received++;
  rcl_act(r->actions, RCL_ACTION_DELIVER)->request = r->event->request;
}

static void control(const struct rank *r)
{
  if (r->event->control == DONE)
    rcl_commit_count(r->config, &r->state->commit, r->actions);
  else
    release(r);
}

static const rcl_transition on[RCL_EVENT_KINDS] = {
    [RCL_EVENT_START] = start,
    [RCL_EVENT_DOWN] = rcl_roll_back,
    [RCL_EVENT_TIMER] = request,
    [RCL_EVENT_SEND] = send,
    [RCL_EVENT_RECEIVE] = rcl_match_receive,
    [RCL_EVENT_ARRIVED] = arrived,
    [RCL_EVENT_COLLECTIVE] = join,
    [RCL_EVENT_COLLECTED] = leave,
    [RCL_EVENT_CONTROL] = control,
    [RCL_EVENT_CAPTURED] = write_image,
    [RCL_EVENT_DURABLE] = report,
    [RCL_EVENT_COMMITTED] = committed,
};

static void step(const struct rank *r)
{
  rcl_take(on, r);
  rcl_output_with_commit(r->event, r->actions);
}

/* ---- invariants, by their numbers ---- */

static int first_broken(const struct rank *r)
{
  if (r->state->wanted && (!rcl_coordinator(r->config) || r->state->phase != RUNNING ||
                           r->state->commit.in_progress != r->state->captured + 1))
    return 1;
  if (r->state->phase == RUNNING && r->state->committed != r->state->captured)
    return 2;
  return rcl_commit_is_sound(r->config, &r->state->commit) ? 0 : 3;
}

#include "protocols/lines/blocking_line.h" /* clauses about all ranks together */

/* Names the phases of a checkpoint and of a recovery, whose times are in the results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"write", "captured", "durable"},
                                          {"commit", "durable", "release"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"quiet-channels", "bounded", "frees", NULL};

RCL_ONLY_FORM

extern const struct rcl_protocol protocol_blocking;
const struct rcl_protocol protocol_blocking = {
    .name = "blocking",
    .title = "blocking at a barrier (slides of Stodghill, 2003; Event Logging, section 2.2.1)",
    .control_bytes = 12,
    .call_bytes = 1, /* the words tell whether a checkpoint is due */
    .collectives = true,
    .barrier_words = true,
    .controls = controls,
    .invariants = invariants,
    .phases = phases,
    .promises = promises,
    .captures_at = "barriers",
    .state_size = state_size,
    .step = only_step,
    .violated_invariant = only_broken,
    .place = &(const struct rcl_place){.back = RCL_BACK_ALL, .assumes = RCL_ASSUMES_BARRIERS},
    .line = line};
