/* Judges properties while a step is taken, and notes what the step shows: lines that messages
 * cross, ranks that roll back, recorded global states, channels at a capture. */
#include "world/rules/properties.h"
#include "world/rules/world_step.h"

/* ---- what runs have shown ---- */

void world_reach_commit(struct step_context *t, uint32_t checkpoint, uint16_t recoveries)
{
  reached_note(&t->verdict->reached, REACH_COMMITS, checkpoint);
  reached_note(&t->verdict->reached, REACH_LATER_COMMITS, recoveries);
}

void world_reach_start(struct step_context *t)
{
  if (t->event.checkpoint == RCL_FRESH)
    return;
  reached_note(&t->verdict->reached, REACH_RECOVERIES, read_rank(t->w, t->rank)->incarnation);
  reached_note(&t->verdict->reached, REACH_RECOVERED, t->event.checkpoint);
}

void world_reach_crossing(struct step_context *t, uint32_t line)
{
  uint32_t here = read_rank(t->w, t->rank)->line;
  reached_note(&t->verdict->reached, REACH_LATE, line < here);
  reached_note(&t->verdict->reached, REACH_EARLY, line > here);
  world_occasion(t, PROPERTY_UNCROSSED);
  if (line != here)
    world_violate(t, "uncrossed", "sent behind checkpoint %u, and received by rank %d behind %u",
                  line, t->rank, here);
}

void world_reach_action(struct step_context *t, const struct rcl_action *action)
{
  struct reached *reached = &t->verdict->reached;
  if (!read_rank(t->w, t->rank)->noticed)
    return;
  switch ((enum rcl_action_kind)action->kind) {
  case RCL_ACTION_RESEND:
    reached_note(reached, REACH_REPLAYED, 1);
    break;
  case RCL_ACTION_DELIVER:
    reached_note(reached, REACH_REPLAYED, action->slot != RCL_NO_SLOT);
    break;
  case RCL_ACTION_SUPPRESS:
  case RCL_ACTION_DISCARD:
    reached_note(reached, REACH_SUPPRESSED, 1);
    break;
  case RCL_ACTION_MATCH:
    reached_note(reached, REACH_FORCED,
                 action->peer != t->event.peer || action->tag != t->event.tag);
    break;
  case RCL_ACTION_FORCE:
    reached_note(reached, REACH_FORCED, 1);
    break;
  default:
    break;
  }
}

/* ---- claims about lines, seen from outside ---- */

void world_check_lines(struct step_context *t, uint32_t stopped)
{
  const struct world_rank *me = read_rank(t->w, t->rank);
  if (!t->w->line_stamps)
    return;
  world_occasion(t, PROPERTY_C3_1_2);
  world_occasion(t, PROPERTY_C3_1_3);
  world_reach_crossing(t, t->message.line);
  if (t->message.stopped > me->stopped)
    world_violate(t, "c3-1.2", "rank %d beyond stop-log line %u sent to rank %d behind it",
                  t->event.peer, t->message.stopped, t->rank);
  if (stopped > t->message.line)
    world_violate(t, "c3-1.3",
                  "rank %d beyond stop-log line %u received from rank %d behind line %u", t->rank,
                  stopped, t->event.peer, stopped);
}

void world_check_share_lines(struct step_context *t, int peer, const struct world_message *share)
{
  if (!t->w->line_stamps || t->event.flow == RCL_FLOW_BARRIER) /* no data flow */
    return;
  world_occasion(t, PROPERTY_C3_2_2);
  world_occasion(t, PROPERTY_C3_2_3);
  world_reach_crossing(t, share->line);
  if (share->stopped > t->newest_stop) {
    t->newest_stop = share->stopped;
    t->newest_peer = peer;
  }
  if (read_rank(t->w, t->rank)->stopped > share->line)
    world_violate(t, "c3-2.3",
                  "data flowed from rank %d behind line %u to rank %d beyond stop-log line", peer,
                  share->line + 1, t->rank);
}

void world_check_collected_lines(struct step_context *t)
{
  if (t->newest_stop > read_rank(t->w, t->rank)->stopped)
    world_violate(t, "c3-2.2",
                  "data flowed from rank %d beyond stop-log line %u to rank %d behind it",
                  t->newest_peer, t->newest_stop, t->rank);
}

/* Returns whether the claim concerns the rank, which has neither crashed nor rolled back yet. */
static bool same_life(const struct step_context *t, int rank)
{
  const struct world_rank *other = read_rank(t->w, rank);
  return other->phase <= RANK_CAPTURING &&
         other->incarnation == read_rank(t->w, t->rank)->incarnation;
}

/* ---- claims about ranks that roll back, and how far ---- */

/* Judges `once-per-failure`: each rollback needs a failure that was noticed after the previous
 * rollback. The first rollback is the occasion to judge, because another could follow. */
static void judge_once(struct step_context *t)
{
  if (!is_judged(t->w, "once-per-failure"))
    return; /* if the property is not judged, the note would only multiply states */
  struct world_rank *me = edit_rank(t->w, t->rank);
  world_occasion(t, PROPERTY_ONCE_PER_FAILURE);
  if (me->set_back)
    world_violate(t, "once-per-failure",
                  "rank %d goes back again, and has noticed no failure since", t->rank);
  me->set_back = true;
}

/* Returns how many stored checkpoints of the rank are later than `checkpoint`. */
static uint32_t count_passed(const struct step_context *t, uint32_t checkpoint)
{
  uint32_t count, passed = 0;
  const struct world_record *stored =
      READ_LIST(struct world_record, t->w, WORLD_STORED, t->rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    passed +=
        stored[i].part == RCL_PART_IMAGE && stored[i].durable && stored[i].checkpoint > checkpoint;
  return passed;
}

/* Notes the occasions to judge how far ranks go back. A survivor that is told of a failure could go
 * back behind its last capture if there is one, and past two checkpoints if it has stored two. */
void world_judge_told(struct step_context *t)
{
  world_occasion(t, PROPERTY_LOCAL_ROLLBACK);
  if (read_rank(t->w, t->rank)->line != RCL_FRESH)
    world_occasion(t, PROPERTY_OWN_ITERATION);
  if (is_judged(t->w, "no-domino") && count_passed(t, RCL_FRESH) > 1)
    world_occasion(t, PROPERTY_NO_DOMINO);
}

void world_judge_set_back(struct step_context *t, uint32_t checkpoint)
{
  judge_once(t);
  world_judge_told(t);
  world_violate(t, "local-rollback", "rank %d lives and goes back to checkpoint %u", t->rank,
                checkpoint);
  if (checkpoint != read_rank(t->w, t->rank)->line)
    world_violate(t, "own-iteration", "rank %d lives and goes back behind its last capture, to %u",
                  t->rank, checkpoint);
  uint32_t passed = is_judged(t->w, "no-domino") ? count_passed(t, checkpoint) : 0;
  if (passed > 1)
    world_violate(t, "no-domino", "rank %d goes back to checkpoint %u, past %u of its checkpoints",
                  t->rank, checkpoint, passed);
}

void world_check_all_beyond(struct step_context *t, uint32_t checkpoint)
{
  if (!is_judged(t->w, "c3-1.1"))
    return; /* the property concerns all ranks */
  world_occasion(t, PROPERTY_C3_1_1);
  for (int rank = 0; rank < t->w->ranks; rank++)
    if (same_life(t, rank) && read_rank(t->w, rank)->line < checkpoint)
      world_violate(t, "c3-1.1", "rank %d stopped logging before rank %d was beyond line %u",
                    t->rank, rank, checkpoint);
}

void world_check_tokens(struct step_context *t, uint32_t more)
{
  if (!is_judged(t->w, "tokens"))
    return;
  struct world_tokens *tokens = world_edit(t->w, WORLD_TOKENS, 0, 0, sizeof *tokens);
  tokens->more += more;
  if (++tokens->ranks < (uint32_t)t->w->ranks)
    return;
  world_occasion(t, PROPERTY_TOKENS);
  if (tokens->more)
    world_violate(t, "tokens", "the recorded global state has %d messages more than were sent",
                  (int)tokens->more);
  list_clear(t->w, WORLD_TOKENS, 0, 0);
}

static uint32_t under_way(const struct step_context *t, int from, int to)
{
  uint32_t count, found = 0;
  const struct world_message *channel =
      READ_LIST(struct world_message, t->w, WORLD_CHANNEL, from, to, &count);
  for (uint32_t i = 0; i < count; i++)
    found += !is_control(&channel[i]) && world_exists(read_rank(t->w, t->rank), &channel[i]);
  return found;
}

void world_check_quiet(struct step_context *t)
{
  if (!is_judged(t->w, "quiet-channels"))
    return; /* the property reads all channels, so every capture would depend on all of them */
  world_occasion(t, PROPERTY_QUIET_CHANNELS);
  for (int peer = 0; peer < t->w->ranks; peer++) {
    uint32_t in = under_way(t, peer, t->rank), out = under_way(t, t->rank, peer);
    if (in || out)
      world_violate(t, "quiet-channels", "captured with %u messages %s rank %d under way",
                    in ? in : out, in ? "from" : "to", peer);
  }
}
