/* Matches messages with the receives of the program, as MPI does. */
#include "world/rules/world_step.h"

static bool fits(const struct world_receive *posted, int peer, const struct world_message *message)
{
  return posted->comm == message->comm &&
         rcl_matches(posted->peer, posted->tag, peer, message->tag);
}

void world_give(struct step_context *t, uint32_t request, int peer,
                const struct world_message *message)
{
  uint32_t count, i;
  const struct world_receive *posted =
      READ_LIST(struct world_receive, t->w, WORLD_POSTED, t->rank, 0, &count);
  for (i = 0; i < count && posted[i].request != request; i++)
    continue;
  if (i == count) {
    world_violate(t, "legal", "receive %u is not posted", request);
    return;
  }
  if (!fits(&posted[i], peer, message))
    world_violate(t, "legal", "receive %u was given a message with another envelope", request);
  list_remove(t->w, WORLD_POSTED, t->rank, 0, i, sizeof *posted);
  world_check_sequence(t, peer, message);
  if (!t->w->script)
    return;
  struct world_program *program = edit_program(t->w, t->rank);
  for (unsigned name = 0; name <= SCRIPT_NAMES; name++)
    if (program->request[name] == request) {
      program->content[name] = message->content;
      program->given = (uint16_t)(program->given | 1u << name);
      program->source[name] = t->w->script->branches ? (uint16_t)peer : 0;
    }
}

/* ---- below the matching: greedy, as in MPI, so that no posted receive accepts an unexpected
 * message ---- */

void world_pass_up(struct step_context *t, int peer, const struct world_message *message)
{
  if (are_free(t->w)) {
    if (world_follows(t->w))
      world_check_sequence(t, peer, message);
    return;
  }
  const struct world_receive *receive = world_matching(t->w, peer, t->rank, message);
  if (receive) {
    world_give(t, receive->request, peer, message);
    return;
  }
  struct world_slot waiting = {.peer = (int16_t)peer, .message = *message};
  waiting.message.incarnation = 0; /* the message has left the channel */
  waiting.message.after = waiting.message.before = (struct world_alarm){0};
  uint32_t count;
  READ_LIST(struct world_slot, t->w, WORLD_UNEXPECTED, t->rank, 0, &count);
  list_insert(t->w, WORLD_UNEXPECTED, t->rank, 0, count, &waiting, sizeof waiting);
}

void world_take_unexpected(struct step_context *t)
{
  uint32_t count, posted;
  const struct world_slot *unexpected =
      READ_LIST(struct world_slot, t->w, WORLD_UNEXPECTED, t->rank, 0, &count);
  const struct world_receive *last =
      READ_LIST(struct world_receive, t->w, WORLD_POSTED, t->rank, 0, &posted);
  last += posted - 1;
  for (uint32_t i = 0; i < count; i++)
    if (fits(last, unexpected[i].peer, &unexpected[i].message)) {
      struct world_slot first = unexpected[i];
      list_remove(t->w, WORLD_UNEXPECTED, t->rank, 0, i, sizeof first);
      world_give(t, last->request, first.peer, &first.message);
      return;
    }
}
