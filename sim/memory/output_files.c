/* Handles files whose writes are outputs. The program gets a write-only descriptor of a file in
 * memory. That file has the length that the program expects. The bytes that the program writes are
 * collected at the program's next call of MPI, or when the program closes the file. A hole replaces
 * the collected bytes. It frees their memory, and makes it possible to notice a second write to the
 * same place.
 *
 * The file on disk also gets outputs of other ranks, and no rollback undoes these outputs. So a
 * program that goes back must not look at the file on disk. Instead, a rank sees whether the file
 * existed and how long it was when any rank of the run first used it. It also sees its own writes
 * after that. */
#define _GNU_SOURCE
#include "sim/memory/output_files.h"

#include "sim/memory/arena.h"
#include "sim/memory/die.h"
#include "sim/memory/heap.h"
#include "sim/memory/next_symbol.h"
#include "sim/memory/open_files.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const off_t NO_FILE = -1;

/* Describes a file as one rank sees it. */
struct named {
  const struct arena *owner;
  char *path;   /* an absolute path */
  off_t before; /* length of the file when the run first used it, or NO_FILE */
  off_t length;
  struct named *next;
};

struct output {
  struct named *file;
  mode_t mode;
  int source; /* descriptor by which the file in memory can be read */
  off_t taken;
};

struct output_lengths {
  size_t count;
  struct {
    struct named *file;
    off_t length;
  } item[];
};

static struct heap_outputs outputs; /* all zeroes, which means that no file is an output */
static struct named *names;
unsigned outputs_open;

void heap_outputs_begin(const struct heap_outputs *how)
{
  outputs = *how;
}

/* ---- names ---- */

/* Writes the absolute name of a file, without links, into a buffer of PATH_MAX bytes. Returns false
 * if the folder of the file does not exist. */
static bool absolute(const char *path, char *whole)
{
  const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
  size_t length = slash ? (size_t)(slash - path) : 0;
  char folder[PATH_MAX];
  if (length >= PATH_MAX)
    return false;
  memcpy(folder, path, length);
  strcpy(folder + length, slash == path ? "/" : slash ? "" : ".");
  if (!realpath(folder, whole))
    return false;
  length = strlen(whole);
  if (length + 1 + strlen(last) >= PATH_MAX)
    return false;
  sprintf(whole + length, "%s%s", whole[1] ? "/" : "", last);
  return true;
}

/* A name of a folder or a device is never an output. */
bool output_is(const struct arena *owner, const char *path)
{
  char whole[PATH_MAX];
  struct stat there;
  int saved = errno;
  bool is = owner && outputs.is_one && path && absolute(path, whole) && outputs.is_one(whole) &&
            (stat(whole, &there) < 0 || S_ISREG(there.st_mode));
  errno = saved;
  return is;
}

void output_refuse(const struct arena *owner, const char *what, const char *path)
{
  char whole[PATH_MAX];
  outputs.refuse(arena_rank(owner), what, absolute(path, whole) ? whole : path);
  abort();
}

static off_t length_on_disk(const char *path)
{
  struct stat there;
  return stat(path, &there) < 0 ? NO_FILE : there.st_size;
}

/* Returns the file as a rank sees it. A rank that uses the file later sees the same as the first
 * rank did. Returns NULL if there is no memory. */
static struct named *named(const struct arena *owner, const char *path)
{
  struct named *others = NULL;
  for (struct named *file = names; file; file = file->next)
    if (!strcmp(file->path, path)) {
      if (file->owner == owner)
        return file;
      others = file;
    }
  struct named *file = malloc(sizeof *file);
  char *copy = strdup(path);
  if (!file || !copy) {
    free(file);
    free(copy);
    return NULL;
  }
  off_t before = others ? others->before : length_on_disk(path);
  *file = (struct named){
      .owner = owner, .path = copy, .before = before, .length = before, .next = names};
  return names = file;
}

/* ---- opening ---- */

/* Returns whether open() would succeed for the file. Sets errno. */
static bool may_be_opened(const struct named *file, int flags)
{
  char folder[PATH_MAX];
  if (file->length != NO_FILE && flags & O_CREAT && flags & O_EXCL)
    return errno = EEXIST, false;
  if (file->length == NO_FILE && !(flags & O_CREAT))
    return errno = ENOENT, false;
  if (!access(file->path, F_OK))
    return !access(file->path, W_OK);
  strcpy(folder, file->path);
  return !access(dirname(folder), W_OK | X_OK);
}

/* Opens a descriptor of a file in memory. The descriptor is only for writing, even if the program
 * also asks to read. Fortran's units ask to read but never do. */
static int in_memory(int flags, off_t length, int *source)
{
  char name[32];
  *source = memfd_create("output", MFD_CLOEXEC);
  if (*source < 0)
    return -1;
  snprintf(name, sizeof name, "/proc/self/fd/%d", *source);
  int descriptor =
      ftruncate(*source, length) ? -1 : open(name, O_WRONLY | (flags & (O_APPEND | O_CLOEXEC)));
  if (descriptor < 0)
    next_close(*source);
  return descriptor;
}

struct output *output_new(const struct arena *owner, const char *path, int flags, mode_t mode,
                          int *descriptor)
{
  char whole[PATH_MAX];
  struct named *file = absolute(path, whole) ? named(owner, whole) : NULL;
  if (!file) {
    errno = ENOMEM;
    return NULL;
  }
  if ((flags & O_ACCMODE) == O_RDONLY)
    output_refuse(owner, "reads", whole);
  if (!may_be_opened(file, flags))
    return NULL;
  bool begins = flags & O_TRUNC && file->length > 0, is_new = file->length == NO_FILE;
  off_t length = begins || is_new ? 0 : file->length;
  int source = -1;
  struct output *output = malloc(sizeof *output);
  *descriptor = output ? in_memory(flags, length, &source) : -1;
  if (*descriptor < 0) {
    free(output);
    return NULL;
  }
  file->length = length;
  *output = (struct output){.file = file, .mode = mode, .source = source, .taken = length};
  outputs_open++;
  if (begins || is_new)
    outputs.said(arena_rank(owner), whole, mode, begins, NULL, 0);
  return output;
}

void output_free(struct output *output)
{
  if (!output)
    return;
  next_close(output->source);
  free(output);
  outputs_open--;
}

/* ---- collecting ---- */

static bool read_at(int descriptor, char *to, off_t at, off_t length)
{
  while (length > 0) {
    ssize_t got = pread(descriptor, to, (size_t)length, at);
    if (got <= 0)
      return false;
    to += got;
    at += got;
    length -= got;
  }
  return true;
}

/* Returns whether the program has written into the hole. */
static bool is_written_over(const struct output *output)
{
  enum { BLOCK = 4096 };
  char block[BLOCK];
  off_t at = lseek(output->source, 0, SEEK_DATA);
  for (; at >= 0 && at < output->taken; at += BLOCK) {
    off_t length = output->taken - at < BLOCK ? output->taken - at : BLOCK;
    if (!read_at(output->source, block, at, length))
      return true;
    for (off_t i = 0; i < length; i++)
      if (block[i])
        return true;
  }
  return false;
}

static void take(struct output *output, const struct arena *owner, off_t end)
{
  off_t length = end - output->taken;
  char *written = malloc((size_t)length);
  if (!written || !read_at(output->source, written, output->taken, length))
    die(DIE_BREACH, "breach: what was written to %s cannot be read", output->file->path);
  if (fallocate(output->source, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, output->taken, length))
    die(DIE_BREACH, "breach: %s in memory keeps what was taken from it", output->file->path);
  output->taken = end;
  output->file->length += length;
  outputs.said(arena_rank(owner), output->file->path, output->mode, false, written, (size_t)length);
  free(written);
}

void output_file_collect(const struct open_file *file, bool closes)
{
  struct output *output = file->output;
  struct stat now;
  if (file->stream && __fpending(file->stream))
    fflush(file->stream);
  if (fstat(output->source, &now))
    die(DIE_BREACH, "breach: %s is not in memory", output->file->path);
  if (now.st_size < output->taken)
    output_refuse(file->owner, "truncates", output->file->path);
  if ((closes || now.st_size > output->taken) && is_written_over(output))
    output_refuse(file->owner, "writes over", output->file->path);
  if (now.st_size > output->taken)
    take(output, file->owner, now.st_size);
}

const char *output_path(const struct output *output)
{
  return output->file->path;
}

/* ---- images ---- */

off_t output_taken(const struct output *output)
{
  struct stat now;
  if (fstat(output->source, &now) || now.st_size != output->taken)
    die(DIE_BREACH, "breach: an image is taken before %s is collected", output->file->path);
  return output->taken;
}

void output_restore(struct output *output, off_t taken)
{
  if (ftruncate(output->source, 0) || ftruncate(output->source, taken))
    die(DIE_BREACH, "breach: %s in memory is not put back", output->file->path);
  output->taken = taken;
}

struct output_lengths *output_lengths_save(const struct arena *owner)
{
  size_t count = 0;
  for (const struct named *file = names; file; file = file->next)
    count += file->owner == owner;
  struct output_lengths *lengths =
      count ? malloc(sizeof *lengths + count * sizeof lengths->item[0]) : NULL;
  if (!lengths)
    return NULL;
  lengths->count = 0;
  for (struct named *file = names; file; file = file->next)
    if (file->owner == owner) {
      lengths->item[lengths->count].file = file;
      lengths->item[lengths->count++].length = file->length;
    }
  return lengths;
}

void output_lengths_restore(const struct arena *owner, const struct output_lengths *lengths)
{
  for (struct named *file = names; file; file = file->next)
    if (file->owner == owner)
      file->length = file->before;
  for (size_t i = 0; lengths && i < lengths->count; i++)
    lengths->item[i].file->length = lengths->item[i].length;
}
