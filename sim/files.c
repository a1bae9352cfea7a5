/* Open files of the ranks. libc lists the streams of the whole process, so a stream must not lie in
 * an arena: a rollback would tear the list. So streams that a program opens, and their buffers, are
 * libc's, and what a rollback would have put back of them is put back here:
 *
 *     opened before the capture     still open, at the position that it had; also if the program
 *                                   has closed it since, which is only pretended as long as an
 * image holds the stream opened after the capture      closed
 *
 * What was written since stays in the file, and is written again over itself. */
#define _GNU_SOURCE
#include "arena.h"
#include "heap.h"
#include "next.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct stream {
  FILE *file;
  const struct arena *owner;
  char *buffer;
  unsigned images; /* that hold it */
  bool closed;     /* by the program */
  struct stream *next;
};

struct held {
  struct stream *stream;
  off_t position; /* -1: it has none */
};

struct heap_files {
  const struct arena *owner;
  size_t count;
  struct held held[];
};

static struct stream *streams; /* a fact about the process: in libc memory */

/* ---- streams ---- */

static int really_close(struct stream *stream)
{
  static int (*next)(FILE *);
  if (!next)
    find_next("fclose", &next, sizeof next);
  struct stream **link = &streams;
  while (*link != stream)
    link = &(*link)->next;
  *link = stream->next;
  int result = next(stream->file);
  free(stream->buffer);
  free(stream);
  return result;
}

static struct stream *stream_of(const FILE *file)
{
  struct stream *stream = streams;
  while (stream && stream->file != file)
    stream = stream->next;
  return stream;
}

/* libc would make the buffer when it is needed, in the middle of the program. */
static void give_buffer(struct stream *stream)
{
  if (!stream->buffer)
    stream->buffer = malloc(BUFSIZ);
  int descriptor = fileno(stream->file);
  if (stream->buffer)
    setvbuf(stream->file, stream->buffer, isatty(descriptor) ? _IOLBF : _IOFBF, BUFSIZ);
}

/* In libc mode, of a stream that a program of `owner` has opened, or NULL. */
static FILE *take_over(const struct arena *owner, FILE *file)
{
  int saved = errno;
  struct stream *stream = owner && file ? calloc(1, sizeof *stream) : NULL;
  if (stream) {
    *stream = (struct stream){.file = file, .owner = owner, .next = streams};
    streams = stream;
    give_buffer(stream);
  }
  errno = saved;
  return file;
}

/* ---- what programs call ---- */

/* FILE *NAME ARGUMENTS, by libc, in libc mode. */
#define OPENS(NAME, PARAMETERS, ARGUMENTS)                                                         \
  HEAP_API FILE *NAME PARAMETERS                                                                   \
  {                                                                                                \
    static FILE *(*next)PARAMETERS;                                                                \
    struct arena *mode = heap_leave();                                                             \
    if (!next)                                                                                     \
      find_next(#NAME, &next, sizeof next);                                                        \
    FILE *file = take_over(mode, next ARGUMENTS);                                                  \
    heap_enter(mode);                                                                              \
    return file;                                                                                   \
  }

OPENS(fopen, (const char *path, const char *how), (path, how))
OPENS(fopen64, (const char *path, const char *how), (path, how))
OPENS(fdopen, (int descriptor, const char *how), (descriptor, how))
OPENS(tmpfile, (void), ())
OPENS(tmpfile64, (void), ())

/* The stream stays, its buffer does not. */
static FILE *opened_again(FILE *file)
{
  struct stream *stream = file ? stream_of(file) : NULL;
  if (stream)
    give_buffer(stream);
  return file;
}

#define REOPENS(NAME)                                                                              \
  HEAP_API FILE *NAME(const char *path, const char *how, FILE *file)                               \
  {                                                                                                \
    static FILE *(*next)(const char *, const char *, FILE *);                                      \
    struct arena *mode = heap_leave();                                                             \
    if (!next)                                                                                     \
      find_next(#NAME, &next, sizeof next);                                                        \
    FILE *again = opened_again(next(path, how, file));                                             \
    heap_enter(mode);                                                                              \
    return again;                                                                                  \
  }

REOPENS(freopen)
REOPENS(freopen64)

HEAP_API int fclose(FILE *file)
{
  static int (*next)(FILE *);
  struct arena *mode = heap_leave();
  if (!next)
    find_next("fclose", &next, sizeof next);
  struct stream *stream = stream_of(file);
  int result;
  if (stream && stream->images > 0) {
    result = fflush(file);
    stream->closed = true;
  } else {
    result = stream ? really_close(stream) : next(file);
  }
  heap_enter(mode);
  return result;
}

/* A buffer of the program would be put back under a stream that is not: libc's own is kept. */
HEAP_API int setvbuf(FILE *file, char *buffer, int how, size_t bytes)
{
  static int (*next)(FILE *, char *, int, size_t);
  struct arena *mode = heap_leave();
  if (!next)
    find_next("setvbuf", &next, sizeof next);
  int result = mode ? next(file, NULL, how, 0) : next(file, buffer, how, bytes);
  heap_enter(mode);
  return result;
}

HEAP_API void setbuffer(FILE *file, char *buffer, size_t bytes)
{
  setvbuf(file, buffer, buffer ? _IOFBF : _IONBF, bytes);
}

HEAP_API void setbuf(FILE *file, char *buffer)
{
  setbuffer(file, buffer, BUFSIZ);
}

/* ---- images ---- */

static bool is_open(const struct stream *stream, const struct arena *owner)
{
  return stream->owner == owner && !stream->closed;
}

/* After fflush, the position of the descriptor is that of the stream. std::fstream uses the
 * descriptor only, and keeps its own buffer, in the arena. */
static off_t position_of(FILE *file)
{
  fflush(file);
  return lseek(fileno(file), 0, SEEK_CUR);
}

HEAP_API struct heap_files *heap_files_save(const struct arena *owner)
{
  size_t count = 0;
  for (struct stream *stream = streams; stream; stream = stream->next)
    count += is_open(stream, owner);
  struct heap_files *files = malloc(sizeof *files + count * sizeof files->held[0]);
  if (!files)
    return NULL;
  *files = (struct heap_files){.owner = owner};
  for (struct stream *stream = streams; stream; stream = stream->next) {
    if (!is_open(stream, owner))
      continue;
    stream->images++;
    files->held[files->count++] =
        (struct held){.stream = stream, .position = position_of(stream->file)};
  }
  return files;
}

static void close_all(const struct arena *owner)
{
  struct stream *next;
  for (struct stream *stream = streams; stream; stream = next) {
    next = stream->next;
    if (stream->owner != owner)
      continue;
    stream->closed = true;
    if (!stream->images)
      really_close(stream);
  }
}

HEAP_API void heap_files_restore(const struct heap_files *files)
{
  close_all(files->owner);
  for (size_t i = 0; i < files->count; i++) {
    FILE *file = files->held[i].stream->file;
    files->held[i].stream->closed = false;
    fflush(file);
    clearerr(file);
    if (files->held[i].position < 0)
      continue;
    fseeko(file, files->held[i].position, SEEK_SET);
    fflush(file); /* it may have read ahead */
  }
}

HEAP_API void heap_files_free(struct heap_files *files)
{
  if (!files)
    return;
  for (size_t i = 0; i < files->count; i++) {
    struct stream *stream = files->held[i].stream;
    if (--stream->images == 0 && stream->closed)
      really_close(stream);
  }
  free(files);
}
