#include "verify/state/filter.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
  LINE = FILTER_WORDS * sizeof(uint64_t), /* number of bytes of a line */
  PLACE = 9,                              /* bits of a hash that choose a bit of a line */
  CHOSEN = 6                              /* bits of a line that a state sets */
};

void filter_init(struct filter *f, uint64_t states, uint64_t bytes)
{
  uint64_t wanted = states / 8 * FILTER_BITS + LINE;
  *f = (struct filter){0};
  if (bytes < states / 8 * FILTER_BITS_LEAST + LINE)
    return;
  f->lines = (wanted < bytes ? wanted : bytes) / LINE;
  f->word = memory_table(f->lines, LINE);
}

void filter_clear(struct filter *f)
{
  free(f->word);
  *f = (struct filter){0};
}

uint64_t filter_bytes(const struct filter *f)
{
  return f->lines * LINE;
}

static uint64_t *line_of(const struct filter *f, uint64_t hash)
{
  return f->word + (uint64_t)((unsigned __int128)hash * f->lines >> 64) * FILTER_WORDS;
}

void filter_prefetch(const struct filter *f, uint64_t hash)
{
  if (f->lines)
    __builtin_prefetch(line_of(f, hash));
}

void filter_add(struct filter *f, uint64_t hash)
{
  if (!f->lines)
    return;
  uint64_t *line = line_of(f, hash), places = hash_mix(hash);
  for (int i = 0; i < CHOSEN; i++, places >>= PLACE)
    line[places / 64 % FILTER_WORDS] |= UINT64_C(1) << places % 64;
}

bool filter_may_have(const struct filter *f, uint64_t hash)
{
  if (!f->lines)
    return true;
  const uint64_t *line = line_of(f, hash);
  uint64_t places = hash_mix(hash);
  for (int i = 0; i < CHOSEN; i++, places >>= PLACE)
    if (!(line[places / 64 % FILTER_WORDS] >> places % 64 & 1))
      return false;
  return true;
}
