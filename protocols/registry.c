#include "protocols/protocol.h"

#include <string.h>

/* These two lists have recline's own protocols. A new protocol must be added to both. */
extern const struct rcl_protocol protocol_none, protocol_c3, protocol_bookmark,
    protocol_chandy_lamport, protocol_event_logging, protocol_message_tagging, protocol_blocking,
    protocol_pessimistic, protocol_uncoordinated, protocol_hybrid, protocol_time_based,
    protocol_causal, protocol_lai_yang, protocol_index_based, protocol_optimistic;

static const struct rcl_protocol *const own[] = {&protocol_none,          &protocol_c3,
                                                 &protocol_bookmark,      &protocol_chandy_lamport,
                                                 &protocol_event_logging, &protocol_message_tagging,
                                                 &protocol_blocking,      &protocol_pessimistic,
                                                 &protocol_uncoordinated, &protocol_hybrid,
                                                 &protocol_time_based,    &protocol_causal,
                                                 &protocol_lai_yang,      &protocol_index_based,
                                                 &protocol_optimistic,    NULL};

enum { LISTS_MAX = 64 };
static const struct rcl_protocol *const *more[LISTS_MAX];
static size_t lists;

bool rcl_protocol_register(const struct rcl_protocol *const *list)
{
  if (lists == LISTS_MAX)
    return false;
  more[lists++] = list;
  return true;
}

/* Returns protocol number *index of a list, where variants count, too. If the list is shorter,
 * subtracts its length from *index and returns NULL. */
static const struct rcl_protocol *at(const struct rcl_protocol *const *list, size_t *index)
{
  for (; *list; list++)
    for (const struct rcl_protocol *form = *list; form; form = form->variant)
      if ((*index)-- == 0)
        return form;
  return NULL;
}

const struct rcl_protocol *rcl_protocol_at(size_t index)
{
  const struct rcl_protocol *found = at(own, &index);
  for (size_t i = 0; !found && i < lists; i++)
    found = at(more[i], &index);
  return found;
}

const struct rcl_protocol *rcl_protocol_named(const char *name)
{
  const struct rcl_protocol *protocol;
  for (size_t i = 0; (protocol = rcl_protocol_at(i)); i++)
    if (!strcmp(protocol->name, name))
      return protocol;
  return NULL;
}
