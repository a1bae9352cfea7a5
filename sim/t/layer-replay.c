/* Replays a trace (lock 4). Usage: layer-replay TRACE */
#include "verify/trace/trace.h"

#include <stdio.h>

int main(int argc, char **argv)
{
  unsigned steps;
  GError *error = NULL;
  if (argc != 2 || !trace_replay(argv[1], &steps, &error)) {
    fprintf(stderr, "layer-replay: %s\n", error ? error->message : "expected TRACE");
    return 1;
  }
  printf("%u steps\n", steps);
  return 0;
}
