#define _DEFAULT_SOURCE
#include "visited.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "intern.h"

enum {
  TAIL = 4096,         /* places beyond the last by hash: nothing wraps around */
  PROBES = 2048,       /* places looked at before the set calls itself full */
  BUSY = 1 << TAG_BITS /* word 0 of a place that is being written: no tag */
};

static uint64_t home(const struct visited *v, uint64_t hash)
{
  return (uint64_t)((unsigned __int128)((hash ^ hash >> 32) * v->factor) * v->places >> 64);
}

static size_t bytes_of(uint64_t places, const struct layout *layout)
{
  return (places + TAIL) * layout->words * sizeof(uint32_t);
}

void visited_init(struct visited *v, const struct layout *layout, uint64_t states, size_t most,
                  uint32_t number)
{
  *v = (struct visited){
      .layout = layout, .places = 2 * states + TAIL, .factor = intern_mix(number + 1) | 1};
  v->reserved = bytes_of(v->places, layout);
  if (v->reserved < most)
    v->reserved = most;
  v->place = mmap(NULL, v->reserved, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (v->place == MAP_FAILED) {
    fprintf(stderr, "explorer: out of memory at %zu bytes of address space\n", v->reserved);
    abort();
  }
  madvise(v->place, v->reserved, MADV_HUGEPAGE); /* a hint: fewer misses of the TLB */
}

void visited_clear(struct visited *v)
{
  if (v->place)
    munmap(v->place, v->reserved);
  *v = (struct visited){0};
}

/* ---- looking ---- */

/* Word 0 of a place, once it is written. */
static uint32_t read_head(uint32_t *place)
{
  uint32_t head;
  for (unsigned spins = 0; (head = __atomic_load_n(place, __ATOMIC_ACQUIRE)) == BUSY; spins++)
    if (spins > 1000)
      sched_yield();
  return head;
}

static bool same_rest(const uint32_t *a, const uint32_t *b, uint32_t words)
{
  for (uint32_t i = 1; i < words; i++)
    if (a[i] != b[i])
      return false;
  return true;
}

static enum visited_answer add(struct visited *v, const uint32_t *state, uint64_t hash,
                               uint64_t probes)
{
  uint32_t words = v->layout->words;
  uint32_t *at = v->place + home(v, hash) * words;
  uint32_t *end = v->place + (v->places + TAIL) * words;
  for (uint64_t probe = 0; probe < probes && at < end; probe++, at += words) {
    uint32_t head = read_head(at);
    if (!head &&
        __atomic_compare_exchange_n(at, &head, BUSY, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
      memcpy(at + 1, state + 1, (words - 1) * sizeof *at);
      __atomic_store_n(at, state[0], __ATOMIC_RELEASE);
      return VISITED_NEW;
    }
    if (head == BUSY)
      head = read_head(at);
    if (!((head ^ state[0]) & ~(uint32_t)TAG_MASK) && same_rest(at, state, words))
      return VISITED_OLD;
  }
  return VISITED_FULL;
}

enum visited_answer visited_add(struct visited *v, const uint32_t *state, uint64_t hash)
{
  return add(v, state, hash, PROBES);
}

uint64_t visited_place(const struct visited *v, const uint32_t *state, uint64_t hash)
{
  uint64_t end = visited_end(v);
  for (uint64_t n = home(v, hash); n < end && *visited_at(v, n); n++) {
    const uint32_t *at = visited_at(v, n);
    if (!((*at ^ state[0]) & ~(uint32_t)TAG_MASK) && same_rest(at, state, v->layout->words))
      return n;
  }
  return end;
}

uint32_t visited_find(const struct visited *v, const uint32_t *state, uint64_t hash)
{
  uint64_t n = visited_place(v, state, hash);
  return n < visited_end(v) ? *visited_at(v, n) & TAG_MASK : 0;
}

void visited_prefetch(const struct visited *v, uint64_t hash)
{
  __builtin_prefetch(v->place + home(v, hash) * v->layout->words);
}

/* ---- growing ---- */

bool visited_crowded(const struct visited *v)
{
  return v->count > v->places / 100 * 85;
}

size_t visited_bytes(const struct visited *v)
{
  return v->place ? bytes_of(v->places, v->layout) : 0;
}

uint64_t visited_end(const struct visited *v)
{
  return v->places + TAIL;
}

/* A state on its way from the old table to the new one. */
struct mover {
  const struct layout *from, *to;
  uint32_t numbers[LAYOUT_FIELDS];
  uint32_t state[LAYOUT_WORDS];
};

static void lift(struct mover *m, const uint32_t *place)
{
  layout_unpack(m->from, place, m->numbers);
  layout_pack(m->to, m->numbers, m->state);
  m->state[0] |= *place & TAG_MASK;
}

/* States come in falling order of hash, which makes for long ways where the set is crowded. */
static void drop(struct visited *v, const uint32_t *state, uint64_t hash)
{
  if (add(v, state, hash, UINT64_MAX) == VISITED_NEW)
    return;
  intern_breach("the visited set cannot be rebuilt");
}

/* States that cannot go to their new place before those below them have gone. */
struct delayed {
  uint32_t *state;
  uint64_t count, room;
};

static void delay(struct delayed *late, const struct mover *m)
{
  uint32_t words = m->to->words;
  if (late->count == late->room) {
    late->room = late->room ? 2 * late->room : 1024;
    late->state = intern_grow(late->state, late->room * words * sizeof *late->state);
  }
  memcpy(late->state + late->count++ * words, m->state, words * sizeof *late->state);
}

/* Places stay what they are: only the packing changes. */
static void repack(struct visited *v, struct mover *m)
{
  for (uint64_t i = 0; i < visited_end(v); i++) {
    uint32_t *place = v->place + i * m->to->words;
    if (!*place)
      continue;
    lift(m, place);
    memcpy(place, m->state, m->to->words * sizeof *place);
  }
}

/* From the last place to the first: what is not moved yet lies below. */
static void spread(struct visited *v, struct mover *m, uint64_t last)
{
  struct delayed late = {0};
  for (uint64_t i = last; i-- > 0;) {
    uint32_t *place = v->place + i * m->from->words;
    if (!*place)
      continue;
    lift(m, place);
    memset(place, 0, m->from->words * sizeof *place);
    uint64_t hash = layout_hash(m->to, m->numbers);
    if (home(v, hash) * m->to->words >= i * m->from->words)
      drop(v, m->state, hash);
    else
      delay(&late, m);
  }
  for (uint64_t i = 0; i < late.count; i++) {
    const uint32_t *state = late.state + i * m->to->words;
    layout_unpack(m->to, state, m->numbers);
    drop(v, state, layout_hash(m->to, m->numbers));
  }
  free(late.state);
}

bool visited_rebuild(struct visited *v, uint64_t places, const struct layout *layout)
{
  struct mover m = {.from = v->layout, .to = layout};
  uint64_t last = visited_end(v);
  bool same = places == v->places && layout->words == v->layout->words;
  if (bytes_of(places, layout) > v->reserved)
    return false;
  v->places = places;
  v->layout = layout;
  if (same)
    repack(v, &m);
  else
    spread(v, &m, last);
  return true;
}
