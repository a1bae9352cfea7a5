/* Prints the histories with which the programs of a script can end, without failures: a line for
 * each outcome, as programs/script prints it.
 *
 *     script-outcomes FILE RANKS
 */
#include <stdio.h>
#include <stdlib.h>

#include "verify/explore/explorer.h"
#include "world/script/script.h"

static char *text_of(const char *name)
{
  enum { ROOM = 65536 };
  FILE *file = fopen(name, "r");
  char *text = calloc(1, ROOM);
  if (!file || !text || fread(text, 1, ROOM - 1, file) == 0) {
    perror(name);
    exit(1);
  }
  fclose(file);
  return text;
}

int main(int argc, char **argv)
{
  static const char *const deadlock[] = {"deadlock", NULL};
  struct intern outcomes = {0};
  struct exploration found;
  struct world world;
  const struct explorer_options options = {.properties = deadlock,
                                           .outcomes = &outcomes,
                                           .collect = true,
                                           .workers = 1,
                                           .max_states = 1000000,
                                           .max_bytes = 1 << 29};
  int ranks = argc == 3 ? atoi(argv[2]) : 0, line;
  char *message = NULL, *text = ranks > 0 ? text_of(argv[1]) : NULL;
  struct script *script = text ? script_parse(text, ranks, &line, &message) : NULL;
  if (!script) {
    fprintf(stderr, "script-outcomes FILE RANKS: %s\n", message ? message : "expected both");
    return 1;
  }
  world_init(&world, rcl_protocol_named("none"), ranks, 1);
  world.bounded = true;
  world.script = script;
  explore(&world, 0, 0, &options, &found);
  if (found.verdict != EXPLORER_HOLDS)
    printf("%s\n", found.verdict == EXPLORER_VIOLATED ? found.why.text : "too many states");
  for (uint32_t i = 1; i <= outcomes.count; i++) {
    const struct content *history = outcomes.item[i].bytes;
    printf("history:");
    for (int rank = 0; rank < ranks; rank++)
      printf(" %08x%08x", history[rank].word[0], history[rank].word[1]);
    printf("\n");
  }
  int result = found.verdict != EXPLORER_HOLDS;
  exploration_clear(&found);
  world_clear(&world);
  intern_clear(&outcomes);
  script_free(script);
  free(text);
  return result;
}
