#include "verify/reduce/at_end.h"

#include <string.h>

#include "world/rules/world_parts.h"

bool terminal_is_at_end(const struct abstraction *c, const uint32_t *values)
{
  const struct world_program *program =
      c->model->rules_cache.parts.item[values[WORLD_PROGRAM]].bytes;
  const struct world_rank *me = c->model->rules_cache.parts.item[values[WORLD_RANK]].bytes;
  return program->finished && !me->held &&
         (me->phase == RANK_RUNNING || me->phase == RANK_CAPTURING);
}

/* Returns whether the end of a run violates a property when a rank has these values and only `left`
 * is under way to the rank, or nothing if `left` is NULL. */
static bool is_wrong(const struct abstraction *c, uint32_t rank, const uint32_t *values,
                     const struct abstraction_send *left)
{
  struct model *model = c->model;
  struct verdict verdict;
  memcpy(model->rules_cache.values, c->first,
         model->rules_cache.count * sizeof *model->rules_cache.values);
  memcpy(model->rules_cache.values + world_part(model->world, WORLD_RANK, (int)rank, 0), values,
         WORLD_RANK_PARTS * sizeof *values);
  if (left)
    model->rules_cache.values[left->part] = left->value;
  transition_cache_forget_reads(&model->rules_cache);
  world_at_end(model->world, &verdict);
  return model_violates(model, &verdict);
}

/* Returns whether a violation at the end, with that message under way, is still a violation after
 * the edge. */
static bool stays_wrong_with(const struct abstraction *c, uint32_t rank, const uint32_t *before,
                             const uint32_t *after, const struct abstraction_edge *edge,
                             const struct abstraction_send *left)
{
  bool taken = abstraction_takes_it(c, rank, abstraction_action(c, rank, edge->action), left);
  return !is_wrong(c, rank, before, left) || is_wrong(c, rank, after, taken ? NULL : left);
}

/* Returns whether a violation at the end is still a violation after the edge, whatever is under
 * way. */
static bool stays_wrong(const struct abstraction *c, uint32_t rank, const uint32_t *before,
                        const uint32_t *after, const struct abstraction_edge *edge)
{
  struct abstraction_send left[c->ranks];
  if (is_wrong(c, rank, before, NULL) && !is_wrong(c, rank, after, NULL))
    return false;
  for (uint32_t i = 0; i < abstraction_actions(c, rank); i++) {
    const struct abstraction_action *action = abstraction_action(c, rank, i);
    if (action->peer >= 0 && abstraction_takes(c, rank, action, left) &&
        !stays_wrong_with(c, rank, before, after, edge, left))
      return false;
  }
  const struct intern *shares = &c->rank[rank].shares;
  for (uint32_t i = 1; i <= shares->count; i++)
    if (!stays_wrong_with(c, rank, before, after, edge, shares->item[i].bytes))
      return false;
  return true;
}

static const char *lost_by(const struct abstraction *c, uint32_t rank, uint32_t node,
                           const struct abstraction_edge *edge, struct intern *known)
{
  const uint32_t *before = abstraction_values(c, rank, node),
                 *after = abstraction_values(c, rank, edge->target);
  uint32_t asked[2 * WORLD_RANK_PARTS + 1], count = known->count;
  memcpy(asked, before, WORLD_RANK_PARTS * sizeof *asked);
  memcpy(asked + WORLD_RANK_PARTS, after, WORLD_RANK_PARTS * sizeof *asked);
  asked[2 * WORLD_RANK_PARTS] = edge->action;
  if (intern(known, asked, (uint32_t)sizeof asked) <= count)
    return NULL;
  if (!terminal_is_at_end(c, after) || before[WORLD_PROGRAM] != after[WORLD_PROGRAM] ||
      before[WORLD_FLOWS] != after[WORLD_FLOWS] || before[WORLD_SENT] != after[WORLD_SENT])
    return "a program goes on after its end";
  if (c->model->judges_end && !stays_wrong(c, rank, before, after, edge))
    return "what is left over at the end may vanish later";
  return NULL;
}

const char *terminal_unsound(const struct abstraction *c)
{
  const char *lost = NULL;
  if (!c->model->judges_end && !c->model->options->outcomes)
    return NULL;
  for (uint32_t rank = 0; rank < c->ranks && !lost; rank++) {
    const struct abstraction_rank *r = &c->rank[rank];
    struct intern known = {0};
    for (uint32_t node = 1; node <= r->nodes.count && !lost; node++)
      for (uint32_t i = r->first[node]; i < r->first[node + 1] && !lost; i++)
        if (r->edges[i].target != VIOLATES &&
            terminal_is_at_end(c, abstraction_values(c, rank, node)))
          lost = lost_by(c, rank, node, &r->edges[i], &known);
    intern_clear(&known);
  }
  transition_cache_forget_reads(&c->model->rules_cache);
  c->model->loaded = NULL;
  return lost;
}
