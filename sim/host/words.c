#include "sim/host/words.h"

#include "sim/host/shadow.h"

#include <string.h>

bool words_only(int32_t tag)
{
  return tag % CALL_KINDS == TAG_WORDS_UP || tag % CALL_KINDS == TAG_WORDS_DOWN;
}

uint32_t words_bytes(void)
{
  enum { WORD_BYTES = 8 }; /* such a message has that at least, and grows in steps of it */
  uint32_t steps = (shadow_protocol()->piggyback_bytes + WORD_BYTES - 1) / WORD_BYTES;
  return MAX(steps, 1) * WORD_BYTES;
}

/* Down a tree goes what its root has, in other messages what their sender contributes. */
static bool goes_down(int32_t tag)
{
  return tag % CALL_KINDS == TAG_BCAST || tag % CALL_KINDS == TAG_SCATTER;
}

void words_attach(const struct rank *r, struct message *message)
{
  const struct call *call = &r->mpi->call;
  if (!call->combined || words_only(message->tag))
    return;
  const uint32_t *words = goes_down(message->tag) ? call->words : call->own;
  memcpy(message->words, words, sizeof message->words);
  message->shares = words[RCL_WORDS];
  message->bytes += shadow_protocol()->piggyback_bytes;
}

void words_detach(struct rank *r, const struct message *message)
{
  struct call *call = &r->mpi->call;
  if (message->shares == 0)
    return;
  machine_sleep(machine_copy_seconds(message->bytes - shadow_protocol()->piggyback_bytes));
  bool replaces = goes_down(message->tag);
  for (int i = 0; i < RCL_WORDS; i++)
    call->words[i] = message->words[i] + (replaces ? 0 : call->words[i]);
  call->words[RCL_WORDS] = message->shares + (replaces ? 0 : call->words[RCL_WORDS]);
}
