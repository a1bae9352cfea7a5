#include "verify/state/visited.h"

#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/sort.h"
#include "verify/state/sorted_file.h"

enum {
  /* number of places behind the last home, because probing does not wrap around */
  TAIL = 4096,
  PROBES = 2048,        /* number of places to look at before the set says that it is full */
  PART_LEAST = 1 << 15, /* least number of places that several threads move together */
  LINE = 16,            /* number of words in a cache line */
  BUSY = 1 << TAG_BITS  /* word 0 of a place that is being written; it has no tag */
};

/* Returns the home of a hash, the place to look at first. It is the first place that begins in the
 * cache line of the hash. */
static uint64_t home_of(const struct visited *v, uint64_t hash)
{
  uint32_t words = v->packing->words;
  uint64_t lines = v->places * words / LINE;
  uint64_t line = (uint64_t)((unsigned __int128)((hash ^ hash >> 32) * v->factor) * lines >> 64);
  return (line * LINE + words - 1) / words;
}

static size_t bytes_of(uint64_t places, const struct packing *packing)
{
  return (places + TAIL) * packing->words * sizeof(uint32_t);
}

void visited_init(struct visited *v, const struct packing *packing, uint64_t states, size_t most,
                  uint32_t number)
{
  *v = (struct visited){
      .packing = packing, .places = 2 * states + TAIL, .factor = hash_mix(number + 1) | 1};
  v->reserved = bytes_of(v->places, packing);
  if (v->reserved < most)
    v->reserved = most;
  v->place = platform_reserve(v->reserved);
  if (!v->place)
    memory_exhausted(v->reserved);
  platform_prefer_huge_pages(v->place, v->reserved);
}

void visited_clear(struct visited *v)
{
  if (v->place)
    platform_release(v->place, v->reserved);
  *v = (struct visited){0};
}

/* ---- looking ---- */

/* Returns word 0 of a place. If another worker is writing the place, waits until that worker is
 * done. */
static uint32_t read_head(uint32_t *place)
{
  uint32_t head;
  for (unsigned spins = 0; (head = __atomic_load_n(place, __ATOMIC_ACQUIRE)) == BUSY; spins++)
    if (spins > 1000)
      platform_yield();
  return head;
}

FOR_EACH_SIZE bool same_rest(const uint32_t *a, const uint32_t *b, uint32_t words)
{
  uint32_t differ = 0;
  for (uint32_t i = 1; i < words; i++)
    differ |= a[i] ^ b[i];
  return !differ;
}

/* Claims a free place. Returns false if another worker has claimed the place. */
FOR_EACH_SIZE bool claim_place(uint32_t *place, const uint32_t *state, uint32_t words)
{
  uint32_t free = 0;
  if (!__atomic_compare_exchange_n(place, &free, BUSY, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return false;
  for (uint32_t i = 1; i < words; i++)
    place[i] = state[i];
  __atomic_store_n(place, state[0], __ATOMIC_RELEASE);
  return true;
}

FOR_EACH_SIZE enum visited_answer add_words(uint32_t *at, const uint32_t *end,
                                            const uint32_t *state, uint32_t words)
{
  for (; at < end; at += words) {
    uint32_t head = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (!(head & TAG_MASK)) {
      if (!head && claim_place(at, state, words))
        return VISITED_NEW;
      head = read_head(at);
    }
    if (!((head ^ state[0]) & ~(uint32_t)TAG_MASK) && same_rest(at, state, words))
      return VISITED_OLD;
  }
  return VISITED_FULL;
}

/* Looks for the state from `at` on, at `probes` places at most. This function is compiled for each
 * usual size of a state. */
static enum visited_answer add_from(struct visited *v, const uint32_t *state, uint32_t *at,
                                    uint64_t probes)
{
  uint32_t words = v->packing->words;
  const uint32_t *end = v->place + visited_end(v) * words;
  if ((uint64_t)(end - at) > probes * words)
    end = at + probes * words;
  switch (words) {
  case 1:
    return add_words(at, end, state, 1);
  case 2:
    return add_words(at, end, state, 2);
  case 3:
    return add_words(at, end, state, 3);
  case 4:
    return add_words(at, end, state, 4);
  default:
    return add_words(at, end, state, words);
  }
}

uint32_t *visited_home(const struct visited *v, uint64_t hash)
{
  uint32_t *place = v->place + home_of(v, hash) * v->packing->words;
  __builtin_prefetch(place);
  return place;
}

enum visited_answer visited_add_at(struct visited *v, const uint32_t *state, uint32_t *home)
{
  CHECK(*state & TAG_MASK, "a state has its tag when it is added");
  CHECK(home == visited_home(v, packing_hash_packed(v->packing, state)),
        "a state is added where its hash says");
  return add_from(v, state, home, PROBES);
}

enum visited_answer visited_add(struct visited *v, const uint32_t *state, uint64_t hash)
{
  return add_from(v, state, visited_home(v, hash), PROBES);
}

uint64_t visited_place(const struct visited *v, const uint32_t *state, uint64_t hash)
{
  uint64_t end = visited_end(v);
  for (uint64_t n = home_of(v, hash); n < end && *visited_at(v, n); n++) {
    const uint32_t *at = visited_at(v, n);
    if (!((*at ^ state[0]) & ~(uint32_t)TAG_MASK) && same_rest(at, state, v->packing->words))
      return n;
  }
  return end;
}

uint32_t visited_find(const struct visited *v, const uint32_t *state, uint64_t hash)
{
  uint64_t n = visited_place(v, state, hash);
  return n < visited_end(v) ? *visited_at(v, n) & TAG_MASK : 0;
}

/* ---- emptying ---- */

/* Gives the memory back to the system, so that all bytes are zero when it is used again. */
static void empty(struct visited *v)
{
  size_t reserved = v->reserved;
  platform_release(v->place, reserved);
  v->place = platform_reserve(reserved);
  if (!v->place)
    memory_exhausted(reserved);
  platform_prefer_huge_pages(v->place, reserved);
  v->count = 0;
}

/* Holds the places that are one thread's share, and the states that the thread takes out of these
 * places. */
struct taking {
  const struct visited *set;
  uint64_t from, end, states;
  uint8_t *to;
};

static void count_taken(void *data)
{
  struct taking *t = data;
  for (uint64_t n = t->from; n < t->end; n++)
    t->states += *visited_at(t->set, n) != 0;
}

static void encode_taken(void *data)
{
  struct taking *t = data;
  uint32_t bytes = sorted_bytes(t->set->packing) + 1;
  for (uint64_t n = t->from; n < t->end; n++)
    if (*visited_at(t->set, n)) {
      sorted_encode(t->set->packing, visited_at(t->set, n), t->to);
      t->to += bytes;
    }
}

uint8_t *visited_take_all(struct visited *v, unsigned threads, uint64_t *count)
{
  struct taking taking[threads];
  uint32_t bytes = sorted_bytes(v->packing) + 1;
  uint64_t end = visited_end(v), sum = 0;
  for (unsigned i = 0; i < threads; i++)
    taking[i] =
        (struct taking){.set = v, .from = end * i / threads, .end = end * (i + 1) / threads};
  platform_parallel(count_taken, taking, sizeof *taking, threads);
  for (unsigned i = 0; i < threads; i++)
    sum += taking[i].states;
  uint8_t *states = malloc(sum * bytes + 1), *to = states;
  if (!states)
    return NULL;
  for (unsigned i = 0; i < threads; i++) {
    taking[i].to = to;
    to += taking[i].states * bytes;
  }
  platform_parallel(encode_taken, taking, sizeof *taking, threads);
  empty(v);
  sort_bytes(states, sum, bytes, bytes - 1, threads);
  *count = sum;
  return states;
}

/* ---- growing ---- */

bool visited_crowded(const struct visited *v)
{
  return v->count > v->places / 100 * 85;
}

size_t visited_bytes(const struct visited *v)
{
  return v->place ? bytes_of(v->places, v->packing) : 0;
}

uint64_t visited_end(const struct visited *v)
{
  return v->places + TAIL;
}

/* Holds states that wait to move until the states below them have moved. */
struct delayed {
  uint32_t *state;
  uint64_t count, room;
};

/* Holds one thread's part of a move from the old table to the new one. */
struct mover {
  struct visited *set;
  const struct packing *from, *to;
  uint64_t first, end; /* the old places whose states it moves */
  /* the place from which on all old states have moved, or NULL if all states from the present one
   * on have moved */
  const uint32_t *vacant;
  struct delayed late;
  uint32_t numbers[PACKING_FIELDS]; /* numbers of the present state */
  uint32_t state[PACKING_WORDS];
};

/* Unpacks a state. Returns its hash. */
static uint64_t unpack_moved(struct mover *m, const uint32_t *place)
{
  if (m->from == m->to) {
    for (uint32_t i = 0; i < m->to->words; i++)
      m->state[i] = place[i];
    return packing_hash_packed(m->to, place);
  }
  packing_unpack(m->from, place, m->numbers);
  packing_pack(m->to, m->numbers, m->state);
  m->state[0] |= *place & TAG_MASK;
  return packing_hash(m->to, m->numbers);
}

/* Inserts a state. States come in falling order of hash, so the search for a free place takes many
 * probes where the set is crowded. */
static void insert_moved(struct visited *v, const uint32_t *state, uint32_t *home)
{
  if (add_from(v, state, home, visited_end(v)) != VISITED_NEW)
    breach("the visited set cannot be rebuilt");
}

static void delay_state(struct delayed *late, const struct mover *m)
{
  uint32_t words = m->to->words;
  if (late->count == late->room) {
    late->room = late->room ? 2 * late->room : 1024;
    late->state = memory_grow(late->state, late->room * words * sizeof *late->state);
  }
  memcpy(late->state + late->count++ * words, m->state, words * sizeof *late->state);
}

/* Packs the states again, each at its old place. Only the packing changes. */
static void repack_places(void *data)
{
  struct mover *m = data;
  for (uint64_t i = m->first; i < m->end; i++) {
    uint32_t *place = m->set->place + i * m->to->words;
    if (!*place)
      continue;
    unpack_moved(m, place);
    memcpy(place, m->state, m->to->words * sizeof *place);
  }
}

/* Moves states, beginning with the last place and ending with the first. The states below the
 * present place have not moved yet. */
static void spread_places(void *data)
{
  struct mover *m = data;
  for (uint64_t i = m->end; i-- > m->first;) {
    uint32_t *place = m->set->place + i * m->from->words;
    if (!*place)
      continue;
    uint32_t *to = m->set->place + home_of(m->set, unpack_moved(m, place)) * m->to->words;
    for (uint32_t word = 0; word < m->from->words; word++)
      place[word] = 0;
    if (to >= (m->vacant ? m->vacant : place))
      insert_moved(m->set, m->state, to);
    else
      delay_state(&m->late, m);
  }
}

/* Moves the states of the places from `first` to `end`, with all threads at once. */
static void move_part(struct mover *movers, unsigned threads, uint64_t first, uint64_t end,
                      void move(void *))
{
  for (unsigned i = 0; i < threads; i++) {
    movers[i].first = first + (end - first) * i / threads;
    movers[i].end = first + (end - first) * (i + 1) / threads;
  }
  platform_parallel(move, movers, sizeof *movers, threads);
}

/* Returns a place below `end`. When the table grows by that factor, very likely all states from
 * that place on go behind `end`. */
static uint64_t first_to_go(uint64_t end, double factor)
{
  double first = (double)end / factor + PROBES;
  return first < (double)end ? (uint64_t)first : end;
}

/* Returns the number of states. Returns UINT64_MAX if a state is half written, is stored twice, or
 * is not found by a search that begins at its home. */
static uint64_t count_states(const struct visited *v)
{
  uint64_t count = 0;
  for (uint64_t n = 0; n < visited_end(v); n++) {
    const uint32_t *state = visited_at(v, n);
    if (!*state)
      continue;
    if (!(*state & TAG_MASK) ||
        visited_place(v, state, packing_hash_packed(v->packing, state)) != n)
      return UINT64_MAX;
    count++;
  }
  return count;
}

/* Moves all states, part by part, beginning with the last part. Leaves a part that is too small for
 * several threads to one thread. */
static void spread_all(struct mover *movers, unsigned threads, uint64_t end, double factor)
{
  struct visited *v = movers[0].set;
  uint64_t first;
  while (threads > 1 && (first = first_to_go(end, factor)) + PART_LEAST < end) {
    for (unsigned i = 0; i < threads; i++)
      movers[i].vacant = v->place + end * movers[i].from->words;
    move_part(movers, threads, first, end, spread_places);
    end = first;
  }
  movers[0].vacant = NULL;
  move_part(movers, 1, 0, end, spread_places);
  for (unsigned i = 0; i < threads; i++) {
    struct mover *m = &movers[i];
    for (uint64_t n = 0; n < m->late.count; n++) {
      const uint32_t *state = m->late.state + n * m->to->words;
      insert_moved(v, state,
                   v->place + home_of(v, packing_hash_packed(m->to, state)) * m->to->words);
    }
    free(m->late.state);
  }
}

bool visited_rebuild(struct visited *v, uint64_t places, const struct packing *packing,
                     unsigned threads)
{
  struct mover movers[threads];
  uint64_t end = visited_end(v);
  double words = (double)packing->words / v->packing->words,
         by = (double)places / (double)v->places;
  bool same = places == v->places && packing->words == v->packing->words;
  if (bytes_of(places, packing) > v->reserved)
    return false;
  uint64_t states = RECLINE_CHECKS ? count_states(v) : 0;
  for (unsigned i = 0; i < threads; i++)
    movers[i] = (struct mover){.set = v, .from = v->packing, .to = packing};
  v->places = places;
  v->packing = packing;
  if (same)
    move_part(movers, threads, 0, end, repack_places);
  else
    spread_all(movers, threads, end, words * by);
  CHECK(states != UINT64_MAX && count_states(v) == states,
        "a rebuilt visited set has the states that it had, each once, each where it is looked for");
  return true;
}
