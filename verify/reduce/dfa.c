#include "verify/reduce/dfa.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dfas_init(struct dfas *l)
{
  *l = (struct dfas){0};
  intern(&l->states, NULL, 0);
}

void dfas_clear(struct dfas *l)
{
  intern_clear(&l->states);
  intern_clear(&l->joins);
  free(l->joined);
  *l = (struct dfas){0};
}

static const struct dfa_edge *edges(const struct dfas *l, uint32_t dfa, uint32_t *count)
{
  *count = l->states.item[dfa].size / (uint32_t)sizeof(struct dfa_edge);
  return l->states.item[dfa].bytes;
}

uint32_t dfa_prefix(struct dfas *l, uint32_t message, uint32_t rest)
{
  const struct dfa_edge edge = {message, rest};
  return intern(&l->states, &edge, (uint32_t)sizeof edge);
}

static uint32_t merge(struct dfas *l, uint32_t a, uint32_t b)
{
  uint32_t a_count, b_count, i = 0, j = 0, n = 0;
  const struct dfa_edge *x = edges(l, a, &a_count), *y = edges(l, b, &b_count);
  struct dfa_edge both[a_count + b_count];
  while (i < a_count || j < b_count) {
    if (j == b_count || (i < a_count && x[i].message < y[j].message)) {
      both[n++] = x[i++];
    } else if (i == a_count || y[j].message < x[i].message) {
      both[n++] = y[j++];
    } else {
      both[n].message = x[i].message;
      both[n++].rest = dfa_union(l, x[i++].rest, y[j++].rest);
    }
  }
  return intern(&l->states, both, n * (uint32_t)sizeof *both);
}

uint32_t dfa_union(struct dfas *l, uint32_t a, uint32_t b)
{
  if (a == b || b == DFA_EMPTY)
    return a;
  if (a == DFA_EMPTY)
    return b;
  const uint32_t pair[] = {a < b ? a : b, a < b ? b : a};
  uint32_t known = intern_find(&l->joins, pair, sizeof pair);
  if (known)
    return l->joined[known];
  uint32_t result = merge(l, a, b), number = intern(&l->joins, pair, sizeof pair);
  if (number >= l->joined_room) {
    l->joined_room = 2 * number;
    l->joined = memory_grow(l->joined, l->joined_room * sizeof *l->joined);
  }
  return l->joined[number] = result;
}

uint32_t dfa_after(const struct dfas *l, uint32_t dfa, uint32_t message)
{
  uint32_t count;
  const struct dfa_edge *edge = edges(l, dfa, &count);
  for (uint32_t i = 0; i < count; i++)
    if (edge[i].message == message)
      return edge[i].rest;
  return 0;
}
