/* Renames ranks in the parts of the world. */
#include "world/rules/world_step.h"

static bool rename_program(const struct world *w, int rank, struct world_program *program,
                           const int16_t *to)
{
  const struct content now = world_first_history(rank);
  if (!content_same(&program->history, &now) || program->call.state != CALL_NONE ||
      program->waiting || program->given || program->receives)
    return false; /* a digest does not tell which ranks' messages were received */
  program->history = world_first_history(to[rank]);
  return are_free(w);
}

static bool rename_rank(const struct world *w, int rank, struct world_rank *me, const int16_t *to)
{
  if (!w->protocol->permute_ranks || me->image || me->draining > 1)
    return false;
  world_call_permute(w, rank, me + 1, to);
  return true;
}

static bool rename_messages(int from, struct world_message *message, uint32_t count,
                            const int16_t *to)
{
  const struct content now = world_first_history(from);
  for (uint32_t i = 0; i < count; i++) {
    if (is_control(&message[i]))
      continue;
    if (!content_same(&message[i].content, &now))
      return false;
    message[i].content = world_first_history(to[from]);
  }
  return true;
}

bool world_rename(const struct world *w, uint32_t part, const int16_t *to, void *bytes,
                  uint32_t size)
{
  uint32_t n = (uint32_t)w->ranks, pairs = world_part(w, WORLD_CHANNEL, 0, 0);
  int rank = (int)(part / WORLD_RANK_PARTS), from = (int)((part - pairs) % (n * n) / n);
  if (part == world_part(w, WORLD_GLOBAL, 0, 0))
    return ((const struct world_global *)bytes)->down < 0;
  if (!size || part == world_part(w, WORLD_TOKENS, 0, 0))
    return true;
  if (part >= world_part(w, WORLD_SHARE, 0, 0))
    return false;
  if (part >= pairs)
    return rename_messages(from, bytes, size / (uint32_t)sizeof(struct world_message), to);
  switch (part % WORLD_RANK_PARTS) {
  case WORLD_RANK:
    return rename_rank(w, rank, bytes, to);
  case WORLD_PROGRAM:
    return rename_program(w, rank, bytes, to);
  default:
    return false;
  }
}

uint32_t world_renamed(const struct world *w, uint32_t part, const int16_t *to)
{
  uint32_t n = (uint32_t)w->ranks, pairs = world_part(w, WORLD_CHANNEL, 0, 0);
  if (part >= world_part(w, WORLD_GLOBAL, 0, 0))
    return part;
  if (part < pairs)
    return world_part(w, part % WORLD_RANK_PARTS, to[part / WORLD_RANK_PARTS], 0);
  uint32_t pair = (part - pairs) % (n * n);
  return part - pair + world_part(w, WORLD_CHANNEL, to[pair / n], to[pair % n]) - pairs;
}
