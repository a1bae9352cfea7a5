/* Compares states on disk with a hash table. New states must be told once, in order. At the end
 * all states must be there with their tags, also after a change to a wider packing and after the
 * files are opened again. Prints the seed; pass a seed to reproduce a run. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/hash.h"
#include "base/sort.h"
#include "protocols/t/tap.h"
#include "verify/state/archive.h"

enum { FIELDS = 9 };

static const uint8_t narrow[FIELDS] = {3, 0, 11, 1, 20, 7, 32, 5, 2},
                     wide[FIELDS] = {4, 2, 11, 9, 20, 8, 32, 6, 31};

/* Holds the expected contents: maps the numbers of a state to its tag. */
static GHashTable *all;
static const struct packing *packing;

static guint hash_numbers(gconstpointer numbers)
{
  GBytes *bytes = g_bytes_new_static(numbers, FIELDS * sizeof(uint32_t));
  guint hash = g_bytes_hash(bytes);
  g_bytes_unref(bytes);
  return hash;
}

static gboolean same_numbers(gconstpointer a, gconstpointer b)
{
  return !memcmp(a, b, FIELDS * sizeof(uint32_t));
}

/* Draws a state. In every third round the numbers have few values, so that states are repeated. */
static void draw(uint32_t *numbers, unsigned round)
{
  for (uint32_t i = 0; i < FIELDS; i++) {
    uint32_t most = packing->field[i].mask;
    uint32_t value = (uint32_t)random() << 1 ^ (uint32_t)random();
    numbers[i] = round % 3 ? value & most : value & most & 3;
  }
}

/* ---- what is told ---- */

struct told {
  uint64_t count, wrong;
  uint32_t tag; /* tag that all states must have, or 0 for any tag */
  uint32_t last[FIELDS];
};

static void tell(void *data, const uint32_t *state)
{
  struct told *told = data;
  uint32_t numbers[FIELDS], tag = state[0] & TAG_MASK;
  packing_unpack(packing, state, numbers);
  gpointer known = g_hash_table_lookup(all, numbers);
  told->wrong += GPOINTER_TO_UINT(known) != tag || (told->tag && tag != told->tag);
  told->count++;
}

static void tell_fresh(void *data, const uint32_t *state)
{
  struct told *told = data;
  uint32_t numbers[FIELDS];
  packing_unpack(packing, state, numbers);
  bool ordered = !told->count;
  for (uint32_t i = 0; i < FIELDS && !ordered; i++)
    if (numbers[i] != told->last[i]) {
      ordered = numbers[i] > told->last[i];
      break;
    }
  memcpy(told->last, numbers, sizeof numbers);
  told->wrong += !ordered || g_hash_table_contains(all, numbers);
  told->count++;
  g_hash_table_insert(all, g_memdup2(numbers, sizeof numbers),
                      GUINT_TO_POINTER(state[0] & TAG_MASK));
}

/* ---- the test ---- */

static void fill(struct visited *visited, unsigned round)
{
  uint32_t numbers[FIELDS], state[PACKING_WORDS];
  for (uint32_t n = 0; n < 1u << (5 + round % 10); n++) {
    draw(numbers, round);
    packing_pack(packing, numbers, state);
    state[0] |= round + 1;
    enum visited_answer answer = visited_add(visited, state, packing_hash(packing, numbers));
    visited->count += answer == VISITED_NEW;
    if (visited_crowded(visited))
      visited_rebuild(visited, 2 * visited->places, packing, 1);
  }
}

static bool take(struct archive *archive, struct visited *visited, unsigned round)
{
  struct told told = {0};
  guint before = g_hash_table_size(all);
  fill(visited, round);
  bool fine = archive_take(archive, visited, 1 + round % 3, tell_fresh, &told);
  return fine && !told.wrong && visited->count == 0 &&
         before + told.count == g_hash_table_size(all) &&
         archive->states == g_hash_table_size(all) &&
         (archive->storing || archive->entries <= ARCHIVE_FILES);
}

/* Returns the number of states of a file that its filter lacks. */
static uint64_t lacking(const struct archive_entry *entry)
{
  uint64_t count = 0;
  struct sorted_reader *reader = sorted_reader_new(&entry->file);
  for (const uint8_t *state; (state = sorted_next(reader));)
    count += !filter_may_have(&entry->filter, hash_bytes(state, entry->file.bytes));
  sorted_reader_free(reader);
  return count;
}

static bool has_all(struct archive *archive)
{
  uint64_t count = 0, wrong = !archive_settle(archive) || archive->entries > ARCHIVE_FILES;
  for (uint32_t i = 0; i < archive->entries; i++)
    wrong += lacking(&archive->entry[i]);
  for (uint32_t tag = 1; tag <= TAG_MASK; tag++) {
    struct told told = {.tag = tag};
    archive_each(archive, tag, tell, &told);
    count += told.count;
    wrong += told.wrong;
  }
  return !wrong && count == g_hash_table_size(all);
}

static unsigned files_in(const char *folder)
{
  unsigned count = 0;
  GDir *dir = g_dir_open(folder, 0, NULL);
  while (g_dir_read_name(dir))
    count++;
  g_dir_close(dir);
  return count;
}

/* Takes some states while files may not grow. The error must be reported, perhaps not at once. */
static bool fails_later(struct archive *archive, struct visited *visited, bool takes_more)
{
  struct rlimit before, none;
  struct told told = {0};
  fill(visited, 9);
  getrlimit(RLIMIT_FSIZE, &before);
  none = (struct rlimit){0, before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &none);
  bool taken = archive_take(archive, visited, 2, tell, &told);
  bool written =
      takes_more ? archive_take(archive, visited, 1, tell, &told) : archive_settle(archive);
  int error = errno;
  setrlimit(RLIMIT_FSIZE, &before);
  return taken && !written && error == EFBIG;
}

/* Returns whether the first file of a save is opened. */
static bool opens(const char *prefix, const struct archive_saved *saved)
{
  struct archive *archive = archive_new(prefix, packing, 0);
  bool opened = archive_open(archive, saved, 1);
  archive_was_saved(archive); /* this call makes the files stay */
  archive_free(archive);
  return opened;
}

static void archives(const char *folder, uint64_t filters)
{
  char *prefix = g_build_filename(folder, "test", NULL);
  struct packing *first = packing_new(narrow, FIELDS), *second = packing_new(wide, FIELDS);
  struct visited visited;
  packing = first;
  visited_init(&visited, packing, 1 << 14, 1 << 26, 0);
  struct archive *archive = archive_new(prefix, packing, filters);
  bool fine = true;
  unsigned round = 0;
  for (; round < 25; round++)
    fine &= take(archive, &visited, round);
  ok(fine, "what is new is told once, in order");
  ok(has_all(archive), "%u states are there, with their tags", g_hash_table_size(all));
  packing = second;
  visited_rebuild(&visited, visited.places, packing, 1);
  ok(archive_widen(archive, packing) && has_all(archive), "also in a wider packing");
  for (fine = true; round < 40; round++)
    fine &= take(archive, &visited, round);
  ok(fine && has_all(archive), "to which states are added: %u", g_hash_table_size(all));

  struct archive_saved saved[ARCHIVE_FILES];
  uint32_t files = archive_save(archive, saved);
  archive_was_saved(archive);
  GHashTable *then = all;
  all = g_hash_table_new_full(hash_numbers, same_numbers, g_free, NULL);
  GHashTableIter i;
  gpointer key, value;
  for (g_hash_table_iter_init(&i, then); g_hash_table_iter_next(&i, &key, &value);)
    g_hash_table_insert(all, g_memdup2(key, FIELDS * sizeof(uint32_t)), value);
  for (fine = true; round < 50; round++)
    fine &= take(archive, &visited, round);
  ok(fine, "more are added behind a save");
  archive_free(archive);
  g_hash_table_unref(all);
  all = then;
  archive = archive_new(prefix, packing, filters);
  ok(archive_open(archive, saved, files) && has_all(archive), "the files of the save are opened");
  saved[0].states++;
  ok(!opens(prefix, saved), "but none that has fewer states");
  saved[0].states--;
  saved[0].end++;
  ok(!opens(prefix, saved), "or that was cut");
  saved[0].end--;
  ok(opens(prefix, saved), "than the save says");
  g_autofree char *left = g_strdup_printf("%s.states-31", prefix);
  g_file_set_contents(left, "left over", -1, NULL);
  archive_sweep(archive);
  ok(files_in(folder) == files, "others are removed");
  archive_forget_saves(archive);
  archive_free(archive);
  ok(files_in(folder) == 0, "at the end, all");
  saved[0].states++;
  archive = archive_new(prefix, packing, filters);
  ok(!archive_open(archive, saved, 1), "a file that is not there is not opened");
  archive_free(archive);
  archive = archive_new("/nowhere/test", packing, 0);
  fill(&visited, 3);
  struct told told = {0};
  ok(!archive_take(archive, &visited, 1, tell, &told), "where no file can be made it is said");
  archive_free(archive);
  archive = archive_new(prefix, packing, filters);
  ok(fails_later(archive, &visited, false), "also where one cannot be written, if later");
  archive_free(archive);
  archive = archive_new(prefix, packing, filters);
  ok(fails_later(archive, &visited, true), "or when the next states are taken");
  archive_free(archive);
  ok(files_in(folder) == 0, "of which nothing is left");
  visited_clear(&visited);
  free(first);
  free(second);
  g_free(prefix);
}

static int by_bytes(const void *a, const void *b)
{
  return memcmp(a, b, 5);
}

static void sorting(void)
{
  enum { COUNT = 30000, BYTES = 7 };
  uint8_t *one = g_malloc(COUNT * BYTES), *two;
  bool fine = true;
  for (uint32_t count = 0; count < COUNT; count = 3 * count + 1) {
    for (uint32_t i = 0; i < count * BYTES; i++)
      one[i] = (uint8_t)(random() % (i % BYTES ? 256 : 3));
    two = g_memdup2(one, (gsize)count * BYTES + 1);
    qsort(two, count, BYTES, by_bytes);
    sort_bytes(one, count, BYTES, 5, 1 + count % 4);
    for (uint32_t i = 0; i < count; i++)
      fine &= !memcmp(one + i * BYTES, two + i * BYTES, 5);
    g_free(two);
  }
  ok(fine, "items are put in order");
  g_free(one);
}

/* Tests that a filter knows all added states, and takes few other states for added ones. */
static void filters(void)
{
  enum { STATES = 100000 };
  struct filter filter;
  unsigned missing = 0, wrong = 0;
  filter_init(&filter, STATES, 1 << 20);
  for (uint64_t n = 0; n < STATES; n++)
    filter_add(&filter, hash_bytes(&n, sizeof n));
  for (uint64_t n = 0; n < STATES; n++)
    missing += !filter_may_have(&filter, hash_bytes(&n, sizeof n));
  for (uint64_t n = STATES; n < 2 * STATES; n++)
    wrong += filter_may_have(&filter, hash_bytes(&n, sizeof n));
  ok(!missing && wrong < STATES / 50,
     "a filter has all of 100,000 states, and %u others of as many", wrong);
  ok(filter_bytes(&filter) <= STATES * FILTER_BITS / 8 + 64, "in 10 bits for each");
  filter_clear(&filter);
  filter_init(&filter, STATES, STATES / 8 * FILTER_BITS_LEAST - 64);
  ok(!filter_bytes(&filter) && filter_may_have(&filter, 1), "there is none where memory is short");
}

int main(int argc, char **argv)
{
  unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : (unsigned)time(NULL);
  printf("# seed %u\n", seed);
  srandom(seed);
  g_autofree char *folder = g_dir_make_tmp("recline-archive-XXXXXX", NULL);
  sorting();
  filters();
  /* memory for the filters of all files, of none, and of some */
  static const uint64_t filters_most[] = {1 << 20, 0, 3000};
  for (size_t i = 0; i < G_N_ELEMENTS(filters_most); i++) {
    note("filters of %" G_GUINT64_FORMAT " bytes", filters_most[i]);
    all = g_hash_table_new_full(hash_numbers, same_numbers, g_free, NULL);
    archives(folder, filters_most[i]);
    g_hash_table_unref(all);
  }
  g_rmdir(folder);
  return done();
}
