/* States the line invariant of bookmark.c, which includes this file after its own state. C is the
 * committed checkpoint, C1 the next one, and i and j are ranks.
 *
 * The argument names the clauses in their order. The number of messages under way from i to j is
 * the number that i has sent less the number that j has received (totals). A rank that holds its
 * program sends nothing, and has told each peer its total (bookmark, told); a peer that says
 * `drained` has received exactly that total (drained, empty). So when a rank captures, it has
 * received all messages sent to it, and its peers have received all that it sent (quiet); this
 * stays true until it is released. Its image has the same totals (newer image). A commit waits for
 * the images of all ranks (count, committing), so the totals of the images agree (line). */
#ifndef RECLINE_BOOKMARK_LINE_H
#define RECLINE_BOOKMARK_LINE_H

#include "protocols/parts/clauses.h"

/* ---- looking at ranks ---- */

static const struct peer *peer_in(const struct rcl_whole *w, const void *state, int i, int j)
{
  return &peers(w->rank[i].config, state)[j];
}

/* Returns what rank i knows about rank j. */
static const struct peer *peer_of(const struct rcl_whole *w, int i, int j)
{
  return peer_in(w, w->rank[i].state, i, j);
}

/* Returns whether rank i takes part in C1 and has come to `phase` or beyond. */
static bool is_quiet_since(const struct rcl_whole *w, int i, uint32_t phase)
{
  return (phase_of(w, i) >= phase && phase_of(w, i) <= WRITING) || has_reported(w, i);
}

static bool has_stopped(const struct rcl_whole *w, int i)
{
  return is_quiet_since(w, i, DRAINING);
}

static bool takes_part(const struct rcl_whole *w, int i)
{
  return is_quiet_since(w, i, WANTED);
}

/* Returns whether rank i has heard of the request for C1. */
static bool was_asked(const struct rcl_whole *w, int i)
{
  return takes_part(w, i) || (phase_of(w, i) == RECONNECTING && state_of(w, i)->later);
}

/* ---- one rank ---- */

static bool checkpoint_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct state *state = state_of(w, i);
  uint32_t phase = phase_of(w, i);
  if (is_behind(w, i) || phase == RUNNING || phase == RECONNECTING)
    return state->captured == w->committed &&
           (is_behind(w, i) || state->checkpoint == w->committed);
  if (phase == WANTED || phase == AGREEING || phase == GATHERING || phase == DRAINING ||
      phase == CAPTURING)
    return state->captured == w->committed && state->checkpoint == next_of(w);
  if (phase == WRITING)
    return state->captured == next_of(w) && state->checkpoint == next_of(w);
  return phase == WAITING && state->checkpoint == state->captured &&
         (state->captured == w->committed || state->captured == next_of(w));
}

static bool later_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  const struct state *state = state_of(w, i);
  return is_behind(w, i) || !state->later ||
         (i != RCL_COORDINATOR_RANK && state->phase == RECONNECTING && state->later == next_of(w));
}

static bool held_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return w->rank[i].held == (phase_of(w, i) >= AGREEING);
}

static bool is_no_newer(const struct peer *peer, uint32_t checkpoint)
{
  return peer->bookmark_for <= checkpoint && peer->drained_for <= checkpoint &&
         peer->empty_for <= checkpoint && peer->details_for <= checkpoint &&
         peer->asked_for <= checkpoint && peer->answer_for <= checkpoint;
}

/* Returns whether the image was captured when the peer was drained in both directions. */
static bool is_captured_as(const struct peer *peer, uint32_t checkpoint)
{
  return peer->bookmark_for <= checkpoint && peer->drained_for == checkpoint &&
         peer->empty_for == checkpoint && peer->details_for <= checkpoint &&
         peer->asked_for <= checkpoint && peer->answer_for <= checkpoint;
}

static bool newer_image_holds(const struct rcl_whole *w, int i, int j)
{
  const struct state *newer = w->rank[i].newer;
  if (!newer || !is_quiet_since(w, i, WRITING))
    return true;
  const struct peer *then = peer_in(w, newer, i, j), *now = peer_of(w, i, j);
  return newer->captured == next_of(w) && !newer->later && then->sent == now->sent &&
         then->received == now->received && is_captured_as(then, next_of(w));
}

static bool image_holds(const struct rcl_whole *w, int i, int j)
{
  const struct state *image = w->rank[i].committed;
  return !image || (image->captured == w->committed && !image->later &&
                    is_captured_as(peer_in(w, image, i, j), w->committed));
}

/* ---- from rank i to rank j ---- */

static bool line_holds(const struct rcl_whole *w, int i, int j)
{
  const struct state *from = w->rank[i].committed, *to = w->rank[j].committed;
  return !from || !to || peer_in(w, from, i, j)->sent == peer_in(w, to, j, i)->received;
}

static bool totals_hold(const struct rcl_whole *w, int i, int j)
{
  uint32_t sent = peer_of(w, i, j)->sent, received = peer_of(w, j, i)->received;
  return received <= sent && sent - received == rcl_whole_between(w, i, j)->messages;
}

static bool numbers_hold(const struct rcl_whole *w, int i, int j)
{
  return is_no_newer(peer_of(w, i, j), next_of(w));
}

/* The next three functions are about C1. The first returns whether j knows the total of i, the
 * second whether j has received that many messages, the third whether i knows that j has received
 * them. */
static bool is_told(const struct rcl_whole *w, int i, int j)
{
  return peer_of(w, j, i)->bookmark_for == next_of(w);
}

static bool is_drained(const struct rcl_whole *w, int i, int j)
{
  return peer_of(w, j, i)->drained_for == next_of(w);
}

static bool is_empty(const struct rcl_whole *w, int i, int j)
{
  return peer_of(w, i, j)->empty_for == next_of(w);
}

static bool is_once(const struct rcl_whole *w)
{
  return w->rank[0].config->parameter[EXCHANGE] != TWICE;
}

static bool bookmark_holds(const struct rcl_whole *w, int i, int j)
{
  bool once = is_once(w);
  const struct rcl_whole_control *bookmark = under_way(w, i, j, once ? TOTALS : BOOKMARK),
                                 *other = under_way(w, i, j, once ? BOOKMARK : TOTALS);
  const struct peer *peer = peer_of(w, i, j);
  uint32_t ways = bookmark->count + is_told(w, i, j);
  return ways == has_stopped(w, i) && !other->count &&
         (!bookmark->count ||
          (bookmark->about == (once ? peer->told : next_of(w)) && bookmark->value == peer->sent));
}

static bool told_holds(const struct rcl_whole *w, int i, int j)
{
  const struct peer *from = peer_of(w, i, j), *to = peer_of(w, j, i);
  return !is_told(w, i, j) ||
         (to->bookmark == from->sent && (i == j || !is_once(w) || to->confirmed == from->told));
}

static bool received_holds(const struct rcl_whole *w, int i, int j)
{
  const struct peer *peer = peer_of(w, j, i);
  return i == j || !is_once(w) || !has_stopped(w, j) || peer->told <= peer->received;
}

/* Returns whether i had sent more to j when i stopped than j had received when j stopped. */
static bool is_lacking(const struct rcl_whole *w, int i, int j)
{
  return i != j && has_stopped(w, i) && has_stopped(w, j) &&
         peer_of(w, i, j)->sent != peer_of(w, j, i)->told;
}

/* ---- turns ---- */

static bool has_turns(const struct rcl_whole *w)
{
  return takes_turns(w->rank[0].config);
}

/* Returns whether that turn of rank i is over, for C1. */
static bool is_over(const struct rcl_whole *w, int i, uint32_t turn)
{
  return has_turns(w) && has_stopped(w, i) && state_of(w, i)->turn > turn;
}

static bool has_asked(const struct rcl_whole *w, int i, int j)
{
  return peer_of(w, i, j)->asked_for == next_of(w);
}

/* Returns whether j has answered the details of i. */
static bool has_answered(const struct rcl_whole *w, int i, int j)
{
  return is_over(w, j, hearing_turn(j, i)) && is_lacking(w, i, j);
}

static bool knows_details(const struct rcl_whole *w, int i, int j)
{
  return peer_of(w, j, i)->details_for == next_of(w);
}

static bool knows_answer(const struct rcl_whole *w, int i, int j)
{
  return peer_of(w, i, j)->answer_for == next_of(w);
}

static bool turn_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  uint32_t turn = state_of(w, i)->turn;
  return !has_turns(w) || !has_stopped(w, i) ||
         (turn <= turns(w->ranks) && (phase_of(w, i) == DRAINING || turn == turns(w->ranks)));
}

static bool asked_holds(const struct rcl_whole *w, int i, int j)
{
  if (i == j || !has_turns(w))
    return !has_asked(w, i, j);
  uint32_t telling = telling_turn(i, j);
  if (has_asked(w, i, j) &&
      !(is_told(w, j, i) && is_lacking(w, i, j) && state_of(w, i)->turn >= telling))
    return false;
  return (!has_stopped(w, i) || !state_of(w, i)->turn || is_told(w, j, i)) &&
         (!is_over(w, i, telling) || !is_lacking(w, i, j) || knows_answer(w, i, j));
}

static bool answer_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *answer = under_way(w, j, i, ANSWER);
  return answer->count + knows_answer(w, i, j) == (i != j && has_answered(w, i, j)) &&
         (!answer->count || answer->about == next_of(w)) &&
         (i == j || !has_answered(w, i, j) || knows_details(w, i, j));
}

static bool details_hold(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *details = under_way(w, i, j, DETAILS);
  bool tells =
      has_turns(w) ? has_asked(w, i, j) : is_once(w) && is_told(w, j, i) && is_lacking(w, i, j);
  return details->count + knows_details(w, i, j) == tells &&
         (!details->count || details->about == next_of(w));
}

static bool drained_holds(const struct rcl_whole *w, int i, int j)
{
  const struct peer *peer = peer_of(w, j, i);
  return !is_drained(w, i, j) ||
         (has_stopped(w, i) && has_stopped(w, j) && is_told(w, i, j) &&
          peer->received == peer_of(w, i, j)->sent &&
          (!has_turns(w) || state_of(w, j)->turn == turns(w->ranks)) &&
          (!is_once(w) || !is_lacking(w, i, j) || peer->details_for == next_of(w)));
}

static bool empty_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *drained = under_way(w, j, i, DRAINED);
  if (drained->count && drained->about != next_of(w))
    return false;
  if (i == j || !is_once(w) || is_lacking(w, i, j))
    return drained->count + is_empty(w, i, j) == is_drained(w, i, j);
  return !drained->count && (!is_empty(w, i, j) || (has_stopped(w, i) && has_stopped(w, j)));
}

static bool quiet_holds(const struct rcl_whole *w, int i, int j)
{
  return !is_quiet_since(w, i, CAPTURING) || (is_empty(w, i, j) && is_drained(w, j, i));
}

/* ---- between the coordinator and rank j ---- */

static bool request_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *request = under_way(w, i, j, REQUEST);
  if (i != RCL_COORDINATOR_RANK || j == i)
    return !request->count;
  return request->count + was_asked(w, j) == takes_part(w, i) &&
         (!request->count || request->about == next_of(w));
}

/* A rank sends its address for checkpoint C before its bookmark for C1 (C + 1), and its address for
 * C1 when it reports that C1 is stored. */
static bool address_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *address = under_way(w, i, j, ADDRESS);
  if (i == j)
    return !address->count;
  return !address->count || (address->about == w->committed && !is_told(w, i, j)) ||
         (address->about == next_of(w) && has_reported(w, i));
}

/* Each checkpoint whose addresses may be on the way is C or C1. A rank that is behind forgets all
 * addresses at its start. */
static bool address_once_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *address = under_way(w, i, j, ADDRESS);
  return i == j || !address->count ||
         (address->about != RCL_FRESH &&
          (is_behind(w, j) || peer_of(w, j, i)->address_for < address->about));
}

static bool address_known_holds(const struct rcl_whole *w, int i, int j)
{
  uint32_t known = peer_of(w, j, i)->address_for;
  return i == j || is_behind(w, j) ||
         (known <= w->committed + has_reported(w, i) &&
          !(is_behind(w, i) && w->committed && known == w->committed));
}

/* Returns whether the address of i for that checkpoint is under way to j, or known there. */
static bool has_sent_address(const struct rcl_whole *w, int i, int j, uint32_t checkpoint)
{
  const struct rcl_whole_control *address = under_way(w, i, j, ADDRESS);
  return (address->count && address->about == checkpoint) ||
         (!is_behind(w, j) && peer_of(w, j, i)->address_for == checkpoint);
}

static bool opened_holds(const struct rcl_whole *w, int i, int j)
{
  uint32_t known = peer_of(w, i, j)->address_for, phase = phase_of(w, i);
  bool stays = state_of(w, i)->closed && (phase == RECONNECTING || phase == WAITING);
  return i == j || is_behind(w, i) || stays ||
         ((!has_sent_address(w, i, j, w->committed) || known >= w->committed) &&
          (!has_sent_address(w, i, j, next_of(w)) || known >= next_of(w)));
}

static bool iteration_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *iteration = under_way(w, i, j, ITERATION);
  if (i == j)
    return !iteration->count;
  return !iteration->count ||
         (iteration->about == next_of(w) && takes_part(w, i) && !is_told(w, i, j));
}

/* Control messages of C and C1 follow each other on a channel in this order. */
static bool order_holds(const struct rcl_whole *w, int i, int j)
{
  static const uint8_t orders[2][14] = {{ADDRESS, RELEASE, ITERATION, REQUEST, HELD, BEGIN,
                                         BOOKMARK, TOTALS, ANSWER, DETAILS, DRAINED, ADDRESS, DONE},
                                        {ADDRESS, RELEASE, ITERATION, REQUEST, HELD, BEGIN,
                                         BOOKMARK, TOTALS, DETAILS, ANSWER, DRAINED, ADDRESS,
                                         DONE}};
  const uint8_t *order = orders[i < j];
  const struct rcl_whole_control *control = rcl_whole_between(w, i, j)->control;
  uint32_t place = 0, wrong = control[0].count;
  for (unsigned k = 0; k < 13; k++) {
    const struct rcl_whole_control *next = &control[order[k]];
    uint32_t is_other = order[k] == ADDRESS && next->about != (k ? next_of(w) : w->committed),
             is_here = (next->count != 0) & !is_other;
    wrong |= is_here & ((next->count != 1) | (next->place != place));
    place += is_here;
  }
  return !wrong;
}

/* A rank that has yet to start has sent nothing. */
static bool silent_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_channel *channel = rcl_whole_between(w, i, j);
  uint32_t count = channel->messages;
  for (int kind = REQUEST; kind <= BEGIN; kind++)
    count |= channel->control[kind].count;
  return !is_behind(w, i) || !count;
}

/* Section 3.3 asks for this: no message of a peer is under way when a rank is captured. */
static bool channels_hold(const struct rcl_whole *w, int i, int j)
{
  uint32_t under_way = rcl_whole_between(w, i, j)->messages | rcl_whole_between(w, j, i)->messages;
  return !is_quiet_since(w, i, CAPTURING) || !under_way;
}

/* ---- GATHERED ---- */

static bool is_gathered(const struct rcl_whole *w)
{
  return w->rank[0].config->parameter[EXCHANGE] == GATHERED;
}

static bool has_held(const struct rcl_whole *w, int i)
{
  return is_quiet_since(w, i, GATHERING);
}

static bool told_held_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *held = under_way(w, i, j, HELD);
  return !held->count || (is_gathered(w) && i != j && j == RCL_COORDINATOR_RANK && has_held(w, i) &&
                          held->about == next_of(w));
}

static bool begin_holds(const struct rcl_whole *w, int i, int j)
{
  const struct rcl_whole_control *begin = under_way(w, i, j, BEGIN);
  if (i != RCL_COORDINATOR_RANK || i == j || !is_gathered(w))
    return !begin->count;
  return begin->count + has_stopped(w, j) == has_stopped(w, i) &&
         (!begin->count || (phase_of(w, j) == GATHERING && begin->about == next_of(w)));
}

/* ---- all ranks ---- */

static bool gathered_holds(const struct rcl_whole *w, int i, int j)
{
  (void)i, (void)j;
  uint32_t held = 0;
  for (int each = 0; each < w->ranks; each++)
    held += has_held(w, each) && !under_way(w, each, RCL_COORDINATOR_RANK, HELD)->count;
  if (!is_gathered(w) || is_behind(w, RCL_COORDINATOR_RANK) || !takes_part(w, RCL_COORDINATOR_RANK))
    return true;
  return state_of(w, RCL_COORDINATOR_RANK)->gathered == held &&
         (has_stopped(w, RCL_COORDINATOR_RANK) == (held == (uint32_t)w->ranks));
}

static bool waits_for_all_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  return phase_of(w, i) != GATHERING || is_gathered(w);
}

static bool count_holds(const struct rcl_whole *w, int i, int j)
{
  (void)i, (void)j;
  uint32_t done = 0;
  for (int each = 0; each < w->ranks; each++)
    done += has_reported(w, each) && !under_way(w, each, RCL_COORDINATOR_RANK, DONE)->count;
  bool counts = takes_part(w, RCL_COORDINATOR_RANK);
  return is_behind(w, RCL_COORDINATOR_RANK) ||
         state_of(w, RCL_COORDINATOR_RANK)->done == (counts ? done : 0);
}

static bool committing_holds(const struct rcl_whole *w, int i, int j)
{
  (void)j;
  if (i != RCL_COORDINATOR_RANK)
    return is_behind(w, i) || !state_of(w, i)->done;
  bool all = takes_part(w, i) && state_of(w, i)->done == (uint32_t)w->ranks;
  return w->committing == (all ? next_of(w) : 0);
}

/* clang-format off */
static const struct rcl_clause line[] = {
    {"checkpoint", "in each phase the checkpoint under way and the last captured are C or C1",
     RCL_OF_RANK, false, checkpoint_holds},
    {"later", "only a rank that reconnects keeps a request, for C1, and not the coordinator",
     RCL_OF_RANK, false, later_holds},
    {"held", "the program is held from AGREEING or DRAINING until the release",
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
    {"totals", "what is under way from i to j is what i has sent less what j has received",
     RCL_OF_PAIR, false, totals_hold},
    {"numbers", "what is known of a peer is about no checkpoint behind C1",
     RCL_OF_PAIR, false, numbers_hold},
    {"bookmark", "the total of i is under way to j or known there exactly if i has stopped for C1",
     RCL_OF_PAIR, false, bookmark_holds},
    {"told", "the total that j knows of i is what i has sent",
     RCL_OF_PAIR, false, told_holds},
    {"received", "what j has received is no less than the total that it has told when it stopped",
     RCL_OF_PAIR, false, received_holds},
    {"details", "details go to j, or are known there, exactly if i knows that j lacks messages",
     RCL_OF_PAIR, false, details_hold},
    {"turn", "a rank captures when all its turns are over",
     RCL_OF_RANK, false, turn_holds},
    {"asked", "i goes on behind its turn to tell j when j has answered, or lacks nothing",
     RCL_OF_PAIR, false, asked_holds},
    {"answer", "an answer is under way to i, or known there, exactly if j has heard the details",
     RCL_OF_PAIR, false, answer_holds},
    {"drained", "what j has found drained has stopped, as j has, and all is received",
     RCL_OF_PAIR, false, drained_holds},
    {"empty", "that j is drained is under way to i, or known there, exactly if it is so",
     RCL_OF_PAIR, false, empty_holds},
    {"quiet", "from CAPTURING on nothing is under way from i or to it",
     RCL_OF_PAIR, false, quiet_holds},
    {"newer image", "the image of C1 has the totals that its rank has",
     RCL_OF_PAIR, false, newer_image_holds},
    {"gathering", "a program waits for all others to be held only if ranks gather",
     RCL_OF_RANK, false, waits_for_all_holds},
    {"told held", "only a rank whose program is held for C1 tells so, to the coordinator",
     RCL_OF_PAIR, false, told_held_holds},
    {"begin", "that all are held is under way to j, or heard there, exactly if it was told",
     RCL_OF_PAIR, false, begin_holds},
    {"request", "the request for C1 is under way to j, or heard there, exactly if it was made",
     RCL_OF_PAIR, false, request_holds},
    {"release", "the release of C is under way to j exactly if j waits for it",
     RCL_OF_PAIR, false, release_holds},
    {"done", "a rank reports C1 once, to the coordinator, when its image is durable",
     RCL_OF_PAIR, false, done_holds},
    {"order", "at most one control message of a kind and a checkpoint, in a fixed order",
     RCL_OF_PAIR, false, order_holds},
    {"address", "an address of C is under way only before the total for C1, one of C1 behind it",
     RCL_OF_PAIR, false, address_holds},
    {"address once", "an address that is under way to j is not known there",
     RCL_OF_PAIR, false, address_once_holds},
    {"address known", "j knows no address of i that i has yet to send",
     RCL_OF_PAIR, false, address_known_holds},
    {"opened", "a rank that has sent its address goes on when it knows that of the other",
     RCL_OF_PAIR, false, opened_holds},
    {"iteration", "an iteration is under way only for C1, before the total",
     RCL_OF_PAIR, false, iteration_holds},
    {"silent", "nothing is under way from a rank that has yet to start",
     RCL_OF_PAIR, false, silent_holds},
    {"channels", "from CAPTURING on no message of the program is under way from i or to it",
     RCL_OF_PAIR, false, channels_hold},
    {"gathered", "the coordinator has counted the ranks that have told that they are held",
     RCL_OF_ALL, false, gathered_holds},
    {"count", "the coordinator has counted the ranks that have reported C1",
     RCL_OF_ALL, false, count_holds},
    {"committing", "C1 is being committed exactly if all are counted, by the coordinator alone",
     RCL_OF_RANK, false, committing_holds},
    {"image", "the image of C was taken as C, and drained for C, both ways",
     RCL_OF_PAIR, true, image_holds},
    {"restorable", "the image of C is durable",
     RCL_OF_RANK, true, restorable_holds},
    {"line", "by the images of C, j has received from i what i has sent to it",
     RCL_OF_PAIR, true, line_holds},
    {NULL, NULL, RCL_OF_ALL, false, NULL}};
/* clang-format on */

#endif
