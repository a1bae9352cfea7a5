#include "sim/mpi/files/file_change.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- making ---- */

struct change *change_new(struct opening *opening, enum change_kind kind, int version)
{
  struct change *change = g_new0(struct change, 1);
  *change = (struct change){.opening = opening, .kind = kind, .version = version, .descriptor = -1};
  return change;
}

static int64_t bytes_of(const struct change *change)
{
  int64_t bytes = 0;
  for (int i = 0; i < change->count; i++)
    bytes += change->segments[i].bytes;
  return bytes;
}

/* Computes a digest as FNV-1a does, but by words instead of bytes. */
static uint64_t digest(uint64_t value, const void *data, size_t bytes)
{
  const uint64_t PRIME = 0x100000001b3;
  size_t i = 0;
  for (uint64_t word; i + sizeof word <= bytes; i += sizeof word) {
    memcpy(&word, (const char *)data + i, sizeof word);
    value = (value ^ word) * PRIME;
    value ^= value >> 29;
  }
  for (; i < bytes; i++)
    value = (value ^ ((const unsigned char *)data)[i]) * PRIME;
  return value;
}

void change_set_data(struct change *change, const struct segment *segments, int count,
                     const void *data)
{
  change->segments = g_memdup2(segments, (gsize)count * sizeof *segments);
  change->count = count;
  size_t bytes = (size_t)bytes_of(change);
  change->data = g_memdup2(data, bytes);
  change->digest = digest(0xcbf29ce484222325, segments, (size_t)count * sizeof *segments);
  change->digest = digest(change->digest, data, bytes);
}

void change_free(struct change *change)
{
  if (change->descriptor >= 0)
    close(change->descriptor);
  g_free(change->segments);
  g_free(change->data);
  g_free(change);
}

/* Compares data only if both changes are writes: once a resizing is done, its data are the bytes
 * that the resizing has cut off. */
bool change_is_same(const struct change *a, const struct change *b)
{
  return a->kind == b->kind && a->version == b->version && a->size == b->size &&
         (a->kind != CHANGE_WRITES || (a->count == b->count && a->digest == b->digest));
}

void change_drop(struct change *change)
{
  change->dropped = true;
  if (!change->applied)
    change_free(change);
}

/* ---- bytes ---- */

static int transfer(int descriptor, bool in, char *bytes, struct segment part)
{
  for (int64_t at = 0; at < part.bytes;) {
    size_t left = (size_t)(part.bytes - at);
    ssize_t done = in ? pread(descriptor, bytes + at, left, part.offset + at)
                      : pwrite(descriptor, bytes + at, left, part.offset + at);
    if (done < 0)
      return errno;
    if (done == 0)
      return EIO;
    at += done;
  }
  return 0;
}

static struct segment below(struct segment part, int64_t size)
{
  part.bytes = CLAMP(size - part.offset, 0, part.bytes);
  return part;
}

/* Reads or writes all segments, as far as they lie below `size`. `bytes` has the data of the
 * segments, one after the other. */
static int transfer_all(int descriptor, bool in, const struct change *change, int64_t size,
                        char *bytes)
{
  int error = 0;
  for (int i = 0; i < change->count && !error; i++) {
    struct segment part = below(change->segments[i], size);
    error = transfer(descriptor, in, bytes, part);
    bytes += part.bytes;
  }
  return error;
}

/* Returns how many old bytes of the file a change keeps while it is applied. */
static int64_t kept_bytes(const struct change *change)
{
  int64_t bytes = 0;
  for (int i = 0; i < change->count; i++)
    bytes += below(change->segments[i], change->size_before).bytes;
  return bytes;
}

/* ---- applying and putting back ---- */

static int64_t size_of(int descriptor)
{
  struct stat file;
  return descriptor < 0 || fstat(descriptor, &file) ? 0 : file.st_size;
}

static int apply_writing(struct change *change, int descriptor)
{
  char *kept = g_malloc((gsize)kept_bytes(change));
  int error = transfer_all(descriptor, true, change, change->size_before, kept);
  if (!error)
    error = transfer_all(descriptor, false, change, INT64_MAX, change->data);
  g_free(change->data);
  change->data = kept;
  return error;
}

static int undo_writing(struct change *change, int descriptor)
{
  char *written = g_malloc((gsize)bytes_of(change));
  int error = transfer_all(descriptor, true, change, INT64_MAX, written);
  if (!error)
    error = transfer_all(descriptor, false, change, change->size_before, change->data);
  if (!error && ftruncate(descriptor, change->size_before) < 0)
    error = errno;
  g_free(change->data);
  change->data = written;
  return error;
}

/* Gives the file another size. Keeps the bytes that are cut off as the change's data. */
static int resize(struct change *change, int descriptor)
{
  int64_t size = change_size(change, change->size_before);
  struct segment cut = {.offset = size, .bytes = MAX(change->size_before - size, 0)};
  change->count = 1;
  change->segments = g_memdup2(&cut, sizeof cut);
  change->data = g_malloc((gsize)cut.bytes);
  int error = transfer(descriptor, true, change->data, cut);
  return !error && ftruncate(descriptor, size) < 0 ? errno : error;
}

static int undo_resizing(struct change *change, int descriptor)
{
  int error = ftruncate(descriptor, change->size_before) < 0 ? errno : 0;
  if (!error)
    error = transfer(descriptor, false, change->data, change->segments[0]);
  g_clear_pointer(&change->segments, g_free);
  g_clear_pointer(&change->data, g_free);
  change->count = 0;
  return error;
}

static int make(struct content *content)
{
  content->descriptor = open(content->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  content->writable = true;
  return content->descriptor < 0 ? errno : 0;
}

/* Deletes the file that the change has made, unless another file has the same name by now. */
static int undo_making(struct content *content)
{
  struct stat file, here;
  bool own = !stat(content->path, &file) && !fstat(content->descriptor, &here) &&
             file.st_dev == here.st_dev && file.st_ino == here.st_ino;
  int error = own && unlink(content->path) < 0 ? errno : 0;
  close(content->descriptor);
  content->descriptor = -1;
  return error;
}

/* Deletes the file's name. The change keeps a descriptor of the file, so the bytes stay. */
static int end(struct change *change, struct content *content)
{
  if (unlink(content->path) < 0)
    return errno;
  change->descriptor = content->descriptor;
  change->writable = content->writable;
  content->descriptor = -1;
  return 0;
}

static int undo_ending(struct change *change, struct content *content)
{
  char bytes[1 << 16];
  int error = make(content);
  int64_t size = size_of(change->descriptor);
  for (struct segment part = {0}; part.offset < size && !error; part.offset += part.bytes) {
    part.bytes = MIN(size - part.offset, (int64_t)sizeof bytes);
    error = transfer(change->descriptor, true, bytes, part);
    if (!error)
      error = transfer(content->descriptor, false, bytes, part);
  }
  close(change->descriptor);
  change->descriptor = -1;
  return error;
}

static int carry_out(struct change *change, struct content *content)
{
  switch (change->kind) {
  case CHANGE_WRITES:
    return apply_writing(change, content->descriptor);
  case CHANGE_RESIZES:
  case CHANGE_GROWS:
    return resize(change, content->descriptor);
  case CHANGE_MAKES:
    return make(content);
  case CHANGE_ENDS:
    break;
  }
  return end(change, content);
}

int change_apply(struct change *change)
{
  struct content *content = change->opening->content;
  change->size_before = size_of(content->descriptor);
  int error = carry_out(change, content);
  if (error)
    return error;
  change->applied = true;
  change->opening->applied++;
  g_ptr_array_add(content->applied, change);
  return 0;
}

static int undo(struct change *change, struct content *content)
{
  switch (change->kind) {
  case CHANGE_WRITES:
    return undo_writing(change, content->descriptor);
  case CHANGE_RESIZES:
  case CHANGE_GROWS:
    return undo_resizing(change, content->descriptor);
  case CHANGE_MAKES:
    return undo_making(content);
  case CHANGE_ENDS:
    break;
  }
  return undo_ending(change, content);
}

void change_undo(struct change *change)
{
  struct content *content = change->opening->content;
  int error = undo(change, content);
  if (error)
    g_printerr("recline: a change of %s could not be undone: %s\n", content->path,
               g_strerror(error));
  change->applied = false;
  change->opening->applied--;
  if (change->made_at_once)
    change->opening->begun = false;
  g_ptr_array_remove_index(content->applied, content->applied->len - 1);
  if (change->dropped)
    change_free(change);
}

/* ---- reading ---- */

int64_t change_size(const struct change *change, int64_t size)
{
  if (change->kind == CHANGE_RESIZES)
    return change->size;
  if (change->kind == CHANGE_GROWS)
    return MAX(size, change->size);
  for (int i = 0; i < change->count; i++)
    size = MAX(size, change->segments[i].offset + change->segments[i].bytes);
  return size;
}

/* Returns the part that two parts of a file have in common. */
static struct segment common(struct segment a, struct segment b)
{
  int64_t from = MAX(a.offset, b.offset);
  int64_t to = MIN(a.offset + a.bytes, b.offset + b.bytes);
  return (struct segment){.offset = from, .bytes = MAX(to - from, 0)};
}

/* Copies the change's bytes over a part of the file. The change has data of that part of its
 * segments which lies below `size`. */
static void copy_common(const struct change *change, int64_t size, struct segment part, char *to)
{
  const char *from = change->data;
  for (int i = 0; i < change->count; i++) {
    struct segment here = below(change->segments[i], size), both = common(here, part);
    if (both.bytes > 0)
      memcpy(to + (both.offset - part.offset), from + (both.offset - here.offset),
             (size_t)both.bytes);
    from += here.bytes;
  }
}

/* Applies the change to bytes that were read from a part of the file. A file that is cut and grows
 * again has zeros from the cut on. */
void change_put_on(const struct change *change, struct segment part, char *bytes)
{
  int64_t from = MAX(change->size, part.offset), to = part.offset + part.bytes;
  if (change->kind == CHANGE_RESIZES && from < to)
    memset(bytes + (from - part.offset), 0, (size_t)(to - from));
  if (change->kind == CHANGE_WRITES)
    copy_common(change, INT64_MAX, part, bytes);
}

void change_take_off(const struct change *change, struct segment part, char *bytes)
{
  int64_t from = MAX(change->size_before, part.offset), to = part.offset + part.bytes;
  if (from < to)
    memset(bytes + (from - part.offset), 0, (size_t)(to - from));
  if (change->kind == CHANGE_WRITES || change->kind == CHANGE_RESIZES)
    copy_common(change, change->size_before, part, bytes);
}
