/* Has the turns in which a rank settles with its peers which messages are under way (`exchange` at
 * IN_TURN or GATHERED). Only bookmark.c includes this file, after is_reached().
 *
 * Source: Open MPI 1.3, crcp/bkmrk: ft_event_check_bookmarks(), send_msg_details(),
 * recv_msg_details(), ft_event_post_drained(), ft_event_wait_quiesce().
 *
 * When a rank has the totals of all peers, it goes through them by their ranks. Each peer has two
 * turns. In one of them this rank tells details, if the peer lacks messages, and waits for the
 * answer; in the other it waits for details, if it lacks messages itself, and answers. Of two ranks
 * the lower one tells first. So a rank waits only for a pair of ranks that comes earlier in one
 * order of all pairs, and never in a circle. Messages are drained behind the last turn, and all
 * peers that have sent some are told so together.
 *
 * Open MPI tells details of each kind of message (tag, length, communicator), until the receiver
 * knows enough. Here one message tells how many there are.
 */
#ifndef RECLINE_BOOKMARK_TURNS_H
#define RECLINE_BOOKMARK_TURNS_H

#include "protocols/bookmark_state.h"

static bool takes_turns(const struct rcl_config *config)
{
  return config->parameter[EXCHANGE] >= IN_TURN;
}

/* Returns whether all peers have told their totals. */
static bool all_have_told(const struct rcl_config *config, const struct state *state)
{
  for (int i = 0; i < config->ranks; i++)
    if (peers(config, state)[i].bookmark_for != state->checkpoint)
      return false;
  return true;
}

static uint32_t turns(int ranks)
{
  return 2 * (uint32_t)ranks;
}

/* Returns the turn in which rank `self` tells details to rank i. The turn in which it hears those
 * of rank i is the other one of the two. */
static uint32_t telling_turn(int self, int i)
{
  return 2 * (uint32_t)i + (self > i);
}

static uint32_t hearing_turn(int self, int i)
{
  return 2 * (uint32_t)i + (self < i);
}

/* Tells peer i the details of what it lacks, and returns whether it has answered. */
static bool tell_details(const struct rcl_config *config, const struct state *state, int i,
                         struct rcl_actions *actions)
{
  struct peer *peer = &peers(config, state)[i];
  if (peer->sent == peer->confirmed)
    return true;
  if (peer->asked_for != state->checkpoint) {
    peer->asked_for = state->checkpoint;
    rcl_send_control(actions, i, DETAILS, state->checkpoint, peer->sent - peer->confirmed);
  }
  return peer->answer_for == state->checkpoint;
}

/* Answers the details of peer i; returns false while they have not come. */
static bool hear_details(const struct rcl_config *config, const struct state *state, int i,
                         struct rcl_actions *actions)
{
  const struct peer *peer = &peers(config, state)[i];
  if (!differs(peer))
    return true;
  if (peer->details_for != state->checkpoint)
    return false;
  rcl_send_control(actions, i, ANSWER, state->checkpoint, 0);
  return true;
}

/* Does what is due in a turn, and returns whether the turn is over. */
static bool end_turn(const struct rcl_config *config, const struct state *state, uint32_t turn,
                     struct rcl_actions *actions)
{
  int i = (int)(turn / 2);
  if (i == config->self)
    return true;
  if (turn == telling_turn(config->self, i))
    return tell_details(config, state, i, actions);
  return hear_details(config, state, i, actions);
}

/* Takes as many turns as it can, and drains messages behind the last one. The loop goes over all
 * turns, not from the present one on: so each round is about a peer that the prover knows. */
static void take_turns(const struct rcl_config *config, struct state *state,
                       struct rcl_actions *actions)
{
  if (!takes_turns(config) || state->phase != DRAINING || state->turn >= turns(config->ranks) ||
      !all_have_told(config, state))
    return;
  for (uint32_t turn = 0; turn < turns(config->ranks); turn++)
    if (state->turn == turn && end_turn(config, state, turn, actions))
      state->turn++;
  if (state->turn == turns(config->ranks))
    rcl_act(actions, RCL_ACTION_DRAIN)->peer = RCL_ANY;
}

/* Returns whether this rank may tell peers that their channels are empty. With turns it tells
 * all of them together, when its turns are over and all channels are empty. */
static bool may_answer(const struct rcl_config *config, const struct state *state)
{
  if (!takes_turns(config))
    return true;
  for (int i = 0; i < config->ranks; i++)
    if (!is_reached(config, state, i))
      return false;
  return state->turn == turns(config->ranks);
}

#endif
