/* Restores the open files of the ranks. libc lists the streams of the whole process, so a stream
 * must not lie in an arena: a rollback would tear the list. Streams of a program and their buffers
 * lie in libc's memory instead, and a rollback restores their state here. The same holds for
 * descriptors, Fortran's units included. After a rollback a file is
 *
 *     opened before the capture     still open, at the position that it had
 *     opened after the capture      closed
 *
 * If the program closes a file that an image contains, the file really stays open, because a
 * rollback to that image must find it open.
 *
 * Changes of files are undone by journal.c; writes to files that are outputs stay in memory
 * (output_files.c). */
#define _GNU_SOURCE
#include "sim/memory/open_files.h"
#include "sim/memory/arena.h"
#include "sim/memory/heap.h"
#include "sim/memory/journal.h"
#include "sim/memory/next_symbol.h"
#include "sim/memory/output_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct held {
  struct open_file *file;
  off_t position; /* position, or -1 if the file has none */
  off_t taken;    /* for an output: bytes that were collected */
};

struct heap_files {
  const struct arena *owner;
  uint64_t mark;                    /* place in the journal */
  struct heap_files *older, *newer; /* neighbours in the list of states of the same arena */
  struct output_lengths *lengths;
  size_t count;
  struct held held[];
};

static struct open_file *files; /* in libc memory, because no rollback may undo it */
static struct heap_files *newest[HEAP_RANKS];

/* ---- open files ---- */

struct open_file *open_add(const struct arena *owner, FILE *stream, int descriptor)
{
  int saved = errno;
  struct open_file *file = calloc(1, sizeof *file);
  struct stat status;
  if (file) {
    *file = (struct open_file){
        .stream = stream, .descriptor = descriptor, .owner = owner, .next = files};
    if (!fstat(descriptor, &status) && S_ISREG(status.st_mode))
      file->kept = status.st_size;
    files = file;
  }
  errno = saved;
  return file;
}

struct open_file *open_stream(const FILE *stream)
{
  struct open_file *file = files;
  while (file && (file->stream != stream || file->closed))
    file = file->next;
  return file;
}

struct open_file *open_descriptor(int descriptor)
{
  struct open_file *file = files;
  while (file && (file->descriptor != descriptor || file->closed))
    file = file->next;
  return file;
}

struct open_file *open_first(void)
{
  return files;
}

static int really_close(struct open_file *file)
{
  struct open_file **link = &files;
  while (*link != file)
    link = &(*link)->next;
  *link = file->next;
  if (!file->output)
    journal_closing(file->descriptor);
  int result = file->stream ? next_fclose(file->stream) : next_close(file->descriptor);
  output_free(file->output);
  free(file->buffer);
  free(file);
  return result;
}

int open_close(struct open_file *file)
{
  if (!file->images)
    return really_close(file);
  file->closed = true;
  return file->stream ? fflush(file->stream) : 0;
}

HEAP_API void heap_files_inherit(const struct arena *owner)
{
  open_add(owner, stdin, STDIN_FILENO);
}

/* ---- images ---- */

static bool is_open(const struct open_file *file, const struct arena *owner)
{
  return file->owner == owner && !file->closed;
}

/* Returns the position of a file. After fflush() a stream has the position of its descriptor.
 * std::fstream only uses the descriptor, and keeps its own buffer in the arena. */
static off_t position_of(const struct open_file *file)
{
  if (file->stream)
    fflush(file->stream);
  return lseek(file->descriptor, 0, SEEK_CUR);
}

static int access_of(const struct open_file *file)
{
  return fcntl(file->descriptor, F_GETFL) & O_ACCMODE;
}

static void hold(struct heap_files *held, struct open_file *file)
{
  off_t position = position_of(file);
  file->images++;
  off_t taken = file->output ? output_taken(file->output) : 0;
  held->held[held->count++] = (struct held){.file = file, .position = position, .taken = taken};
  if (file->output || access_of(file) == O_RDONLY)
    return;
  file->kept = journal_keep(file->owner, file->descriptor);
  /* Libc writes to such a stream without a call that this library sees. */
  if (file->stream && access_of(file) == O_RDWR)
    journal_overwriting(file->owner, file->descriptor);
}

HEAP_API struct heap_files *heap_files_save(const struct arena *owner)
{
  size_t count = 0;
  for (struct open_file *file = files; file; file = file->next)
    count += is_open(file, owner);
  struct heap_files *held = malloc(sizeof *held + count * sizeof held->held[0]);
  if (!held)
    return NULL;
  int rank = arena_rank(owner);
  *held = (struct heap_files){.owner = owner,
                              .mark = journal_mark(owner),
                              .older = newest[rank],
                              .lengths = output_lengths_save(owner)};
  if (held->older)
    held->older->newer = held;
  newest[rank] = held;
  for (struct open_file *file = files; file; file = file->next)
    if (is_open(file, owner))
      hold(held, file);
  return held;
}

static void close_all(const struct arena *owner)
{
  struct open_file *next;
  for (struct open_file *file = files; file; file = next) {
    next = file->next;
    if (file->owner == owner)
      open_close(file);
  }
}

static void open_again(const struct held *held)
{
  struct open_file *file = held->file;
  file->closed = false;
  if (file->stream) {
    fflush(file->stream);
    clearerr(file->stream);
  }
  if (file->output)
    output_restore(file->output, held->taken);
  if (held->position < 0)
    return;
  if (!file->stream) {
    lseek(file->descriptor, held->position, SEEK_SET);
    return;
  }
  fseeko(file->stream, held->position, SEEK_SET);
  fflush(file->stream); /* the stream may have read ahead */
}

HEAP_API void heap_files_begin_again(const struct heap_files *begun, const struct heap_files *then)
{
  close_all(begun->owner);
  journal_undo(begun->owner, then->mark);
  output_lengths_restore(begun->owner, then->lengths);
  for (size_t i = 0; i < begun->count; i++)
    open_again(&begun->held[i]);
}

HEAP_API void heap_files_restore(const struct heap_files *held)
{
  heap_files_begin_again(held, held);
}

HEAP_API void heap_files_free(struct heap_files *held)
{
  if (!held)
    return;
  for (size_t i = 0; i < held->count; i++) {
    struct open_file *file = held->held[i].file;
    if (--file->images == 0 && file->closed)
      really_close(file);
  }
  if (held->newer)
    held->newer->older = held->older;
  else
    newest[arena_rank(held->owner)] = held->older;
  if (held->older)
    held->older->newer = held->newer;
  else if (held->newer)
    journal_forget(held->owner, held->newer->mark);
  free(held->lengths);
  free(held);
}
