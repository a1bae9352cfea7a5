/* Sorts by one byte after the other, beginning with the first: American flag sort (McIlroy, Bostic
 * and McIlroy, Engineering radix sort, Computing Systems 1993). */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/platform.h"

enum { FEW = 24 }; /* a range of this many items or fewer is sorted by insertion */

static void swap(uint8_t *a, uint8_t *b, size_t bytes)
{
  uint8_t item[SORT_BYTES_MOST];
  memcpy(item, a, bytes);
  memcpy(a, b, bytes);
  memcpy(b, item, bytes);
}

static void sort_few(uint8_t *items, uint64_t count, size_t bytes, size_t key)
{
  uint8_t item[SORT_BYTES_MOST];
  for (uint64_t i = 1; i < count; i++) {
    uint64_t at = i;
    while (at > 0 && memcmp(items + (at - 1) * bytes, items + i * bytes, key) > 0)
      at--;
    if (at == i)
      continue;
    memcpy(item, items + i * bytes, bytes);
    memmove(items + (at + 1) * bytes, items + at * bytes, (i - at) * bytes);
    memcpy(items + at * bytes, item, bytes);
  }
}

/* Moves items with the same byte together; each group ends at end[byte]. */
static void distribute(uint8_t *items, uint64_t count, size_t bytes, size_t byte,
                       uint64_t end[UINT8_MAX + 1])
{
  uint64_t next[UINT8_MAX + 1], sum = 0;
  memset(end, 0, (UINT8_MAX + 1) * sizeof *end);
  for (uint64_t i = 0; i < count; i++)
    end[items[i * bytes + byte]]++;
  for (unsigned value = 0; value <= UINT8_MAX; value++) {
    next[value] = sum;
    end[value] = sum += end[value];
  }
  for (unsigned value = 0; value <= UINT8_MAX; value++)
    while (next[value] < end[value]) {
      uint8_t *item = items + next[value] * bytes;
      unsigned of = item[byte];
      if (of == value)
        next[value]++;
      else
        swap(item, items + next[of]++ * bytes, bytes);
    }
}

/* Holds a range of items that are equal in all bytes before byte `byte`. */
struct range {
  uint8_t *items;
  uint64_t count;
  size_t byte;
};

struct sort {
  size_t bytes, key;
  uint64_t most; /* threads sort ranges of at most this many items, or 0 if there are no threads */
  struct range *range;
  uint32_t ranges, room, next; /* `next` is the index of the next range for a thread */
};

static void sort_range(struct sort *s, struct range of)
{
  uint64_t end[UINT8_MAX + 1];
  if (of.byte == s->key)
    return;
  if (of.count <= FEW) {
    sort_few(of.items, of.count, s->bytes, s->key);
    return;
  }
  if (of.count <= s->most) {
    s->range = memory_room(s->range, s->ranges, &s->room, sizeof *s->range);
    s->range[s->ranges++] = of;
    return;
  }
  distribute(of.items, of.count, s->bytes, of.byte, end);
  for (unsigned value = 0; value <= UINT8_MAX; value++) {
    uint64_t from = value ? end[value - 1] : 0;
    if (end[value] - from > 1)
      sort_range(s, (struct range){of.items + from * s->bytes, end[value] - from, of.byte + 1});
  }
}

/* Sorts one range after the other, in one thread. */
static void sort_ranges(void *data)
{
  struct sort *all = data, alone = {.bytes = all->bytes, .key = all->key};
  for (uint32_t n; (n = __atomic_fetch_add(&all->next, 1, __ATOMIC_RELAXED)) < all->ranges;)
    sort_range(&alone, all->range[n]);
}

void sort_bytes(uint8_t *items, uint64_t count, size_t bytes, size_t key, unsigned threads)
{
  enum { SHARES = 8 /* approximate number of ranges for each thread */ };
  struct sort s = {.bytes = bytes, .key = key, .most = threads > 1 ? count / threads / SHARES : 0};
  sort_range(&s, (struct range){items, count, 0});
  if (s.ranges)
    platform_parallel(sort_ranges, &s, 0, threads); /* a size of 0 makes all threads share `s` */
  free(s.range);
}
