#include "world/rules/shares.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { BUCKETS = 1024 };

struct given {
  uint64_t serial; /* number of the contribution in the order of all contributions */
  int from;
  struct world_message message;
};

struct group {
  struct group *next; /* the next group in the bucket */
  struct given *given;
  uint32_t count, room;
  uint32_t words[RCL_WORDS]; /* the sums of the words of its contributions */
  /* set of the senders, then set of the receivers; a sender does not receive its own
   * contribution */
  uint64_t set[];
};

struct taken {
  int peer;
  const struct world_message *message;
};

struct shares {
  uint32_t ranks, words, groups;
  uint64_t serial;
  struct group *bucket[BUCKETS];
  uint32_t *place; /* by rank: the place that its last contribution has in its group */
  bool uneven;
  uint64_t *seen, *other, *to; /* scratch: sets */
  struct world_message *part;  /* scratch: what shares_read() has returned */
  struct taken *taken;         /* scratch of shares_take() */
  uint32_t part_room, taken_room, members_room;
  uint64_t **members; /* by communicator: the set of its members */
};

uint32_t shares_words(const struct shares *s)
{
  return s->words;
}

static uint64_t *new_set(const struct shares *s)
{
  return memset(memory_grow(NULL, s->words * sizeof(uint64_t)), 0, s->words * sizeof(uint64_t));
}

struct shares *shares_new(int ranks)
{
  struct shares *s = memset(memory_grow(NULL, sizeof *s), 0, sizeof *s);
  s->ranks = (uint32_t)ranks;
  s->words = (s->ranks + 63) / 64;
  s->seen = new_set(s);
  s->other = new_set(s);
  s->to = new_set(s);
  s->place = memset(memory_grow(NULL, s->ranks * sizeof *s->place), 0, s->ranks * sizeof *s->place);
  return s;
}

static void free_group(struct shares *s, struct group **link)
{
  struct group *group = *link;
  *link = group->next;
  free(group->given);
  free(group);
  s->groups--;
}

void shares_free(struct shares *s)
{
  if (!s)
    return;
  for (uint32_t i = 0; i < BUCKETS; i++)
    while (s->bucket[i])
      free_group(s, &s->bucket[i]);
  for (uint32_t i = 0; i < s->members_room; i++)
    free(s->members[i]);
  free(s->members);
  free(s->place);
  free(s->seen);
  free(s->other);
  free(s->to);
  free(s->part);
  free(s->taken);
  free(s);
}

uint64_t *shares_members(struct shares *s, int comm, bool *known)
{
  s->members = memory_zeroed_room(s->members, (uint32_t)comm, &s->members_room, sizeof(uint64_t *));
  *known = s->members[comm];
  if (!*known)
    s->members[comm] = new_set(s);
  return s->members[comm];
}

uint64_t *shares_receivers(struct shares *s)
{
  return memset(s->to, 0, s->words * sizeof *s->to);
}

bool *shares_uneven(struct shares *s)
{
  return &s->uneven;
}

/* ---- groups ---- */

static struct group **bucket_of(struct shares *s, int comm, int number)
{
  uint64_t key = (uint64_t)(uint32_t)comm << 32 | (uint32_t)number;
  return &s->bucket[hash_mix(key) % BUCKETS];
}

static const uint64_t *senders(const struct group *group)
{
  return group->set;
}

static uint64_t *receivers(const struct shares *s, struct group *group)
{
  return group->set + s->words;
}

static bool is_of(const struct group *group, int comm, int number)
{
  return group->given->message.comm == comm && group->given->message.tag == number;
}

static struct group *new_group(struct shares *s, struct group **link, const uint64_t *to)
{
  size_t set = s->words * sizeof(uint64_t), size = sizeof(struct group) + 2 * set;
  struct group *group = memset(memory_grow(NULL, size), 0, size);
  memcpy(receivers(s, group), to, set);
  group->next = *link;
  *link = group;
  s->groups++;
  return group;
}

static void add_to(struct shares *s, struct group *group, const struct given *given)
{
  if (group->count == group->room) { /* groups of a call with a root mostly have one contribution */
    group->room = group->room ? 2 * group->room : 1;
    group->given = memory_grow(group->given, group->room * sizeof *given);
  }
  s->place[given->from] = group->count;
  group->given[group->count++] = *given;
  shares_put(group->set, given->from);
  for (int i = 0; i < RCL_WORDS; i++)
    group->words[i] += given->message.words[i];
}

/* Returns whether no pair of sender and receiver is left. */
static bool is_empty(const struct shares *s, struct group *group)
{
  const uint64_t *to = receivers(s, group);
  for (uint32_t i = 0; i < s->words; i++) {
    bool own = group->count == 1 && (uint32_t)group->given->from / 64 == i;
    if (to[i] & ~(own ? UINT64_C(1) << group->given->from % 64 : 0))
      return false;
  }
  return true;
}

/* Splits a group: the contributions of the senders in `set` become a group of their own, which
 * follows the old one.
 */
static struct group *split(struct shares *s, struct group *group, const uint64_t *set)
{
  struct group *part = new_group(s, &group->next, receivers(s, group));
  uint32_t count = group->count;
  group->count = 0;
  memset(group->set, 0, s->words * sizeof(uint64_t));
  memset(group->words, 0, sizeof group->words);
  for (uint32_t i = 0; i < count; i++) {
    const struct given given = group->given[i];
    add_to(s, shares_has(set, given.from) ? part : group, &given);
  }
  return part;
}

/* Removes `rank` from the receivers of the group. */
static void leave(const struct shares *s, struct group *group, int rank)
{
  receivers(s, group)[rank / 64] &= ~(UINT64_C(1) << rank % 64);
}

static void free_empty(struct shares *s, struct group **link)
{
  while (*link)
    if (is_empty(s, *link))
      free_group(s, link);
    else
      link = &(*link)->next;
}

/* ---- contributing ---- */

/* Returns whether a contribution of `from` to `to` may join that group. */
static bool is_alike(const struct shares *s, struct group *group, int from,
                     const struct world_message *message, const uint64_t *to)
{
  const struct world_message *one = &group->given->message;
  if (one->incarnation != message->incarnation || one->line != message->line ||
      one->stopped != message->stopped)
    return false;
  for (uint32_t i = 0; i < s->words; i++) {
    uint64_t own = (uint32_t)from / 64 == i ? UINT64_C(1) << from % 64 : 0;
    if ((to[i] ^ receivers(s, group)[i]) & ~own)
      return false;
  }
  return true;
}

void shares_add(struct shares *s, int from, const struct world_message *message, const uint64_t *to,
                bool mutual)
{
  struct group *group = NULL, **end = bucket_of(s, message->comm, message->tag);
  for (; *end; end = &(*end)->next) {
    if (!is_of(*end, message->comm, message->tag))
      continue;
    if (shares_has(senders(*end), from))
      group = NULL; /* the contribution comes after the sender's earlier ones */
    else if (!group && is_alike(s, *end, from, message, to))
      group = *end;
  }
  bool fresh = !group;
  if (fresh)
    group = new_group(s, end, to);
  if (fresh && mutual)
    shares_put(receivers(s, group), from);
  add_to(s, group, &(struct given){s->serial++, from, *message});
  if (fresh && is_empty(s, group))
    free_group(s, end);
}

/* ---- taking ---- */

/* Finds the senders of the group that match the key and are not yet in s->seen, and puts them into
 * s->other and s->seen. Returns false if there are none. Sets `all` to whether these are all
 * senders of the group except for the receiver itself. */
static bool pick(const struct shares *s, struct group *group, const struct shares_key *key,
                 bool *all)
{
  uint16_t incarnation = group->given->message.incarnation;
  bool any = false;
  *all = true;
  if (!is_of(group, key->comm, key->number) || incarnation < key->least ||
      incarnation > key->most || !shares_has(receivers(s, group), key->rank))
    return false;
  for (uint32_t i = 0; i < s->words; i++) {
    uint64_t own = (uint32_t)key->rank / 64 == i ? UINT64_C(1) << key->rank % 64 : 0;
    uint64_t one = key->sender < 0                   ? UINT64_MAX
                   : (uint32_t)key->sender / 64 == i ? UINT64_C(1) << key->sender % 64
                                                     : 0;
    uint64_t meant = senders(group)[i] & ~own;
    s->other[i] = meant & one & ~s->seen[i];
    s->seen[i] |= s->other[i];
    any |= s->other[i] != 0;
    *all &= s->other[i] == meant;
  }
  return any;
}

static void see_none(const struct shares *s)
{
  memset(s->seen, 0, s->words * sizeof *s->seen);
}

static const struct given *given_by(const struct shares *s, const struct group *group, int from)
{
  uint32_t i = s->place[from];
  if (i >= group->count || group->given[i].from != from)
    for (i = 0; group->given[i].from != from; i++)
      continue;
  return &group->given[i];
}

void shares_sum(const struct shares *s, const struct shares_key *key, uint32_t *contributions,
                uint32_t words[RCL_WORDS])
{
  bool all;
  see_none(s);
  for (struct group *group = *bucket_of((struct shares *)(uintptr_t)s, key->comm, key->number);
       group; group = group->next) {
    if (!pick(s, group, key, &all))
      continue;
    const struct given *own =
        all && shares_has(senders(group), key->rank) ? given_by(s, group, key->rank) : NULL;
    *contributions += all ? group->count - (own != NULL) : 0;
    for (int k = 0; all && k < RCL_WORDS; k++)
      words[k] += group->words[k] - (own ? own->message.words[k] : 0);
    for (uint32_t i = 0; !all && i < group->count; i++) {
      if (!shares_has(s->other, group->given[i].from))
        continue;
      ++*contributions;
      for (int k = 0; k < RCL_WORDS; k++)
        words[k] += group->given[i].message.words[k];
    }
  }
}

static int lowest(const struct shares *s, const uint64_t *set)
{
  int rank = 0;
  while (rank < (int)s->ranks && !shares_has(set, rank))
    rank = set[rank / 64] ? rank + 1 : (rank / 64 + 1) * 64;
  return rank;
}

static int by_peer(const void *a, const void *b)
{
  return ((const struct taken *)a)->peer - ((const struct taken *)b)->peer;
}

void shares_take(struct shares *s, const struct shares_key *key,
                 void (*visit)(void *data, int peer, const struct world_message *), void *data)
{
  struct group **bucket = bucket_of(s, key->comm, key->number);
  uint32_t count = 0;
  bool all;
  see_none(s);
  for (struct group *group = *bucket; group; group = group->next) {
    if (!pick(s, group, key, &all))
      continue;
    int peer = lowest(s, s->other);
    if (!all)
      group = split(s, group, s->other);
    leave(s, group, key->rank);
    s->taken = memory_room(s->taken, count, &s->taken_room, sizeof *s->taken);
    s->taken[count++] = (struct taken){peer, &group->given->message};
  }
  if (count > 1)
    qsort(s->taken, count, sizeof *s->taken, by_peer);
  for (uint32_t i = 0; i < count && visit; i++)
    visit(data, s->taken[i].peer, s->taken[i].message);
  free_empty(s, bucket);
}

void shares_drop(struct shares *s, int peer, int rank, uint16_t incarnation)
{
  bool all;
  for (uint32_t i = 0; i < BUCKETS && s->groups; i++) {
    for (struct group *group = s->bucket[i]; group; group = group->next) {
      const struct world_message *one = &group->given->message;
      const struct shares_key key = {one->comm, one->tag, rank, peer, 0, UINT16_MAX};
      see_none(s);
      if (one->incarnation >= incarnation || !pick(s, group, &key, &all))
        continue;
      if (!all)
        group = split(s, group, s->other);
      leave(s, group, rank);
    }
    free_empty(s, &s->bucket[i]);
  }
}

/* ---- as parts ---- */

static int by_serial(const void *a, const void *b)
{
  uint64_t x = ((const struct given *)a)->serial, y = ((const struct given *)b)->serial;
  return (x > y) - (x < y);
}

const struct world_message *shares_read(struct shares *s, int from, int to, uint32_t *size)
{
  struct given *found = NULL;
  uint32_t count = 0, room = 0;
  for (uint32_t i = 0; i < BUCKETS && s->groups && from != to; i++)
    for (struct group *group = s->bucket[i]; group; group = group->next)
      if (shares_has(senders(group), from) && shares_has(receivers(s, group), to)) {
        found = memory_room(found, count, &room, sizeof *found);
        found[count++] = *given_by(s, group, from);
      }
  if (count > 1)
    qsort(found, count, sizeof *found, by_serial);
  while (count > s->part_room)
    s->part = memory_room(s->part, s->part_room, &s->part_room, sizeof *s->part);
  for (uint32_t i = 0; i < count; i++)
    s->part[i] = found[i].message;
  free(found);
  *size = count * (uint32_t)sizeof *s->part;
  return s->part;
}

bool shares_none(const struct shares *s)
{
  return s->groups == 0;
}
