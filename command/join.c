/* recline join: makes one trace of those that the processes of an MPI program have left. */
#include "command/common.h"
#include "command/main.h"
#include "world/trace/join_traces.h"

const struct about about_join = {"join", "FOLDER",
                                 "put the traces of MPI processes together; the world judges them",
                                 "join checkpoints -o trace.txt"};

static void tell(const char *file, const struct joined *joined)
{
  g_print("%s: %u processes, %u starts, %u commits, %u steps, %s, %u violations\n", file,
          joined->ranks, joined->starts, joined->commits, joined->steps,
          joined->ended ? "ended" : "not ended", joined->violations);
}

int command_join(int argc, char **argv)
{
  g_autofree char *output = NULL;
  g_auto(GStrv) words = NULL;
  g_autoptr(GError) error = NULL;
  struct joined joined;
  const GOptionEntry entries[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "the trace (trace.txt)", "FILE"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &words, NULL, NULL},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  if (!options_read(&about_join, argc, argv, entries))
    return EXIT_BAD_INPUT;
  if (!words || words[1])
    return bad_input("recline join: expected one word, the folder that RECLINE_CHECKPOINTS named");
  const char *file = output ? output : "trace.txt";
  if (!trace_join(words[0], file, &joined, &error))
    return bad_input("%s", error->message);
  tell(file, &joined);
  return joined.violations ? EXIT_NOT_AS_EXPECTED : EXIT_FINE;
}
