/* Keeps the earlier contents of files (journal.h).
 *
 * There is one entry for each file and interval between two images. An entry is made when the
 * program is about to change something on which an image relies. The entry notes one of three
 * things: that there was no such file, the length of the file, or all contents of the file. A
 * rollback puts that back into the file or under the name. If the program only appends to the file,
 * the length is enough.
 *
 * If several ranks write a file, a rollback leaves the file alone, with a warning: bytes that are
 * old for one rank may be new for another rank. */
#define _GNU_SOURCE
#include "sim/memory/journal.h"

#include "sim/memory/arena.h"
#include "sim/memory/die.h"
#include "sim/memory/heap.h"
#include "sim/memory/next_symbol.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUCKETS = 4096, LONGEST = 256 << 20 /* number of bytes of the longest file that is kept */ };
enum kind { CREATED, LENGTH, CONTENTS, REPLACED, FOLDER };

struct before {
  enum kind kind;
  uint64_t serial;
  dev_t device;
  ino_t inode;
  char *path; /* name of the file; in a CREATED entry, it is not resolved until the file exists */
  off_t length;
  char *contents;
  struct before *older;
};

/* Describes the ranks that write a file. */
struct writer {
  dev_t device;
  ino_t inode;
  int rank;
  bool several, said;
  struct writer *next;
};

static struct writer *writers[BUCKETS];
static struct before *newest[HEAP_RANKS];
/* serial: the number of the newest image or entry; mark: by rank, the number of the rank's
 * newest image, or 0 if there is none */
static uint64_t serial, mark[HEAP_RANKS];

/* ---- writers ---- */

/* Returns the link to the writer of a file. If there is no such writer, returns the link where the
 * writer belongs. */
static struct writer **place_of(const struct stat *file)
{
  struct writer **place = &writers[(file->st_ino * 31 + file->st_dev) % BUCKETS];
  while (*place && ((*place)->device != file->st_dev || (*place)->inode != file->st_ino))
    place = &(*place)->next;
  return place;
}

static struct writer *writer_of(const struct stat *file, int rank)
{
  struct writer **place = place_of(file), *writer = *place;
  if (writer) {
    writer->several = writer->several || writer->rank != rank;
    return writer;
  }
  writer = calloc(1, sizeof *writer);
  if (!writer)
    die(DIE_BREACH, "no memory for a file");
  *writer = (struct writer){.device = file->st_dev, .inode = file->st_ino, .rank = rank};
  return *place = writer;
}

/* Forgets the writers of a file that is gone, because another file may get the same number. */
static void forget_writer(const struct stat *file)
{
  struct writer **place = place_of(file), *writer = *place;
  if (writer)
    *place = writer->next;
  free(writer);
}

/* Returns whether rollbacks of this rank leave the file alone. If so, warns the first time. */
static bool is_shared(const struct stat *file, int rank, const char *path)
{
  struct writer *writer = writer_of(file, rank);
  if (writer->several && !writer->said)
    fprintf(stderr,
            "recline: several ranks write %s: what they wrote since a checkpoint stays there after "
            "a rollback\n",
            path);
  writer->said = writer->said || writer->several;
  return writer->several;
}

/* ---- entries ---- */

static struct before *add(int rank, enum kind kind, const struct stat *file, char *path)
{
  struct before *entry = calloc(1, sizeof *entry);
  if (!entry || !path)
    die(DIE_BREACH, "no memory for a file");
  *entry = (struct before){.kind = kind, .serial = ++serial, .path = path, .older = newest[rank]};
  if (file) {
    entry->device = file->st_dev;
    entry->inode = file->st_ino;
    entry->length = file->st_size;
  }
  return newest[rank] = entry;
}

static void free_entry(struct before *entry)
{
  free(entry->path);
  free(entry->contents);
  free(entry);
}

/* Returns the entry of the file that was made since the newest image, or NULL if there is none. */
static const struct before *entry_of(int rank, const struct stat *file, enum kind kind)
{
  for (const struct before *entry = newest[rank]; entry && entry->serial > mark[rank];
       entry = entry->older)
    if (entry->device == file->st_dev && entry->inode == file->st_ino && entry->kind == kind)
      return entry;
  return NULL;
}

static bool read_all(int descriptor, char *to, off_t length)
{
  for (off_t at = 0; at < length;) {
    ssize_t got = pread(descriptor, to + at, (size_t)(length - at), at);
    if (got <= 0)
      return false;
    at += got;
  }
  return true;
}

static void keep_contents(int rank, enum kind kind, const struct stat *file, char *path)
{
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  char *contents = file->st_size <= LONGEST ? malloc((size_t)file->st_size + 1) : NULL;
  if (descriptor >= 0 && contents && read_all(descriptor, contents, file->st_size)) {
    add(rank, kind, file, path)->contents = contents;
  } else {
    fprintf(stderr,
            "recline: rank %d writes over %s (%jd bytes), which could not be kept: it is not put "
            "back by a rollback\n",
            rank, path, (intmax_t)file->st_size);
    free(contents);
    free(path);
  }
  if (descriptor >= 0)
    next_close(descriptor);
}

static char *absolute(const char *path)
{
  char folder[4096], *whole = NULL;
  if (path[0] == '/')
    return strdup(path);
  if (!getcwd(folder, sizeof folder) || asprintf(&whole, "%s/%s", folder, path) < 0)
    return NULL;
  return whole;
}

/* Returns a name by which an open file can be opened once more: the name of the file or, if the
 * file was deleted, the name of the descriptor in /proc. */
static char *name_of(int descriptor, const struct stat *file)
{
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  char *name = realpath(link, NULL);
  struct stat there;
  if (name && !stat(name, &there) && there.st_dev == file->st_dev && there.st_ino == file->st_ino)
    return name;
  free(name);
  return strdup(link);
}

void journal_opening(const struct arena *arena, const char *path, int flags)
{
  int rank = arena_rank(arena);
  struct stat file;
  if (!path || (flags & O_ACCMODE) == O_RDONLY || !mark[rank])
    return;
  if (stat(path, &file) < 0) {
    if (flags & O_CREAT)
      add(rank, CREATED, NULL, absolute(path));
    return;
  }
  if (!S_ISREG(file.st_mode))
    return;
  if (flags & O_TRUNC && file.st_size > 0 && !entry_of(rank, &file, CONTENTS))
    keep_contents(rank, CONTENTS, &file, absolute(path));
  else if (!entry_of(rank, &file, LENGTH))
    add(rank, LENGTH, &file, absolute(path));
}

void journal_created(const struct arena *arena, const char *path)
{
  int rank = arena_rank(arena);
  if (mark[rank])
    add(rank, CREATED, NULL, absolute(path));
}

void journal_overwriting(const struct arena *arena, int descriptor)
{
  int rank = arena_rank(arena);
  struct stat file;
  if (mark[rank] && !fstat(descriptor, &file) && S_ISREG(file.st_mode) &&
      !entry_of(rank, &file, CONTENTS))
    keep_contents(rank, CONTENTS, &file, name_of(descriptor, &file));
}

void journal_closing(int descriptor)
{
  struct stat file;
  if (!fstat(descriptor, &file) && file.st_nlink == 0)
    forget_writer(&file);
}

void journal_replacing(const struct arena *arena, const char *path, bool ends)
{
  int rank = arena_rank(arena);
  struct stat file;
  if (!path || !mark[rank])
    return;
  if (lstat(path, &file) < 0)
    add(rank, CREATED, NULL, absolute(path));
  else if (S_ISDIR(file.st_mode))
    add(rank, FOLDER, &file, absolute(path));
  else if (S_ISREG(file.st_mode)) {
    keep_contents(rank, REPLACED, &file, absolute(path));
    if (ends && file.st_nlink == 1)
      forget_writer(&file);
  }
}

void journal_writing(const struct arena *arena, int descriptor)
{
  struct stat file;
  if (!fstat(descriptor, &file) && S_ISREG(file.st_mode))
    writer_of(&file, arena_rank(arena));
}

/* ---- images ---- */

uint64_t journal_mark(const struct arena *arena)
{
  return mark[arena_rank(arena)] = ++serial;
}

off_t journal_keep(const struct arena *arena, int descriptor)
{
  struct stat file;
  if (fstat(descriptor, &file) || !S_ISREG(file.st_mode))
    return 0;
  add(arena_rank(arena), LENGTH, &file, name_of(descriptor, &file));
  return file.st_size;
}

static void write_all(int descriptor, const char *from, off_t length)
{
  for (off_t at = 0; at < length;) {
    ssize_t put = pwrite(descriptor, from + at, (size_t)(length - at), at);
    if (put <= 0)
      return;
    at += put;
  }
}

static void undo_creation(const struct before *entry, int rank)
{
  struct stat file;
  if (lstat(entry->path, &file) < 0)
    return;
  if (S_ISDIR(file.st_mode))
    rmdir(entry->path);
  else if (S_ISREG(file.st_mode) && !is_shared(&file, rank, entry->path)) {
    unlink(entry->path);
    forget_writer(&file);
  }
}

static void undo(const struct before *entry, int rank)
{
  struct stat file;
  bool there = !stat(entry->path, &file);
  bool same = there && file.st_dev == entry->device && file.st_ino == entry->inode;
  bool changed = entry->kind != LENGTH || (there && file.st_size > entry->length);
  if (entry->kind != REPLACED && !same)
    return;
  if (!changed || (there && is_shared(&file, rank, entry->path)))
    return;
  int flags = entry->kind == REPLACED ? O_CREAT : 0;
  int descriptor = open(entry->path, O_WRONLY | O_CLOEXEC | flags, 0644);
  if (descriptor < 0)
    return;
  if (entry->contents)
    write_all(descriptor, entry->contents, entry->length);
  if (ftruncate(descriptor, entry->length) < 0)
    perror("recline: a file is not put back");
  next_close(descriptor);
}

void journal_undo(const struct arena *arena, uint64_t image)
{
  int rank = arena_rank(arena);
  while (newest[rank] && newest[rank]->serial > image) {
    struct before *entry = newest[rank];
    newest[rank] = entry->older;
    if (entry->kind == CREATED)
      undo_creation(entry, rank);
    else if (entry->kind == FOLDER)
      mkdir(entry->path, 0755);
    else
      undo(entry, rank);
    free_entry(entry);
  }
  mark[rank] = image;
}

void journal_forget(const struct arena *arena, uint64_t before)
{
  struct before **link = &newest[arena_rank(arena)];
  while (*link && (*link)->serial > before)
    link = &(*link)->older;
  struct before *entry = *link;
  *link = NULL;
  for (struct before *older; entry; entry = older) {
    older = entry->older;
    free_entry(entry);
  }
}
