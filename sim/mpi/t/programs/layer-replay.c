/* Replays a trace (lock 4). Usage: layer-replay TRACE */
#include "world/trace/trace.h"

#include <stdio.h>

int main(int argc, char **argv)
{
  struct trace_story story;
  GError *error = NULL;
  if (argc != 2 || !trace_read(argv[1], &story, &error)) {
    fprintf(stderr, "layer-replay: %s\n", error ? error->message : "expected TRACE");
    return 1;
  }
  printf("%u steps\n", story.count);
  trace_story_clear(&story);
  return 0;
}
