/* States the line invariant of the forms of event-logging.c that log in lists, which include this
 * file after their own state. C is the committed checkpoint, C1 the next one, and i and j are
 * ranks.
 *
 * The argument names the clauses in their order. Each message that i has sent to j was given to the
 * program of j, or is kept by j, or is under way; the orphans that j has yet to drop are sent again
 * by i (totals). The envelope of each message that i has sent is in SENT until i captures C1, and
 * then goes to j. There it is found in RECEIVED or ORPHANS, or put into IN_TRANSIT. So for all
 * envelopes that have come, the logs of j say how many of their messages the program lacks (logs),
 * and i can tell since which checkpoint SENT counts (since). The end of a send log comes behind its
 * envelopes (envelope, send log). The messages that the program of j was given since its image are
 * kept by j if the send log of i has yet to come; otherwise they are in RECEIVED, or are late and
 * kept (given). A rank ends its log when it has the send logs of all ranks (closed) and all
 * messages in transit have come (late, log). A commit waits for image and log of each rank (count,
 * committing). So after a restart from the images of C and the logs every message is given once:
 * late messages come from the log, and orphans are sent again and dropped (line). With a limit on
 * the lines that a message may cross, a rank forgets late messages, keeps their envelopes in
 * EXPIRED, and gives up when the program asks for such a message; no clause counts these. */
#ifndef RECLINE_EVENT_LOGGING_LINE_H
#define RECLINE_EVENT_LOGGING_LINE_H

enum { RECORDING = LOGGING }; /* the name that log_clauses.h has for the phase */

#include "protocols/parts/orphan_clauses.h" /* C, C1 */

/* ---- looking at ranks ---- */

/* Returns how many messages from or to rank i a log of rank j has. */
static uint32_t log_has(const struct rcl_whole *w, int i, int j, const struct state *state,
                        enum which which)
{
  const struct rcl_config *config = w->rank[j].config;
  const struct rcl_envelope *item = logs_of(config, state) + which * config->capacity;
  return total_of(item, state->used[which], config->capacity, i);
}

/* Returns whether j has forgotten a message of i that was in transit for too long. */
static bool has_expired(const struct rcl_whole *w, int i, int j, const struct state *state)
{
  return log_has(w, i, j, state, EXPIRED) > 0;
}

/* Returns whether each entry of a log counts one message, and names a rank. */
static bool are_single(const struct rcl_whole *w, int i, const struct state *state,
                       enum which which)
{
  const struct rcl_config *config = w->rank[i].config;
  const struct rcl_envelope *item = logs_of(config, state) + which * config->capacity;
  bool all = true;
  for (uint32_t k = 0; k < config->capacity; k++)
    all &= (k >= state->used[which]) |
           ((item[k].count == 1) & (item[k].peer >= 0) & (item[k].peer < w->ranks));
  return all;
}

static bool logs_are_single(const struct rcl_whole *w, int i, const struct state *state)
{
  bool all = true;
  for (enum which which = 0; which < LOGS; which++)
    all &= are_single(w, i, state, which);
  return all;
}

static bool have_one_envelope(const struct rcl_kept *kept, const struct rcl_envelope *e)
{
  return (kept->peer == e->peer) & (kept->comm == e->comm) & (kept->tag == e->tag);
}

/* Returns whether the kept late messages with one envelope are at most as many as IN_TRANSIT has of
 * that envelope. */
static bool is_in_transit(const struct rcl_whole *w, int i, const struct state *state, uint32_t k)
{
  const struct rcl_config *config = w->rank[i].config;
  const struct rcl_kept *kept = kept_of(config, state);
  const struct rcl_envelope *item = logs_of(config, state) + IN_TRANSIT * config->capacity;
  uint32_t late = 0, in_transit = 0;
  for (uint32_t other = 0; other < config->capacity; other++) {
    struct rcl_envelope e = {
        .peer = kept[other].peer, .comm = kept[other].comm, .tag = kept[other].tag};
    late += (other < state->kept) & (kept[other].late != 0) & have_one_envelope(&kept[k], &e);
    in_transit += (other < state->used[IN_TRANSIT]) & have_one_envelope(&kept[k], &item[other]);
  }
  return late <= in_transit;
}

static bool late_are_in_transit(const struct rcl_whole *w, int i, const struct state *state)
{
  const struct rcl_kept *kept = kept_of(w->rank[i].config, state);
  bool all = true;
  for (uint32_t k = 0; k < w->rank[i].config->capacity; k++)
    if ((k < state->kept) &
        (kept[k].late != 0)) /* the test comes first, as most walks keep few late messages */
      all &= is_in_transit(w, i, state, k);
  return all;
}

/* Returns how many messages of i the rank j will drop because they will be sent again. */
static uint32_t to_drop(const struct rcl_whole *w, int i, int j)
{
  return log_has(w, i, j, state_of(w, j), is_behind(w, j) ? ORPHANS : DROPPED);
}

/* Returns how many messages of i are kept by j although the program of j already has them. */
static uint32_t given_and_kept(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_config *config = w->rank[j].config;
  const struct state *state = state_of(w, j);
  const struct rcl_kept *kept = kept_of(config, state);
  uint32_t count = 0;
  for (uint32_t k = 0; k < config->capacity; k++)
    count += (k < state->kept) & (kept[k].peer == i) & (kept[k].given != 0);
  return is_behind(w, j) ? 0 : count;
}

/* Returns how many messages to j the rank i has logged since its last checkpoint. */
static uint32_t logged_as_sent(const struct rcl_whole *w, int i, int j)
{
  return is_behind(w, i) ? 0 : log_has(w, j, i, state_of(w, i), SENT);
}

/* Returns how many messages of i the rank j has logged as received. */
static uint32_t logged_as_received(const struct rcl_whole *w, int i, int j)
{
  return is_behind(w, j) ? 0 : log_has(w, i, j, state_of(w, j), RECEIVED);
}

/* Returns the last checkpoint whose send log from i has come to j. */
static uint32_t listed(const struct rcl_whole *w, int i, int j, const struct state *state)
{
  return peers(w->rank[j].config, state)[i].listed;
}

static bool has_listed(const struct rcl_whole *w, int i, int j)
{
  return !is_behind(w, j) && listed(w, i, j, state_of(w, j)) == next_of(w);
}

static bool is_taking(const struct rcl_whole *w, int i)
{
  return has_captured(w, i) && !has_finished(w, i);
}

/* ---- one rank ---- */

static bool checkpoint_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct state *state = state_of(w, i);
  if (is_behind(w, i))
    return state->epoch == w->committed;
  if (has_captured(w, i))
    return !state->wanted && (state->phase == RUNNING || is_taking_checkpoint(state));
  return state->epoch == w->committed &&
         (state->phase == CAPTURING ? state->wanted == next_of(w)
                                    : (state->phase == RUNNING || state->phase == RECOVERING) &&
                                          (!state->wanted || state->wanted == next_of(w)));
}

static bool taking_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return phase_of(w, i) != TAKING || !(state_of(w, i)->durable & LOG_DURABLE);
}

/* Another initiator than the coordinator may not know yet that C is committed. */
static bool begins_hold(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  uint32_t begun = state_of(w, i)->commit.in_progress;
  if (is_behind(w, i) || !is_initiator(w->rank[i].config))
    return is_behind(w, i) || !begun;
  if (has_captured(w, i) || state_of(w, i)->wanted)
    return begun == next_of(w);
  return !begun || (i != RCL_COORDINATOR_RANK && begun == w->committed);
}

static bool timer_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return !w->rank[i].timer || is_initiator(w->rank[i].config);
}

static bool held_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  uint32_t phase = phase_of(w, i);
  return is_behind(w, i) || w->rank[i].held == (phase == RECOVERING || phase == TAKING);
}

/* Outside a checkpoint no kept message is late or was given to the program. During a checkpoint, a
 * kept message that was given to the program is late, or the send log of its sender has yet to
 * come. */
static bool kept_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct state *state = state_of(w, i);
  const struct rcl_kept *kept = kept_of(w->rank[i].config, state);
  const struct peer *peer = peers(w->rank[i].config, state);
  bool all = true;
  for (uint32_t k = 0; k < w->rank[i].config->capacity; k++) {
    bool late = kept[k].late != 0, given = kept[k].given != 0, unknown = false;
    for (int from = 0; from < w->ranks; from++)
      unknown |= (kept[k].peer == from) & (peer[from].listed < next_of(w));
    bool stays = late | (unknown & (state->phase == LOGGING)) | (given == 0);
    all &= (k >= state->kept) | (is_taking(w, i) ? stays : (late | given) == 0);
  }
  return is_behind(w, i) || all;
}

static bool entries_hold(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return logs_are_single(w, i, state_of(w, i));
}

static bool late_envelope_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return late_are_in_transit(w, i, state_of(w, i));
}

/* ---- from rank i to rank j ---- */

static bool totals_hold(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  return has_expired(w, i, j, state_of(w, j)) ||
         channel->now.sent + to_drop(w, i, j) ==
             channel->now.given + kept_for(w, i, j) + channel->messages;
}

static bool logs_hold(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  const struct state *state = state_of(w, j);
  uint32_t told = channel->now.sent - logged_as_sent(w, i, j) - under_way(w, i, j, ENVELOPE)->count;
  return has_expired(w, i, j, state) ||
         told + log_has(w, i, j, state, ORPHANS) + logged_as_received(w, i, j) +
                 given_and_kept(w, i, j) ==
             log_has(w, i, j, state, IN_TRANSIT) + channel->now.given;
}

static bool since_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  return !has_captured(w, i) || !w->rank[i].newer ||
         channel->now.sent == channel->newer.sent + logged_as_sent(w, i, j);
}

static bool envelope_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *envelope = under_way(w, i, j, ENVELOPE),
                                 *log = under_way(w, i, j, SEND_LOG);
  return !envelope->count ||
         (i != j && envelope->value >> 16 == 1 && log->count && envelope->place < log->place);
}

static bool send_log_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *log = under_way(w, i, j, SEND_LOG);
  uint32_t last = listed(w, i, j, state_of(w, j));
  return log->count + has_listed(w, i, j) == has_captured(w, i) && (i != j || !log->count) &&
         (!log->count || log->about == next_of(w)) && (last == w->committed || has_listed(w, i, j));
}

static bool given_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  uint32_t since = channel->newer.given + given_and_kept(w, i, j);
  return !is_taking(w, j) || !w->rank[j].newer ||
         channel->now.given == since + (has_listed(w, i, j) ? logged_as_received(w, i, j) : 0);
}

static bool closed_holds(const struct rcl_whole *w, int i, int j)
{
  return !has_closed(w, j) || has_listed(w, i, j);
}

static bool late_holds(const struct rcl_whole *w, int i, int j)
{
  const struct state *state = state_of(w, j);
  uint32_t late = logged_in(w, i, j, state), all = log_has(w, i, j, state, IN_TRANSIT);
  return phase_of(w, j) == WRITING || is_behind(w, j) ? late == all : late <= all;
}

/* Returns whether the log in a state of j has all messages of i that the line of that checkpoint
 * needs. */
static bool is_log_of(const struct rcl_whole *w, int i, int j, const struct state *log,
                      uint32_t checkpoint)
{
  return log->epoch == checkpoint && listed(w, i, j, log) == checkpoint &&
         logged_in(w, i, j, log) == log_has(w, i, j, log, IN_TRANSIT);
}

static bool log_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  const struct state *log = newer_log_of(w, j);
  if (!log)
    return true;
  return is_log_of(w, i, j, log, next_of(w)) &&
         (!are_shown(w, i, j) || has_expired(w, i, j, log) ||
          channel->newer.sent + log_has(w, i, j, log, ORPHANS) ==
              channel->newer.given + logged_in(w, i, j, log));
}

static bool log_entries_hold(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct state *log = newer_log_of(w, i);
  return !log || (logs_are_single(w, i, log) && late_are_in_transit(w, i, log));
}

static bool kinds_hold(const struct rcl_whole *w, int i, int j)
{
  return !rcl_whole_between(w, i, j)->control[0].count;
}

static bool silent_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  bool any = channel->messages != 0;
  for (enum control kind = ENVELOPE; kind <= COMMITTED; kind++)
    any |= channel->control[kind].count != 0;
  return !is_behind(w, i) || !any;
}

/* The coordinator tells another initiator of C before it sends that rank its send log of C1. */
static bool committed_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *committed = under_way(w, i, j, COMMITTED),
                                 *log = under_way(w, i, j, SEND_LOG);
  return !committed->count ||
         (i == RCL_COORDINATOR_RANK && i != j && is_initiator(w->rank[j].config) &&
          committed->about == w->committed && !has_listed(w, i, j) &&
          (!log->count || committed->place < log->place));
}

/* ---- stored states ---- */

static bool image_holds(const struct rcl_whole *w, int i, int j)
{
  const struct state *image = w->rank[j].committed;
  return !image || is_log_of(w, i, j, image, w->committed);
}

static bool image_entries_hold(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct state *image = w->rank[i].committed;
  return !image || (logs_are_single(w, i, image) && late_are_in_transit(w, i, image));
}

static bool line_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  const struct state *from = w->rank[i].committed, *to = w->rank[j].committed;
  return !from || !to || has_expired(w, i, j, to) ||
         channel->committed.sent + log_has(w, i, j, to, ORPHANS) ==
             channel->committed.given + logged_in(w, i, j, to);
}

/* clang-format off */
static const struct rcl_clause line[] = {
    {"checkpoint", "from LOGGING to WRITING a rank has C1; in RUNNING, C or C1; else C; it wants C1 or nothing",
     RCL_OF_RANK, false, checkpoint_holds},
    {"written", "a rank in LOGGING or WRITING awaits image or log, one that has finished C1 does not",
     RCL_OF_RANK, false, written_holds},
    {"taking", "no log is durable while a rank takes in messages in transit",
     RCL_OF_RANK, false, taking_holds},
    {"begins", "an initiator has begun C1 exactly if it wants or has captured it, and others begin none",
     RCL_OF_RANK, false, begins_hold},
    {"timer", "only initiators set timers",
     RCL_OF_RANK, false, timer_holds},
    {"held", "a rank is held exactly while it recovers, or takes in messages in transit",
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
    {"kept", "a kept message that the program has is late, or the send log of its sender has yet to come",
     RCL_OF_RANK, false, kept_holds},
    {"entries", "each entry of a log counts one message, from or to a rank",
     RCL_OF_RANK, false, entries_hold},
    {"late envelope", "no more messages with one envelope are late than are in transit",
     RCL_OF_RANK, false, late_envelope_holds},
    {"totals", "what i has sent, and will send again, was given to j, is kept by j, or is under way",
     RCL_OF_PAIR, false, totals_hold},
    {"logs", "of all envelopes that j knows, those in transit lack their message, and orphans their envelope",
     RCL_OF_PAIR, false, logs_hold},
    {"since", "i has logged as sent what its program has sent since its image of C1",
     RCL_OF_PAIR, false, since_holds},
    {"envelope", "an envelope under way stands for one message, and comes before the end of its send log",
     RCL_OF_PAIR, false, envelope_holds},
    {"send log", "the send log of i is under way to j, or has come, exactly if i has captured C1",
     RCL_OF_PAIR, false, send_log_holds},
    {"given", "what j's program was given since its image, j keeps, or has logged after the send log of i",
     RCL_OF_PAIR, false, given_holds},
    {"closed", "a rank that no longer awaits send logs of C1 has all",
     RCL_OF_PAIR, false, closed_holds},
    {"late", "no more messages of i are late than are in transit, and as many when the log is written",
     RCL_OF_PAIR, false, late_holds},
    {"log", "by the log of C1 the images of C1 agree",
     RCL_OF_PAIR, false, log_holds},
    {"log entries", "late messages in the log of C1 are in transit, and each entry counts one message",
     RCL_OF_RANK, false, log_entries_hold},
    {"kinds", "control messages are envelopes, send logs, reports, and news of commits",
     RCL_OF_PAIR, false, kinds_hold},
    {"silent", "nothing is under way from a rank that has yet to start",
     RCL_OF_PAIR, false, silent_holds},
    {"done", "a rank reports C1 once, to the coordinator, when image and log are durable",
     RCL_OF_PAIR, false, done_holds},
    {"committed", "the coordinator tells other initiators of C, before its send log of C1",
     RCL_OF_PAIR, false, committed_holds},
    {"count", "the coordinator has counted the ranks that have reported C1",
     RCL_OF_ALL, false, count_holds},
    {"committing", "C1 is being committed exactly if all are counted",
     RCL_OF_ALL, false, committing_holds},
    {"image", "what is stored of C was captured as C, with all send logs and all messages in transit",
     RCL_OF_PAIR, true, image_holds},
    {"image entries", "late messages in the log of C are in transit, and each entry counts one message",
     RCL_OF_RANK, true, image_entries_hold},
    {"restorable", "image and log of C are durable",
     RCL_OF_RANK, true, restorable_holds},
    {"line", "by the images of C, j was given or has logged what i has sent, or will send again",
     RCL_OF_PAIR, true, line_holds},
    {NULL, NULL, RCL_OF_ALL, false, NULL}};
/* clang-format on */

#endif
