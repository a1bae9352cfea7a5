/* Replaces the calls by which programs and the runtime of Fortran open, close and change files
 * through descriptors. See open_files.c. */
#define _GNU_SOURCE
#include "sim/memory/heap.h"
#include "sim/memory/journal.h"
#include "sim/memory/next_symbol.h"
#include "sim/memory/open_files.h"
#include "sim/memory/output_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- opening ---- */

/* Notes in libc mode that a program of `owner` has opened a descriptor, or has failed to open one
 * if `descriptor` is -1. Returns the descriptor. */
static int take_over(const struct arena *owner, int descriptor)
{
  if (owner && descriptor > STDERR_FILENO)
    open_add(owner, NULL, descriptor);
  return descriptor;
}

static mode_t creation_mode(int flags, va_list *rest)
{
  return flags & (O_CREAT | __O_TMPFILE) ? va_arg(*rest, mode_t) : 0;
}

int (*heap_reads)(const char *path, int flags);

/* In libc mode, asks heap_reads for a descriptor that stands for this file. */
static int seen(const struct arena *owner, bool named, const char *path, int flags)
{
  bool reads = (flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC | O_DIRECTORY));
  return owner && named && reads && heap_reads ? heap_reads(path, flags) : HEAP_AS_IT_IS;
}

/* Defines calls that open or make the file `path`. NAMED says that `path` alone names the file,
 * without the descriptor of a folder. */
#define OPENS(NAME, PARAMETERS, ARGUMENTS, NAMED)                                                  \
  IN_LIBC_MODE(int, NAME, PARAMETERS, va_list rest; va_start(rest, flags);                         \
               mode_t permissions = creation_mode(flags, &rest); va_end(rest);                     \
               bool output = (NAMED) && output_is(mode, path);                                     \
               if (mode && (NAMED) && !output) journal_opening(mode, path, flags);                 \
               int other = output ? HEAP_AS_IT_IS : seen(mode, (NAMED), path, flags),              \
               output ? output_file_open(mode, path, flags, permissions)                           \
                      : take_over(mode, other == HEAP_AS_IT_IS ? next ARGUMENTS : other))

OPENS(open, (const char *path, int flags, ...), (path, flags, permissions), true)
OPENS(open64, (const char *path, int flags, ...), (path, flags, permissions), true)
OPENS(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, permissions),
      folder == AT_FDCWD || path[0] == '/')
OPENS(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, permissions),
      folder == AT_FDCWD || path[0] == '/')

IN_LIBC_MODE(int, dup, (int other), output_refuse_descriptor(mode, "duplicates", other),
             take_over(mode, next(other)))

/* Replaces the calls that invent a name for a file. */
int (*heap_invents)(char *name, int flags);

static int created(const struct arena *owner, const char *name, int descriptor)
{
  if (owner && descriptor >= 0)
    journal_created(owner, name);
  return descriptor;
}

#define INVENTS(NAME, PARAMETERS, ARGUMENTS, FLAGS)                                                \
  IN_LIBC_MODE(                                                                                    \
      int, NAME, PARAMETERS, ,                                                                     \
      created(mode, name,                                                                          \
              take_over(mode, mode &&heap_invents ? heap_invents(name, FLAGS) : next ARGUMENTS)))

INVENTS(mkstemp, (char *name), (name), 0)
INVENTS(mkstemp64, (char *name), (name), 0)
INVENTS(mkostemp, (char *name, int flags), (name, flags), flags)
INVENTS(mkostemp64, (char *name, int flags), (name, flags), flags)

HEAP_API int creat(const char *path, mode_t permissions)
{
  return open(path, O_CREAT | O_WRONLY | O_TRUNC, permissions);
}

HEAP_API int creat64(const char *path, mode_t permissions)
{
  return open64(path, O_CREAT | O_WRONLY | O_TRUNC, permissions);
}

/* Programs compiled with _FORTIFY_SOURCE call this. */
HEAP_API int __open_2(const char *path, int flags);
HEAP_API int __open_2(const char *path, int flags)
{
  return open(path, flags);
}

HEAP_API int __open64_2(const char *path, int flags);
HEAP_API int __open64_2(const char *path, int flags)
{
  return open64(path, flags);
}

/* Closes a descriptor. A file without a stream stays open as long as an image holds it
 * (open_close()). The descriptor of a stream is closed at once. */
HEAP_API int close(int descriptor)
{
  struct arena *mode = heap_leave();
  struct open_file *file = mode ? open_descriptor(descriptor) : NULL;
  if (file && !file->stream && file->output)
    output_file_collect(file, true);
  int result = file && !file->stream ? open_close(file) : next_close(descriptor);
  heap_enter(mode);
  return result;
}

/* ---- writing ---- */

/* Notes in libc mode that the program of `owner` is about to change the file from that position on,
 * or from the present position of the descriptor if `position` is -1. */
static void before(const struct arena *owner, int descriptor, off_t position)
{
  struct open_file *file = owner && descriptor > STDERR_FILENO ? open_descriptor(descriptor) : NULL;
  if (!file || file->output)
    return;
  if (!file->written)
    journal_writing(owner, descriptor);
  file->written = true;
  if (!file->kept || fcntl(descriptor, F_GETFL) & O_APPEND)
    return;
  int saved = errno;
  if (position < 0)
    position = lseek(descriptor, 0, SEEK_CUR);
  if (position >= 0 && position < file->kept)
    journal_overwriting(owner, descriptor);
  errno = saved;
}

#define CHANGES(TYPE, NAME, PARAMETERS, ARGUMENTS, POSITION)                                       \
  IN_LIBC_MODE(TYPE, NAME, PARAMETERS, before(mode, descriptor, POSITION), next ARGUMENTS)

CHANGES(ssize_t, write, (int descriptor, const void *data, size_t bytes), (descriptor, data, bytes),
        -1)
CHANGES(ssize_t, pwrite, (int descriptor, const void *data, size_t bytes, off_t at),
        (descriptor, data, bytes, at), at)
CHANGES(ssize_t, pwrite64, (int descriptor, const void *data, size_t bytes, off64_t at),
        (descriptor, data, bytes, at), at)
CHANGES(ssize_t, writev, (int descriptor, const struct iovec *data, int count),
        (descriptor, data, count), -1)
CHANGES(int, ftruncate, (int descriptor, off_t length), (descriptor, length), length)
CHANGES(int, ftruncate64, (int descriptor, off64_t length), (descriptor, length), length)

/* ---- reading ---- */

#define READS(NAME, PARAMETERS, ARGUMENTS)                                                         \
  IN_LIBC_MODE(ssize_t, NAME, PARAMETERS, output_refuse_descriptor(mode, "reads", descriptor),     \
               next ARGUMENTS)

READS(read, (int descriptor, void *data, size_t bytes), (descriptor, data, bytes))
READS(readv, (int descriptor, const struct iovec *data, int count), (descriptor, data, count))
READS(pread, (int descriptor, void *data, size_t bytes, off_t at), (descriptor, data, bytes, at))
READS(pread64, (int descriptor, void *data, size_t bytes, off64_t at),
      (descriptor, data, bytes, at))

/* ---- names ---- */

/* Notes that a name is about to belong to another file. `last` says that the file which has the
 * name now may lose its last name. */
static void before_replacing(const struct arena *owner, const char *path, bool last)
{
  if (output_is(owner, path))
    output_refuse(owner, last ? "removes or replaces" : "renames", path);
  if (owner)
    journal_replacing(owner, path, last);
}

IN_LIBC_MODE(int, rename, (const char *from, const char *to),
             (before_replacing(mode, from, false), before_replacing(mode, to, true)),
             next(from, to))

#define REPLACES(NAME, PARAMETERS, ARGUMENTS)                                                      \
  IN_LIBC_MODE(int, NAME, PARAMETERS, before_replacing(mode, path, true), next ARGUMENTS)

bool (*heap_unlinks)(const char *path, int *result);

#define ENDS(NAME)                                                                                 \
  IN_LIBC_MODE(int, NAME, (const char *path), int result_ = 0;                                     \
               bool done = mode && heap_unlinks && heap_unlinks(path, &result_);                   \
               if (!done) before_replacing(mode, path, true), done ? result_ : next(path))

ENDS(unlink)
ENDS(remove)
REPLACES(rmdir, (const char *path), (path))
REPLACES(mkdir, (const char *path, mode_t permissions), (path, permissions))
