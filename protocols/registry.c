#include "protocol.h"

#include <string.h>

/* Adding a protocol takes one line in each of these two lists. */
extern const struct protocol protocol_none, protocol_c3, protocol_bookmark, protocol_pessimistic,
    protocol_pessimistic_wildcards, protocol_uncoordinated;
static const struct protocol *const own[] = {&protocol_none,
                                             &protocol_c3,
                                             &protocol_bookmark,
                                             &protocol_pessimistic,
                                             &protocol_pessimistic_wildcards,
                                             &protocol_uncoordinated,
                                             NULL};

static const struct protocol *const nothing[] = {NULL};
static const struct protocol *const *more = nothing;

void protocol_register(const struct protocol *const *list)
{
  more = list;
}

const struct protocol *protocol_at(size_t index)
{
  const size_t count = sizeof own / sizeof *own - 1;
  if (index < count)
    return own[index];
  for (size_t i = 0; more[i]; i++)
    if (i == index - count)
      return more[i];
  return NULL;
}

const struct protocol *protocol_named(const char *name)
{
  const struct protocol *protocol;
  for (size_t i = 0; (protocol = protocol_at(i)); i++)
    if (!strcmp(protocol->name, name))
      return protocol;
  return NULL;
}
