/* Connects output_files.c with the files of open_files.c, which are the files that programs have
 * open. */
#define _GNU_SOURCE
#include "sim/memory/heap.h"
#include "sim/memory/next_symbol.h"
#include "sim/memory/open_files.h"
#include "sim/memory/output_files.h"

#include <stdlib.h>

int output_file_open(const struct arena *owner, const char *path, int flags, mode_t mode)
{
  int descriptor;
  struct output *output = output_new(owner, path, flags, mode, &descriptor);
  struct open_file *file = output ? open_add(owner, NULL, descriptor) : NULL;
  if (file) {
    file->output = output;
    return descriptor;
  }
  if (output)
    next_close(descriptor);
  output_free(output);
  return -1;
}

void output_refuse_descriptor(const struct arena *owner, const char *what, int descriptor)
{
  const struct open_file *file = owner && outputs_open ? open_descriptor(descriptor) : NULL;
  if (file && file->output)
    output_refuse(owner, what, output_path(file->output));
}

void heap_outputs_collect(const struct arena *owner)
{
  for (const struct open_file *file = outputs_open ? open_first() : NULL; file; file = file->next)
    if (file->output && !file->closed && (!owner || file->owner == owner))
      output_file_collect(file, false);
}

/* Collects the bytes in streams that the program has left open, as libc would write them at
 * exit. */
__attribute__((destructor)) static void collect_the_rest(void)
{
  heap_outputs_collect(NULL);
}
