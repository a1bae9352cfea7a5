#include "play/difference.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "protocols/text.h"

void difference_find(struct session *s)
{
  const char *name = s->world.protocol->name, *flaw = strchr(name, '~');
  if (!flaw || !s->script)
    return;
  char *form = memory_grow(NULL, (size_t)(flaw - name) + 1);
  memcpy(form, name, (size_t)(flaw - name));
  form[flaw - name] = '\0';
  const struct rcl_protocol *intact = rcl_protocol_named(form);
  free(form);
  if (!intact || intact->state_size(&s->world.config[0]) != s->world.state_bytes)
    return; /* the state of the mutant is not a possible state of that protocol */
  s->intact = intact;
  s->intact_actions.capacity = s->actions.capacity;
  s->intact_actions.item = memory_table(s->actions.capacity, sizeof *s->actions.item);
}

char *difference_try(struct session *s, const struct move *move)
{
  struct buffer state = {0};
  struct parts before;
  struct move tried = *move;
  struct verdict verdict = {0};
  if (!s->intact)
    return NULL;
  const struct rcl_protocol *mutant = s->world.protocol;
  parts_copy(&before, &s->parts);
  s->world.protocol = s->intact;
  s->intact_actions.count = 0;
  world_step(&s->world, &tried, &s->intact_actions, &verdict);
  buffer_text(&state, "");
  if (move->rank >= 0)
    session_put_state(&s->world, &state, move->rank);
  s->world.protocol = mutant;
  parts_clear(&s->parts);
  s->parts = before;
  if (verdict.kind != VERDICT_IMPOSSIBLE)
    return state.text;
  free(state.text);
  return NULL;
}

static bool has_action(const struct rcl_actions *actions, const struct rcl_action *wanted)
{
  for (uint32_t i = 0; i < actions->count; i++)
    if (!memcmp(&actions->item[i], wanted, sizeof *wanted))
      return true;
  return false;
}

/* Appends a line for each action of `these` that is missing in `those`. */
static void print_lacking(const struct session *s, struct buffer *out, const char *sign,
                          const struct rcl_actions *these, const struct rcl_actions *those)
{
  char text[TEXT_MAX];
  for (uint32_t i = 0; i < these->count; i++)
    if (!has_action(those, &these->item[i])) {
      buffer_text(out, out->used ? "\n" : "");
      buffer_text(out, sign);
      buffer_text(out, action_print(s->world.protocol, &these->item[i], text));
    }
}

/* The mutant has just taken a move. Returns how the intact protocol, in the same state, takes the
 * same move (session.h). The caller frees the text with free(). */
static char *difference(const struct session *s, int rank, const char *intact)
{
  struct buffer text = {0}, state = {0};
  print_lacking(s, &text, "+", &s->intact_actions, &s->actions);
  print_lacking(s, &text, "-", &s->actions, &s->intact_actions);
  buffer_text(&state, "");
  if (rank >= 0)
    session_put_state(&s->world, &state, rank);
  if (!text.used && strcmp(intact, state.text) != 0)
    buffer_printf(&text, "state\n%s\n%s", intact, state.text);
  free(state.text);
  return text.text;
}

void difference_note(struct session *s, int rank, const char *intact)
{
  if (!s->intact)
    return;
  s->differences =
      memory_zeroed_room(s->differences, s->at, &s->differences_room, sizeof *s->differences);
  free(s->differences[s->at]);
  s->differences[s->at] = intact ? difference(s, rank, intact) : NULL;
}

const char *session_difference(const struct session *s, unsigned move)
{
  return move < s->at && move < s->differences_room ? s->differences[move] : NULL;
}

void difference_clear(struct session *s)
{
  free(s->intact_actions.item);
  for (uint32_t i = 0; i < s->differences_room; i++)
    free(s->differences[i]);
  free(s->differences);
}
