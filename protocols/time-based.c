/* Time-based coordination: every rank takes its checkpoint when its own clock says so.
 *
 * Source: "Event Logging", section 2.2.1, after Neves and Fuchs and after Cristian and Jahanian:
 * A checkpoint is taken at the instant T. Each clock is off by at most D (Tdev), so two clocks
 * differ by at most 2 D. A message takes at most L (Tmax) and at least S (Tmin). The paper caches
 * the messages that pass between T - 2 D - L and T + 2 D - S. In detail:
 *
 *     1  from T - 2 D - L on a rank caches the messages that it sends: earlier messages have
 *        reached their receiver when it takes its checkpoint
 *     2  at T it takes its checkpoint. The cached messages, some of which may be in transit, are
 *        part of the checkpoint
 *     3  until T + 2 D - S its messages are held back, while the program goes on. Otherwise a
 *        message might be received before its receiver's checkpoint and become an orphan
 *     4  when all images are on disk, rank 0 commits
 *
 *                timer              timer              captured
 *     RUNNING ----------> CACHING ----------> CAPTURING ----------> HOLDING
 *        ^                                                             |
 *        +-------------------------------------------------------------+
 *                                      timer
 *
 * Transitions:
 *     RUNNING -> CACHING : ring()  [timer]
 *     CACHING -> CAPTURING : ring()  [timer]
 *     CAPTURING -> HOLDING : hold()  [captured]
 *     HOLDING -> RUNNING : pass()  [timer]
 *
 * No rank sends a word to coordinate the checkpoint itself. What the sources leave open:
 *   - when the next checkpoint is. Clocks tell when it is T, but not that all ranks are running: a
 *     rank that is being restarted would miss T. Rank 0 hears `ready` of every rank that has
 *     started and `done` for every image on disk. Then it says `next` to all ranks, which begins
 *     the interval. `next` also says that the last checkpoint is committed, and ranks erase the
 *     checkpoint before that.
 *   - which messages in transit are delivered again. The cached messages are sent again after a
 *     restart, and the receiver drops the messages that it had received before its checkpoint. So
 *     the messages of each pair of ranks are numbered, and a rank remembers the numbers that it has
 *     received. Channels need no order.
 *
 * A message whose number comes twice, and that is not sent again after a restart, is an orphan: a
 * bound did not hold, and the rank gives up. No rank notices a message that is lost because it took
 * too long.
 *
 * Its invariants are numbered and checked after every step: see invariants[].
 */
#include "protocols/parts/commit.h"
#include "protocols/parts/links.h"
#include "protocols/parts/outputs.h"
#include "protocols/parts/transitions.h"

static const char *const invariants[] = {
    /* 1 */
    "messages are cached only between the first and the last alarm of a checkpoint: "
    "otherwise what is kept would be of no checkpoint, and memory would fill with it",
    /* 2 */
    "sent messages are held back only after a checkpoint: "
    "otherwise their receivers would wait for them without need",
    /* 3 */
    "cached messages, and numbers ahead of a gap, are of ranks; each message has its own slot: "
    "otherwise one message would take the place of another, and a receive would be given the wrong "
    "one",
    /* 4 */
    "a number ahead of a gap is noted once, and is not one from before the gap: "
    "otherwise a message that is missing would count as received, and be lost",
    /* 5 */
    "only the coordinator counts, at most one per rank: "
    "otherwise a checkpoint would be committed that some rank has not stored: no restart finds it",
    NULL};

enum phase { RUNNING, CACHING, CAPTURING, HOLDING };

enum control { READY = 1, NEXT, DONE };

static const char *const controls[] = {
    "none", "ready: I have started from {about?0:the beginning|checkpoint %}",
    "next: the interval of checkpoint {about} begins",
    "done: my image of checkpoint {about} is stored", NULL};

/* Names the values of word RCL_LINKS_INTERVAL: AGAIN means that a message is sent again after a
 * restart. */
enum again { FIRST, AGAIN };

struct state {
  uint32_t phase;
  uint32_t captured; /* the last captured checkpoint */
  uint32_t next;     /* 1 if the next interval has begun; its clock is set when HOLDING ends */
  uint32_t ready;    /* at the coordinator: number of ranks that have started */
  struct rcl_commit commit;
  struct rcl_links_counts counts;
};

#define LISTS(ARRAY, LIST) RCL_LINKS_LISTS(ARRAY, LIST, state->counts)
RCL_STATE(LISTS)

static struct rcl_links links_of(const struct rank *r)
{
  struct rcl_links links =
      rcl_links_at(r->config, &r->state->counts, links_memory(r->config, r->state));
  links.held = r->state->phase == CAPTURING || r->state->phase == HOLDING;
  return links;
}

/* ---- messages ---- */

/* Sends a message. It needs a slot only if it is cached. */
static void send(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (r->state->phase == RUNNING)
    rcl_links_send_unlogged(&links, r->event->peer, r->actions);
  else
    rcl_links_send(&links, r->event->peer, r->actions);
}

static bool has_come(const struct rcl_links *links, int from, uint32_t number)
{
  return number <= links->link[from].received ||
         rcl_links_has(links->ahead, links->counts->ahead, from, number);
}

static void arrived(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  uint32_t number = r->event->words[RCL_LINKS_NUMBER];
  if (!has_come(&links, r->event->peer, number)) {
    if (!rcl_links_arrived(&links, r->event->peer, number))
      rcl_give_up_full(r->actions, RCL_FULL_AHEAD);
    rcl_act(r->actions, RCL_ACTION_DELIVER);
  } else if (r->event->words[RCL_LINKS_INTERVAL] == AGAIN) {
    rcl_act(r->actions, RCL_ACTION_DISCARD);
  } else {
    rcl_give_up(r->actions, RCL_REASON_PROTOCOL);
  }
}

/* Sends the messages that are held back, and empties the cache. */
static void empty(const struct rcl_links *links, struct rcl_actions *actions)
{
  for (int peer = 0; peer < links->config->ranks; peer++)
    rcl_links_flush(links, peer, actions);
  for (uint32_t i = 0; i < links->counts->log; i++)
    rcl_act(actions, RCL_ACTION_FORGET)->slot = links->log[i].slot;
  memset(links->log, 0, links->counts->log * sizeof *links->log);
  links->counts->log = links->counts->slots = 0;
}

/* ---- a checkpoint ---- */

static void set_clock(const struct rank *r)
{
  rcl_set_alarm(r->actions, r->state->captured + 1, -2, -1, 0);
  if (r->state->captured > 1)
    rcl_act(r->actions, RCL_ACTION_ERASE)->checkpoint = r->state->captured - 1;
}

/* Begins the interval of the next checkpoint, because all ranks are ready for it and the last
 * checkpoint is committed. */
static void next(const struct rank *r)
{
  r->state->commit = (struct rcl_commit){.in_progress = r->state->captured + 1};
  rcl_send_control_to_all(r->config, r->actions, NEXT, r->state->captured + 1);
  if (r->state->phase == RUNNING)
    set_clock(r);
  else
    r->state->next = true;
}

static void pass(const struct rank *r)
{
  r->state->phase = RUNNING;
  struct rcl_links links = links_of(r);
  empty(&links, r->actions);
  if (r->state->next)
    set_clock(r);
  r->state->next = false;
}

static void ring(const struct rank *r)
{
  if (r->state->phase == RUNNING) {
    r->state->phase = CACHING;
    rcl_set_alarm(r->actions, r->state->captured + 1, 0, 0, 0);
  } else if (r->state->phase == CACHING) {
    r->state->phase = CAPTURING;
    rcl_act(r->actions, RCL_ACTION_CAPTURE)->checkpoint = r->state->captured + 1;
  } else {
    pass(r);
  }
}

static void hold(const struct rank *r)
{
  r->state->phase = HOLDING;
  r->state->captured = r->event->checkpoint;
  rcl_store(r->actions, RCL_PART_IMAGE, r->event->checkpoint);
  rcl_set_alarm(r->actions, r->event->checkpoint, 2, 0, -1);
}

/* ---- recovery: all ranks go back to the last committed checkpoint ---- */

static void count_ready(const struct rank *r)
{
  if (++r->state->ready == (uint32_t)r->config->ranks)
    next(r);
}

/* Starts, and sends messages again that may have been in transit. */
static void start(const struct rank *r)
{
  r->state->phase = RUNNING;
  struct rcl_links links = links_of(r);
  rcl_links_all_up(&links);
  r->state->next = r->state->ready = 0;
  r->state->commit = (struct rcl_commit){0};
  for (uint32_t i = links.counts->log; i-- > 0;) {
    links.log[i].interval = AGAIN;
    links.link[links.log[i].peer].passed = links.log[i].number - 1;
  }
  empty(&links, r->actions);
  if (rcl_coordinator(r->config))
    count_ready(r);
  else
    rcl_send_control(r->actions, RCL_COORDINATOR_RANK, READY, r->state->captured, 0);
}

/* ---- the step ---- */

static void control(const struct rank *r)
{
  switch ((enum control)r->event->control) {
  case READY:
    count_ready(r);
    break;
  case NEXT:
    if (r->state->phase == RUNNING)
      set_clock(r);
    else
      r->state->next = true;
    break;
  case DONE:
    rcl_commit_count(r->config, &r->state->commit, r->actions);
    break;
  }
}

static void durable(const struct rank *r)
{
  rcl_commit_done(r->config, &r->state->commit, DONE, r->state->captured, r->actions);
}

static const rcl_transition on[RCL_EVENT_KINDS] = {
    [RCL_EVENT_START] = start,   [RCL_EVENT_DOWN] = rcl_roll_back, [RCL_EVENT_TIMER] = ring,
    [RCL_EVENT_SEND] = send,     [RCL_EVENT_ARRIVED] = arrived,    [RCL_EVENT_CONTROL] = control,
    [RCL_EVENT_CAPTURED] = hold, [RCL_EVENT_DURABLE] = durable,    [RCL_EVENT_COMMITTED] = next,
};

static void step(const struct rank *r)
{
  rcl_take(on, r);
  rcl_output_with_commit(r->event, r->actions);
}

/* ---- invariants, by their numbers ---- */

static bool all_passed(const struct rcl_links *links)
{
  for (int peer = 0; peer < links->config->ranks; peer++)
    if (links->link[peer].passed != links->link[peer].sent)
      return false;
  return true;
}

static bool have_own_slots(const struct rcl_links *links)
{
  for (uint32_t i = 1; i < links->counts->log; i++)
    if (links->log[i].slot <= links->log[i - 1].slot)
      return false;
  return true;
}

static bool ahead_is_sound(const struct rcl_links *links)
{
  for (uint32_t i = 0; i < links->counts->ahead; i++) {
    const struct rcl_ahead *ahead = &links->ahead[i];
    if (ahead->number <= links->link[ahead->peer].received + 1 ||
        rcl_links_has(links->ahead, i, ahead->peer, ahead->number))
      return false;
  }
  return true;
}

static int first_broken(const struct rank *r)
{
  struct rcl_links links = links_of(r);
  if (r->state->phase == RUNNING && links.counts->log > 0)
    return 1;
  if (r->state->phase != HOLDING && !all_passed(&links))
    return 2;
  if (!rcl_links_are_sound(&links) || !have_own_slots(&links))
    return 3;
  if (!ahead_is_sound(&links))
    return 4;
  uint32_t most = rcl_coordinator(r->config) ? (uint32_t)r->config->ranks : 0;
  return r->state->ready <= most && rcl_commit_is_sound(r->config, &r->state->commit) ? 0 : 5;
}

/* Names the phases of a checkpoint and of a recovery, whose times are in the results of runs. */
static const struct rcl_phase phases[] = {{"capture", "capture", "captured"},
                                          {"write", "store", "durable"},
                                          {"commit", "commit", "committed"},
                                          {NULL, NULL, NULL}};

static const char *const promises[] = {"bounded", "frees", NULL};

RCL_ONLY_FORM

extern const struct rcl_protocol protocol_time_based;
const struct rcl_protocol protocol_time_based = {
    .name = "time-based",
    .title = "clocks within bounds (Event Logging, section 2.2.1, after Neves and Fuchs, Cristian)",
    .piggyback_bytes = 4,
    .control_bytes = 12,
    .level = RCL_LEVEL_CHANNEL,
    .clocks = true,
    .controls = controls,
    .invariants = invariants,
    .phases = phases,
    .promises = promises,
    .state_size = state_size,
    .in_use = in_use,
    .step = only_step,
    .violated_invariant = only_broken,
    .place = &(const struct rcl_place){
        .logs = {{RCL_LOGGED_MESSAGES, RCL_LOGGED_AT_CHECKPOINTS, RCL_LOGGED_BY_SENDER}},
        .back = RCL_BACK_ALL,
        .assumes = RCL_ASSUMES_ANYWHERE | RCL_ASSUMES_CLOCKS}};
