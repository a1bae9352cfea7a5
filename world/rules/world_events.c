/* Lets an event take place in the world, before the protocol takes its step. */
#include "world/rules/world_step.h"

/* ---- before the step: the event takes place ---- */

static void post_receive(struct step_context *t)
{
  struct world_program *program = edit_program(t->w, t->rank);
  if (t->event.request <= program->receives)
    return; /* the receive is announced again after a restart */
  program->receives = t->event.request;
  struct world_receive receive = {.request = t->event.request,
                                  .peer = t->event.peer,
                                  .from = t->event.peer,
                                  .comm = t->event.comm,
                                  .tag = t->event.tag,
                                  .announced = below_matching(t->w),
                                  .from_tag = t->event.tag};
  uint32_t count;
  READ_LIST(struct world_receive, t->w, WORLD_POSTED, t->rank, 0, &count);
  list_insert(t->w, WORLD_POSTED, t->rank, 0, count, &receive, sizeof receive);
  if (!t->w->script)
    return;
  const struct operation *op = &t->w->script->ops[t->rank][program->next];
  bool plain = op->kind == SCRIPT_RECV || op->kind == SCRIPT_SERVE;
  unsigned name = plain ? SCRIPT_NAMES : (unsigned)op->name;
  program->request[name] = t->event.request;
  if (op->kind != SCRIPT_IRECV)
    program->waiting = (uint8_t)(name + 1);
  else
    program->next++;
}

static void send_message(struct step_context *t)
{
  const struct world *w = t->w;
  const struct world_rank *me = read_rank(w, t->rank);
  struct content content = w->script ? world_content(w, t->rank) : t->move->content;
  struct world_flow none = {0}, *f = &none;
  if (world_follows(w)) {
    f = world_flow(w, t->rank, t->event.peer, t->event.comm, t->event.tag);
    f->sent++;
  }
  if (!are_free(w) && !content_is_none(&content))
    world_note_sent(t, &content);
  t->message = (struct world_message){.tag = t->event.tag,
                                      .comm = t->event.comm,
                                      .incarnation = me->noticed,
                                      .bytes = t->event.bytes,
                                      .sequence = f->sent,
                                      .content = content,
                                      .line = w->line_stamps ? me->line : 0,
                                      .stopped = w->line_stamps ? me->stopped : 0,
                                      .after = me->rung};
  if (w->script)
    world_script_sent(w, t->rank);
}

/* Notes that a run has violated the bounds. */
static void check_bounds(struct step_context *t, const char *why)
{
  if (why && !t->w->bounded)
    world_violate(t, "bounds", "rank %d: %s", t->rank, why);
}

static void take_message(struct step_context *t)
{
  const struct world *w = t->w;
  uint32_t count;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, WORLD_CHANNEL, t->event.peer, t->rank, &count);
  t->message = channel[t->move->index];
  list_remove(w, WORLD_CHANNEL, t->event.peer, t->rank, t->move->index, sizeof *channel);
  if (w->protocol->clocks)
    check_bounds(t, world_too_fast(w, t->rank, &t->message));
  if (!content_is_none(&t->move->content) && !content_same(&t->move->content, &t->message.content))
    world_violate_message(t, "no-corruption", t->event.peer, &t->message, 0, "changed on the way");
  t->event.bytes = t->message.bytes;
  if (below_matching(w))
    return;
  const struct world_receive *posted =
      READ_LIST(struct world_receive, w, WORLD_POSTED, t->rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (posted[i].request == t->event.request)
      t->event.wildcard = posted[i].peer == RCL_ANY || posted[i].tag == RCL_ANY;
}

static void begin_call(struct step_context *t)
{
  struct world_program *program = edit_program(t->w, t->rank);
  if (program->call.state == CALL_NONE && t->w->script)
    program->calls[t->event.comm]++;
  program->call = (struct world_call){.state = CALL_ANNOUNCED,
                                      .flow = t->event.flow,
                                      .comm = t->event.comm,
                                      .root = t->event.peer,
                                      .makes = t->event.makes,
                                      .number = t->event.tag};
}

static void end_capture(struct step_context *t)
{
  world_check_quiet(t);
  uint32_t image = world_keep_image(t);
  world_drop_image(t->w, t->rank);
  struct world_rank *me = edit_rank(t->w, t->rank);
  me->phase = RANK_RUNNING;
  me->capturing = 0;
  me->closed = t->event.closed ? CONNECTIONS_CLOSED : 0;
  me->image = image;
  me->line = t->event.checkpoint;
  me->covered = 0;
  t->event.output = read_program(t->w, t->rank)->outputs;
}

static void notice_crash(struct step_context *t)
{
  world_judge_told(t);
  struct world_rank *me = edit_rank(t->w, t->rank);
  t->undone = me->phase == RANK_RESTORING;
  me->phase = RANK_RUNNING;
  me->set_back = false;
  me->capturing = 0;
  if (t->w->protocol->independent) {
    me->noticed = (uint16_t)t->event.incarnation;
    world_disconnect(t->w, t->rank, t->event.peer, me->noticed);
  } else {
    me->noticed = read_global(t->w)->incarnation;
  }
}

static void end_commit(struct step_context *t)
{
  struct world_global *global = edit_global(t->w);
  uint32_t before = global->committed;
  global->committed = t->event.checkpoint;
  global->committing = global->requested = 0;
  if (t->w->attempts) {
    global->falls = global->before == before ? global->falls : 0;
    global->before = before;
    global->restarts = 0;
  }
  world_reach_commit(t, t->event.checkpoint, global->incarnation);
  if (t->w->attempts)
    world_let_out_behind(t, before);
  else
    world_let_out_covered(t, t->event.checkpoint);
}

/* Takes a TIMER. With clocks, only the TIMER by which the coordinator begins a checkpoint counts
 * towards the explorer's bound. A rank that has yet to notice a crash begins no checkpoint. */
static void take_timer(struct step_context *t)
{
  bool counts = !t->w->protocol->clocks || t->rank == RCL_COORDINATOR_RANK;
  if (t->w->bounded && counts && !world_fenced(t) && world_needs_timer(t->w, t->rank))
    edit_global(t->w)->timers--;
  edit_rank(t->w, t->rank)->timer = false;
  if (!t->w->protocol->clocks)
    return;
  check_bounds(t, world_too_early(t->w, t->rank));
  world_ring(t);
}

static void note_overtaking(const struct step_context *t)
{
  uint32_t count, under_way = 0;
  const struct world_message *channel =
      READ_LIST(struct world_message, t->w, WORLD_CONTROL, t->event.peer, t->rank, &count);
  for (uint32_t i = 0; i < count; i++)
    under_way += world_exists(read_rank(t->w, t->rank), &channel[i]);
  reached_note(&t->verdict->reached, REACH_CONTROL_OVERTAKES, under_way > 1);
}

static void take_control(const struct step_context *t)
{
  if (control_overtakes(t->w) && !below_matching(t->w))
    note_overtaking(t);
  world_remove_message(t->w, control_part(t->w), t->event.peer, t->rank, t->move->index);
}

void world_before_step(struct step_context *t)
{
  switch ((enum rcl_event_kind)t->event.kind) {
  case RCL_EVENT_START:
    world_restore(t);
    t->event.output = read_program(t->w, t->rank)->outputs;
    break;
  case RCL_EVENT_DOWN:
    notice_crash(t);
    break;
  case RCL_EVENT_TIMER:
    take_timer(t);
    break;
  case RCL_EVENT_SEND:
    send_message(t);
    break;
  case RCL_EVENT_RECEIVE:
    post_receive(t);
    if (below_matching(t->w))
      world_take_unexpected(t);
    break;
  case RCL_EVENT_OUTPUT:
    world_make_output(t);
    break;
  case RCL_EVENT_ARRIVED:
    take_message(t);
    break;
  case RCL_EVENT_CONTROL:
    take_control(t);
    break;
  case RCL_EVENT_COLLECTIVE:
    begin_call(t);
    break;
  case RCL_EVENT_COLLECTED:
    world_collect(t);
    break;
  case RCL_EVENT_CAPTURED:
    end_capture(t);
    break;
  case RCL_EVENT_DURABLE:
    world_report(t);
    break;
  case RCL_EVENT_COMMITTED:
    end_commit(t);
    break;
  default:
    break;
  }
}
