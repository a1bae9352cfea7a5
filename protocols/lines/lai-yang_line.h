/* States the line invariant of lai-yang.c, which includes this file after its own state. C is the
 * committed checkpoint, C1 the next one, and i and j are ranks. A message is white if its sender
 * sent it before capturing C1, else red.
 *
 * The argument names the clauses in their order. Each message that i has sent to j was delivered
 * there, or is kept there until after the capture, or is under way (totals). A rank that has
 * captured C1 tells each peer how many white messages it has sent there (tell). From the number
 * that j was told and from what it has received, j knows how many white messages are still under
 * way (white). Their colour tells them apart from red messages (colour, red). Each message that i
 * had sent before C1 was given to j before C1, or is recorded by j, or is white and under way
 * (cut). A rank ends its record when no white message is missing (closed), and writes it to its log
 * (log). A commit waits for the image and the log of each rank (count, committing), so the images
 * of C and their records agree (line). */
#ifndef RECLINE_LAI_YANG_LINE_H
#define RECLINE_LAI_YANG_LINE_H

#include "protocols/parts/record_clauses.h" /* C, C1 */

/* ---- looking at ranks ---- */

static uint32_t recorded_in(const struct rcl_whole *w, int i, int j, const struct state *state)
{
  const struct rcl_config *config = w->rank[j].config;
  return kept_from(kept_of(config, state), state->kept, config->capacity, i);
}

/* Returns what j counts of its channels from i and to i. */
static struct count counted_by(const struct rcl_whole *w, int j, int i)
{
  return is_behind(w, j) ? (struct count){0} : counts(w->rank[j].config, state_of(w, j))[i];
}

/* Returns how many messages of i the rank j keeps until its image is taken. */
static uint32_t early_in(const struct rcl_whole *w, int i, int j)
{
  return phase_of(w, j) == CAPTURING ? recorded_in(w, i, j, state_of(w, j)) : 0;
}

/* ---- one rank ---- */

static bool begins_hold(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct rcl_commit *commit = &state_of(w, i)->commit;
  bool begun = i == RCL_COORDINATOR_RANK && (has_captured(w, i) || phase_of(w, i) == CAPTURING);
  return is_behind(w, i) || commit->in_progress == (begun ? next_of(w) : 0);
}

/* ---- from rank i to rank j ---- */

static bool totals_hold(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  return channel->now.sent ==
         channel->now.given + to_deliver(w, i, j) + early_in(w, i, j) + channel->messages;
}

static bool colour_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  return (!channel->white.count || channel->white.word == (w->committed & 1)) &&
         (!channel->red.count || channel->red.word == (next_of(w) & 1));
}

static bool tell_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *count = under_way(w, i, j, COUNT);
  uint32_t told = counted_by(w, j, i).told;
  bool awaits = has_captured(w, i) && !has_closed(w, j);
  if (i == j)
    return !count->count && told == awaits;
  return count->count + told == awaits && (!count->count || count->about == next_of(w));
}

static bool closed_holds(const struct rcl_whole *w, int i, int j)
{
  return !has_closed(w, j) || (has_captured(w, i) && !counted_by(w, j, i).missing);
}

static bool white_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *count = under_way(w, i, j, COUNT);
  uint32_t white = rcl_whole_between(w, i, j)->white.count, sent = counted_by(w, i, j).sent;
  struct count at = counted_by(w, j, i);
  if (has_captured(w, j))
    return count->count         ? count->value + at.missing == white
           : has_captured(w, i) ? at.missing == white
                                : sent + at.missing == white;
  if (has_captured(w, i))
    return count->count ? !at.missing && count->value == white + at.received
                        : at.missing == white + at.received;
  return !at.missing && sent == white + at.received;
}

static bool red_holds(const struct rcl_whole *w, int i, int j)
{
  uint32_t red = rcl_whole_between(w, i, j)->red.count, sent = counted_by(w, i, j).sent,
           received = counted_by(w, j, i).received;
  if (!has_captured(w, i))
    return !red && !(has_captured(w, j) ? received : early_in(w, i, j));
  return has_captured(w, j) ? sent == red + received : sent == red + early_in(w, i, j);
}

static bool cut_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  uint32_t white = channel->white.count;
  if ((has_captured(w, i) && !w->rank[i].newer) || (has_captured(w, j) && !w->rank[j].newer))
    return true;
  if (has_captured(w, j)) {
    uint32_t has = channel->newer.given + recorded_in(w, i, j, state_of(w, j)) + white;
    return !is_recording(w, j) ||
           (has_captured(w, i) ? channel->newer.sent == has : channel->now.sent == has);
  }
  uint32_t has = channel->now.given + to_deliver(w, i, j) + white;
  return has_captured(w, i) ? channel->newer.sent == has : channel->now.sent == has;
}

static bool log_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  const struct state *log = newer_log_of(w, j);
  if (!log)
    return true;
  return log->captured == next_of(w) &&
         (!are_shown(w, i, j) ||
          channel->newer.sent == channel->newer.given + recorded_in(w, i, j, log));
}

static bool kinds_hold(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *control = rcl_whole_between(w, i, j)->control;
  return !control[0].count && !control[TAKE].count && !control[LATE].count &&
         !control[CLOSED].count;
}

static bool silent_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  return !is_behind(w, i) ||
         !(channel->messages + channel->control[COUNT].count + channel->control[DONE].count);
}

/* ---- all ranks ---- */

static bool count_holds(const struct rcl_whole *w, int i, int j)
{
  (void)i, (void)j;
  uint32_t counted = 0;
  for (int each = 0; each < w->ranks; each++)
    counted += is_counted(w, each);
  return is_behind(w, RCL_COORDINATOR_RANK) ||
         state_of(w, RCL_COORDINATOR_RANK)->commit.done == counted;
}

/* ---- stored states ---- */

static bool image_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct state *image = w->rank[i].committed;
  return !image || image->captured == w->committed;
}

/* clang-format off */
static const struct rcl_clause line[] = {
    {"checkpoint", "in CAPTURING a rank has C; in RECORDING and WRITING, C1; in RUNNING, either",
     RCL_OF_RANK, false, checkpoint_holds},
    {"written", "a rank in RECORDING or WRITING awaits image or log, one that has finished C1 does not",
     RCL_OF_RANK, false, written_holds},
    {"timer", "only the coordinator begins checkpoints, and only when none is under way",
     RCL_OF_RANK, false, timer_holds},
    {"begins", "the coordinator knows that C1 is under way from its capture to the commit",
     RCL_OF_RANK, false, begins_hold},
    {"capture", "an image of C1 is taken in CAPTURING only",
     RCL_OF_RANK, false, capture_holds},
    {"store", "an image of C1 is written exactly if it is captured and not known as durable",
     RCL_OF_RANK, false, store_holds},
    {"durable", "the image of C1 of a rank is durable exactly if the rank knows that",
     RCL_OF_RANK, false, durable_holds},
    {"store log", "a log of C1 is written in WRITING only, while it is not known as durable",
     RCL_OF_RANK, false, store_log_holds},
    {"durable log", "the log of C1 is durable exactly if the rank knows that and no longer records",
     RCL_OF_RANK, false, durable_log_holds},
    {"bounded", "a rank has one image older than that of C at most, and none if it has one of C1",
     RCL_OF_RANK, false, bounded_holds},
    {"begun", "the coordinator captures C1 before any other rank does",
     RCL_OF_PAIR, false, begun_holds},
    {"totals", "what i has sent to j was delivered, or will be, or is kept by j, or is under way",
     RCL_OF_PAIR, false, totals_hold},
    {"colour", "messages have the colour of a checkpoint, 0 or 1",
     RCL_OF_PAIR, false, colour_holds},
    {"tell", "if i has captured C1 and j still records, j was told what i had sent, or will be",
     RCL_OF_PAIR, false, tell_holds},
    {"white", "what i had sent before C1, j has received, or it is white and under way",
     RCL_OF_PAIR, false, white_holds},
    {"red", "what i has sent since C1, j has received or keeps, or it is red and under way",
     RCL_OF_PAIR, false, red_holds},
    {"closed", "a rank that no longer records knows that each rank has captured C1",
     RCL_OF_PAIR, false, closed_holds},
    {"cut", "what i's image has as sent, j's image or record has, or it is white and under way",
     RCL_OF_PAIR, false, cut_holds},
    {"log", "the record in the log of C1 makes the images of C1 agree",
     RCL_OF_PAIR, false, log_holds},
    {"kinds", "control messages are counts and reports",
     RCL_OF_PAIR, false, kinds_hold},
    {"silent", "nothing is under way from a rank that has yet to start",
     RCL_OF_PAIR, false, silent_holds},
    {"done", "a rank reports C1 once, to the coordinator, when image and log are durable",
     RCL_OF_PAIR, false, done_holds},
    {"count", "the coordinator has counted the ranks that have reported C1",
     RCL_OF_ALL, false, count_holds},
    {"committing", "C1 is being committed exactly if all are counted",
     RCL_OF_ALL, false, committing_holds},
    {"image", "what is stored of C was captured as C",
     RCL_OF_RANK, true, image_holds},
    {"restorable", "image and log of C are durable",
     RCL_OF_RANK, true, restorable_holds},
    {"line", "by the images of C, j was given or has recorded what i has sent to it",
     RCL_OF_PAIR, true, line_holds},
    {NULL, NULL, RCL_OF_ALL, false, NULL}};
/* clang-format on */

#endif
