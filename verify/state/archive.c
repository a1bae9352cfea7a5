#include "verify/state/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/base/breach.h"
#include "verify/base/memory.h"
#include "verify/base/platform.h"

enum { NUMBERS = 32 }; /* of files: of an archive, of its save, and one that is being written */

/* ---- files ---- */

static void name_of(const struct archive *a, uint32_t number, char *name, size_t room)
{
  snprintf(name, room, "%s.states-%u", a->prefix, number);
}

static struct sorted_writer *create(struct archive *a, uint32_t bytes, uint32_t *number)
{
  char name[4096];
  *number = (uint32_t)__builtin_ctzll(~a->numbers);
  REQUIRE(*number < NUMBERS, "an archive has few files");
  name_of(a, *number, name, sizeof name);
  struct sorted_writer *writer = sorted_create(name, bytes);
  if (writer)
    a->numbers |= UINT64_C(1) << *number;
  return writer;
}

static bool finish(struct archive *a, struct sorted_writer *writer, uint32_t number,
                   struct archive_entry *made)
{
  *made = (struct archive_entry){.number = number};
  bool fine = sorted_finish(writer, &made->file);
  if (!fine)
    a->numbers &= ~(UINT64_C(1) << number);
  return fine;
}

/* One that a save names stays until there is another save. */
static void drop(struct archive *a, struct archive_entry *entry)
{
  uint64_t bit = UINT64_C(1) << entry->number;
  if (entry->saved)
    a->stale |= bit;
  else
    a->numbers &= ~bit;
  sorted_close(&entry->file, !entry->saved);
}

static void remove_numbers(struct archive *a, uint64_t numbers)
{
  char name[4096];
  for (; numbers; numbers &= numbers - 1) {
    name_of(a, (uint32_t)__builtin_ctzll(numbers), name, sizeof name);
    platform_file_remove(name);
  }
}

struct archive *archive_new(const char *prefix, const struct packing *packing)
{
  struct archive *a = memory_table(1, sizeof *a);
  a->prefix = memory_grow(NULL, strlen(prefix) + 1);
  strcpy(a->prefix, prefix);
  a->packing = packing;
  return a;
}

void archive_free(struct archive *a)
{
  if (!a)
    return;
  for (uint32_t i = 0; i < a->entries; i++)
    drop(a, &a->entry[i]);
  free(a->prefix);
  free(a);
}

/* ---- merging ---- */

static void copy_state(struct sorted_writer *writer, struct sorted_reader *reader,
                       const uint8_t **state)
{
  sorted_put(writer, *state);
  *state = sorted_next(reader);
}

/* No state is in both. */
static bool merge_two(struct archive *a, struct archive_entry *one, struct archive_entry *two)
{
  uint32_t number, bytes = sorted_bytes(a->packing);
  struct sorted_writer *writer = create(a, bytes, &number);
  if (!writer)
    return false;
  struct sorted_reader *of_one = sorted_reader_new(&one->file),
                       *of_two = sorted_reader_new(&two->file);
  const uint8_t *x = sorted_next(of_one), *y = sorted_next(of_two);
  while (x || y)
    if (!y || (x && memcmp(x, y, bytes) < 0))
      copy_state(writer, of_one, &x);
    else
      copy_state(writer, of_two, &y);
  sorted_reader_free(of_one);
  sorted_reader_free(of_two);
  struct archive_entry made;
  if (!finish(a, writer, number, &made))
    return false;
  drop(a, one);
  drop(a, two);
  *one = made;
  return true;
}

/* The two smallest files become one, where there are too many. Files are in order of size. */
static bool keep_few(struct archive *a)
{
  while (a->entries > ARCHIVE_FILES) {
    if (!merge_two(a, &a->entry[a->entries - 2], &a->entry[a->entries - 1]))
      return false;
    a->entries--;
  }
  return true;
}

static void add_entry(struct archive *a, const struct archive_entry *entry)
{
  uint32_t at = a->entries++;
  for (; at > 0 && a->entry[at - 1].file.states < entry->file.states; at--)
    a->entry[at] = a->entry[at - 1];
  a->entry[at] = *entry;
}

/* ---- what is there already ---- */

/* A thread's share of the states that are looked for. */
struct search {
  const struct archive *archive;
  uint8_t *states;
  uint32_t bytes;
  uint64_t count;
};

/* States that are on disk get tag 0. */
static void mark_known(void *data)
{
  const struct search *s = data;
  for (uint32_t i = 0; i < s->archive->entries; i++) {
    struct sorted_reader *reader = sorted_reader_new(&s->archive->entry[i].file);
    const uint8_t *found = NULL;
    for (uint64_t n = 0; n < s->count; n++) {
      uint8_t *state = s->states + n * (s->bytes + 1);
      if (!state[s->bytes])
        continue;
      if (!(found = sorted_seek(reader, state)))
        break;
      if (!memcmp(found, state, s->bytes))
        state[s->bytes] = 0;
    }
    sorted_reader_free(reader);
  }
}

static void mark_all_known(const struct archive *a, uint8_t *states, uint64_t count,
                           unsigned threads)
{
  uint32_t bytes = sorted_bytes(a->packing);
  struct search search[threads];
  for (unsigned i = 0; i < threads; i++) {
    uint64_t from = count / threads * i, to = i + 1 == threads ? count : count / threads * (i + 1);
    search[i] = (struct search){a, states + from * (bytes + 1), bytes, to - from};
  }
  platform_parallel(mark_known, search, sizeof *search, threads);
}

bool archive_take(struct archive *a, struct visited *visited, unsigned threads,
                  void fresh(void *data, const uint32_t *state), void *data)
{
  uint32_t number, bytes = sorted_bytes(a->packing), state[PACKING_WORDS];
  uint64_t count;
  REQUIRE(visited->packing == a->packing, "states go to disk in the packing in which they are");
  uint8_t *states = visited_take_all(visited, &count);
  struct sorted_writer *writer = states ? create(a, bytes, &number) : NULL;
  struct archive_entry made;
  if (!writer) {
    free(states);
    return false;
  }
  mark_all_known(a, states, count, threads);
  for (uint64_t n = 0; n < count; n++) {
    const uint8_t *at = states + n * (bytes + 1);
    if (!at[bytes])
      continue;
    sorted_put(writer, at);
    sorted_decode(a->packing, at, state);
    fresh(data, state);
  }
  free(states);
  if (!finish(a, writer, number, &made))
    return false;
  a->states += made.file.states;
  if (made.file.states)
    add_entry(a, &made);
  else
    drop(a, &made);
  return keep_few(a);
}

/* ---- all of them ---- */

static bool widen_entry(struct archive *a, const struct archive_entry *entry,
                        const struct packing *packing, struct archive_entry *made)
{
  uint32_t number, old[PACKING_WORDS], numbers[packing->count], state[PACKING_WORDS];
  uint8_t bytes[SORTED_BYTES_MOST + 1];
  struct sorted_writer *writer = create(a, sorted_bytes(packing), &number);
  if (!writer)
    return false;
  struct sorted_reader *reader = sorted_reader_new(&entry->file);
  for (const uint8_t *at; (at = sorted_next(reader));) {
    sorted_decode(a->packing, at, old);
    packing_unpack(a->packing, old, numbers);
    packing_pack(packing, numbers, state);
    state[0] |= old[0] & TAG_MASK;
    sorted_encode(packing, state, bytes);
    sorted_put(writer, bytes);
  }
  sorted_reader_free(reader);
  return finish(a, writer, number, made);
}

bool archive_widen(struct archive *a, const struct packing *packing)
{
  struct archive_entry made[ARCHIVE_FILES + 1];
  uint32_t count = 0;
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
  for (uint32_t i = 0; i < a->entries; i++)
    saved[i] =
        (struct archive_saved){a->entry[i].number, a->entry[i].file.states, a->entry[i].file.end};
  return a->entries;
}

/* The files that only an older save needs go. */
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
    add_entry(a, &entry);
  }
  return true;
}
