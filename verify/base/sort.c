/* American flag sort (McIlroy, Bostic and McIlroy, Engineering radix sort, Computing Systems 1993):
 * a byte at a time, from the first on. */
#include "verify/base/sort.h"

#include <string.h>

enum { FEW = 24 }; /* items that are sorted one by one */

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

/* Puts the items together that have the same byte; they end at end[byte]. */
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

static void sort_from(uint8_t *items, uint64_t count, size_t bytes, size_t key, size_t byte)
{
  uint64_t end[UINT8_MAX + 1];
  if (byte == key)
    return;
  if (count <= FEW) {
    sort_few(items, count, bytes, key);
    return;
  }
  distribute(items, count, bytes, byte, end);
  for (unsigned value = 0; value <= UINT8_MAX; value++) {
    uint64_t from = value ? end[value - 1] : 0;
    if (end[value] - from > 1)
      sort_from(items + from * bytes, end[value] - from, bytes, key, byte + 1);
  }
}

void sort_bytes(uint8_t *items, uint64_t count, size_t bytes, size_t key)
{
  sort_from(items, count, bytes, key, 0);
}
