/* Holds contributions to collectives in place, for worlds of many ranks. It replaces the parts
 * WORLD_SHARE of all pairs of ranks. A contribution that flows to many ranks is written once, and
 * the contributions to a call are added up once. So a call on n ranks costs O(n) instead of a
 * message for each pair.
 *
 * Contributions to one call that flow to the same ranks, with the same incarnation and the same
 * pair of lines, make a *group*. A group has senders, receivers, and the sum of its words. A
 * receiver that takes all contributions of a group leaves the group. An operation on only some
 * contributions of a group splits it. The groups of a call are listed in an order that keeps, for
 * each sender, the order in which it made its contributions. shares_read() computes a part from the
 * groups; that part equals the one that world_shares.c writes without groups
 * (world/rules/t/shares-test.c).
 */
#ifndef RECLINE_SHARES_H
#define RECLINE_SHARES_H

#include "world/rules/world.h"

struct shares;

struct shares *shares_new(int ranks);
void shares_free(struct shares *);

/* Returns the number of words in a set of ranks, in which rank r is bit r % 64 of word r / 64. */
uint32_t shares_words(const struct shares *);

static inline bool shares_has(const uint64_t *set, int rank)
{
  return set[rank / 64] >> rank % 64 & 1;
}

static inline void shares_put(uint64_t *set, int rank)
{
  set[rank / 64] |= UINT64_C(1) << rank % 64;
}

/* Adds `message`, whose tag is the number of the call, as a contribution of `from` to the ranks of
 * `to` except `from` itself. If `mutual`, data flow from all ranks to all ranks, so receivers are
 * senders, too. */
void shares_add(struct shares *, int from, const struct world_message *message, const uint64_t *to,
                bool mutual);

/* Selects contributions to call `number` that `rank` may take. For each sender this is the first
 * contribution whose incarnation is from `least` to `most`. RCL_ANY as `sender` means all
 * senders. */
struct shares_key {
  int comm, number, rank, sender;
  uint16_t least, most;
};

/* Adds the number of the selected contributions to *contributions, and their words to `words`. */
void shares_sum(const struct shares *, const struct shares_key *, uint32_t *contributions,
                uint32_t words[RCL_WORDS]);

/* Takes the selected contributions. Calls `visit` once for each pair of lines, in the order of
 * ranks, with the contribution of the lowest rank that has the pair. */
void shares_take(struct shares *, const struct shares_key *,
                 void (*visit)(void *data, int peer, const struct world_message *), void *data);

/* Drops the contributions of `peer`, or of all ranks if that is RCL_ANY, to `rank` from
 * incarnations before `incarnation`. */
void shares_drop(struct shares *, int peer, int rank, uint16_t incarnation);

/* Returns the part WORLD_SHARE of a pair, and its size in bytes. It is valid until the next
 * call. */
const struct world_message *shares_read(struct shares *, int from, int to, uint32_t *size);

bool shares_none(const struct shares *); /* returns whether all parts are empty */

/* shares_members() returns the set of members of a communicator, which the caller must fill in if
 * it is not `known`. shares_receivers() returns an empty set, which the caller fills in for
 * shares_add(). shares_uneven() returns a flag that only the caller reads and sets: true means that
 * some members may be unable to take a contribution, for example because they are dead. */
uint64_t *shares_members(struct shares *, int comm, bool *known);
uint64_t *shares_receivers(struct shares *);
bool *shares_uneven(struct shares *);

#endif
