#include "protocols/protocol.h"

#include <string.h>

/* Drops the rest of the step if a list is full, so that a protocol need not check for room
 * everywhere. Other reasons to give up are verdicts of the protocol on the run. The world checks
 * that the rest of the step does not contradict such a verdict. */
static void end_with_full_list(struct rcl_actions *actions)
{
  for (uint32_t i = 0; i + 1 < actions->count; i++)
    if (actions->item[i].kind == RCL_ACTION_GIVE_UP && actions->item[i].reason == RCL_REASON_FULL)
      actions->count = i + 1;
}

int rcl_protocol_step(const struct rcl_protocol *protocol, const struct rcl_config *config,
                      void *state, const struct rcl_event *event, struct rcl_actions *actions,
                      bool check)
{
  actions->count = 0;
  actions->overflow = false;
  protocol->step(config, state, event, actions);
  end_with_full_list(actions);
  return check && protocol->violated_invariant ? protocol->violated_invariant(config, state) : 0;
}

static const uint64_t PRIME = UINT64_C(0x9E3779B97F4A7C15);

static uint64_t fold(uint64_t digest, uint64_t word)
{
  digest = (digest ^ word) * PRIME;
  return digest ^ digest >> 29;
}

enum { LANES = 8, BLOCK = 512 };

static void fold_block(uint64_t lane[LANES], const unsigned char *at, size_t bytes)
{
  uint64_t word[LANES];
  for (size_t i = 0; i < bytes; i += sizeof word) {
    memcpy(word, at + i, sizeof word);
    for (int k = 0; k < LANES; k++) {
      uint64_t mixed = lane[k] ^ word[k];
      lane[k] = (mixed << 31 | mixed >> 33) * PRIME;
    }
  }
}

/* Multiplies and rotates, in lanes that do not wait for each other. Every state of a traced run is
 * digested here, and most bytes of a state are free room in lists. So blocks of zeros are skipped,
 * and each other block also mixes in its offset. Blocks outside of all pieces are skipped without
 * being read. */
static uint64_t digest_pieces(const void *state, size_t bytes, const struct rcl_piece *piece,
                              uint32_t pieces)
{
  static const unsigned char zeros[BLOCK];
  const unsigned char *at = state;
  uint64_t lane[LANES] = {1, 2, 3, 4, 5, 6, 7, 8}, word, digest = PRIME ^ bytes;
  size_t i = 0, whole = bytes / sizeof lane * sizeof lane, end = 0;
  for (uint32_t k = 0; k < pieces; k++) {
    size_t first = piece[k].offset / BLOCK * BLOCK;
    if (piece[k].bytes)
      end = (size_t)piece[k].offset + piece[k].bytes;
    for (i = i < first ? first : i; i < end && i < whole; i += BLOCK) {
      size_t block = whole - i < BLOCK ? whole - i : BLOCK;
      if (memcmp(at + i, zeros, block) == 0)
        continue;
      lane[0] ^= i;
      fold_block(lane, at + i, block);
    }
  }
  for (int k = 0; k < LANES && whole > 0; k++)
    digest = fold(digest, lane[k]);
  for (i = whole; i < bytes; i += sizeof word) {
    word = 0;
    if (i < end)
      memcpy(&word, at + i, bytes - i < sizeof word ? bytes - i : sizeof word);
    digest = fold(digest, word);
  }
  return digest ^ digest >> 32;
}

uint64_t rcl_protocol_digest(const void *state, size_t bytes)
{
  const struct rcl_piece all = {.bytes = (uint32_t)bytes};
  return digest_pieces(state, bytes, &all, 1);
}

uint32_t rcl_protocol_in_use(const struct rcl_protocol *protocol, const struct rcl_config *config,
                             const void *state, struct rcl_piece *piece)
{
  if (protocol->in_use)
    return protocol->in_use(config, state, piece);
  uint32_t bytes = (uint32_t)protocol->state_size(config);
  *piece = (struct rcl_piece){.bytes = bytes, .room = bytes};
  return 1;
}

uint64_t rcl_protocol_digest_state(const struct rcl_protocol *protocol,
                                   const struct rcl_config *config, const void *state)
{
  struct rcl_piece piece[RCL_PIECES];
  uint32_t pieces = rcl_protocol_in_use(protocol, config, state, piece);
  return digest_pieces(state, protocol->state_size(config), piece, pieces);
}
