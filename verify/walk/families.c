/* Names the families, and tells which families a protocol takes. */
#include "verify/walk/families.h"

#include <string.h>

const char *const family_names[FAMILIES + 1] = {
    "wildcards",     "tags",       "collectives", "communicators", "outputs",
    "windows",       "locks",      "choices",     "branches",      "nonblocking",
    "synchronous",   "iterations", "free",        "sizes",         "crashes",
    "nodes",         "levels",     "cut-steps",   "writes",        "false-detection",
    "control-order", "no-order",   "fifo",        "topologies",    "connections",
    "places",        "tight",      NULL};

uint32_t families_assumed(const struct rcl_protocol *protocol)
{
  enum { ALL = 2 * RCL_ASSUMES_CONNECTED - 1 };
  return protocol->place ? protocol->place->assumes : ALL;
}

/* Returns the families that an assumption forbids. */
static uint32_t forbidden_by(uint32_t assumed)
{
  static const struct {
    uint32_t assumes, families;
  } rules[] = {
      {RCL_ASSUMES_CONTROL_ORDER, FAMILY_CONTROL_ORDER},
      {RCL_ASSUMES_MPI_ORDER, FAMILY_NO_ORDER},
      {RCL_ASSUMES_FIFO, FAMILY_NO_ORDER},
      {RCL_ASSUMES_ANYWHERE, FAMILY_PLACES},
      /* When an orphan is sent again, its sender may read a different number under a lock. */
      {RCL_ASSUMES_SAME_AGAIN, FAMILY_LOCKS | FAMILY_BRANCHES},
      {RCL_ASSUMES_LOGGER, FAMILY_LEVELS},
      /* Messages that are not synchronized with iterations or barriers cross them. */
      {RCL_ASSUMES_ITERATIONS, FAMILY_WINDOWS | FAMILY_LOCKS | FAMILY_WILDCARDS |
                                   FAMILY_NONBLOCKING | FAMILY_COMMUNICATORS | FAMILY_COLLECTIVES |
                                   FAMILY_SYNCHRONOUS},
      {RCL_ASSUMES_CLOCKS, FAMILY_WINDOWS | FAMILY_LOCKS},
  };
  uint32_t families = 0;
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (assumed & rules[i].assumes)
      families |= rules[i].families;
  return families;
}

uint32_t families_taken(const struct rcl_protocol *protocol)
{
  uint32_t taken = (1u << FAMILIES) - 1;
  bool channel = protocol->level == RCL_LEVEL_CHANNEL;
  taken &= ~forbidden_by(families_assumed(protocol));
  if (channel) /* control messages use the channels of the program */
    taken &= ~(uint32_t)(FAMILY_CONTROL_ORDER | FAMILY_PLACES);
  else
    taken &= ~(uint32_t)FAMILY_FREE;
  if (!protocol->reconnects)
    taken &= ~(uint32_t)FAMILY_CONNECTIONS;
  if (protocol->independent)
    taken &= ~(uint32_t)FAMILY_LEVELS;
  return taken;
}
