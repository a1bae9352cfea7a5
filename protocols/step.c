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

static const uint64_t PRIME = UINT64_C(0x9E3779B97F4A7C15);

static uint64_t fold(uint64_t digest, uint64_t word)
{
  digest = (digest ^ word) * PRIME;
  return digest ^ digest >> 29;
}

/* Multiply and rotate, in lanes that do not wait for each other: as fast as memory is, as every
 * state of a long run and every payload goes through here. */
uint64_t protocol_digest(const void *state, size_t bytes)
{
  enum { LANES = 8 };
  const unsigned char *at = state;
  uint64_t lane[LANES] = {1, 2, 3, 4, 5, 6, 7, 8}, word[LANES], digest = PRIME ^ bytes;
  size_t i = 0;
  for (; i + sizeof word <= bytes; i += sizeof word) {
    memcpy(word, at + i, sizeof word);
    for (int k = 0; k < LANES; k++) {
      uint64_t mixed = lane[k] ^ word[k];
      lane[k] = (mixed << 31 | mixed >> 33) * PRIME;
    }
  }
  for (int k = 0; k < LANES && i > 0; k++)
    digest = fold(digest, lane[k]);
  for (; i + 8 <= bytes; i += 8) {
    memcpy(word, at + i, 8);
    digest = fold(digest, word[0]);
  }
  return digest ^ digest >> 32;
}
