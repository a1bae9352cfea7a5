#include "protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int protocol_step(const struct protocol *protocol, const struct config *config, void *state,
                  const struct event *event, struct actions *actions, bool check)
{
  actions->count = 0;
  actions->overflow = false;
  protocol->step(config, state, event, actions);
  if (actions->overflow) {
    fprintf(stderr, "breach: protocol %s wants more than %u actions in one step at rank %d\n",
            protocol->name, actions->capacity, config->self);
    abort();
  }
  return check && protocol->broken ? protocol->broken(config, state) : 0;
}

/* Multiply-and-rotate over 8-byte words: fast enough to digest every state of a long run. */
uint64_t protocol_digest(const void *state, size_t bytes)
{
  const uint64_t prime = UINT64_C(0x9E3779B97F4A7C15);
  const unsigned char *at = state;
  uint64_t digest = prime ^ bytes;
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word;
    memcpy(&word, at + i, 8);
    digest = (digest ^ word) * prime;
    digest ^= digest >> 29;
  }
  return digest ^ digest >> 32;
}
