/* Puts nodes in order, and finds what can be sent along paths of nodes. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "verify/reduce/abstraction_parts.h"

/* Returns whether the edge is a harmful circle. A circle is an edge that leads back to the node
 * where it begins. A circle is harmless if it takes in a message and does nothing else, because
 * fewer messages are left then. */
static bool circles(const struct abstraction *c, uint32_t rank, uint32_t node,
                    const struct abstraction_edge *edge)
{
  return edge->target == node && (abstraction_action(c, rank, edge->action)->peer == OWN ||
                                  edge->sends || edge->shares || edge->writes);
}

void abstraction_sort(struct abstraction *c, uint32_t rank)
{
  struct abstraction_rank *r = &c->rank[rank];
  uint32_t count = r->nodes.count, depth = 0, sorted = 0;
  /* by depth: the index of the next edge of the path's node */
  uint32_t *at = memory_grow(NULL, (count + 1) * sizeof *at);
  /* by depth: the path's node */
  uint32_t *transition = memory_grow(NULL, (count + 1) * sizeof *transition);
  /* by node: 1 if the node is on the path, 2 if it is done */
  uint8_t *state = memory_grow(NULL, (count + 1) * sizeof *state);
  memset(state, 0, count + 1);
  r->order = memory_grow(r->order, (count + 1) * sizeof *r->order);
  transition[depth] = 1;
  at[depth++] = r->first[1];
  state[1] = 1;
  while (depth) {
    uint32_t node = transition[depth - 1];
    if (at[depth - 1] == r->first[node + 1]) {
      state[node] = 2;
      r->order[sorted++] = node;
      depth--;
      continue;
    }
    const struct abstraction_edge *edge = &r->edges[at[depth - 1]++];
    if (edge->target == VIOLATES || state[edge->target] == 2)
      continue;
    if (state[edge->target] == 1) {
      if (edge->target != node || circles(c, rank, node, edge))
        refuse(c, "a rank can come back to where it was");
      continue;
    }
    state[edge->target] = 1;
    transition[depth] = edge->target;
    at[depth++] = r->first[edge->target];
  }
  free(at);
  free(transition);
  free(state);
}

/* ---- what can come ---- */

/* Returns those messages of a list of sent messages that go into `part`. */
static const struct interned *sent_to(const struct abstraction *c, uint32_t sends, uint32_t part)
{
  if (!sends)
    return NULL;
  const struct interned *list = &c->sends.item[sends];
  const struct abstraction_send *sent = list->bytes;
  for (uint32_t i = 0; i < list->size / sizeof *sent; i++)
    if (sent[i].part == part)
      return &c->model->rules_cache.parts.item[sent[i].value];
  return NULL;
}

/* Returns the language of all sequences of messages that `from` can send into `part`. */
static uint32_t dfa_of(struct abstraction *c, uint32_t from, uint32_t part)
{
  const struct abstraction_rank *r = &c->rank[from];
  const uint32_t size = (uint32_t)sizeof(struct world_message);
  uint32_t *of = memory_grow(NULL, (r->nodes.count + 1) * sizeof *of), result;
  for (uint32_t i = 0; i < r->nodes.count; i++) {
    uint32_t node = r->order[i];
    of[node] = DFA_EMPTY;
    for (uint32_t n = r->first[node]; n < r->first[node + 1]; n++) {
      const struct abstraction_edge *edge = &r->edges[n];
      if (edge->target == VIOLATES || edge->target == node)
        continue;
      const struct interned *sent = sent_to(c, edge->sends, part);
      uint32_t dfa = of[edge->target];
      for (uint32_t at = sent ? sent->size : 0; at > 0; at -= size)
        dfa = dfa_prefix(
            &c->dfas,
            intern(&c->model->rules_cache.parts, (const char *)sent->bytes + at - size, size), dfa);
      of[node] = dfa_union(&c->dfas, of[node], dfa);
    }
  }
  result = of[1];
  free(of);
  return result;
}

/* Returns how often `from` can send that message at most, along any path. */
static uint32_t longest(const struct abstraction *c, uint32_t from, uint32_t part, uint32_t what)
{
  const struct abstraction_rank *r = &c->rank[from];
  const struct interned *message = &c->model->rules_cache.parts.item[what];
  uint32_t *most = memory_grow(NULL, (r->nodes.count + 1) * sizeof *most), result;
  for (uint32_t i = 0; i < r->nodes.count; i++) {
    uint32_t node = r->order[i];
    most[node] = 0;
    for (uint32_t n = r->first[node]; n < r->first[node + 1]; n++) {
      const struct abstraction_edge *edge = &r->edges[n];
      const struct interned *sent = sent_to(c, edge->sends, part);
      uint32_t transition = 0;
      for (uint32_t at = 0; sent && at < sent->size; at += message->size)
        transition += !memcmp((const char *)sent->bytes + at, message->bytes, message->size);
      if (edge->target != VIOLATES && edge->target != node)
        transition += most[edge->target];
      if (transition > most[node])
        most[node] = transition;
    }
  }
  result = most[1];
  free(most);
  return result;
}

void abstraction_find_coming(struct abstraction *c, uint32_t rank)
{
  struct abstraction_rank *r = &c->rank[rank];
  for (uint32_t queue = 0; queue < KINDS * c->ranks; queue++) {
    enum part_kind kind = queue < c->ranks ? WORLD_CHANNEL : WORLD_CONTROL;
    uint32_t peer = queue % c->ranks;
    if (peer == rank || !abstraction_is_queue(c, kind))
      continue;
    uint32_t comes = dfa_of(c, peer, part_of(c, kind, peer, rank));
    c->grown |= comes != r->comes[queue];
    r->comes[queue] = comes;
  }
  for (uint32_t i = 0; i < abstraction_actions(c, rank); i++) {
    const struct abstraction_action *action = abstraction_action(c, rank, i);
    if (action->peer == OWN || abstraction_is_queue(c, action->kind))
      continue;
    struct abstraction_send takes[c->ranks];
    uint32_t most = UINT32_MAX;
    for (uint32_t left = abstraction_takes(c, rank, action, takes); left-- > 0;) {
      uint32_t sent =
          longest(c, abstraction_sender(c, takes[left].part), takes[left].part, takes[left].value);
      most = sent < most ? sent : most;
    }
    c->grown |= most != r->most[i];
    r->most[i] = most;
  }
}
