/* Lets the actions of a step take effect in the world. */
#include <limits.h>
#include <stdio.h>

#include "protocols/grammar.h"
#include "world/rules/world_step.h"

/* Judges that a rank sends through open connections. A receiver that has died, or that must restart
 * for a later recovery, does not count, because the message is lost. */
static void check_open(struct step_context *t, int peer)
{
  const struct world_rank *me = read_rank(t->w, t->rank);
  const struct world_head to = read_rank_head(t->w, peer);
  bool runs = to.phase <= RANK_CAPTURING, same = runs && to.incarnation == me->incarnation;
  bool waited_for = (runs || to.phase == RANK_RESTORING || to.phase == RANK_RESTARTING) &&
                    read_global(t->w)->incarnation == me->incarnation;
  if (me->closed & CONNECTIONS_CLOSED)
    world_violate(t, "legal", "rank %d sends while its connections are closed", t->rank);
  else if (same ? to.closed & CONNECTIONS_CLOSED : waited_for && me->closed & CONNECTIONS_ANEW)
    world_violate(t, "legal", "rank %d sends to rank %d, whose connections are closed", t->rank,
                  peer);
}

static void transmit_message(struct step_context *t, const struct rcl_action *action)
{
  check_open(t, t->event.peer);
  memcpy(t->message.words, action->words, sizeof t->message.words);
  world_put_on(t, WORLD_CHANNEL, t->event.peer, &t->message);
  if (t->w->script && t->w->script->synchronous)
    world_begin_synchronous(t->w, t->rank, t->message.incarnation);
}

static void send_control(struct step_context *t, const struct rcl_action *action)
{
  struct world_message message = {.comm = CONTROL_COMM,
                                  .incarnation = read_rank(t->w, t->rank)->noticed};
  memcpy(message.words, action->words, sizeof message.words);
  world_put_on(t, control_part(t->w), action->peer, &message);
}

/* Returns whether the receive may get the message. A receive from RCL_NOBODY was cancelled before a
 * crash, and will be cancelled again. */
static bool may_match(const struct step_context *t, const struct world_receive *receive,
                      const struct rcl_action *action)
{
  bool nobody = action->peer == RCL_NOBODY && read_rank(t->w, t->rank)->incarnation > 0;
  return rcl_matches(nobody ? RCL_ANY : receive->peer, receive->tag, action->peer, action->tag);
}

static void restrict_receive(struct step_context *t, const struct rcl_action *action)
{
  uint32_t count;
  READ_LIST(struct world_receive, t->w, WORLD_POSTED, t->rank, 0, &count);
  struct world_receive *posted =
      world_edit(t->w, WORLD_POSTED, t->rank, 0, count * (uint32_t)sizeof *posted);
  for (uint32_t i = 0; i < count; i++) {
    struct world_receive *receive = &posted[i];
    if (receive->request != action->request)
      continue;
    if (!may_match(t, receive, action))
      world_violate(t, "legal",
                    "receive %u may not match rank %d, tag %d: the program asks for another",
                    action->request, action->peer, action->tag);
    receive->announced = true;
    receive->from = action->peer;
    receive->from_tag = action->tag;
    return;
  }
  world_violate(t, "legal", "receive %u is not posted", action->request);
}

/* Returns the index that `slot` has or would have among the sorted slots. */
static uint32_t find_slot(const struct step_context *t, uint32_t slot, bool *full)
{
  uint32_t count, first = 0;
  const struct world_slot *slots =
      READ_LIST(struct world_slot, t->w, WORLD_SLOTS, t->rank, 0, &count);
  for (uint32_t end = count; first < end;) {
    uint32_t middle = first + (end - first) / 2;
    if (slots[middle].slot < slot)
      first = middle + 1;
    else
      end = middle;
  }
  *full = first < count && slots[first].slot == slot;
  return first;
}

/* Withdraws the announcement of the receive whose message is in a slot. */
static void withdraw_announcement(const struct step_context *t)
{
  uint32_t place, count;
  if (!world_is_posted(t->w, t->rank, t->event.request, &place))
    return;
  READ_LIST(struct world_receive, t->w, WORLD_POSTED, t->rank, 0, &count);
  struct world_receive *posted =
      world_edit(t->w, WORLD_POSTED, t->rank, 0, count * (uint32_t)sizeof *posted);
  world_withdraw(&posted[place]);
}

static void keep_message(struct step_context *t, const struct rcl_action *action)
{
  bool full;
  uint32_t i = find_slot(t, action->slot, &full);
  if (full) {
    world_violate(t, "legal", "slot %u, expected one that is empty", action->slot);
    return;
  }
  struct world_slot slot = {.slot = action->slot,
                            .peer = t->event.peer,
                            .sent = t->event.kind == RCL_EVENT_SEND,
                            .message = t->message};
  slot.message.incarnation = 0;
  slot.message.behind = 0;
  slot.message.after = slot.message.before = (struct world_alarm){0};
  list_insert(t->w, WORLD_SLOTS, t->rank, 0, i, &slot, sizeof slot);
  if (t->event.kind == RCL_EVENT_ARRIVED && t->event.request != RCL_NO_REQUEST)
    withdraw_announcement(t);
}

static void empty_slot(struct step_context *t, const struct rcl_action *action)
{
  bool full;
  uint32_t i = find_slot(t, action->slot, &full);
  if (full)
    list_remove(t->w, WORLD_SLOTS, t->rank, 0, i, sizeof(struct world_slot));
  else
    world_violate(t, "legal", "slot %u is empty, expected one that keep has filled", action->slot);
}

static void resend_message(struct step_context *t, const struct rcl_action *action)
{
  bool full;
  uint32_t count, i = find_slot(t, action->slot, &full);
  const struct world_slot *slots =
      READ_LIST(struct world_slot, t->w, WORLD_SLOTS, t->rank, 0, &count);
  bool sent = full && (slots[i].message.sequence ||
                       /* so the message is not the result of a collective call */
                       !world_follows(t->w));
  if (!sent) {
    world_violate(t, "legal", "slot %u, expected a message that keep has put there", action->slot);
    return;
  }
  struct world_message message = slots[i].message;
  message.incarnation = read_rank(t->w, t->rank)->noticed;
  message.after = read_rank(t->w, t->rank)->rung;
  memcpy(message.words, action->words, sizeof message.words);
  world_put_on(t, WORLD_CHANNEL, action->peer, &message);
}

/* Gives the message to the receive that the protocol names or, below the matching, to MPI's
 * matching. */
static void hand_over(struct step_context *t, uint32_t request, int peer,
                      const struct world_message *message)
{
  if (below_matching(t->w))
    world_pass_up(t, peer, message);
  else
    world_give(t, request, peer, message);
}

static bool is_result(const struct step_context *t, const struct world_slot *slot)
{
  return !slot->sent && !slot->message.sequence && slot->message.comm == t->event.comm &&
         slot->message.tag == t->event.call;
}

static void deliver_message(struct step_context *t, const struct rcl_action *action)
{
  bool full;
  uint32_t count;
  if (action->slot == RCL_NO_SLOT) {
    if (t->event.kind == RCL_EVENT_ARRIVED)
      hand_over(t, action->request, t->event.peer, &t->message);
    else if (read_program(t->w, t->rank)->call.state != CALL_NONE)
      world_end_call(t, !content_is_none(&t->message.content), t->message.content);
    else
      world_violate(t, "legal", "the program is in no collective");
    return;
  }
  uint32_t i = find_slot(t, action->slot, &full);
  if (!full) {
    world_violate(t, "legal", "slot %u is empty, expected one that keep has filled", action->slot);
    return;
  }
  struct world_slot slot = READ_LIST(struct world_slot, t->w, WORLD_SLOTS, t->rank, 0, &count)[i];
  if (t->event.kind == RCL_EVENT_COLLECTIVE && !is_result(t, &slot))
    world_violate(t, "legal", "slot %u, expected one that has kept the result of the call",
                  action->slot);
  else if (t->event.kind == RCL_EVENT_COLLECTIVE)
    world_end_call(t, true, slot.message.content);
  else
    hand_over(t, action->request, slot.peer, &slot.message);
}

/* Returns why the rank cannot be captured, or NULL if it can. An image is usable only if the
 * program is at a place or held, and not within a collective, because no protocol sees the messages
 * within a collective. */
static const char *refuses_capture(const struct step_context *t)
{
  const struct world_rank *me = read_rank(t->w, t->rank);
  bool barrier = t->event.kind == RCL_EVENT_COLLECTED;
  if (t->event.kind != RCL_EVENT_SAFE_POINT && !barrier && !me->held && !below_matching(t->w))
    return "the program runs, expected a safe point, a barrier, or hold before";
  return !barrier && read_program(t->w, t->rank)->call.state == CALL_JOINED
             ? "the program is in a collective, expected one that is over"
             : NULL;
}

static void begin_capture(struct step_context *t, const struct rcl_action *action)
{
  const char *why = refuses_capture(t);
  if (why) {
    world_violate(t, "legal", "%s", why);
    return;
  }
  struct world_rank *me = edit_rank(t->w, t->rank);
  if (action->checkpoint <= me->line)
    world_violate(t, "legal", "checkpoint %u, expected a later one than %u, the last",
                  action->checkpoint, me->line);
  me->phase = RANK_CAPTURING;
  me->capturing = action->checkpoint;
}

static void ask_commit(struct step_context *t, const struct rcl_action *action)
{
  if (world_fenced(t))
    return;
  if (read_global(t->w)->committing)
    world_violate(t, "legal", "checkpoint %u is being committed, expected committed first",
                  read_global(t->w)->committing);
  if (action->checkpoint <= read_global(t->w)->committed)
    world_violate(t, "legal", "checkpoint %u, expected a later one than %u, the last committed",
                  action->checkpoint, read_global(t->w)->committed);
  edit_global(t->w)->committing = action->checkpoint;
}

static void roll_back(struct step_context *t, const struct rcl_action *action)
{
  if (t->w->protocol->independent) {
    world_set_back(t, action->checkpoint);
    return;
  }
  world_judge_set_back(t, action->checkpoint);
  world_wipe(t->w, t->rank, RANK_RESTORING, read_global(t->w)->incarnation);
}

static void give_up(struct step_context *t, const struct rcl_action *action)
{
  edit_rank(t->w, t->rank)->gave_up = action->reason;
  if (t->verdict->kind != VERDICT_FINE)
    return;
  t->verdict->kind = VERDICT_GAVE_UP;
  t->verdict->rank = t->rank;
  t->verdict->reason = action->reason;
  char why[TEXT_MAX];
  give_up_print(action, t->w->config[t->rank].capacity, why);
  snprintf(t->verdict->text, sizeof t->verdict->text, "%.*s", (int)sizeof t->verdict->text - 1,
           why);
}

/* Forces the outcome of a choice. The outcome must repeat one from before a crash; if there was no
 * crash, the program must choose. In a run, only the program's call knows how many outcomes there
 * are (host_choose()). */
static void force_outcome(struct step_context *t, const struct rcl_action *action)
{
  struct rcl_event event;
  unsigned choices = UINT_MAX;
  if (read_rank(t->w, t->rank)->noticed == 0)
    world_violate(t, "legal", "outcome %u is forced before any crash", action->outcome);
  if (world_script_event(t->w, t->rank, &event, &choices) && action->outcome >= choices) {
    world_violate(t, "legal", "outcome %u, expected one below %u", action->outcome, choices);
    return;
  }
  t->outcome = action->outcome;
}

static void note_timer(const struct step_context *t)
{
  bool asks = !t->w->protocol->clocks || t->rank == RCL_COORDINATOR_RANK;
  if (t->w->protocol->independent)
    edit_rank(t->w, t->rank)->timed = true;
  else if (asks && !read_global(t->w)->timed)
    edit_global(t->w)->timed = true;
}

static void carry_out(struct step_context *t, const struct rcl_action *action)
{
  t->action = action;
  world_reach_action(t, action);
  switch ((enum rcl_action_kind)action->kind) {
  case RCL_ACTION_TRANSMIT:
    transmit_message(t, action);
    break;
  case RCL_ACTION_SUPPRESS:
    if (t->event.kind == RCL_EVENT_COLLECTIVE)
      world_end_call(t, false, content_of(0));
    break;
  case RCL_ACTION_JOIN:
    world_join_call(t, action);
    break;
  case RCL_ACTION_REJOIN:
    world_rejoin_call(t, action);
    break;
  case RCL_ACTION_MATCH:
    restrict_receive(t, action);
    break;
  case RCL_ACTION_DELIVER:
    deliver_message(t, action);
    break;
  case RCL_ACTION_KEEP:
    keep_message(t, action);
    break;
  case RCL_ACTION_FORGET:
    empty_slot(t, action);
    break;
  case RCL_ACTION_RESEND:
    resend_message(t, action);
    break;
  case RCL_ACTION_FORCE:
    force_outcome(t, action);
    break;
  case RCL_ACTION_CONTROL:
    send_control(t, action);
    break;
  case RCL_ACTION_HOLD:
    edit_rank(t->w, t->rank)->held = true;
    break;
  case RCL_ACTION_RELEASE:
    edit_rank(t->w, t->rank)->held = false;
    edit_rank(t->w, t->rank)->draining = 0;
    break;
  case RCL_ACTION_DRAIN:
    edit_rank(t->w, t->rank)->draining = (uint16_t)(action->peer + 2);
    break;
  case RCL_ACTION_CAPTURE:
    begin_capture(t, action);
    break;
  case RCL_ACTION_COMMIT:
    ask_commit(t, action);
    break;
  case RCL_ACTION_ERASE:
    if (!world_fenced(t))
      world_erase(t, action->checkpoint);
    break;
  case RCL_ACTION_ROLL_BACK:
    roll_back(t, action);
    t->rolled_back = true;
    break;
  case RCL_ACTION_OPEN:
    if (!(read_rank(t->w, t->rank)->closed & CONNECTIONS_CLOSED))
      world_violate(t, "legal", "the connections are open, expected closed ones");
    edit_rank(t->w, t->rank)->closed &= (uint16_t)~CONNECTIONS_CLOSED;
    break;
  case RCL_ACTION_SET_TIMER:
    note_timer(t);
    if (t->w->protocol->clocks)
      world_set_alarm(t, action);
    else
      edit_rank(t->w, t->rank)->timer = true;
    break;
  case RCL_ACTION_OUTPUT:
    world_let_out(t, action);
    break;
  case RCL_ACTION_STOPPED_LOGGING:
    edit_rank(t->w, t->rank)->stopped = action->checkpoint;
    world_check_all_beyond(t, action->checkpoint);
    world_check_tokens(t, action->surplus);
    break;
  case RCL_ACTION_GIVE_UP:
    give_up(t, action);
    break;
  default:
    break;
  }
}

/* Notes that a TIMER has requested a checkpoint, unless the step puts it off. */
static void note_request(struct step_context *t)
{
  bool old = t->w->protocol->clocks && t->event.checkpoint <= read_global(t->w)->committed;
  bool commits = !t->w->protocol->independent;
  if (commits && !old && !world_fenced(t) && !t->verdict->puts_off)
    edit_global(t->w)->requested = true;
}

/* Withdraws the receive, which the program has cancelled. */
static void withdraw_receive(struct step_context *t)
{
  uint32_t place;
  if (world_is_posted(t->w, t->rank, t->event.request, &place))
    list_remove(t->w, WORLD_POSTED, t->rank, 0, place, sizeof(struct world_receive));
  else
    world_violate(t, "legal", "receive %u is cancelled, and was given a message", t->event.request);
}

static void end_choice(struct step_context *t)
{
  bool cancels = t->event.request != RCL_NO_REQUEST;
  if (cancels && t->outcome)
    withdraw_receive(t);
  if (!t->w->script)
    return;
  struct world_program *program = edit_program(t->w, t->rank);
  const struct operation *op = &t->w->script->ops[t->rank][program->next];
  if (op->kind == SCRIPT_SERVE) {
    world_window_choose(t->w, t->rank, t->outcome);
    return;
  }
  program->history = content_fold(program->history, content_of(t->outcome));
  unsigned name = (unsigned)(op->kind == SCRIPT_WAITANY && t->outcome ? op->tag : op->name);
  bool completes = op->kind == SCRIPT_WAITANY || (op->kind == SCRIPT_TEST && t->outcome);
  if (t->w->script->branches || t->w->script->windows)
    program->last = (uint16_t)t->outcome;
  if (!cancels && !completes)
    program->next++;
  else if (cancels && t->outcome)
    program->request[name] = 0;
  else
    program->waiting = (uint8_t)(name + 1);
}

/* Stores a part with the state that all other actions have left. */
static void store_part(struct step_context *t, const struct rcl_action *action)
{
  t->action = action;
  world_store(t, action);
}

/* Returns whether the grammar refuses the list. No host can carry out such a list, so it is a
 * violation whatever properties are judged. */
static bool is_refused(struct step_context *t)
{
  struct grammar_refusal refusal;
  const struct rcl_config *config = &t->w->config[t->rank];
  if (!grammar_refuses(t->w->protocol, config, &t->event, t->actions, &refusal))
    return false;
  char text[TEXT_MAX];
  t->verdict->kind = VERDICT_VIOLATION;
  t->verdict->property = "legal";
  t->verdict->refused = true;
  snprintf(t->verdict->text, sizeof t->verdict->text, "%.*s", (int)sizeof t->verdict->text - 1,
           grammar_print(&t->event, &refusal, text));
  return true;
}

/* Returns whether other ranks, storage or the outside see the action. */
static bool is_seen_outside(enum rcl_action_kind kind)
{
  return kind == RCL_ACTION_TRANSMIT || kind == RCL_ACTION_RESEND || kind == RCL_ACTION_JOIN ||
         kind == RCL_ACTION_REJOIN || kind == RCL_ACTION_CONTROL || kind == RCL_ACTION_STORE ||
         kind == RCL_ACTION_COMMIT || kind == RCL_ACTION_ERASE || kind == RCL_ACTION_OUTPUT;
}

/* Drops the actions that come after the crash within the step. */
static void cut_actions(struct rcl_actions *actions, int seen)
{
  uint32_t count = 0;
  for (; count < actions->count; count++)
    if (is_seen_outside(actions->item[count].kind) && seen-- == 0)
      break;
  actions->count = count;
}

void world_after_step(struct step_context *t)
{
  uint32_t stopped = read_rank(t->w, t->rank)->stopped;
  int cut = world_cut(t->move);
  if (is_refused(t))
    return;
  if (cut >= 0)
    cut_actions(t->actions, cut);
  t->outcome = t->event.outcome;
  for (uint32_t i = 0; i < t->actions->count; i++)
    if (t->actions->item[i].kind != RCL_ACTION_STORE)
      carry_out(t, &t->actions->item[i]);
  for (uint32_t i = 0; i < t->actions->count; i++)
    if (t->actions->item[i].kind == RCL_ACTION_STORE)
      store_part(t, &t->actions->item[i]);
  t->action = NULL;
  if (t->undone && !t->rolled_back && cut < 0)
    world_violate(t, "legal", "no answer, expected roll-back: the program is undone already");
  if (t->event.kind == RCL_EVENT_ARRIVED)
    world_check_lines(t, stopped);
  if (t->event.kind == RCL_EVENT_COLLECTED)
    world_check_collected_lines(t);
  if (t->event.kind == RCL_EVENT_TIMER)
    note_request(t);
  if (t->event.kind == RCL_EVENT_CHOICE)
    end_choice(t);
  if (t->event.kind == RCL_EVENT_MEMBER && t->w->script)
    edit_program(t->w, t->rank)->next++;
  bool passed =
      t->event.kind == RCL_EVENT_SAFE_POINT && (t->event.iteration || !t->w->places_anywhere);
  if (passed && t->w->script && !read_program(t->w, t->rank)->finished)
    edit_program(t->w, t->rank)->next++;
}
