/* Runs programs that are scripts, that is, finds the next event of each script. */
#include "world/rules/world_parts.h"

static const struct operation *next_operation(const struct world *w, int rank,
                                              const struct world_program *program)
{
  return &w->script->ops[rank][program->next];
}

/* Returns whether the script passes the operation by. If checkpoints may be taken anywhere, a safe
 * point makes no difference, unless it begins an iteration. */
static bool is_skipped(const struct world *w, const struct operation *op)
{
  bool silent = w->places_anywhere && (!op->count || below_matching(w));
  return op->kind == SCRIPT_COMPUTE || (op->kind == SCRIPT_CHECKPOINT && silent);
}

/* Returns whether earlier tests have completed the receives that the operation waits for. */
static bool is_over(const struct operation *op, const struct world_program *program)
{
  if (op->kind != SCRIPT_WAIT && op->kind != SCRIPT_TEST && op->kind != SCRIPT_WAITANY)
    return false; /* the name of any other operation may be invalid */
  return program->request[op->name] == 0 &&
         (op->kind != SCRIPT_WAITANY || program->request[op->tag] == 0);
}

/* Passes one operation that needs no event, or a completed wait. Returns false if the next
 * operation is neither. */
static bool pass_operation(const struct world *w, int rank, struct world_program *program)
{
  const struct operation *op = next_operation(w, rank, program);
  if (program->sending)
    return false;
  if (program->waiting) {
    unsigned name = program->waiting - 1u;
    if (!(program->given & 1u << name))
      return false;
    if (op->unseen)
      world_window_take(w, rank, program, &program->content[name]);
    else
      program->history = content_fold(program->history, program->content[name]);
    program->given = (uint16_t)(program->given & ~(1u << name));
    program->content[name] = (struct content){0};
    program->request[name] = 0;
    if (w->script->branches && op->peer == RCL_ANY &&
        (op->kind == SCRIPT_RECV || op->kind == SCRIPT_WAIT))
      program->last = program->source[name];
    program->source[name] = 0;
    program->waiting = 0;
    if (!is_serving(op))
      program->next++;
  } else if (op->kind == SCRIPT_WAIT && program->request[op->name]) {
    program->waiting = (uint8_t)(op->name + 1);
  } else if (is_over(op, program)) {
    program->next++;
  } else if (op->kind == SCRIPT_IF) {
    program->next = (uint16_t)(program->next + 1 + (program->last == op->count ? 0 : op->skip));
  } else if (op->kind == SCRIPT_END) {
    program->finished = true;
    return false;
  } else if (is_skipped(w, op)) {
    program->next++;
  } else {
    return has_windows(w) && world_window_pass(w, rank, program);
  }
  return true;
}

void world_script_advance(const struct world *w, int rank)
{
  if (!w->script)
    return;
  struct world_program *program = edit_program(w, rank);
  while (pass_operation(w, rank, program))
    continue;
}

/* Returns the bytes that the rank contributes to the collective: 0 in a barrier, or if only the
 * root contributes. */
static uint32_t bytes_given(int rank, const struct operation *op)
{
  bool gives = op->flow != RCL_FLOW_BARRIER && (op->flow != RCL_FLOW_FROM_ROOT || rank == op->peer);
  return gives ? script_bytes(op) : 0;
}

bool world_script_event(const struct world *w, int rank, struct rcl_event *event, unsigned *choices)
{
  const struct world_program *program = read_program(w, rank);
  if (!w->script || program->waiting || program->sending || program->finished)
    return false;
  if (program->call.state != CALL_NONE) {
    if (program->call.state == CALL_JOINED)
      return false;
    *event = (struct rcl_event){.kind = RCL_EVENT_COLLECTIVE,
                                .flow = program->call.flow,
                                .makes = (uint8_t)program->call.makes,
                                .peer = program->call.root,
                                .comm = program->call.comm,
                                .tag = program->call.number,
                                .bytes = bytes_given(rank, next_operation(w, rank, program))};
    return true;
  }
  const struct operation *op = next_operation(w, rank, program);
  if (is_serving(op))
    return world_window_event(w, rank, event, choices);
  *event = (struct rcl_event){.peer = (int16_t)op->peer, .tag = op->tag, .comm = (int16_t)op->comm};
  switch (op->kind) {
  case SCRIPT_SEND:
    event->kind = RCL_EVENT_SEND;
    event->bytes = script_bytes(op);
    return true;
  case SCRIPT_RECV:
  case SCRIPT_IRECV:
    event->kind = RCL_EVENT_RECEIVE;
    event->request = program->receives + 1;
    return true;
  case SCRIPT_CANCEL:
    event->kind = RCL_EVENT_RECEIVE;
    event->request = program->receives + 1;
    if (program->request[op->name]) {
      *event = (struct rcl_event){.kind = RCL_EVENT_CHOICE, .request = program->request[op->name]};
      *choices = 2;
    }
    return true;
  case SCRIPT_CHOOSE:
  case SCRIPT_TEST:
  case SCRIPT_WAITANY:
    *event = (struct rcl_event){.kind = RCL_EVENT_CHOICE};
    *choices = op->kind == SCRIPT_CHOOSE ? op->count : 2;
    return true;
  case SCRIPT_MEMBER:
    *event = (struct rcl_event){.kind = RCL_EVENT_MEMBER, .comm = (int16_t)op->comm};
    return true;
  case SCRIPT_OUTPUT:
    *event = (struct rcl_event){
        .kind = RCL_EVENT_OUTPUT, .output = program->outputs + 1, .bytes = script_bytes(op)};
    return true;
  case SCRIPT_CHECKPOINT:
    *event = (struct rcl_event){.kind = RCL_EVENT_SAFE_POINT, .iteration = op->count};
    return true;
  case SCRIPT_FREE:
    event->kind = RCL_EVENT_SEND;
    event->bytes = sizeof(struct content);
    *choices = (unsigned)w->ranks - 1;
    return true;
  case SCRIPT_COLLECTIVE:
    *event = (struct rcl_event){.kind = RCL_EVENT_COLLECTIVE,
                                .flow = (uint8_t)op->flow,
                                .makes = op[1].kind == SCRIPT_MEMBER,
                                .peer = (int16_t)op->peer,
                                .comm = (int16_t)op->comm,
                                .tag = program->calls[op->comm] + 1,
                                .bytes = bytes_given(rank, op)};
    return true;
  default:
    return false;
  }
}

bool world_makes_communicator(const struct world *w, int rank)
{
  return w->script && next_operation(w, rank, read_program(w, rank))->kind == SCRIPT_MEMBER;
}

bool world_script_allows(const struct world *w, int rank, uint32_t outcome)
{
  const struct world_program *program = read_program(w, rank);
  const struct operation *op = next_operation(w, rank, program);
  if (op->kind == SCRIPT_SERVE)
    return world_window_allows(w, rank, outcome);
  if (op->kind == SCRIPT_TEST)
    return !outcome || program->given & 1u << op->name;
  return op->kind != SCRIPT_WAITANY || program->given & 1u << (outcome ? op->tag : op->name);
}

void world_script_sent(const struct world *w, int rank)
{
  struct world_program *program = edit_program(w, rank);
  if (!has_windows(w) || world_window_sent(w, rank, program))
    program->next++;
}

void world_begin_synchronous(const struct world *w, int rank, uint16_t incarnation)
{
  struct world_program *program = edit_program(w, rank);
  if (next_operation(w, rank, program)[-1].count)
    program->sending = (uint16_t)(incarnation + 1);
}

const char *world_refuses_sent(const struct world *w, int rank)
{
  const struct world_program *program = read_program(w, rank);
  if (!w->script || !program->sending || read_rank(w, rank)->phase != RANK_RUNNING)
    return "the program is in no synchronous send";
  if (read_rank(w, rank)->held)
    return "the program is held";
  const struct operation *op = next_operation(w, rank, program) - 1;
  uint32_t count;
  const struct world_message *channel =
      READ_LIST(struct world_message, w, WORLD_CHANNEL, rank, op->peer, &count);
  for (uint32_t i = 0; i < count; i++) /* no message with the same envelope overtakes it */
    if (channel[i].comm == op->comm && channel[i].tag == op->tag &&
        channel[i].incarnation + 1 == program->sending)
      return "the message is on its way";
  if (!below_matching(w))
    return NULL;
  const struct world_slot *unexpected =
      READ_LIST(struct world_slot, w, WORLD_UNEXPECTED, op->peer, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (unexpected[i].peer == rank && unexpected[i].message.comm == op->comm &&
        unexpected[i].message.tag == op->tag)
      return "no receive has taken the message";
  return NULL;
}

struct content world_first_history(int rank)
{
  return content_fold(content_of(0), content_of((uint32_t)rank));
}

struct content world_content(const struct world *w, int rank)
{
  const struct world_program *program = read_program(w, rank);
  if (has_windows(w) && next_operation(w, rank, program)->unseen)
    return world_window_content(w, rank);
  if (are_free(w))
    return program->history;
  if (!w->script) /* a contribution in a collective, whose content no program sees */
    return content_fold(program->history, content_of(program->next));
  const struct operation *op = next_operation(w, rank, program);
  unsigned place = has_windows(w) ? op->place : 0;
  struct content whole =
      content_fold(program->history, content_of(place ? place - 1 : program->next));
  return op->kind == SCRIPT_OUTPUT ? whole : content_cut(whole, script_bytes(op));
}

void world_begin_program(const struct world *w, int rank)
{
  edit_program(w, rank)->history = world_first_history(rank);
  world_script_advance(w, rank);
}
