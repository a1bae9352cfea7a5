#include "verify/state/archive.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/platform.h"

enum {
  /* files at most: those of an archive and of its save, and one that is being written */
  NUMBERS = 32,
  /* the line of a filter is prefetched when this many states remain before the line is used */
  AHEAD = 16,
  MANY = 8 /* a file gets a filter if it has at least this many times as many states as are looked
              for */
};

/* ---- files ---- */

static void name_of(const struct archive *a, uint32_t number, char *name, size_t room)
{
  snprintf(name, room, "%s.states-%u", a->prefix, number);
}

/* Holds a file that is being written, and its filter. */
struct making {
  struct sorted_writer *writer;
  uint32_t number, bytes;
  struct filter filter;
  /* hash[]: the hashes of the last states, which are not in the filter yet */
  uint64_t states, hash[AHEAD];
};

/* Returns the number of bytes that the filter of one more file may take. */
static uint64_t bytes_for_filter(const struct archive *a)
{
  uint64_t taken = 0;
  for (uint32_t i = 0; i < a->entries; i++)
    taken += filter_bytes(&a->entry[i].filter);
  return taken < a->filters_most ? a->filters_most - taken : 0;
}

/* Creates a file for at most `states` states of `bytes` bytes each. */
static bool create(struct archive *a, uint32_t bytes, uint64_t states, struct making *m)
{
  char name[4096];
  *m = (struct making){.number = (uint32_t)__builtin_ctzll(~a->numbers), .bytes = bytes};
  REQUIRE(m->number < NUMBERS, "an archive has few files");
  name_of(a, m->number, name, sizeof name);
  m->writer = sorted_create(name, bytes);
  if (!m->writer)
    return false;
  if (states > MANY * a->looked_for)
    filter_init(&m->filter, states, bytes_for_filter(a));
  a->numbers |= UINT64_C(1) << m->number;
  return true;
}

static void put(struct making *m, const uint8_t *state)
{
  sorted_put(m->writer, state);
  if (!m->filter.lines)
    return;
  uint64_t *hash = &m->hash[m->states++ % AHEAD];
  if (m->states > AHEAD)
    filter_add(&m->filter, *hash);
  *hash = hash_bytes(state, m->bytes);
  filter_prefetch(&m->filter, *hash);
}

static bool finish(struct archive *a, struct making *m, struct archive_entry *made)
{
  for (uint64_t i = 0; i < AHEAD && i < m->states; i++)
    filter_add(&m->filter, m->hash[i]);
  *made = (struct archive_entry){.number = m->number, .filter = m->filter};
  bool fine = sorted_finish(m->writer, &made->file);
  if (!fine) {
    a->numbers &= ~(UINT64_C(1) << m->number);
    filter_clear(&made->filter);
  }
  return fine;
}

/* Drops a file. If a save names the file, the file stays on disk until there is another save. */
static void drop(struct archive *a, struct archive_entry *entry)
{
  uint64_t bit = UINT64_C(1) << entry->number;
  if (entry->saved)
    a->stale |= bit;
  else
    a->numbers &= ~bit;
  sorted_close(&entry->file, !entry->saved);
  filter_clear(&entry->filter);
}

static void remove_numbers(struct archive *a, uint64_t numbers)
{
  char name[4096];
  for (; numbers; numbers &= numbers - 1) {
    name_of(a, (uint32_t)__builtin_ctzll(numbers), name, sizeof name);
    platform_file_remove(name);
  }
}

struct archive *archive_new(const char *prefix, const struct packing *packing,
                            uint64_t filters_most)
{
  struct archive *a = memory_table(1, sizeof *a);
  a->prefix = memory_grow(NULL, strlen(prefix) + 1);
  strcpy(a->prefix, prefix);
  a->packing = packing;
  a->filters_most = filters_most;
  return a;
}

void archive_free(struct archive *a)
{
  if (!a)
    return;
  archive_settle(a);
  for (uint32_t i = 0; i < a->entries; i++)
    drop(a, &a->entry[i]);
  free(a->prefix);
  free(a);
}

static uint64_t bytes_of(const struct archive *a)
{
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < a->entries; i++)
    bytes += filter_bytes(&a->entry[i].filter) + sorted_index_bytes(&a->entry[i].file);
  return bytes;
}

/* ---- merging ---- */

static void copy_state(struct making *to, struct sorted_reader *reader, const uint8_t **state)
{
  put(to, *state);
  *state = sorted_next(reader);
}

/* Merges two files, which have no state in common. */
static bool merge_two(struct archive *a, struct archive_entry *one, struct archive_entry *two,
                      struct archive_entry *made)
{
  uint32_t bytes = sorted_bytes(a->packing);
  struct making making;
  if (!create(a, bytes, one->file.states + two->file.states, &making))
    return false;
  struct sorted_reader *of_one = sorted_reader_new(&one->file),
                       *of_two = sorted_reader_new(&two->file);
  const uint8_t *x = sorted_next(of_one), *y = sorted_next(of_two);
  while (x || y)
    if (!y || (x && memcmp(x, y, bytes) < 0))
      copy_state(&making, of_one, &x);
    else
      copy_state(&making, of_two, &y);
  sorted_reader_free(of_one);
  sorted_reader_free(of_two);
  if (!finish(a, &making, made))
    return false;
  drop(a, one);
  drop(a, two);
  return true;
}

/* Adds a file. Files are kept in order of size, the largest first. A file that was merged from two
 * may be larger than files that are there already. */
static void add_entry(struct archive *a, const struct archive_entry *entry)
{
  uint32_t at = a->entries++;
  for (; at > 0 && a->entry[at - 1].file.states < entry->file.states; at--)
    a->entry[at] = a->entry[at - 1];
  a->entry[at] = *entry;
}

static void remove_two(struct archive *a, struct archive_entry *two)
{
  a->entries -= 2;
  memmove(two, two + 2, (size_t)(a->entry + a->entries - two) * sizeof *two);
}

/* Returns the cost of merging two files, of which the larger comes first: the number of states in
 * the larger file times the square of the ratio of their sizes. Because of the square, files of
 * similar size are merged. */
static double cost_of_merging(const struct archive_entry *two)
{
  double states = (double)two[0].file.states, times = states / (double)two[1].file.states;
  return states * times * times;
}

/* Chooses two files to merge, which are neighbours in the order of size. If the two smallest were
 * always merged, all files would grow to one size, and each new file, however small, would be
 * merged with a file of that size. */
static struct archive_entry *cheapest_two(struct archive *a)
{
  struct archive_entry *two = &a->entry[a->entries - 2];
  for (uint32_t i = a->entries - 2; i-- > 0;)
    if (cost_of_merging(&a->entry[i]) < cost_of_merging(two))
      two = &a->entry[i];
  return two;
}

/* Merges two files, if there are too many. */
static bool keep_few(struct archive *a)
{
  while (a->entries > ARCHIVE_FILES) {
    struct archive_entry made, *two = cheapest_two(a);
    if (!merge_two(a, &two[0], &two[1], &made))
      return false;
    remove_two(a, two);
    add_entry(a, &made);
  }
  return true;
}

/* ---- what is there already ---- */

/* Holds the states that one thread looks for. */
struct search {
  const struct archive *archive;
  uint8_t *states;
  uint32_t bytes;
  uint64_t count;
};

/* Returns whether `state` is in the file. Calls come in the order of states. */
static bool is_in(struct sorted_reader *reader, const uint8_t *state, uint32_t bytes)
{
  const uint8_t *found = sorted_seek(reader, state);
  return found && !memcmp(found, state, bytes);
}

static uint64_t hash_ahead(const struct search *s, uint64_t n)
{
  uint64_t hash = hash_bytes(s->states + n * (s->bytes + 1), s->bytes);
  for (uint32_t i = 0; i < s->archive->entries; i++)
    filter_prefetch(&s->archive->entry[i].filter, hash);
  return hash;
}

static void mark_if_known(const struct search *s, struct sorted_reader **reader, uint64_t n,
                          uint64_t hash)
{
  const struct archive *a = s->archive;
  uint8_t *state = s->states + n * (s->bytes + 1);
  for (uint32_t i = 0; i < a->entries && state[s->bytes]; i++)
    if (filter_may_have(&a->entry[i].filter, hash) && is_in(reader[i], state, s->bytes))
      state[s->bytes] = 0;
}

/* Gives tag 0 to the states that are on disk already. */
static void mark_known(void *data)
{
  const struct search *s = data;
  const struct archive *a = s->archive;
  struct sorted_reader *reader[ARCHIVE_FILES + 1];
  uint64_t hash[AHEAD];
  for (uint32_t i = 0; i < a->entries; i++)
    reader[i] = sorted_reader_new(&a->entry[i].file);
  for (uint64_t n = 0; n < s->count + AHEAD; n++) {
    if (n >= AHEAD)
      mark_if_known(s, reader, n - AHEAD, hash[n % AHEAD]);
    if (n < s->count)
      hash[n % AHEAD] = hash_ahead(s, n);
  }
  for (uint32_t i = 0; i < a->entries; i++)
    sorted_reader_free(reader[i]);
}

static void mark_all_known(const struct archive *a, uint8_t *states, uint64_t count,
                           unsigned threads)
{
  uint32_t bytes = sorted_bytes(a->packing);
  struct search search[threads];
  for (unsigned i = 0; i < threads; i++) {
    uint64_t from = count * i / threads, to = count * (i + 1) / threads;
    search[i] = (struct search){a, states + from * (bytes + 1), bytes, to - from};
  }
  platform_parallel(mark_known, search, sizeof *search, threads);
}

/* ---- to disk, while the search goes on ---- */

struct storing {
  struct archive *archive;
  uint8_t *states; /* sorted states; those with tag 0 are on disk already */
  uint64_t count;
  struct making making; /* the file for the states that are new */
  /* number of bytes of memory that the archive took before this began */
  uint64_t bytes;
  int error;                      /* an error code, or 0 if all went well */
  struct platform_thread *thread; /* the thread that stores, or NULL if it is done */
};

uint64_t archive_bytes(const struct archive *a)
{
  return a->storing ? a->storing->bytes : bytes_of(a);
}

static bool store_fresh(struct storing *s)
{
  struct archive *a = s->archive;
  struct archive_entry made;
  uint32_t bytes = s->making.bytes;
  for (uint64_t n = 0; n < s->count; n++) {
    const uint8_t *at = s->states + n * (bytes + 1);
    if (at[bytes])
      put(&s->making, at);
  }
  free(s->states);
  s->states = NULL;
  if (!finish(a, &s->making, &made))
    return false;
  if (made.file.states)
    add_entry(a, &made);
  else
    drop(a, &made);
  return true;
}

static void store(void *data)
{
  struct storing *s = data;
  bool fine = store_fresh(s) && keep_few(s->archive);
  s->error = fine ? 0 : errno ? errno : EIO;
}

bool archive_settle(struct archive *a)
{
  struct storing *s = a->storing;
  if (!s)
    return true;
  if (s->thread)
    platform_thread_join(s->thread);
  int error = s->error;
  free(s);
  a->storing = NULL;
  errno = error;
  return !error;
}

/* Calls the caller back for the states that were not on disk yet. */
static void tell_fresh(struct archive *a, const uint8_t *states, uint64_t count,
                       void fresh(void *data, const uint32_t *state), void *data)
{
  uint32_t bytes = sorted_bytes(a->packing), state[PACKING_WORDS];
  for (uint64_t n = 0; n < count; n++) {
    const uint8_t *at = states + n * (bytes + 1);
    if (!at[bytes])
      continue;
    a->states++;
    sorted_decode(a->packing, at, state);
    fresh(data, state);
  }
}

bool archive_take(struct archive *a, struct visited *visited, unsigned threads,
                  void fresh(void *data, const uint32_t *state), void *data)
{
  struct storing storing = {.archive = a};
  REQUIRE(visited->packing == a->packing, "states go to disk in the packing in which they are");
  if (!archive_settle(a) || !(storing.states = visited_take_all(visited, threads, &storing.count)))
    return false;
  a->looked_for = a->entries ? storing.count : 0;
  if (!create(a, sorted_bytes(a->packing), storing.count, &storing.making)) {
    free(storing.states);
    return false;
  }
  mark_all_known(a, storing.states, storing.count, threads);
  tell_fresh(a, storing.states, storing.count, fresh, data);
  storing.bytes = bytes_of(a);
  a->storing = memory_grow(NULL, sizeof *a->storing);
  *a->storing = storing;
  if (threads > 1)
    a->storing->thread = platform_thread_start(store, a->storing);
  if (a->storing->thread)
    return true;
  store(a->storing);
  return archive_settle(a);
}

/* ---- all of them ---- */

static bool widen_entry(struct archive *a, const struct archive_entry *entry,
                        const struct packing *packing, struct archive_entry *made)
{
  uint32_t old[PACKING_WORDS], numbers[packing->count], state[PACKING_WORDS];
  uint8_t bytes[SORTED_BYTES_MOST + 1];
  struct making making;
  if (!create(a, sorted_bytes(packing), entry->file.states, &making))
    return false;
  struct sorted_reader *reader = sorted_reader_new(&entry->file);
  for (const uint8_t *at; (at = sorted_next(reader));) {
    sorted_decode(a->packing, at, old);
    packing_unpack(a->packing, old, numbers);
    packing_pack(packing, numbers, state);
    state[0] |= old[0] & TAG_MASK;
    sorted_encode(packing, state, bytes);
    put(&making, bytes);
  }
  sorted_reader_free(reader);
  return finish(a, &making, made);
}

bool archive_widen(struct archive *a, const struct packing *packing)
{
  struct archive_entry made[ARCHIVE_FILES + 1];
  uint32_t count = 0;
  if (!archive_settle(a))
    return false;
  while (count < a->entries && widen_entry(a, &a->entry[count], packing, &made[count]))
    count++;
  bool fine = count == a->entries;
  for (uint32_t i = 0; i < count; i++) {
    drop(a, fine ? &a->entry[i] : &made[i]);
    if (fine)
      a->entry[i] = made[i];
  }
  if (fine)
    a->packing = packing;
  return fine;
}

void archive_each(const struct archive *a, uint32_t tag,
                  void tell(void *data, const uint32_t *state), void *data)
{
  uint32_t state[PACKING_WORDS], bytes = sorted_bytes(a->packing);
  REQUIRE(!a->storing, "states are read from disk when all are there");
  for (uint32_t i = 0; i < a->entries; i++) {
    struct sorted_reader *reader = sorted_reader_new(&a->entry[i].file);
    for (const uint8_t *at; (at = sorted_next(reader));)
      if (!tag || at[bytes] == tag) {
        sorted_decode(a->packing, at, state);
        tell(data, state);
      }
    sorted_reader_free(reader);
  }
}

void archive_sweep(struct archive *a)
{
  remove_numbers(a, ~a->numbers & ((UINT64_C(1) << NUMBERS) - 1));
}

/* ---- saves ---- */

uint32_t archive_save(const struct archive *a, struct archive_saved *saved)
{
  REQUIRE(!a->storing, "a save names files that are complete");
  for (uint32_t i = 0; i < a->entries; i++)
    saved[i] =
        (struct archive_saved){a->entry[i].number, a->entry[i].file.states, a->entry[i].file.end};
  return a->entries;
}

/* Removes the files that only an older save needs. Notes whether a save needs the present files. */
static void mark_saved(struct archive *a, bool saved)
{
  remove_numbers(a, a->stale);
  a->numbers &= ~a->stale;
  a->stale = 0;
  for (uint32_t i = 0; i < a->entries; i++)
    a->entry[i].saved = saved;
}

void archive_was_saved(struct archive *a)
{
  mark_saved(a, true);
}

void archive_forget_saves(struct archive *a)
{
  mark_saved(a, false);
}

/* Makes the filter of a file that another process has written. */
static void learn_filter(struct archive *a, struct archive_entry *entry)
{
  filter_init(&entry->filter, entry->file.states, bytes_for_filter(a));
  if (!entry->filter.lines)
    return;
  struct sorted_reader *reader = sorted_reader_new(&entry->file);
  for (const uint8_t *state; (state = sorted_next(reader));)
    filter_add(&entry->filter, hash_bytes(state, entry->file.bytes));
  sorted_reader_free(reader);
}

bool archive_open(struct archive *a, const struct archive_saved *saved, uint32_t count)
{
  char name[4096];
  uint32_t bytes = sorted_bytes(a->packing);
  for (uint32_t i = 0; i < count; i++) {
    struct archive_entry entry = {.number = (uint32_t)saved[i].number, .saved = true};
    name_of(a, entry.number, name, sizeof name);
    if (a->entries == ARCHIVE_FILES || entry.number >= NUMBERS ||
        !sorted_open(&entry.file, name, bytes, saved[i].states, saved[i].end))
      return false;
    a->numbers |= UINT64_C(1) << entry.number;
    a->states += entry.file.states;
    learn_filter(a, &entry);
    add_entry(a, &entry);
  }
  return true;
}
