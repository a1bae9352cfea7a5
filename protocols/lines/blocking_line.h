/* States the line invariant of blocking.c, which includes this file after its own state. C is the
 * committed checkpoint, C1 the next one, and i and j are ranks.
 *
 * The argument names the clauses in their order. A rank counts the messages that its program has
 * sent and was given (counts), so the number of messages under way is the difference of these
 * counts (totals). A rank that is in a barrier sends nothing until it leaves. It has contributed
 * the number of messages that it had sent, less the number that it had received. What it receives
 * inside the barrier only makes the contribution larger than the present difference (own). So if
 * all contributions to a barrier add up to 0, nothing is under way between any two ranks. A rank
 * that is captured in such a barrier is held until the commit. The other ranks, which are in the
 * same barrier, find the same contributions there (share, decided), and take the same checkpoint
 * (together). So no message comes under way before all ranks have taken it (channels). The image of
 * a rank has the counts that the rank still has (newer image). A commit waits for the images of all
 * ranks (count, committing), so the counts of the images agree (line). */
#ifndef RECLINE_BLOCKING_LINE_H
#define RECLINE_BLOCKING_LINE_H

#include "protocols/parts/clauses.h"

/* ---- looking at ranks ---- */

/* Returns whether rank i has an image of C1, which may still be in writing. */
static bool is_captured(const struct rcl_whole *w, int i)
{
  return phase_of(w, i) == WRITING || has_reported(w, i);
}

/* Returns whether rank i has left its last barrier to be captured in C1. */
static bool takes_part(const struct rcl_whole *w, int i)
{
  return phase_of(w, i) == CAPTURING || is_captured(w, i);
}

/* Returns whether a rank takes part. A dead rank has no state to tell. */
static bool is_begun(const struct rcl_whole *w)
{
  bool begun = false;
  for (int i = 0; i < w->ranks; i++)
    begun |= w->rank[i].standing != RCL_STANDS_DEAD && takes_part(w, i);
  return begun;
}

/* ---- looking at barriers ---- */

/* Returns whether rank i has left the barrier in which rank j is. */
static bool has_left(const struct rcl_whole *w, int i, int j)
{
  return i != j && w->rank[j].joined && !rcl_whole_between(w, j, i)->shares;
}

/* Returns the sum of one word over all contributions to the barrier in which rank j is. */
static uint32_t sum_at(const struct rcl_whole *w, int j, enum contribution word)
{
  uint32_t sum = w->rank[j].words[word];
  for (int k = 0; k < w->ranks; k++)
    sum += k == j ? 0 : rcl_whole_between(w, k, j)->share[0][word];
  return sum;
}

/* Returns whether rank j will be captured in the barrier in which it is. */
static bool will_take_part(const struct rcl_whole *w, int j)
{
  return sum_at(w, j, WANTED) && !sum_at(w, j, UNDER_WAY);
}

/* ---- one rank ---- */

static bool checkpoint_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  uint32_t phase = phase_of(w, i), captured = state_of(w, i)->captured;
  if (phase == RUNNING || phase == CAPTURING)
    return captured == w->committed;
  if (phase == WRITING)
    return captured == next_of(w);
  return phase == WAITING && (captured == w->committed || captured == next_of(w));
}

static bool held_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return w->rank[i].held == (phase_of(w, i) >= WRITING);
}

/* ---- what programs have sent and were given ---- */

static bool totals_hold(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  return channel->now.given <= channel->now.sent &&
         channel->now.sent - channel->now.given == channel->messages;
}

/* The protocol counts a rank's messages to and from all ranks together. */
static bool net_holds(const struct rcl_whole *w, int i, int j)
{
  (void)i, (void)j;
  uint32_t counted = 0, messages = 0;
  for (int from = 0; from < w->ranks; from++) {
    counted += state_of(w, from)->sent - state_of(w, from)->received;
    for (int to = 0; to < w->ranks; to++)
      messages += rcl_whole_between(w, from, to)->messages;
  }
  return counted == messages;
}

static bool is_few(const struct state *state)
{
  return state->sent < RCL_WHOLE_MOST && state->received < RCL_WHOLE_MOST;
}

static bool few_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return is_few(state_of(w, i)) && rcl_whole_between(w, i, j)->messages < RCL_WHOLE_MOST;
}

/* ---- barriers ---- */

static bool joined_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct rcl_whole_rank *rank = &w->rank[i];
  return rank->joined <= (phase_of(w, i) == RUNNING && !is_behind(w, i));
}

/* If the coordinator has contributed that a checkpoint is wanted, the checkpoint is still wanted.
 * The difference that a rank counted when it came into the barrier is no less than its difference
 * inside, where it sends nothing. */
static bool own_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct rcl_whole_rank *rank = &w->rank[i];
  if (!rank->joined)
    return true;
  const struct state *state = state_of(w, i);
  int32_t came = (int32_t)rank->words[UNDER_WAY], inside = (int32_t)(state->sent - state->received);
  return rank->words[WANTED] <= state->wanted && inside <= came && came <= (int32_t)state->sent;
}

/* The number of contributions between two ranks that are not taken yet is the number of the two
 * ranks that are inside a barrier. */
static bool barrier_holds(const struct rcl_whole *w, int i, int j)
{
  uint32_t there = rcl_whole_between(w, i, j)->shares, back = rcl_whole_between(w, j, i)->shares;
  if (i == j)
    return !there;
  return there <= RCL_WHOLE_SHARES && back <= RCL_WHOLE_SHARES &&
         there + back == w->rank[i].joined + w->rank[j].joined;
}

/* The last contribution of i that j has not taken belongs to the barrier in which i is. */
static bool share_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  const uint32_t *last = channel->share[channel->shares > 1], *own = w->rank[i].words;
  if (i == j || !channel->shares || !w->rank[i].joined)
    return true;
  return last[WANTED] == own[WANTED] && last[UNDER_WAY] == own[UNDER_WAY];
}

/* Among contributions that are not taken yet, only the coordinator's can want a checkpoint. */
static bool wanted_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  uint32_t wanted = channel->shares > 0 ? channel->share[0][WANTED] : 0;
  wanted |= channel->shares > 1 ? channel->share[1][WANTED] : 0;
  return i == RCL_COORDINATOR_RANK || !wanted;
}

/* If i has left the barrier in which j is, all contributions to that barrier are there, and i has
 * done what they say. */
static bool decided_holds(const struct rcl_whole *w, int i, int j)
{
  return !has_left(w, i, j) || takes_part(w, i) == will_take_part(w, j);
}

static bool together_holds(const struct rcl_whole *w, int i, int j)
{
  return !takes_part(w, i) || takes_part(w, j) || has_left(w, i, j);
}

/* Section 2.2.1 asks for this: no message is in flight across the barrier. */
static bool channels_hold(const struct rcl_whole *w, int i, int j)
{
  return !is_begun(w) || !rcl_whole_between(w, i, j)->messages;
}

/* ---- images ---- */

static bool newer_image_holds(const struct rcl_whole *w, int i, int j)
{
  const struct state *newer = w->rank[i].newer, *now = state_of(w, i);
  const struct rcl_whole_channel *to = rcl_whole_between(w, i, j),
                                 *from = rcl_whole_between(w, j, i);
  if (!newer || !is_captured(w, i))
    return true;
  return newer->captured == next_of(w) && newer->sent == now->sent &&
         newer->received == now->received && to->newer.sent == to->now.sent &&
         from->newer.given == from->now.given;
}

static bool image_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct state *image = w->rank[i].committed;
  return !image || (image->captured == w->committed && is_few(image));
}

/* If all ranks have an image, the protocol's own counts agree, too. */
static bool even_holds(const struct rcl_whole *w, int i, int j)
{
  (void)i, (void)j;
  uint32_t counted = 0;
  bool all = true;
  for (int rank = 0; rank < w->ranks; rank++) {
    const struct state *image = w->rank[rank].committed;
    all &= image != NULL;
    counted += image ? image->sent - image->received : 0;
  }
  return !all || !counted;
}

static bool line_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_count *count = &rcl_whole_between(w, i, j)->committed;
  return !w->rank[i].committed || !w->rank[j].committed || count->sent == count->given;
}

/* ---- between the coordinator and the others ---- */

static bool kinds_hold(const struct rcl_whole *w, int i, int j)
{
  return !rcl_whole_between(w, i, j)->control[0].count;
}

/* A rank that has yet to start has sent nothing. */
static bool silent_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  return !is_behind(w, i) || !(channel->messages | channel->shares | channel->control[DONE].count |
                               channel->control[RELEASE].count);
}

/* ---- all ranks ---- */

/* The checkpoint of the coordinator is under way from its request until its commit. */
static bool request_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct state *state = state_of(w, i);
  if (is_behind(w, i))
    return true;
  if (i != RCL_COORDINATOR_RANK)
    return !state->wanted && !state->commit.in_progress && !state->commit.done;
  return state->wanted <= 1 &&
         state->commit.in_progress == (state->wanted || takes_part(w, i) ? next_of(w) : 0);
}

static bool count_holds(const struct rcl_whole *w, int i, int j)
{
  (void)i, (void)j;
  uint32_t done = 0;
  for (int each = 0; each < w->ranks; each++)
    done += has_reported(w, each) && !under_way(w, each, RCL_COORDINATOR_RANK, DONE)->count;
  return is_behind(w, RCL_COORDINATOR_RANK) ||
         state_of(w, RCL_COORDINATOR_RANK)->commit.done == done;
}

static bool committing_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  if (i != RCL_COORDINATOR_RANK)
    return true;
  bool all = !is_behind(w, i) && state_of(w, i)->commit.done == (uint32_t)w->ranks;
  return w->committing == (all ? next_of(w) : 0);
}

/* clang-format off */
static const struct rcl_clause line[] = {
    {"checkpoint", "in each phase the checkpoint last captured is C or C1",
     RCL_OF_RANK, false, checkpoint_holds},
    {"held", "the program is held from WRITING until the release",
     RCL_OF_RANK, false, held_holds},
    {"timer", "only the coordinator asks for checkpoints",
     RCL_OF_RANK, false, timer_holds},
    {"capture", "an image of C1 is taken in CAPTURING only",
     RCL_OF_RANK, false, capture_holds},
    {"store", "an image of C1 is written in WRITING only",
     RCL_OF_RANK, false, store_holds},
    {"durable", "the image of C1 of a rank is durable exactly if the rank has reported that",
     RCL_OF_RANK, false, durable_holds},
    {"bounded", "a rank has no image older than that of C if it has one of C1, or C is released",
     RCL_OF_RANK, false, bounded_holds},
    {"totals", "what is under way from i to j is what i has sent less what j was given",
     RCL_OF_PAIR, false, totals_hold},
    {"net", "what is under way in all is what all ranks count as sent less what they have received",
     RCL_OF_ALL, false, net_holds},
    {"few", "no rank counts as far as 2^28",
     RCL_OF_PAIR, false, few_holds},
    {"joined", "in a barrier a rank is in RUNNING",
     RCL_OF_RANK, false, joined_holds},
    {"own", "a rank in a barrier has contributed what it wants, and what it counted when it came",
     RCL_OF_RANK, false, own_holds},
    {"barrier", "of two ranks neither is further than the barrier behind that of the other",
     RCL_OF_PAIR, false, barrier_holds},
    {"share", "a rank in a barrier has contributed the same to all others",
     RCL_OF_PAIR, false, share_holds},
    {"wanted", "only the coordinator contributes that it wants a checkpoint",
     RCL_OF_PAIR, false, wanted_holds},
    {"decided", "i has left the barrier of j for C1 exactly if the contributions at j say so",
     RCL_OF_PAIR_AMONG_ALL, false, decided_holds},
    {"together", "if i takes part in C1, j does or is in the barrier that i has left for it",
     RCL_OF_PAIR, false, together_holds},
    {"channels", "while a rank takes part in C1 no message of the program is under way",
     RCL_OF_PAIR_AMONG_ALL, false, channels_hold},
    {"newer image", "the image of C1 has the counts that its rank and its program have",
     RCL_OF_PAIR, false, newer_image_holds},
    {"done", "a rank reports C1 once, to the coordinator, when its image is durable",
     RCL_OF_PAIR, false, done_holds},
    {"release", "the release of C is under way to j exactly if j waits for it",
     RCL_OF_PAIR, false, release_holds},
    {"kinds", "control messages are reports and releases",
     RCL_OF_PAIR, false, kinds_hold},
    {"silent", "nothing is under way from a rank that has yet to start",
     RCL_OF_PAIR, false, silent_holds},
    {"request", "the coordinator has C1 in progress exactly if it wants C1 or takes part in it",
     RCL_OF_RANK, false, request_holds},
    {"count", "the coordinator has counted the ranks that have reported C1",
     RCL_OF_ALL, false, count_holds},
    {"committing", "C1 is being committed exactly if all are counted",
     RCL_OF_RANK, false, committing_holds},
    {"image", "the image of C was taken as C",
     RCL_OF_RANK, true, image_holds},
    {"even", "by the images of C all ranks have received as much as all have sent",
     RCL_OF_ALL, true, even_holds},
    {"restorable", "the image of C is durable",
     RCL_OF_RANK, true, restorable_holds},
    {"line", "by the images of C, j was given what i has sent to it, and nothing else",
     RCL_OF_PAIR, true, line_holds},
    {NULL, NULL, RCL_OF_ALL, false, NULL}};
/* clang-format on */

#endif
