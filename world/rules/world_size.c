/* Asks a protocol for the size of its state, before there is a state to guard (world_door.c). */
#include <string.h>

#include "base/breach.h"
#include "base/confine.h"
#include "world/rules/world_step.h"

struct sizing {
  const struct rcl_protocol *protocol;
  struct rcl_config config;
  size_t bytes;
};

static void run_state_size(void *data)
{
  struct sizing *s = data;
  s->bytes = s->protocol->state_size(&s->config);
}

static size_t ask(const struct world *w, int rank)
{
  struct sizing s = {.protocol = w->protocol, .config = w->config[rank]};
  struct confine_end end = {0};
  const char *name = w->protocol->name;
  if (!confine_run(run_state_size, &s, &end) && end.late)
    breach("%s does not end within %d s of processor time in state_size", name, CONFINE_SECONDS);
  else if (end.signal)
    breach("%s ended by signal %d (%s) in state_size", name, end.signal, end.name);
  if (memcmp(&s.config, &w->config[rank], sizeof s.config) != 0)
    breach("%s wrote to its config in state_size", name);
  return s.bytes;
}

uint32_t world_ask_state_size(const struct world *w)
{
  size_t first = ask(w, 0);
  if (first % 8 || first > INT32_MAX)
    breach("%s tells of %zu bytes in state_size, expected a multiple of 8 below 2 GiB",
           w->protocol->name, first);
  for (int rank = 0; rank < w->ranks; rank++) {
    size_t bytes = ask(w, rank);
    if (bytes != first)
      breach("%s tells of %zu bytes at rank %d in state_size, expected %zu as before",
             w->protocol->name, bytes, rank, first);
  }
  return (uint32_t)first;
}
