/* Has the functions that fuzzers share. Readers take files, so each input becomes a file. */
#ifndef RECLINE_FUZZ_H
#define RECLINE_FUZZ_H

#include <glib/gstdio.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the path of a file in memory with the input. The path is always the same. */
static inline const char *input_file(const uint8_t *data, size_t size)
{
  static char *path;
  if (!path)
    path = g_strdup_printf("/dev/shm/recline-fuzz-%d", (int)getpid());
  FILE *file = fopen(path, "w");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
    abort();
  return path;
}

static inline void input_done(const char *path)
{
  g_unlink(path);
}

/* Judges a reader. The reader must take the input, or say in one line why it does not, as commands
 * print it. */
static inline void judge_error(bool good, GError *error)
{
  if (good != (error == NULL) || (error && !*error->message))
    abort();
  g_clear_error(&error);
}

#endif
