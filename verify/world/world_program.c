/* The world: programs that are scripts, and the event that each of them comes to next. */
#include "verify/world/world_parts.h"

static const struct operation *next_operation(const struct world *w, int rank,
                                              const struct world_program *program)
{
  return &w->script->ops[rank][program->next];
}

/* Where checkpoints may be taken anywhere, a place says nothing, but that of an iteration does. */
static bool is_skipped(const struct world *w, const struct operation *op)
{
  bool silent = w->places_anywhere && (!op->count || below_matching(w));
  return op->kind == SCRIPT_COMPUTE || (op->kind == SCRIPT_CHECKPOINT && silent);
}

/* Passes one operation that needs no event, or a completed wait; false when there is none. */
static bool pass_operation(const struct world *w, int rank, struct world_program *program)
{
  const struct operation *op = next_operation(w, rank, program);
  if (program->waiting) {
    unsigned name = program->waiting - 1u;
    if (!(program->given & 1u << name))
      return false;
    program->history = content_fold(program->history, program->content[name]);
    program->given &= ~(1u << name);
    program->content[name] = (struct content){0};
    program->request[name] = 0;
    program->waiting = 0;
    program->next++;
  } else if (op->kind == SCRIPT_WAIT) {
    program->waiting = (uint8_t)(op->name + 1);
  } else if (op->kind == SCRIPT_END) {
    program->finished = true;
    return false;
  } else if (is_skipped(w, op)) {
    program->next++;
  } else {
    return false;
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

bool world_script_event(const struct world *w, int rank, struct rcl_event *event, unsigned *choices)
{
  const struct world_program *program = read_program(w, rank);
  if (!w->script || program->waiting || program->finished)
    return false;
  if (program->call.state != CALL_NONE) {
    if (program->call.state == CALL_JOINED)
      return false;
    *event = (struct rcl_event){.kind = RCL_EVENT_COLLECTIVE,
                                .flow = program->call.flow,
                                .peer = program->call.root,
                                .comm = program->call.comm,
                                .tag = program->call.number};
    return true;
  }
  const struct operation *op = next_operation(w, rank, program);
  *event = (struct rcl_event){.peer = (int16_t)op->peer, .tag = op->tag, .comm = (int16_t)op->comm};
  switch (op->kind) {
  case SCRIPT_SEND:
    event->kind = RCL_EVENT_SEND;
    event->bytes = sizeof(struct content);
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
    *event = (struct rcl_event){.kind = RCL_EVENT_CHOICE};
    *choices = op->count;
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
                                .peer = (int16_t)op->peer,
                                .tag = program->calls + 1};
    return true;
  default:
    return false;
  }
}

struct content world_first_history(int rank)
{
  return content_fold(content_of(0), content_of((uint32_t)rank));
}

struct content world_content(const struct world *w, int rank)
{
  const struct world_program *program = read_program(w, rank);
  return are_free(w) ? program->history : content_fold(program->history, content_of(program->next));
}

void world_begin_program(const struct world *w, int rank)
{
  edit_program(w, rank)->history = world_first_history(rank);
  world_script_advance(w, rank);
}
