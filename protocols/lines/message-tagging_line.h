/* States the line invariant of message-tagging.c, which includes this file after its own state. C
 * is the committed checkpoint, C1 the next one, and i and j are ranks. A message is white if its
 * index is C, red if it is C1.
 *
 * The argument names the clauses in their order. Each message that i has sent to j was given to the
 * program of j, or is kept by j, or is under way; the orphans that j has yet to drop are sent again
 * by i (totals). The index of a message tells on which side of its sender's line it was sent
 * (index). A rank that has captured C1 tells each peer how many white messages it has sent there
 * (marker), so a peer knows how many are still under way (white). Red messages that come before j
 * captures C1 become orphans when the program is given them (early, red). Each message that the
 * image of i has sent is in the image or the log of j, or is white and under way; orphans are in
 * the image of j only (cut). A rank ends its log when no white message is missing (closed, log). A
 * commit waits for image and log of each rank (count, committing). So after a restart from the
 * images of C and the logs every message is given once: late messages come from the log, and
 * orphans are sent again and dropped (line). */
#ifndef RECLINE_MESSAGE_TAGGING_LINE_H
#define RECLINE_MESSAGE_TAGGING_LINE_H

enum { RECORDING = LOGGING }; /* the name that log_clauses.h has for the phase */

#include "protocols/parts/orphan_clauses.h" /* C, C1 */

/* ---- looking at ranks ---- */

/* Returns what j knows of its messages from i and to i. */
static struct peer known_by(const struct rcl_whole *w, int j, int i)
{
  return peers(w->rank[j].config, state_of(w, j))[i];
}

static uint32_t orphans_in(const struct rcl_whole *w, int i, int j, const struct state *state)
{
  const struct rcl_config *config = w->rank[j].config;
  return total_of(orphans_of(config, state), state->orphans, config->capacity, i);
}

/* Returns whether each entry counts at least one message. An entry that counts none would match for
 * ever. */
static bool are_counts(const struct rcl_envelope *item, uint32_t used, uint32_t capacity)
{
  bool all = true;
  for (uint32_t k = 0; k < capacity; k++)
    all &= (k >= used) | (item[k].count != 0);
  return all;
}

static bool has_counts(const struct rcl_whole *w, int i, const struct state *state)
{
  const struct rcl_config *config = w->rank[i].config;
  return are_counts(orphans_of(config, state), state->orphans, config->capacity) &&
         are_counts(dropped_of(config, state), state->dropped, config->capacity);
}

/* Returns whether the log in a state of rank i has only messages from before that checkpoint, and
 * each entry for orphans counts a message. */
static bool is_before(const struct rcl_whole *w, int i, const struct state *state,
                      uint32_t checkpoint)
{
  const struct rcl_kept *kept = kept_of(w->rank[i].config, state);
  bool all = true;
  for (uint32_t k = 0; k < w->rank[i].config->capacity; k++)
    all &= (k >= state->kept) | (kept[k].late == 0) | (kept[k].epoch < checkpoint);
  return all && has_counts(w, i, state);
}

/* Returns how many messages of i the rank j will drop because they will be sent again. */
static uint32_t to_drop(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_config *config = w->rank[j].config;
  const struct state *state = state_of(w, j);
  return is_behind(w, j) ? orphans_in(w, i, j, state)
                         : total_of(dropped_of(config, state), state->dropped, config->capacity, i);
}

/* Returns how many red messages of i the rank j keeps for its program. */
static uint32_t red_kept(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_config *config = w->rank[j].config;
  const struct state *state = state_of(w, j);
  const struct rcl_kept *kept = kept_of(config, state);
  uint32_t count = 0;
  for (uint32_t k = 0; k < config->capacity; k++)
    count += (k < state->kept) & (kept[k].peer == i) & (kept[k].epoch == next_of(w));
  return is_behind(w, j) ? 0 : count;
}

static bool is_announced(const struct rcl_whole *w, int i, int j)
{
  return !is_behind(w, j) && known_by(w, j, i).announced_for == next_of(w);
}

/* Returns how many messages i sent to j between the captures of C and C1, or since C if C1 is not
 * captured. */
static uint32_t sent_before(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *marker = under_way(w, i, j, MARKER);
  if (!has_captured(w, i))
    return is_behind(w, i) ? 0 : known_by(w, i, j).sent;
  return marker->count ? marker->value : known_by(w, j, i).announced;
}

/* ---- one rank ---- */

static bool checkpoint_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct state *state = state_of(w, i);
  if (is_behind(w, i))
    return state->epoch == w->committed;
  if (has_captured(w, i))
    return !state->wanted &&
           (state->phase == RUNNING || state->phase == LOGGING || state->phase == WRITING);
  return state->epoch == w->committed &&
         (state->phase == CAPTURING ? state->wanted == next_of(w)
                                    : (state->phase == RUNNING || state->phase == RECOVERING) &&
                                          (!state->wanted || state->wanted == next_of(w)));
}

static bool begins_hold(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  uint32_t begun = state_of(w, i)->commit.in_progress;
  return is_behind(w, i) || (i == RCL_COORDINATOR_RANK ? !begun || begun == next_of(w) : !begun);
}

static bool timer_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return !w->rank[i].timer ||
         (i == RCL_COORDINATOR_RANK && !state_of(w, i)->commit.in_progress && !w->committing);
}

static bool held_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return is_behind(w, i) || w->rank[i].held == (state_of(w, i)->phase == RECOVERING);
}

/* Between checkpoints no kept message was given to the program, and no kept message is late. */
static bool kept_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct state *state = state_of(w, i);
  const struct rcl_kept *kept = kept_of(w->rank[i].config, state);
  bool logs = has_captured(w, i) && !has_finished(w, i), all = true;
  for (uint32_t k = 0; k < w->rank[i].config->capacity; k++) {
    bool late = kept[k].late != 0;
    all &= (k >= state->kept) | (logs ? late == (kept[k].epoch < next_of(w)) : !late);
    all &= (k >= state->kept) | ((late | (kept[k].given == 0)) & (kept[k].epoch <= next_of(w)));
  }
  return is_behind(w, i) || all;
}

static bool entries_hold(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return has_counts(w, i, state_of(w, i));
}

/* ---- from rank i to rank j ---- */

static bool begun_holds(const struct rcl_whole *w, int i, int j)
{
  bool begun = !is_behind(w, i) && state_of(w, i)->commit.in_progress == next_of(w);
  return i != RCL_COORDINATOR_RANK || begun || is_behind(w, j) ||
         (!has_captured(w, j) && !state_of(w, j)->wanted);
}

static bool totals_hold(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  return channel->now.sent + to_drop(w, i, j) ==
         channel->now.given + kept_for(w, i, j) + channel->messages;
}

static bool index_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  return (!channel->white.count || channel->white.word == w->committed) &&
         (!channel->red.count || channel->red.word == next_of(w));
}

static bool marker_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *marker = under_way(w, i, j, MARKER);
  bool announced = is_announced(w, i, j);
  struct peer at = known_by(w, j, i);
  if (i == j && marker->count)
    return false;
  return marker->count + announced == has_captured(w, i) &&
         (!marker->count || marker->about == next_of(w)) &&
         (announced || (at.announced_for == w->committed && at.previous == at.announced) ||
          has_captured(w, j)) &&
         at.announced_for <= next_of(w);
}

static bool white_holds(const struct rcl_whole *w, int i, int j)
{
  uint32_t white = rcl_whole_between(w, i, j)->white.count, sent = sent_before(w, i, j);
  struct peer at = known_by(w, j, i);
  if (is_behind(w, j))
    return sent == white;
  if (has_captured(w, j))
    return at.previous <= sent && sent == at.previous + white;
  return to_drop(w, i, j) <= at.received && at.received - to_drop(w, i, j) <= sent &&
         sent + to_drop(w, i, j) == at.received + white;
}

static bool early_holds(const struct rcl_whole *w, int i, int j)
{
  uint32_t early = known_by(w, j, i).early, orphans = orphans_in(w, i, j, state_of(w, j));
  if (is_behind(w, j))
    return true;
  if (has_captured(w, j))
    return !early && (!has_finished(w, j) || !state_of(w, j)->orphans);
  return orphans <= early && early == orphans + red_kept(w, i, j);
}

static bool red_holds(const struct rcl_whole *w, int i, int j)
{
  uint32_t red = rcl_whole_between(w, i, j)->red.count;
  struct peer at = known_by(w, j, i);
  uint32_t taken = is_behind(w, j) ? 0 : has_captured(w, j) ? at.received : at.early;
  if (!has_captured(w, i))
    return !red && !taken && !red_kept(w, i, j);
  return taken <= known_by(w, i, j).sent && known_by(w, i, j).sent == red + taken;
}

static bool since_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  uint32_t sent = known_by(w, i, j).sent;
  if (!has_captured(w, i))
    return is_behind(w, i) || sent <= channel->now.sent;
  return !w->rank[i].newer || (channel->newer.sent <= channel->now.sent &&
                               channel->now.sent == channel->newer.sent + sent);
}

static bool closed_holds(const struct rcl_whole *w, int i, int j)
{
  struct peer at = known_by(w, j, i);
  return !has_closed(w, j) ||
         (has_captured(w, i) && at.announced_for == next_of(w) && at.previous == at.announced);
}

static bool cut_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  const struct state *state = state_of(w, j);
  if (!has_captured(w, j) || has_finished(w, j) || !w->rank[j].newer ||
      (has_captured(w, i) && !w->rank[i].newer))
    return true;
  uint32_t has = channel->newer.given + logged_in(w, i, j, state) + channel->white.count,
           orphans = orphans_in(w, i, j, state);
  return has_captured(w, i) ? channel->newer.sent + orphans == has
                            : channel->now.sent + orphans == has;
}

static bool log_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  const struct state *log = newer_log_of(w, j);
  if (!log)
    return true;
  const struct peer *at = &peers(w->rank[j].config, log)[i];
  return log->epoch == next_of(w) && !log->dropped && at->announced_for == next_of(w) &&
         at->previous == at->announced &&
         (!are_shown(w, i, j) || channel->newer.sent + orphans_in(w, i, j, log) ==
                                     channel->newer.given + logged_in(w, i, j, log));
}

static bool log_late_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct state *log = newer_log_of(w, i);
  return !log || is_before(w, i, log, next_of(w));
}

static bool kinds_hold(const struct rcl_whole *w, int i, int j)
{
  return !rcl_whole_between(w, i, j)->control[0].count;
}

static bool silent_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  return !is_behind(w, i) ||
         !(channel->messages + channel->control[MARKER].count + channel->control[DONE].count);
}

/* ---- stored states ---- */

static bool image_holds(const struct rcl_whole *w, int i, int j)
{
  const struct state *image = w->rank[j].committed;
  if (!image)
    return true;
  const struct peer *at = &peers(w->rank[j].config, image)[i];
  return image->epoch == w->committed && !image->dropped && at->announced_for == w->committed &&
         at->previous == at->announced;
}

static bool image_late_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct state *image = w->rank[i].committed;
  return !image || is_before(w, i, image, w->committed);
}

static bool line_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  const struct state *from = w->rank[i].committed, *to = w->rank[j].committed;
  return !from || !to ||
         channel->committed.sent + orphans_in(w, i, j, to) ==
             channel->committed.given + logged_in(w, i, j, to);
}

/* clang-format off */
static const struct rcl_clause line[] = {
    {"checkpoint", "in LOGGING and WRITING a rank has C1; in RUNNING, C or C1; else C; it wants C1 or nothing",
     RCL_OF_RANK, false, checkpoint_holds},
    {"written", "a rank in LOGGING or WRITING awaits image or log, one that has finished C1 does not",
     RCL_OF_RANK, false, written_holds},
    {"begins", "only the coordinator begins a checkpoint, which is C1",
     RCL_OF_RANK, false, begins_hold},
    {"timer", "the coordinator's timer is not set while a checkpoint is under way",
     RCL_OF_RANK, false, timer_holds},
    {"held", "a rank is held exactly while it recovers",
     RCL_OF_RANK, false, held_holds},
    {"capture", "an image of C1 is taken in CAPTURING only",
     RCL_OF_RANK, false, capture_holds},
    {"store", "an image of C1 is written exactly if it is captured and not known as durable",
     RCL_OF_RANK, false, store_holds},
    {"durable", "the image of C1 of a rank is durable exactly if the rank knows that",
     RCL_OF_RANK, false, durable_holds},
    {"store log", "a log of C1 is written in WRITING only, while it is not known as durable",
     RCL_OF_RANK, false, store_log_holds},
    {"durable log", "the log of C1 is durable exactly if the rank knows that and no longer logs",
     RCL_OF_RANK, false, durable_log_holds},
    {"bounded", "a rank has one image older than that of C at most, and none if it wants C1",
     RCL_OF_RANK, false, bounded_holds},
    {"kept", "while logging, a kept message is late if its index is below C1; only late ones may be given",
     RCL_OF_RANK, false, kept_holds},
    {"entries", "each entry for orphans, and for messages to drop, counts at least one message",
     RCL_OF_RANK, false, entries_hold},
    {"begun", "a rank wants or has captured C1 only if the coordinator has begun it",
     RCL_OF_PAIR, false, begun_holds},
    {"totals", "what i has sent, and will send again, was given to j, is kept by j, or is under way",
     RCL_OF_PAIR, false, totals_hold},
    {"index", "a message under way has index C or C1",
     RCL_OF_PAIR, false, index_holds},
    {"marker", "the marker of i is under way to j, or has come, exactly if i has captured C1",
     RCL_OF_PAIR, false, marker_holds},
    {"white", "what i sent between C and C1, j has received, will drop, or it is white and under way",
     RCL_OF_PAIR, false, white_holds},
    {"early", "red messages that came before C1 are orphans, or kept",
     RCL_OF_PAIR, false, early_holds},
    {"red", "what i has sent since C1, j has received, or it is red and under way",
     RCL_OF_PAIR, false, red_holds},
    {"since", "i has sent since C1 what its program has sent since its image",
     RCL_OF_PAIR, false, since_holds},
    {"closed", "a rank that no longer logs knows that all white messages have come",
     RCL_OF_PAIR, false, closed_holds},
    {"cut", "what i's image has sent, and orphans, j's image or log has, or it is white and under way",
     RCL_OF_PAIR, false, cut_holds},
    {"log", "by the log of C1 the images of C1 agree",
     RCL_OF_PAIR, false, log_holds},
    {"log late", "late messages in the log of C1 were sent before C1, and each entry counts a message",
     RCL_OF_RANK, false, log_late_holds},
    {"kinds", "control messages are markers and reports",
     RCL_OF_PAIR, false, kinds_hold},
    {"silent", "nothing is under way from a rank that has yet to start",
     RCL_OF_PAIR, false, silent_holds},
    {"done", "a rank reports C1 once, to the coordinator, when image and log are durable",
     RCL_OF_PAIR, false, done_holds},
    {"count", "the coordinator has counted the ranks that have reported C1",
     RCL_OF_ALL, false, count_holds},
    {"committing", "C1 is being committed exactly if all are counted",
     RCL_OF_ALL, false, committing_holds},
    {"image", "what is stored of C was captured as C, with all markers",
     RCL_OF_PAIR, true, image_holds},
    {"image late", "late messages in the log of C were sent before C, and each entry counts a message",
     RCL_OF_RANK, true, image_late_holds},
    {"restorable", "image and log of C are durable",
     RCL_OF_RANK, true, restorable_holds},
    {"line", "by the images of C, j was given or has logged what i has sent, or will send again",
     RCL_OF_PAIR, true, line_holds},
    {NULL, NULL, RCL_OF_ALL, false, NULL}};
/* clang-format on */

#endif
