/* Judges whether a move can happen; world_fault_rules.c judges faults. world_moves.c lists the
 * moves that can happen, and world.c takes a move. */
#include "world/rules/world_parts.h"

/* ---- messages ---- */

static bool accepts(const struct world_receive *receive, int peer,
                    const struct world_message *message)
{
  return receive->announced && receive->comm == message->comm &&
         rcl_matches(receive->from, receive->from_tag, peer, message->tag);
}

const struct world_receive *world_matching(const struct world *w, int peer, int rank,
                                           const struct world_message *message)
{
  uint32_t count;
  const struct world_receive *posted =
      READ_LIST(struct world_receive, w, WORLD_POSTED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (accepts(&posted[i], peer, message))
      return &posted[i];
  return NULL;
}

bool world_comes_out(const struct world *w, enum part_kind kind, int peer, int rank, uint32_t index)
{
  uint32_t count;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, kind, peer, rank, &count);
  const struct world_rank *me = read_rank(w, rank);
  if (index >= count || !world_exists(me, &channel[index]))
    return false;
  for (uint32_t i = 0; i < index; i++)
    if (world_exists(me, &channel[i]))
      return is_unordered(w, kind);
  return true;
}

bool world_is_posted(const struct world *w, int rank, uint32_t request, uint32_t *place)
{
  uint32_t count;
  const struct world_receive *posted =
      READ_LIST(struct world_receive, w, WORLD_POSTED, rank, 0, &count);
  for (*place = 0; *place < count; ++*place)
    if (posted[*place].request == request)
      return true;
  return false;
}

static bool is_behind_control(const struct world *w, int peer, int rank,
                              const struct world_message *message)
{
  uint32_t count;
  const struct world_message *controls =
      message->behind ? READ_LIST(struct world_message, w, WORLD_CONTROL, peer, rank, &count)
                      : NULL;
  for (uint32_t i = 0; i < message->behind; i++)
    if (world_exists(read_rank(w, rank), &controls[i]))
      return true;
  return false;
}

/* Returns whether the message may arrive. Of two messages from one sender that match the same
 * receive, the earlier one comes first (MPI 3.1, section 3.5). */
bool world_may_arrive(const struct world *w, int peer, int rank, uint32_t index, uint32_t *request)
{
  uint32_t count;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, WORLD_CHANNEL, peer, rank, &count);
  const struct world_rank *me = read_rank(w, rank);
  if (index >= count || !world_exists(me, &channel[index]))
    return false;
  if (below_matching(w)) {
    *request = RCL_NO_REQUEST;
    return !is_control(&channel[index]) && world_comes_out(w, WORLD_CHANNEL, peer, rank, index) &&
           !(w->bounded && w->protocol->clocks && world_too_fast(w, rank, &channel[index]));
  }
  if (is_behind_control(w, peer, rank, &channel[index]))
    return false;
  const struct world_receive *receive = world_matching(w, peer, rank, &channel[index]);
  bool drained = me->held && (me->draining == 1 || me->draining == peer + 2);
  if (!receive && !drained)
    return false;
  for (uint32_t i = 0; i < index && !w->overtaking; i++) {
    if (!world_exists(me, &channel[i]))
      continue;
    if (w->fifo || (receive ? accepts(receive, peer, &channel[i])
                            : !world_matching(w, peer, rank, &channel[i])))
      return false;
  }
  *request = receive ? receive->request : RCL_NO_REQUEST;
  return true;
}

/* ---- collectives ---- */

bool world_is_member(const struct world *w, int comm, int rank)
{
  if (w->script)
    return script_is_member(w->script, comm, rank);
  return !w->member || w->member(w->member_ctx, comm, rank);
}

bool world_flows(const struct world *w, const struct world_call *call, int peer, int rank)
{
  if (peer == rank || !world_is_member(w, call->comm, peer) ||
      !world_is_member(w, call->comm, rank))
    return false;
  switch ((enum rcl_flow)call->flow) {
  case RCL_FLOW_FROM_ROOT:
    return peer == call->root;
  case RCL_FLOW_TO_ROOT:
    return rank == call->root;
  default:
    return true;
  }
}

bool world_flows_to(const struct world_call *call, int rank)
{
  return call->flow == RCL_FLOW_FROM_ROOT ? rank != call->root
                                          : call->flow != RCL_FLOW_TO_ROOT || rank == call->root;
}

const struct world_message *world_find_share(const struct world *w, const struct world_call *call,
                                             const struct world_rank *me, int peer, int rank,
                                             uint32_t *index)
{
  uint32_t count;
  const struct world_message *shares =
      READ_LIST(struct world_message, w, WORLD_SHARE, peer, rank, &count);
  for (*index = 0; *index < count; ++*index)
    if (shares[*index].comm == call->comm && shares[*index].tag == call->number &&
        world_exists(me, &shares[*index]))
      return &shares[*index];
  return NULL;
}

struct shares_key world_shares_key(const struct world_call *call, const struct world_rank *me,
                                   int rank)
{
  return (struct shares_key){.comm = call->comm,
                             .number = call->number,
                             .rank = rank,
                             .sender = call->flow == RCL_FLOW_FROM_ROOT ? call->root : RCL_ANY,
                             .least = me->incarnation,
                             .most = me->noticed};
}

bool world_collected(const struct world *w, int rank, struct rcl_event *event)
{
  const struct world_call *call = &read_program(w, rank)->call;
  const struct world_rank *me = read_rank(w, rank);
  uint32_t index;
  if (call->state != CALL_JOINED || !world_flows_to(call, rank))
    return false;
  *event = (struct rcl_event){.kind = RCL_EVENT_COLLECTED,
                              .flow = call->flow,
                              .makes = (uint8_t)call->makes,
                              .root = call->root,
                              .comm = call->comm,
                              .call = call->number};
  if (call->flow != RCL_FLOW_FROM_ROOT) {
    event->contributions = 1;
    memcpy(event->words, call->words, sizeof event->words);
  }
  if (w->shares) {
    const struct shares_key key = world_shares_key(call, me, rank);
    shares_sum(w->shares, &key, &event->contributions, event->words);
    return true;
  }
  for (int peer = 0; peer < w->ranks; peer++) {
    if (!world_flows(w, call, peer, rank))
      continue;
    const struct world_message *share = world_find_share(w, call, me, peer, rank, &index);
    if (!share) {
      if (w->script)
        return false;
      continue;
    }
    event->contributions++;
    for (int i = 0; i < RCL_WORDS; i++)
      event->words[i] += share->words[i];
  }
  return true;
}

/* ---- which moves can happen ---- */

const struct world_receive *world_unannounced(const struct world *w, int rank)
{
  uint32_t count;
  const struct world_receive *posted =
      READ_LIST(struct world_receive, w, WORLD_POSTED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (!posted[i].announced)
      return &posted[i];
  return NULL;
}

static bool same_script_event(const struct world *w, int rank, const struct rcl_event *event)
{
  struct rcl_event next;
  unsigned choices = 1;
  if (!w->script)
    return true;
  if (!world_script_event(w, rank, &next, &choices) || next.kind != event->kind)
    return false;
  if (event->kind == RCL_EVENT_CHOICE)
    return event->request == next.request && event->outcome < choices &&
           world_script_allows(w, rank, event->outcome);
  if (are_free(w))
    return event->peer != rank && event->tag == next.tag && event->comm == next.comm;
  return next.peer == event->peer && next.tag == event->tag && next.comm == event->comm &&
         next.flow == event->flow && next.makes == event->makes && next.request == event->request;
}

/* Returns why an event that the program brings about cannot happen, or NULL if it can. */
static const char *refuses_program(const struct world *w, int rank, const struct rcl_event *event)
{
  const struct world_program *program = read_program(w, rank);
  const struct world_receive *pending = world_unannounced(w, rank);
  uint32_t place;
  if (read_rank(w, rank)->held)
    return "the program is held";
  if (event->kind == RCL_EVENT_RECEIVE && pending)
    return event->request == pending->request && event->peer == pending->peer &&
                   event->tag == pending->tag && event->comm == pending->comm
               ? NULL
               : "a receive posted before the restart must be announced first";
  if (pending)
    return "receives posted before the restart must be announced first";
  if (program->finished)
    return "the program has finished";
  if (program->call.state == CALL_JOINED ||
      (program->call.state == CALL_ANNOUNCED && event->kind != RCL_EVENT_COLLECTIVE))
    return "the program is in a collective";
  if (event->kind == RCL_EVENT_RECEIVE && event->request != program->receives + 1)
    return "receives are numbered one by one";
  if (event->kind == RCL_EVENT_OUTPUT && event->output != program->outputs + 1)
    return "outputs are numbered one by one";
  if (event->kind == RCL_EVENT_CHOICE && event->request && event->outcome &&
      !world_is_posted(w, rank, event->request, &place))
    return "the receive was given a message before it was cancelled";
  bool names_one = event->kind == RCL_EVENT_SEND || event->kind == RCL_EVENT_COLLECTIVE;
  if ((names_one && (event->peer < 0 || event->peer >= w->ranks)) ||
      (event->kind == RCL_EVENT_RECEIVE && (event->peer < RCL_ANY || event->peer >= w->ranks)))
    return "there is no such rank";
  return same_script_event(w, rank, event) ? NULL : "the script does something else here";
}

static const char *refuses_place(const struct world *w, int rank, const struct rcl_event *event)
{
  struct rcl_event next;
  unsigned choices;
  if (below_matching(w))
    return "the protocol needs no places";
  if (read_rank(w, rank)->held)
    return "the program is held";
  if (read_program(w, rank)->call.state != CALL_NONE)
    return "the program is in a collective";
  bool anywhere = w->places_anywhere && !event->iteration;
  if (anywhere || !w->script || read_program(w, rank)->finished)
    return NULL;
  if (world_unannounced(w, rank))
    return "receives posted before the restart must be announced first";
  return world_script_event(w, rank, &next, &choices) && next.kind == RCL_EVENT_SAFE_POINT &&
                 next.iteration == event->iteration
             ? NULL
             : "no checkpoint is allowed here";
}

static const char *refuses_arrival(const struct world *w, const struct move *move)
{
  const struct rcl_event *event = &move->event;
  uint32_t request, count;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, WORLD_CHANNEL, event->peer, move->rank, &count);
  if (!world_may_arrive(w, event->peer, move->rank, move->index, &request))
    return "no such message can arrive now";
  const struct world_message *message = &channel[move->index];
  if (request != event->request)
    return "the message belongs to another receive";
  if (message->tag != event->tag || message->comm != event->comm)
    return "the message has another envelope";
  if (event->bytes && message->bytes != event->bytes)
    return "the message has another length";
  if (memcmp(message->words, event->words, sizeof event->words) != 0)
    return "the message carries other words";
  return NULL;
}

/* Returns why the control message cannot come, or NULL if it can. Control messages between two
 * ranks arrive in the order of sending, unless they may overtake each other. */
static const char *refuses_control(const struct world *w, const struct move *move)
{
  uint32_t count;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, control_part(w), move->event.peer, move->rank, &count);
  if (move->index >= count || !is_control(&channel[move->index]))
    return "there is no control message";
  if (!world_comes_out(w, control_part(w), move->event.peer, move->rank, move->index))
    return "an earlier message comes first";
  return memcmp(channel[move->index].words, move->event.words, sizeof channel->words) == 0
             ? NULL
             : "the control message carries other words";
}

static const char *refuses_collected(const struct world *w, const struct move *move)
{
  struct rcl_event event;
  if (!world_collected(w, move->rank, &event))
    return "contributions to the collective are missing";
  event.bytes = move->event.bytes;
  return memcmp(&event, &move->event, sizeof event) == 0 ? NULL : "other contributions have come";
}

bool world_is_being_written(const struct world *w, int rank, uint32_t checkpoint,
                            enum rcl_part part, uint32_t *index)
{
  uint32_t count;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (*index = 0; *index < count; ++*index)
    if (!stored[*index].reported && stored[*index].part == part &&
        stored[*index].checkpoint == checkpoint)
      return true;
  return false;
}

/* Returns whether the rank may be told that a connection is closed: its protocol must know
 * connections, and the rank must have connections. */
static bool may_be_closed(const struct world *w, const struct move *move)
{
  bool any = w->protocol->reconnects && move->event.checkpoint != RCL_FRESH;
  return move->event.closed <= any;
}

/* ---- starts and downs ---- */

uint32_t world_start_of(const struct world *w, int rank)
{
  const struct world_rank *me = read_rank(w, rank);
  if (me->phase == RANK_NEW)
    return RCL_FRESH;
  return w->protocol->independent ? me->origin : read_global(w)->target;
}

/* With independent recovery: finds the oldest crash that `rank` has not noticed. Only the last
 * crash of each peer counts. */
static bool next_death(const struct world *w, int rank, struct rcl_event *event)
{
  uint16_t noticed = read_rank(w, rank)->noticed, next = UINT16_MAX;
  for (int peer = 0; peer < w->ranks; peer++) {
    const struct world_rank *dead = read_rank(w, peer);
    if (peer == rank || dead->born <= noticed || dead->born >= next)
      continue;
    next = dead->born;
    *event = (struct rcl_event){.kind = RCL_EVENT_DOWN,
                                .peer = (int16_t)peer,
                                .checkpoint = dead->origin,
                                .incarnation = next};
  }
  return next != UINT16_MAX;
}

bool world_next_down(const struct world *w, int rank, struct rcl_event *event)
{
  const struct world_rank *me = read_rank(w, rank);
  const struct world_global *global = read_global(w);
  bool runs = me->phase == RANK_RUNNING && !me->declared;
  if (w->protocol->independent)
    return runs && me->noticed != global->incarnation && next_death(w, rank, event);
  *event = (struct rcl_event){
      .kind = RCL_EVENT_DOWN, .peer = global->down, .checkpoint = global->target};
  return world_is_alive(w, rank) && me->noticed != global->incarnation;
}

static const char *refuses_start(const struct world *w, const struct move *move)
{
  const struct world_rank *me = read_rank(w, move->rank);
  bool current = w->protocol->independent || me->noticed == read_global(w)->incarnation;
  if (!may_be_closed(w, move))
    return "there are no connections that were closed";
  if (me->phase != RANK_NEW && me->phase != RANK_RESTARTING &&
      !(me->phase == RANK_RESTORING && current))
    return "the rank is neither rolled back nor restarting";
  if (move->event.checkpoint != world_start_of(w, move->rank))
    return me->phase == RANK_NEW ? "the first start is fresh" : "another checkpoint is the target";
  if (!w->protocol->independent && !world_can_read(w, move->rank, move->event.checkpoint))
    return "a crash that is not detected yet has taken the image";
  return !w->protocol->independent || move->event.incarnation == me->noticed
             ? NULL
             : "the rank knows of another incarnation";
}

static const char *refuses_down(const struct world *w, const struct move *move)
{
  struct rcl_event next;
  if (!world_next_down(w, move->rank, &next))
    return "nobody was found dead since, or the rank does not run";
  return move->event.peer == next.peer && move->event.checkpoint == next.checkpoint &&
                 move->event.incarnation == next.incarnation
             ? NULL
             : "another rank is down, or another checkpoint the target";
}

static const char *refuses_timer(const struct world *w, const struct move *move)
{
  const struct world_rank *me = read_rank(w, move->rank);
  bool set = w->protocol->clocks ? me->set.checkpoint : me->timer;
  if (!set || move->event.checkpoint != me->set.checkpoint)
    return "no timer is set";
  if (!w->bounded)
    return NULL;
  if (!read_global(w)->timers && world_needs_timer(w, move->rank))
    return "no timer is left";
  return w->protocol->clocks ? world_too_early(w, move->rank) : NULL;
}

static const char *refuses_running(const struct world *w, const struct move *move)
{
  const struct rcl_event *event = &move->event;
  uint32_t index;
  if (event->kind != RCL_EVENT_MEMBER && world_makes_communicator(w, move->rank) &&
      !read_rank(w, move->rank)->held)
    return "the program is in the call that makes it a member";
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_TIMER:
    return refuses_timer(w, move);
  case RCL_EVENT_SEND:
  case RCL_EVENT_RECEIVE:
  case RCL_EVENT_CHOICE:
  case RCL_EVENT_MEMBER:
  case RCL_EVENT_COLLECTIVE:
  case RCL_EVENT_OUTPUT:
    return refuses_program(w, move->rank, event);
  case RCL_EVENT_COLLECTED:
    return refuses_collected(w, move);
  case RCL_EVENT_SAFE_POINT:
    return refuses_place(w, move->rank, event);
  case RCL_EVENT_ARRIVED:
    return refuses_arrival(w, move);
  case RCL_EVENT_CONTROL:
    return refuses_control(w, move);
  case RCL_EVENT_DURABLE:
    if (move->fault && (!(w->faults & FAULT_EARLY_DURABLE) || read_global(w)->injected))
      return "the host does not lie";
    return world_is_being_written(w, move->rank, event->checkpoint, event->part, &index)
               ? NULL
               : "there is no such write";
  case RCL_EVENT_COMMITTED:
    return move->rank == RCL_COORDINATOR_RANK && read_global(w)->committing == event->checkpoint &&
                   event->checkpoint
               ? NULL
               : "no such commit was asked for";
  default:
    return "no such event";
  }
}

static const char *refuses_event(const struct world *w, const struct move *move)
{
  const struct world_rank *me = read_rank(w, move->rank);
  if (me->gave_up)
    return "the protocol has given up";
  if (move->event.kind == RCL_EVENT_START)
    return refuses_start(w, move);
  if (move->event.kind == RCL_EVENT_DOWN)
    return refuses_down(w, move);
  if (me->phase == RANK_CAPTURING)
    return move->event.kind == RCL_EVENT_CAPTURED && move->event.checkpoint == me->capturing &&
                   may_be_closed(w, move)
               ? NULL
               : "the rank is being captured";
  if (me->phase != RANK_RUNNING)
    return "the rank does not run";
  return refuses_running(w, move);
}

/* Returns why the step cannot happen or why the rank cannot crash in it. Returns NULL if step and
 * crash are possible. */
static const char *refuses_cut(const struct world *w, const struct move *move)
{
  struct move whole = *move;
  whole.fault = 0;
  if (!(w->hazards & HAZARD_CUT_STEPS) || !world_crash_is_left(w) || !world_is_alive(w, move->rank))
    return "the rank cannot crash here";
  return refuses_event(w, &whole);
}

const char *world_refuses(const struct world *w, const struct move *move)
{
  switch ((enum move_kind)move->kind) {
  case MOVE_EVENT:
    return world_cut(move) < 0 ? refuses_event(w, move) : refuses_cut(w, move);
  case MOVE_CRASH:
    return world_refuses_crash(w, move);
  case MOVE_DETECT:
    return world_refuses_detection(w, move);
  case MOVE_FINISH:
    return !w->script && read_rank(w, move->rank)->phase == RANK_RUNNING &&
                   !read_rank(w, move->rank)->held && !read_program(w, move->rank)->finished
               ? NULL
               : "the program cannot end here";
  case MOVE_FAULT:
    return world_refuses_fault(w, move);
  case MOVE_SENT:
    return world_refuses_sent(w, move->rank);
  }
  return "no such move";
}
