/* Gives tests the commands `check` and `replay` without the whole program. */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "verify/check/check.h"
#include "world/trace/trace.h"

/* Replays traces; prints the number of lines of each. */
static int replay(int count, char **files)
{
  for (int i = 0; i < count; i++) {
    g_autoptr(GError) error = NULL;
    struct trace_story story;
    if (!trace_read(files[i], &story, &error)) {
      fprintf(stderr, "%s\n", error->message);
      return 1;
    }
    printf("%s: %u moves\n", files[i], story.count);
    trace_story_clear(&story);
  }
  return 0;
}

int main(int argc, char **argv)
{
  g_setenv("RECLINE_DATA", RECLINE_SOURCE_DIR, FALSE);
  if (argc > 1 && !strcmp(argv[1], "check"))
    return command_check(argc - 1, argv + 1);
  if (argc > 1 && !strcmp(argv[1], "replay"))
    return replay(argc - 2, argv + 2);
  if (argc > 1 && !strcmp(argv[1], "draw"))
    return 0; /* pictures have their own tests */
  fprintf(stderr, "usage: verify-tool check ... | replay TRACE...\n");
  return 64;
}
