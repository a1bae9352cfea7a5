/* Does the same random operations to contributions in groups and to the parts for which these
 * groups stand, which are lists of messages by pair of ranks. */
#include <stdlib.h>
#include <string.h>

#include "protocols/t/tap.h"
#include "world/rules/shares.h"

enum { RANKS_MAX = 70, LIST_MAX = 400 };

static int ranks;
static struct list {
  struct world_message item[LIST_MAX];
  uint32_t count;
} pair[RANKS_MAX][RANKS_MAX];

static uint32_t draw(uint32_t below)
{
  static uint64_t state = 1;
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (uint32_t)(state >> 33) % below;
}

/* ---- the lists ---- */

static bool is_meant(const struct world_message *message, const struct shares_key *key)
{
  return message->comm == key->comm && message->tag == key->number &&
         message->incarnation >= key->least && message->incarnation <= key->most;
}

/* Returns the index of the contribution of the sender to which `key` applies, or the length of the
 * list if there is none. */
static uint32_t find(const struct shares_key *key, int peer)
{
  const struct list *list = &pair[peer][key->rank];
  uint32_t i = key->sender >= 0 && peer != key->sender ? list->count : 0;
  while (i < list->count && !is_meant(&list->item[i], key))
    i++;
  return i;
}

static void remove_at(struct list *list, uint32_t i)
{
  memmove(&list->item[i], &list->item[i + 1], (--list->count - i) * sizeof *list->item);
}

/* ---- what is compared ---- */

static bool same_parts(struct shares *s)
{
  bool same = true, none = true;
  for (int from = 0; from < ranks; from++)
    for (int to = 0; to < ranks; to++) {
      const struct list *list = &pair[from][to];
      uint32_t size;
      const void *part = shares_read(s, from, to, &size);
      same &= size == list->count * sizeof *list->item &&
              (size == 0 || !memcmp(part, list->item, size));
      none &= !list->count;
    }
  return same && none == shares_none(s);
}

struct lines {
  uint32_t line[RANKS_MAX], stopped[RANKS_MAX];
  int peer[RANKS_MAX], count;
};

static void note_lines(void *data, int peer, const struct world_message *message)
{
  struct lines *lines = data;
  lines->peer[lines->count] = peer;
  lines->line[lines->count] = message->line;
  lines->stopped[lines->count++] = message->stopped;
}

/* Returns whether `visit` was told, in the order of ranks, the first contribution of each pair of
 * lines. `visit` may be told later contributions with the same pair, too. */
static bool tells(const struct lines *told, const struct lines *all)
{
  bool right = true;
  for (int i = 0, at = 0; i < all->count; i++) {
    bool is_next = at < told->count && told->peer[at] == all->peer[i];
    bool known = is_next;
    for (int k = 0; k < i; k++)
      known |= all->line[k] == all->line[i] && all->stopped[k] == all->stopped[i];
    right &= known &&
             (!is_next || (told->line[at] == all->line[i] && told->stopped[at] == all->stopped[i]));
    at += is_next;
  }
  return right && told->count <= all->count;
}

static bool take(struct shares *s, const struct shares_key *key)
{
  struct lines told = {.count = 0}, all = {.count = 0};
  uint32_t sum[RCL_WORDS] = {0}, words[RCL_WORDS] = {0}, count = 0, contributions = 0;
  shares_sum(s, key, &contributions, words);
  shares_take(s, key, note_lines, &told);
  for (int peer = 0; peer < ranks; peer++) {
    struct list *list = &pair[peer][key->rank];
    uint32_t i = find(key, peer);
    if (i == list->count)
      continue;
    note_lines(&all, peer, &list->item[i]);
    for (int k = 0; k < RCL_WORDS; k++)
      sum[k] += list->item[i].words[k];
    remove_at(list, i);
    count++;
  }
  return count == contributions && !memcmp(sum, words, sizeof sum) && tells(&told, &all);
}

static void drop(struct shares *s, int peer, int rank, uint16_t incarnation)
{
  shares_drop(s, peer, rank, incarnation);
  for (int from = 0; from < ranks; from++)
    for (uint32_t i = pair[from][rank].count; i-- > 0;)
      if ((peer < 0 || from == peer) && pair[from][rank].item[i].incarnation < incarnation)
        remove_at(&pair[from][rank], i);
}

/* Contributes as ranks do: to all, to the root, or to some ranks only. */
static void add(struct shares *s, int from, int flow, uint32_t incarnation)
{
  struct world_message message = {.comm = (int16_t)draw(2),
                                  .tag = (int32_t)draw(2),
                                  .incarnation = (uint16_t)incarnation,
                                  .line = draw(8) == 0,
                                  .stopped = draw(8) == 0,
                                  .words = {draw(100), draw(100), draw(100)}};
  uint64_t *to = shares_receivers(s);
  bool some = draw(6) == 0;
  for (int rank = 0; rank < ranks; rank++) {
    struct list *list = &pair[from][rank];
    if ((flow == RCL_FLOW_TO_ROOT && rank) || (some && draw(3) == 0))
      continue;
    shares_put(to, rank);
    if (rank != from && list->count < LIST_MAX)
      list->item[list->count++] = message;
  }
  shares_add(s, from, &message, to, flow == RCL_FLOW_ALL);
}

static bool operate(struct shares *s, uint32_t incarnation)
{
  int rank = (int)draw((uint32_t)ranks);
  bool root = draw(4) == 0;
  struct shares_key key = {(int)draw(2), (int)draw(2), rank, root ? 0 : RCL_ANY, 0, UINT16_MAX};
  switch (draw(20)) {
  case 0:
    drop(s, draw(2) ? RCL_ANY : (int)draw((uint32_t)ranks), rank, (uint16_t)incarnation);
    return true;
  case 1:
  case 2:
  case 3:
  case 4:
    key.least = draw(2) ? (uint16_t)incarnation : 0;
    return take(s, &key);
  case 5: /* all ranks, one after the other, as at the end of a call */
    for (key.rank = 0; key.rank < ranks; key.rank++)
      if (!take(s, &key))
        return false;
    return true;
  case 6:
    for (rank = 0; rank < ranks; rank++)
      add(s, rank, RCL_FLOW_ALL, incarnation);
    return true;
  default:
    add(s, rank, draw(2) ? RCL_FLOW_ALL : RCL_FLOW_TO_ROOT, incarnation);
    return true;
  }
}

/* Follows random operations, and compares the parts after every `look` of them. */
static void follow(int count, uint32_t operations, uint32_t look)
{
  struct shares *s = shares_new(count);
  bool same = true, taken = true;
  ranks = count;
  memset(pair, 0, sizeof pair);
  for (uint32_t i = 0; i < operations && same && taken; i++) {
    taken = operate(s, 6 * i / operations);
    same = i % look || same_parts(s);
  }
  ok(taken, "%d ranks: what is taken is what the pairs have", count);
  ok(same, "%d ranks: the parts of all pairs are the same", count);
  for (int rank = 0; rank < ranks; rank++)
    drop(s, RCL_ANY, rank, UINT16_MAX);
  ok(shares_none(s) && same_parts(s), "%d ranks: in the end nothing is left", count);
  shares_free(s);
}

/* Members are filled in once for each communicator, and freed with the rest. */
static void members(void)
{
  enum { COMMS = 40 };
  struct shares *s = shares_new(RANKS_MAX);
  bool known, right = true;
  for (int comm = 0; comm < COMMS; comm++) {
    uint64_t *set = shares_members(s, comm, &known);
    right &= !known && !*set;
    *set = (uint64_t)comm + 1;
  }
  ok(right, "nobody is a member of a communicator that is new");
  for (int comm = COMMS - 1; comm >= 0; comm--)
    right &= *shares_members(s, comm, &known) == (uint64_t)comm + 1 && known;
  ok(right, "members stay what they were filled in as");
  shares_free(s);
}

int main(void)
{
  members();
  follow(2, 3000, 1);
  follow(3, 3000, 1);
  follow(7, 3000, 1);
  follow(RANKS_MAX, 500, 50); /* sets of two words */
  return done();
}
