#define _GNU_SOURCE /* asprintf, nftw */
#include "base/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX ".recline-tmp-"

struct output {
  FILE *stream;
  int lock;    /* a copy of the stream's descriptor, locked until the file has its final name */
  int problem; /* the first error, as errno, or 0 if there is none */
  char *file, *temporary;
};

/* Returns whether the open file still has this name: a sweep may have removed the name after the
 * file was opened and before it was locked. While this process holds the lock, the answer stays
 * true, because names are only changed under the lock. */
static bool has_name(int file, const char *name)
{
  struct stat now, named;
  return !fstat(file, &now) && !lstat(name, &named) && now.st_dev == named.st_dev &&
         now.st_ino == named.st_ino;
}

/* Makes and opens a file or folder of that name. Returns its descriptor, or a negative number if
 * that failed. */
static int make(const char *name, bool folder)
{
  if (!folder)
    return open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return mkdir(name, 0700) ? -1 : open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Opens and locks a new file or folder in `base`, and gives its name. */
static int make_temporary(const char *base, bool folder, char **name)
{
  for (unsigned number = (unsigned)getpid();; number++) {
    if (asprintf(name, "%s/" PREFIX "%u", base, number) < 0)
      break;
    int file = make(*name, folder);
    if (file < 0 && errno != EEXIST && !(folder && errno == ENOENT && !access(base, F_OK))) {
      free(*name);
      break;
    }
    if (file >= 0) {
      flock(file, LOCK_EX); /* a sweep may hold the lock for a moment */
      if (has_name(file, *name))
        return file;
      close(file);
    }
    free(*name);
  }
  *name = NULL;
  return -1;
}

static void output_free(struct output *output)
{
  int problem = errno;
  if (output->stream)
    fclose(output->stream);
  if (output->lock >= 0)
    close(output->lock);
  free(output->temporary);
  free(output->file);
  free(output);
  errno = problem;
}

/* Returns the folder that holds the file. The caller frees it. */
static char *folder_of(const char *file)
{
  const char *slash = strrchr(file, '/');
  return !slash ? strdup(".") : slash == file ? strdup("/") : strndup(file, (size_t)(slash - file));
}

struct output *output_open(const char *file)
{
  struct output *output = calloc(1, sizeof *output);
  if (!output)
    return NULL;
  char *base = folder_of(file);
  output->file = strdup(file);
  output->lock = base && output->file ? make_temporary(base, false, &output->temporary) : -1;
  int descriptor = output->lock < 0 ? -1 : fcntl(output->lock, F_DUPFD_CLOEXEC, 0);
  output->stream = descriptor < 0 ? NULL : fdopen(descriptor, "w");
  free(base);
  if (output->stream)
    return output;
  if (output->temporary)
    unlink(output->temporary);
  output_free(output);
  return NULL;
}

FILE *output_stream(struct output *output)
{
  return output->stream;
}

/* Syncs the folder that holds the file, so that the file's name is on the disk. */
static bool sync_folder(const char *file)
{
  char *base = folder_of(file);
  int folder = base ? open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  bool fine = folder >= 0 && (!fsync(folder) || errno == EINVAL); /* EINVAL: no support */
  int problem = errno;
  if (folder >= 0)
    close(folder);
  free(base);
  errno = problem;
  return fine;
}

bool output_close(struct output *output, bool sync)
{
  bool had_error = ferror(output->stream);
  errno = EIO; /* the reason is not known */
  bool fine = !fflush(output->stream) && !had_error;
  fine = fine && (!sync || !fsync(output->lock));
  FILE *stream = output->stream;
  output->stream = NULL;
  fine = !fclose(stream) && fine;
  fine = fine && !rename(output->temporary, output->file) && (!sync || sync_folder(output->file));
  int problem = output->problem ? output->problem : errno;
  if (!fine)
    unlink(output->temporary);
  errno = problem;
  output_free(output);
  return fine;
}

bool output_write(const char *file, const void *bytes, size_t size)
{
  struct output *output = output_open(file);
  if (!output)
    return false;
  if (fwrite(bytes, 1, size, output->stream) < size)
    output->problem = errno;
  return output_close(output, false);
}

int output_folder(const char *base, char **path)
{
  return make_temporary(base, true, path);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
  (void)status, (void)kind, (void)at;
  remove(path);
  return 0;
}

void output_remove(const char *path)
{
  enum { DESCRIPTORS = 16 };
  nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

static void sweep(const char *name)
{
  struct stat status;
  int file = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return;
  if (!fstat(file, &status) && status.st_uid == geteuid() && !flock(file, LOCK_EX | LOCK_NB) &&
      has_name(file, name))
    output_remove(name);
  close(file);
}

void output_sweep(const char *folder)
{
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    char *name;
    if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
        asprintf(&name, "%s/%s", folder, entry->d_name) < 0)
      continue;
    sweep(name);
    free(name);
  }
  if (entries)
    closedir(entries);
}
