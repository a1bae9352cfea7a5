/* One search by several processes, each with one worker: a process owns the states whose digest
 * falls to it (verify/distribute/exchange.h). It expands its own, sends successors to their owners,
 * and keeps all tables of the search for itself. A level ends when all have expanded theirs and all
 * that was sent is placed; then the counts are added up.
 */
#include "verify/base/memory.h"
#include "verify/explore/search.h"

static void place(void *worker, const uint32_t *numbers)
{
  worker_place(worker, numbers);
}

/* Messages are not left to pile up, nor what waits to be sent. */
void distributed_receive(struct explorer *e)
{
  bool full;
  do
    full = exchange_is_full(e->exchange);
  while (exchange_take(e->exchange, full, place, &e->worker[0]) || full);
  worker_place_pending(&e->worker[0]);
}

bool distributed_is_level_over(struct explorer *e)
{
  if (!e->sent) {
    exchange_end(e->exchange);
    e->sent = true;
  }
  if (exchange_is_over(e->exchange)) {
    e->sent = false;
    return true;
  }
  exchange_take(e->exchange, true, place, &e->worker[0]);
  worker_place_pending(&e->worker[0]);
  return false;
}

/* ---- sums ---- */

void distributed_sum(struct explorer *e, struct level *level)
{
  const struct transport *transport = exchange_transport(e->exchange);
  struct exploration *out = e->out;
  uint64_t counts[] = {level->states, level->next, level->violating,
                       out->transitions - e->known.transitions, out->rests - e->known.rests};
  uint64_t most[REACHES + 1];
  for (int i = 0; i < REACHES; i++)
    most[i] = out->reached.most[i];
  most[REACHES] = level->full;
  transport->sum(counts, sizeof counts / sizeof *counts);
  transport->largest(most, REACHES + 1);
  *level = (struct level){counts[0], counts[1], counts[2], most[REACHES]};
  out->transitions = e->known.transitions += counts[3];
  out->rests = e->known.rests += counts[4];
  for (int i = 0; i < REACHES; i++)
    out->reached.most[i] = (uint8_t)most[i];
}

void distributed_conclude(struct explorer *e)
{
  uint64_t counts[] = {e->out->bytes, e->out->steps};
  exchange_transport(e->exchange)->sum(counts, sizeof counts / sizeof *counts);
  e->out->bytes = counts[0];
  e->out->steps = counts[1];
}

/* ---- states that all need ---- */

struct gathering {
  struct states *states;
  uint32_t components;
};

static void gather(void *ctx, const uint32_t *numbers)
{
  const struct gathering *gathering = ctx;
  states_add(gathering->states, numbers, gathering->components);
}

void distributed_share(struct explorer *e, struct states *found)
{
  const struct transport *transport = exchange_transport(e->exchange);
  struct gathering gathering = {found, e->model.components};
  uint32_t own = found->count, state[PACKING_WORDS];
  uint64_t nothing = 0;
  for (uint32_t i = 0; i < own; i++) {
    packing_pack(e->model.packing, found->numbers + (size_t)i * e->model.components, state);
    for (unsigned to = 0; to < transport->size; to++)
      if (to != transport->rank)
        exchange_put(e->exchange, to, state);
  }
  exchange_end(e->exchange);
  while (!exchange_is_over(e->exchange))
    exchange_take(e->exchange, true, gather, &gathering);
  transport->sum(&nothing, 1);
  explorer_widen_packing(e);
  if (e->full)
    memory_exhausted(visited_bytes(&e->visited));
}
