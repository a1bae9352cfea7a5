/* Replaces the calls of C that open, close and change streams. See open_files.c. */
#define _GNU_SOURCE
#include "sim/memory/heap.h"
#include "sim/memory/journal.h"
#include "sim/memory/next_symbol.h"
#include "sim/memory/open_files.h"
#include "sim/memory/output_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Makes the buffer at once. libc would make it at the first use, in the middle of the program. */
static void give_buffer(struct open_file *file)
{
  int saved = errno; /* isatty() changes errno */
  if (!file->buffer)
    file->buffer = malloc(BUFSIZ);
  if (file->buffer)
    setvbuf(file->stream, file->buffer, isatty(file->descriptor) ? _IOLBF : _IOFBF, BUFSIZ);
  errno = saved;
}

/* Returns the flags of open() for a mode of fopen(). */
static int flags_of(const char *how)
{
  int access = strchr(how, '+') ? O_RDWR : how[0] == 'r' ? O_RDONLY : O_WRONLY;
  return access | (how[0] == 'r' ? 0 : O_CREAT) | (how[0] == 'w' ? O_TRUNC : 0) |
         (how[0] == 'a' ? O_APPEND : 0) | (strchr(how, 'x') ? O_EXCL : 0);
}

static void before(const struct arena *owner, const char *path, const char *how)
{
  if (owner && how)
    journal_opening(owner, path, flags_of(how));
}

/* Notes in libc mode that a program of `owner` has opened a stream, or has failed to open one if
 * `stream` is NULL. Returns the stream. */
static FILE *take_over(const struct arena *owner, FILE *stream)
{
  if (!owner || !stream)
    return stream;
  /* the descriptor is known if the stream comes from fdopen() */
  struct open_file *file = open_descriptor(fileno(stream));
  if (file)
    file->stream = stream;
  else
    file = open_add(owner, stream, fileno(stream));
  if (!file)
    return stream;
  give_buffer(file);
  if (file->output)
    return stream;
  int access = fcntl(file->descriptor, F_GETFL) & O_ACCMODE;
  if (access != O_RDONLY)
    journal_writing(owner, file->descriptor);
  if (access == O_RDWR &&
      file->kept > 0) /* libc writes to such a stream, and this library sees no call */
    journal_overwriting(owner, file->descriptor);
  return stream;
}

/* Opens a stream on a file whose writes are outputs. */
static FILE *open_output(const struct arena *owner, const char *path, const char *how)
{
  int flags = flags_of(how);
  if ((flags & O_ACCMODE) == O_RDWR)
    output_refuse(owner, "reads", path);
  int descriptor = output_file_open(owner, path, flags, 0666);
  if (flags & O_APPEND) /* fopen() moves to the end of the file; fdopen() does not */
    lseek(descriptor, 0, SEEK_END);
  FILE *stream = descriptor < 0 ? NULL : next_fdopen(descriptor, how);
  if (!stream && descriptor >= 0)
    open_close(open_descriptor(descriptor));
  return take_over(owner, stream);
}

#define OPENS(NAME)                                                                                \
  IN_LIBC_MODE(FILE *, NAME, (const char *path, const char *how),                                  \
               bool output = how && output_is(mode, path);                                         \
               if (!output) before(mode, path, how),                                               \
               output ? open_output(mode, path, how) : take_over(mode, next(path, how)))

OPENS(fopen)
OPENS(fopen64)
IN_LIBC_MODE(FILE *, fdopen, (int descriptor, const char *how), ,
             take_over(mode, next(descriptor, how)))
IN_LIBC_MODE(FILE *, tmpfile, (void), , take_over(mode, next()))
IN_LIBC_MODE(FILE *, tmpfile64, (void), , take_over(mode, next()))

/* Warns once that the program's streams hold data in libc's own memory, which no rollback
 * restores. */
static void say_once(const struct arena *owner, const char *what, bool *said)
{
  if (owner && !*said)
    fprintf(stderr, "recline: what %s has opened is not put back by a rollback\n", what);
  *said = *said || owner;
}

#define OPENS_ELSEWHERE(NAME, PARAMETERS, ARGUMENTS)                                               \
  IN_LIBC_MODE(FILE *, NAME, PARAMETERS, static bool said;                                         \
               say_once(mode, #NAME, &said), next ARGUMENTS)

OPENS_ELSEWHERE(popen, (const char *command, const char *how), (command, how))
OPENS_ELSEWHERE(fmemopen, (void *memory, size_t bytes, const char *how), (memory, bytes, how))
OPENS_ELSEWHERE(open_memstream, (char **memory, size_t *bytes), (memory, bytes))

static void before_again(const struct arena *owner, const char *path, const char *how, FILE *stream)
{
  const struct open_file *file = owner ? open_stream(stream) : NULL;
  if (file)
    output_refuse_descriptor(owner, "opens again", file->descriptor);
  if (output_is(owner, path))
    output_refuse(owner, "opens again", path);
  before(owner, path, how);
}

/* Notes that libc has opened the stream for another file, with another buffer. */
static FILE *opened_again(FILE *stream)
{
  struct open_file *file = stream ? open_stream(stream) : NULL;
  if (file)
    give_buffer(file);
  return stream;
}

IN_LIBC_MODE(FILE *, freopen, (const char *path, const char *how, FILE *file),
             before_again(mode, path, how, file), opened_again(next(path, how, file)))
IN_LIBC_MODE(FILE *, freopen64, (const char *path, const char *how, FILE *file),
             before_again(mode, path, how, file), opened_again(next(path, how, file)))

HEAP_API int fclose(FILE *stream)
{
  struct arena *mode = heap_leave();
  struct open_file *file = open_stream(stream);
  if (file && file->output)
    output_file_collect(file, true);
  int result = file ? open_close(file) : next_fclose(stream);
  heap_enter(mode);
  return result;
}

/* setvbuf() does nothing, so that the stream keeps libc's own buffer. A rollback would restore a
 * buffer of the program, but not the stream. */
IN_LIBC_MODE(int, setvbuf, (FILE * file, char *buffer, int how, size_t bytes), ,
             mode ? next(file, NULL, how, 0) : next(file, buffer, how, bytes))

HEAP_API void setbuffer(FILE *file, char *buffer, size_t bytes)
{
  setvbuf(file, buffer, buffer ? _IOFBF : _IONBF, bytes);
}

HEAP_API void setbuf(FILE *file, char *buffer)
{
  setbuffer(file, buffer, BUFSIZ);
}
