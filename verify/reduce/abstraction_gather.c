/* Follows contributions to collectives. A rank takes all contributions to a call at once, when all
 * contributions have come. There is an action for each choice of one contribution from each
 * peer. */
#include "verify/reduce/abstraction_parts.h"

/* Returns the call in which the rank is at the node of an attempt. */
static struct world_call call_at(const struct abstraction *c, const struct attempt *a)
{
  const uint32_t *values = c->rank[a->rank].values.item[a->key[KEY_VALUE]].bytes;
  const struct world_program *program =
      c->model->rules_cache.parts.item[values[WORLD_PROGRAM]].bytes;
  return program->call;
}

/* Returns whether a rank in that call waits for contributions. */
static bool waits(const struct attempt *a, const struct world_call *call)
{
  return call->state == CALL_JOINED && world_flows_to(call, (int)a->rank);
}

static bool is_to_call(const struct abstraction *c, const struct abstraction_send *share,
                       const struct world_call *call)
{
  const struct world_message *message = c->model->rules_cache.parts.item[share->value].bytes;
  return message->comm == call->comm && message->tag == call->number;
}

/* Lists all choices of contributions of the ranks from `peer` on. `count` contributions have been
 * chosen before. */
static void add_choices(struct abstraction *c, uint32_t rank, const struct world_call *call,
                        uint32_t peer, struct abstraction_send *takes, uint32_t count)
{
  while (peer < c->ranks && !world_flows(c->model->world, call, (int)peer, (int)rank))
    peer++;
  if (peer == c->ranks && count > 0)
    abstraction_add_action(
        c, rank,
        &(struct abstraction_action){
            .peer = GATHER,
            .kind = WORLD_SHARE,
            .what = intern(&c->gathers, takes, count * (uint32_t)sizeof *takes)});
  for (uint32_t i = 1; peer < c->ranks && i <= c->rank[rank].shares.count && !c->refused; i++) {
    takes[count] = *(const struct abstraction_send *)c->rank[rank].shares.item[i].bytes;
    if (abstraction_sender(c, takes[count].part) == peer && is_to_call(c, &takes[count], call))
      add_choices(c, rank, call, peer + 1, takes, count + 1);
  }
}

void abstraction_add_gathers(struct abstraction *c, const struct attempt *a)
{
  struct abstraction_send takes[c->ranks];
  const struct world_call call = call_at(c, a);
  if (waits(a, &call))
    add_choices(c, a->rank, &call, 0, takes, 0);
}

bool abstraction_gathers_now(const struct abstraction *c, const struct attempt *a)
{
  struct abstraction_send takes[c->ranks];
  const struct world_call call = call_at(c, a);
  abstraction_takes(c, a->rank, &a->action, takes);
  return waits(a, &call) && is_to_call(c, takes, &call);
}

uint32_t abstraction_gathering_move(const struct abstraction *c, const struct interned *moves)
{
  const uint32_t *number = moves->bytes;
  for (uint32_t i = 0; i < moves->size / sizeof *number; i++) {
    const struct move *move = c->model->rules_cache.moves.item[number[i]].bytes;
    if (move->kind == MOVE_EVENT && move->event.kind == RCL_EVENT_COLLECTED)
      return number[i];
  }
  return 0;
}
