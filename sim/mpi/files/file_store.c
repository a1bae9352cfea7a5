#include "sim/mpi/files/file_store.h"
#include "sim/mpi/files/file_change.h"

#include "sim/memory/die.h"
#include "sim/memory/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static GHashTable *openings; /* number -> struct opening */
static GPtrArray *contents;  /* struct content; none is ever freed */
static bool keeps;           /* each rank goes back alone, and repeats its steps */

void store_begin(bool keeps_versions)
{
  keeps = keeps_versions;
}

static struct opening *opening_of(int64_t number)
{
  struct opening *opening = openings ? g_hash_table_lookup(openings, &number) : NULL;
  if (!opening)
    die(DIE_BREACH, "breach: a file was opened and is not known");
  return opening;
}

/* ---- who has reached what ---- */

enum { NOT_OPEN = -1 };

static int *held_by(struct opening *opening, int rank)
{
  while (opening->held->len <= (guint)rank) {
    g_array_append_val(opening->held, (int){NOT_OPEN});
    g_ptr_array_add(opening->changes, g_ptr_array_new());
  }
  return &g_array_index(opening->held, int, rank);
}

static GPtrArray *changes_of(struct opening *opening, int rank)
{
  held_by(opening, rank);
  return opening->changes->pdata[rank];
}

/* Returns the furthest version that a rank has reached, or NOT_OPEN if no rank has the file
 * open. */
static int furthest(const struct opening *opening)
{
  int most = NOT_OPEN;
  for (guint i = 0; i < opening->held->len; i++)
    most = MAX(most, g_array_index(opening->held, int, i));
  return most;
}

enum { NO_CUT = G_MAXUINT };

/* Returns a pointer to the number of changes of the file that are in that version. */
static guint *cut_of(struct opening *opening, int version)
{
  while (opening->cuts->len <= (guint)version)
    g_array_append_val(opening->cuts, (guint){NO_CUT});
  return &g_array_index(opening->cuts, guint, version);
}

/* Notes that a rank reaches a version. The first rank that reaches a version decides which changes
 * are in it, because other ranks may write the file through another opening. */
static void reach(struct opening *opening, int rank, int version)
{
  guint *cut = cut_of(opening, version);
  if (*cut == NO_CUT || (!keeps && furthest(opening) < version))
    *cut = opening->content->applied->len;
  *held_by(opening, rank) = version;
}

static void drop_changes(struct opening *opening)
{
  for (guint i = 0; i < opening->changes->len; i++) {
    GPtrArray *changes = opening->changes->pdata[i];
    for (guint k = 0; k < changes->len; k++)
      change_drop(changes->pdata[k]);
    g_ptr_array_free(changes, TRUE);
  }
  g_ptr_array_set_size(opening->changes, 0);
}

/* ---- opening ---- */

/* Returns the file that has this name now, or NULL if the store does not know such a file. A file
 * with the name of a deleted file is another file. */
static struct content *find_content(const char *path)
{
  struct stat file, known;
  bool there = !stat(path, &file);
  for (guint i = contents ? contents->len : 0; i-- > 0;) {
    struct content *content = contents->pdata[i];
    if (strcmp(content->path, path) != 0)
      continue;
    if (content->descriptor < 0 ? !there
                                : there && !fstat(content->descriptor, &known) &&
                                      known.st_dev == file.st_dev && known.st_ino == file.st_ino)
      return content;
  }
  return NULL;
}

static struct content *content_of(const char *path)
{
  struct content *content = find_content(path);
  if (content)
    return content;
  if (!contents)
    contents = g_ptr_array_new();
  content = g_new0(struct content, 1);
  *content =
      (struct content){.path = g_strdup(path), .descriptor = -1, .applied = g_ptr_array_new()};
  g_ptr_array_add(contents, content);
  return content;
}

static struct opening *begin(int64_t number, const char *path)
{
  struct opening *opening = g_new0(struct opening, 1);
  *opening = (struct opening){.number = number,
                              .content = content_of(path),
                              .held = g_array_new(FALSE, FALSE, sizeof(int)),
                              .cuts = g_array_new(FALSE, TRUE, sizeof(guint)),
                              .changes = g_ptr_array_new(),
                              .pointer_version = -1,
                              .pointer_moved = -1};
  if (!openings)
    openings = g_hash_table_new(g_int64_hash, g_int64_equal);
  g_hash_table_insert(openings, &opening->number, opening);
  return opening;
}

/* Opens the file, unless it has a descriptor that can be used. A descriptor that was opened for
 * reading cannot be used for writing. */
static int get_descriptor(struct content *content, bool writes)
{
  if (content->descriptor >= 0 && (content->writable || !writes))
    return 0;
  int descriptor = open(content->path, (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (descriptor < 0)
    return errno;
  if (content->descriptor >= 0)
    close(content->descriptor);
  content->descriptor = descriptor;
  content->writable = writes;
  return 0;
}

/* Makes and applies a change that belongs to no rank's list of changes. */
static int make_at_once(struct opening *opening, enum change_kind kind, int version, int64_t size)
{
  struct change *change = change_new(opening, kind, version);
  change->size = size;
  change->made_at_once = true;
  int error = change_apply(change);
  change_drop(change);
  return error;
}

static int carry_out(struct opening *opening, unsigned modes)
{
  struct content *content = opening->content;
  struct stat file;
  bool there = !stat(content->path, &file);
  if (there && modes & STORE_NEW)
    return EEXIST;
  if (there && S_ISDIR(file.st_mode))
    return EISDIR;
  if (!there && !(modes & STORE_MAKE))
    return ENOENT;
  if (there)
    return get_descriptor(content, (modes & STORE_WRITE) != 0);
  return make_at_once(opening, CHANGE_MAKES, 0, 0);
}

/* Returns the opening with that number; Its field `begun` says that the opening has been carried
 * out and was not undone. If all ranks have gone back behind an opening, they may take another
 * path. In that case, a new opening takes the place of the old one, which exists only until its
 * changes are undone. */
static struct opening *find_or_begin(int64_t number, const char *path)
{
  struct opening *opening = openings ? g_hash_table_lookup(openings, &number) : NULL;
  if (opening && !keeps && furthest(opening) == NOT_OPEN) {
    g_hash_table_steal(openings, &number);
    drop_changes(opening);
    opening = NULL;
  }
  return opening ? opening : begin(number, path);
}

int store_open(int64_t number, int rank, const char *path, unsigned modes)
{
  struct opening *opening = find_or_begin(number, path);
  if (!opening->begun)
    opening->error = carry_out(opening, modes);
  opening->begun = true;
  reach(opening, rank, 0);
  return opening->error;
}

/* Makes an opening with one change. */
static int change_at_once(int64_t number, int rank, const char *path, enum change_kind kind,
                          int64_t size)
{
  struct opening *opening = find_or_begin(number, path);
  if (!opening->begun) {
    opening->error = get_descriptor(opening->content, kind != CHANGE_ENDS);
    if (!opening->error)
      opening->error = make_at_once(opening, kind, 1, size);
  }
  opening->begun = true;
  reach(opening, rank, 1);
  return opening->error;
}

int store_delete(int64_t number, int rank, const char *path)
{
  return change_at_once(number, rank, path, CHANGE_ENDS, 0);
}

int store_truncate(int64_t number, int rank, const char *path, int64_t size)
{
  return change_at_once(number, rank, path, CHANGE_RESIZES, size);
}

bool store_knows(const char *path)
{
  return find_content(path) != NULL;
}

/* ---- looks at files ---- */

struct sight {
  char *path;
  int error;
  guint cut; /* number of changes of the file at that time */
};

static void forget_sight(gpointer data)
{
  struct sight *sight = data;
  g_free(sight->path);
  g_free(sight);
}

/* Both arrays contain, by rank of the program, a GPtrArray of struct sight. */
static GPtrArray *looks, *readings;

static GPtrArray *sights_of(GPtrArray **all, int rank)
{
  if (!*all)
    *all = g_ptr_array_new();
  while ((*all)->len <= (guint)rank)
    g_ptr_array_add(*all, g_ptr_array_new_with_free_func(forget_sight));
  return (*all)->pdata[rank];
}

/* Returns the result that the same look had before a rollback. If there is none, notes the present
 * result. If the rank looks at something else than before, it has taken another path, so older
 * results from there on do not count. */
static const struct sight *first_sight(GPtrArray *sights, int number, const struct sight *now)
{
  if (sights->len > (guint)number) {
    const struct sight *sight = sights->pdata[number];
    if (strcmp(sight->path, now->path) == 0)
      return sight;
    g_ptr_array_set_size(sights, number);
  }
  struct sight *sight = g_memdup2(now, sizeof *now);
  sight->path = g_strdup(now->path);
  g_ptr_array_add(sights, sight);
  return sight;
}

int store_look(int rank, int number, const char *path, int error)
{
  const struct sight now = {.path = (char *)path, .error = error};
  const struct sight *sight = first_sight(sights_of(&looks, rank), number, &now);
  return keeps || !error ? sight->error : error;
}

/* ---- changing ---- */

/* Adds the rank's next change. If the rank made a change with the same number before it went back,
 * and the two changes differ, the new change replaces the old one. */
static void add(struct standing *standing, struct change *change)
{
  GPtrArray *changes = changes_of(change->opening, standing->rank);
  guint number = (guint)standing->changes++;
  if (number == changes->len) {
    g_ptr_array_add(changes, change);
    return;
  }
  struct change *before = changes->pdata[number];
  if (change_is_same(before, change)) {
    change_free(change);
    return;
  }
  changes->pdata[number] = change;
  change_drop(before);
}

static struct change *next_change(const struct standing *standing, enum change_kind kind)
{
  return change_new(opening_of(standing->opening), kind, standing->version + 1);
}

void store_write(struct standing *standing, const struct segment *segments, int count,
                 const void *data)
{
  struct change *change = next_change(standing, CHANGE_WRITES);
  change_set_data(change, segments, count, data);
  add(standing, change);
}

void store_resize(struct standing *standing, int64_t size, bool may_cut)
{
  struct change *change = next_change(standing, may_cut ? CHANGE_RESIZES : CHANGE_GROWS);
  change->size = size;
  add(standing, change);
}

void store_end(struct standing *standing)
{
  add(standing, next_change(standing, CHANGE_ENDS));
}

/* The rank may have gone back and taken another path. So changes that the rank has not made again
 * are not in the version that ends here. If there are such changes, changes of later versions are
 * removed, too, because the rank will make them again. */
void store_settle(const struct standing *standing)
{
  GPtrArray *changes = changes_of(opening_of(standing->opening), standing->rank);
  guint made = (guint)standing->changes;
  if (changes->len <= made)
    return;
  const struct change *next = changes->pdata[made];
  if (next->version > standing->version + 1)
    return;
  for (guint i = made; i < changes->len; i++)
    change_drop(changes->pdata[i]);
  g_ptr_array_set_size(changes, (int)made);
}

/* Applies the changes of a version, in the order of ranks. Either the changes do not overlap, or
 * their order does not matter to the program. */
static void apply_version(struct opening *opening, int version)
{
  for (guint rank = 0; rank < opening->changes->len; rank++) {
    GPtrArray *changes = opening->changes->pdata[rank];
    guint first = changes->len;
    while (first > 0 && ((struct change *)changes->pdata[first - 1])->version >= version)
      first--;
    for (; first < changes->len; first++) {
      struct change *change = changes->pdata[first];
      int error = change->version == version && !change->applied ? change_apply(change) : 0;
      if (error)
        die(DIE_INPUT, "%s cannot be written: %s", opening->content->path, g_strerror(error));
    }
  }
}

void store_advance(struct standing *standing)
{
  struct opening *opening = opening_of(standing->opening);
  guint before = opening->content->applied->len;
  apply_version(opening, ++standing->version);
  reach(opening, standing->rank, standing->version);
  if (opening->content->applied->len != before)
    *cut_of(opening, standing->version) = opening->content->applied->len;
}

/* ---- reading ---- */

/* Returns the number of the first change that the rank has made since it reached its version. */
static guint first_own(GPtrArray *changes, const struct standing *standing)
{
  guint first = (guint)standing->changes;
  while (first > 0 && ((struct change *)changes->pdata[first - 1])->version > standing->version)
    first--;
  return first;
}

/* Returns the size of the file after the first `cut` changes. */
static int64_t size_at(const struct content *content, guint cut)
{
  struct stat file;
  if (cut < content->applied->len)
    return ((struct change *)content->applied->pdata[cut])->size_before;
  return content->descriptor < 0 || fstat(content->descriptor, &file) ? 0 : file.st_size;
}

int64_t store_size(const struct standing *standing)
{
  struct opening *opening = opening_of(standing->opening);
  GPtrArray *changes = changes_of(opening, standing->rank);
  int64_t size = size_at(opening->content, *cut_of(opening, standing->version));
  for (guint i = first_own(changes, standing); i < (guint)standing->changes; i++)
    size = change_size(changes->pdata[i], size);
  return size;
}

/* Reads the bytes that the segment had after the first `cut` changes. Takes the present bytes of
 * the file. Then puts back the bytes that later changes have replaced, beginning with the latest
 * change. */
static int read_version(const struct content *content, guint cut, struct segment part, char *to)
{
  int descriptor = content->descriptor;
  guint end = content->applied->len;
  for (guint i = end; i-- > cut;) {
    const struct change *change = content->applied->pdata[i];
    if (change->kind == CHANGE_ENDS) {
      descriptor = change->descriptor;
      end = i;
    }
  }
  memset(to, 0, (size_t)part.bytes);
  for (int64_t at = 0; descriptor >= 0 && at < part.bytes;) {
    ssize_t got = pread(descriptor, to + at, (size_t)(part.bytes - at), part.offset + at);
    if (got < 0)
      return errno;
    if (got == 0)
      break;
    at += got;
  }
  for (guint i = end; i-- > cut;)
    change_take_off(content->applied->pdata[i], part, to);
  return 0;
}

int64_t store_read(const struct standing *standing, const struct segment *segments, int count,
                   void *data)
{
  struct opening *opening = opening_of(standing->opening);
  GPtrArray *changes = changes_of(opening, standing->rank);
  guint cut = *cut_of(opening, standing->version), own = first_own(changes, standing);
  int64_t size = store_size(standing), done = 0;
  for (int i = 0; i < count; i++) {
    struct segment part = segments[i];
    part.bytes = MIN(part.bytes, size - part.offset);
    if (part.bytes > 0) {
      char *to = (char *)data + done;
      errno = read_version(opening->content, cut, part, to);
      if (errno)
        return -1;
      for (guint k = own; k < (guint)standing->changes; k++)
        change_put_on(changes->pdata[k], part, to);
      done += part.bytes;
    }
    if (part.bytes < segments[i].bytes)
      break;
  }
  return done;
}

/* Makes a copy of the file as it was after the first `cut` changes. The copy has no name. Returns a
 * descriptor of the copy, or -1 with errno. */
static int copy_of(const struct content *content, guint cut, int flags)
{
  enum { PIECE = 1 << 20 };
  int64_t size = size_at(content, cut);
  int copy = memfd_create("recline", MFD_CLOEXEC), error = copy < 0 ? errno : 0;
  g_autofree char *bytes = g_malloc(PIECE), *name = g_strdup_printf("/proc/self/fd/%d", copy);
  for (int64_t at = 0; !error && at < size; at += PIECE) {
    struct segment part = {at, MIN(PIECE, size - at)};
    error = read_version(content, cut, part, bytes);
    if (!error && pwrite(copy, bytes, (size_t)part.bytes, at) != part.bytes)
      error = ENOSPC;
  }
  int descriptor = error ? -1 : open(name, flags);
  error = error ? error : errno;
  if (copy >= 0)
    close(copy);
  errno = error;
  return descriptor;
}

int store_read_again(int rank, int number, const char *path, int flags)
{
  const struct content *content = find_content(path);
  const struct sight now = {.path = (char *)path, .cut = content ? content->applied->len : 0};
  const struct sight *sight = first_sight(sights_of(&readings, rank), number, &now);
  if (!content || sight->cut >= content->applied->len)
    return HEAP_AS_IT_IS;
  const struct change *next = content->applied->pdata[sight->cut];
  if (next->kind != CHANGE_MAKES)
    return copy_of(content, sight->cut, flags);
  errno = ENOENT;
  return -1;
}

/* ---- the shared pointer ---- */

int64_t store_pointer(const struct standing *standing)
{
  struct opening *opening = opening_of(standing->opening);
  if (opening->pointer_version < standing->version)
    opening->pointer_before = opening->pointer;
  opening->pointer_version = MAX(opening->pointer_version, standing->version);
  return opening->pointer_before;
}

void store_pointer_move(const struct standing *standing, int64_t to)
{
  struct opening *opening = opening_of(standing->opening);
  if (opening->pointer_moved < standing->version)
    opening->pointer = to;
  opening->pointer_moved = MAX(opening->pointer_moved, standing->version);
}

int64_t store_pointer_take(const struct standing *standing, int64_t count)
{
  struct opening *opening = opening_of(standing->opening);
  opening->pointer += count;
  return opening->pointer - count;
}

/* ---- rollback ---- */

void store_forget(int rank)
{
  GHashTableIter iterator;
  gpointer opening;
  if (!openings)
    return;
  g_hash_table_iter_init(&iterator, openings);
  while (g_hash_table_iter_next(&iterator, NULL, &opening))
    *held_by(opening, rank) = NOT_OPEN;
}

void store_hold(const struct standing *standing)
{
  struct opening *opening = opening_of(standing->opening);
  *held_by(opening, standing->rank) = standing->version;
}

/* Returns how many of the file's changes any rank has reached. */
static guint seen(const struct content *content)
{
  guint most = 0;
  GHashTableIter iterator;
  gpointer value;
  g_hash_table_iter_init(&iterator, openings);
  while (g_hash_table_iter_next(&iterator, NULL, &value)) {
    struct opening *opening = value;
    int version = furthest(opening);
    if (opening->content == content && version != NOT_OPEN)
      most = MAX(most, *cut_of(opening, version));
  }
  return most;
}

static void end_opening(struct opening *opening)
{
  drop_changes(opening);
  g_ptr_array_free(opening->changes, TRUE);
  g_array_free(opening->held, TRUE);
  g_array_free(opening->cuts, TRUE);
  g_free(opening);
}

/* Ends an opening that no rank has reached and whose changes are all undone. Returns whether it has
 * ended the opening. */
static gboolean is_over(gpointer number, gpointer value, gpointer data)
{
  struct opening *opening = value;
  (void)number;
  (void)data;
  if (keeps || furthest(opening) != NOT_OPEN || opening->applied > 0)
    return FALSE;
  end_opening(opening);
  return TRUE;
}

/* Forgets versions that include changes which are undone. The next rank that reaches such a version
 * makes it anew. */
static void forget_cuts(const struct content *content)
{
  GHashTableIter iterator;
  gpointer value;
  g_hash_table_iter_init(&iterator, openings);
  while (g_hash_table_iter_next(&iterator, NULL, &value)) {
    struct opening *opening = value;
    for (guint i = 0; opening->content == content && i < opening->cuts->len; i++)
      if (*cut_of(opening, (int)i) > content->applied->len)
        *cut_of(opening, (int)i) = NO_CUT;
  }
}

void store_unwind(void)
{
  for (guint i = 0; contents && i < contents->len; i++) {
    struct content *content = contents->pdata[i];
    guint before = content->applied->len, kept = before > 0 ? seen(content) : 0;
    while (content->applied->len > kept)
      change_undo(content->applied->pdata[content->applied->len - 1]);
    if (kept < before)
      forget_cuts(content);
  }
  if (openings)
    g_hash_table_foreach_remove(openings, is_over, NULL);
}
