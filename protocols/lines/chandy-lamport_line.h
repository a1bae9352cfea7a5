/* States the line invariant of chandy-lamport.c, which includes this file after its own state. C is
 * the committed checkpoint, C1 the next one, and i and j are ranks.
 *
 * The argument names the clauses in their order. What i has sent to j was delivered there or is
 * under way (totals). A rank that has captured C1 sends one marker to each peer (marker). Channels
 * keep their order, so the messages in front of the marker were sent before i was captured. While
 * the marker is under way, the messages sent by the image of i are those that j was given and those
 * in front of the marker (ahead). If the marker comes before j captures C1, they are the messages
 * that j was given (before). If j has captured C1 already, j records what it is given until the
 * marker comes (recording). From then on the image and the record of j together have the messages
 * that the image of i has sent (cut), and j writes the record to its log (log). A commit waits for
 * the image and the log of each rank (count, committing), so the images of C and their records
 * agree (line). */
#ifndef RECLINE_CHANDY_LAMPORT_LINE_H
#define RECLINE_CHANDY_LAMPORT_LINE_H

#include "protocols/parts/record_clauses.h" /* C, C1 */

/* ---- looking at ranks ---- */

static uint32_t recorded_in(const struct rcl_whole *w, int i, int j, const struct state *state)
{
  const struct rcl_config *config = w->rank[j].config;
  return kept_from(recorded_of(config, state), state->recorded, config->capacity, i);
}

static uint32_t marker_in(const struct rcl_whole *w, int i, int j, const struct state *state)
{
  return markers(w->rank[j].config, state)[i];
}

/* Returns whether i sends markers to j. */
static bool are_joined(const struct rcl_whole *w, int i, int j)
{
  return i != j && rcl_is_neighbour(w->rank[i].config, j);
}

/* Returns whether the marker of i for C1 has come to j. */
static bool is_marked(const struct rcl_whole *w, int i, int j)
{
  return are_joined(w, i, j) && marker_in(w, i, j, state_of(w, j)) == next_of(w);
}

/* ---- from rank i to rank j ---- */

static bool totals_hold(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  return channel->now.sent == channel->now.given + to_deliver(w, i, j) + channel->messages;
}

static bool own_holds(const struct rcl_whole *w, int i, int j)
{
  const struct state *state = state_of(w, i);
  return i != j || is_behind(w, i) ||
         (state->own == rcl_whole_between(w, i, i)->messages &&
          (!state->own_late || phase_of(w, i) == RECORDING));
}

static bool marker_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *marker = under_way(w, i, j, MARKER);
  if (!are_joined(w, i, j))
    return !marker->count;
  return marker->count + is_marked(w, i, j) == has_captured(w, i) &&
         (!marker->count || marker->about == next_of(w)) &&
         (is_marked(w, i, j) || marker_in(w, i, j, state_of(w, j)) == w->committed);
}

static bool ahead_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  const struct rcl_whole_control *marker = under_way(w, i, j, MARKER);
  return !marker->count || !are_joined(w, i, j) || !w->rank[i].newer ||
         (marker->ahead <= channel->messages &&
          channel->newer.sent == channel->now.given + to_deliver(w, i, j) + marker->ahead);
}

static bool before_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  return !is_marked(w, i, j) || has_captured(w, j) ||
         (phase_of(w, j) == CAPTURING &&
          (!w->rank[i].newer || channel->newer.sent == channel->now.given));
}

static bool recording_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  return !are_joined(w, i, j) || !has_captured(w, j) || is_marked(w, i, j) || !w->rank[j].newer ||
         channel->now.given == channel->newer.given + recorded_in(w, i, j, state_of(w, j));
}

/* No marker comes through a rank's channel to itself. So own_late counts the messages in that
 * channel that were under way at the capture and are still to be recorded. */
static bool cut_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  const struct state *state = state_of(w, j);
  if (!has_captured(w, j) || !is_recording(w, j) || !are_shown(w, i, j))
    return true;
  return (i != j && !is_marked(w, i, j)) ||
         channel->newer.sent ==
             channel->newer.given + recorded_in(w, i, j, state) + (i == j ? state->own_late : 0);
}

static bool log_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  const struct state *log = newer_log_of(w, j);
  if (!log)
    return true;
  return log->captured == next_of(w) &&
         (!are_joined(w, i, j) || (is_marked(w, i, j) && marker_in(w, i, j, log) == next_of(w))) &&
         (!are_shown(w, i, j) ||
          channel->newer.sent == channel->newer.given + recorded_in(w, i, j, log));
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

/* ---- all ranks ---- */

static bool count_holds(const struct rcl_whole *w, int i, int j)
{
  (void)i, (void)j;
  uint32_t counted = 0;
  for (int each = 0; each < w->ranks; each++)
    counted += each != RCL_COORDINATOR_RANK && is_counted(w, each);
  return is_behind(w, RCL_COORDINATOR_RANK) ||
         state_of(w, RCL_COORDINATOR_RANK)->done == (are_all_counted(w) ? 0 : counted);
}

/* ---- stored states ---- */

static bool image_holds(const struct rcl_whole *w, int i, int j)
{
  const struct state *image = w->rank[j].committed;
  return !image || (image->captured == w->committed &&
                    (!are_joined(w, i, j) || marker_in(w, i, j, image) == w->committed));
}

/* clang-format off */
static const struct rcl_clause line[] = {
    {"checkpoint", "in CAPTURING a rank has C; in RECORDING and WRITING, C1; in RUNNING, either",
     RCL_OF_RANK, false, checkpoint_holds},
    {"written", "a rank in RECORDING or WRITING awaits image or log, one that has finished C1 does not",
     RCL_OF_RANK, false, written_holds},
    {"timer", "only the coordinator begins checkpoints, and only when none is under way",
     RCL_OF_RANK, false, timer_holds},
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
    {"totals", "what i has sent to j was delivered, or will be at its start, or is under way",
     RCL_OF_PAIR, false, totals_hold},
    {"own", "a rank counts its messages to itself under way; own_late is 0 except in RECORDING",
     RCL_OF_PAIR, false, own_holds},
    {"marker", "the marker of i is under way to j, or has come, exactly if i has captured C1",
     RCL_OF_PAIR, false, marker_holds},
    {"ahead", "the image of i shows as sent what j was given and what is ahead of the marker",
     RCL_OF_PAIR, false, ahead_holds},
    {"before", "if the marker comes before j captures C1, j was given what i's image shows as sent",
     RCL_OF_PAIR, false, before_holds},
    {"recording", "until the marker comes, j records what it was given since it has captured C1",
     RCL_OF_PAIR, false, recording_holds},
    {"cut", "once the marker has come, image and record of j have what i's image shows as sent",
     RCL_OF_PAIR, false, cut_holds},
    {"log", "the log of C1 has the markers, and its record makes the images of C1 agree",
     RCL_OF_PAIR, false, log_holds},
    {"kinds", "control messages are markers and reports",
     RCL_OF_PAIR, false, kinds_hold},
    {"silent", "nothing is under way from a rank that has yet to start",
     RCL_OF_PAIR, false, silent_holds},
    {"done", "a rank reports C1 once, to the coordinator, when image and log are durable",
     RCL_OF_PAIR, false, done_holds},
    {"count", "the coordinator has counted the other ranks that have reported C1",
     RCL_OF_ALL, false, count_holds},
    {"committing", "C1 is being committed exactly if all are counted",
     RCL_OF_ALL, false, committing_holds},
    {"image", "what is stored of C was captured as C, with all markers",
     RCL_OF_PAIR, true, image_holds},
    {"restorable", "image and log of C are durable",
     RCL_OF_RANK, true, restorable_holds},
    {"line", "by the images of C, j was given or has recorded what i has sent to it",
     RCL_OF_PAIR, true, line_holds},
    {NULL, NULL, RCL_OF_ALL, false, NULL}};
/* clang-format on */

#endif
