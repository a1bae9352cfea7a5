/* recline join: joins the traces that the processes of an MPI program have left into one trace, and
 * writes a result in the format of a simulated run. */
#include <errno.h>
#include <string.h>

#include "base/output.h"
#include "command/common.h"
#include "command/main.h"
#include "world/result/measured.h"
#include "world/trace/join_traces.h"

const struct about about_join = {
    "join", "FOLDER",
    "put the traces of MPI processes together; the world judges them, and a result can be kept",
    "join checkpoints -o trace.txt\njoin checkpoints --out measured"};

static void tell(const char *file, const struct joined *joined)
{
  g_print("%s: %u processes, %u starts, %u commits, %u steps, %s, %u violations\n", file,
          joined->ranks, joined->starts, joined->commits, joined->steps,
          joined->ended ? "ended" : "not ended", joined->violations);
}

/* Writes OUT/result.json. The audit in that result is the world's judgement of the trace. */
static bool save_result(const char *folder, const char *out, const struct joined *joined,
                        GError **error)
{
  struct result result;
  g_autofree char *file = g_build_filename(out, "result.json", NULL);
  bool good = measured_result(folder, &result, error);
  result.audit_violations = joined->violations;
  result.audit_first = g_strdup(joined->first);
  good = good && result_save(&result, file, error);
  result_clear(&result);
  return good;
}

static bool join(const char *folder, const char *out, const char *file, struct joined *joined,
                 GError **error)
{
  if (out && g_mkdir_with_parents(out, 0777)) {
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno), OUTPUT_CANNOT, out,
                g_strerror(errno));
    return false;
  }
  return trace_join(folder, file, joined, error) &&
         (!out || save_result(folder, out, joined, error));
}

int command_join(int argc, char **argv)
{
  g_autofree char *output = NULL, *out = NULL, *inside = NULL;
  g_auto(GStrv) words = NULL;
  g_autoptr(GError) error = NULL;
  struct joined joined = {0};
  const GOptionEntry entries[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "the trace (trace.txt)", "FILE"},
      {"out", 0, 0, G_OPTION_ARG_FILENAME, &out,
       "folder for trace.txt and result.json, as of recline run", "DIR"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &words, NULL, NULL},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  if (!options_read(&about_join, argc, argv, entries))
    return EXIT_BAD_INPUT;
  if (!words || words[1])
    return bad_input("recline join: expected one word, the folder that RECLINE_CHECKPOINTS named");
  inside = g_build_filename(out ? out : ".", "trace.txt", NULL);
  const char *file = output ? output : out ? inside : "trace.txt";
  bool good = join(words[0], out, file, &joined, &error);
  g_free(joined.first); /* only the result needs this field */
  if (!good)
    return bad_input("%s", error->message);
  tell(file, &joined);
  return joined.violations ? EXIT_NOT_AS_EXPECTED : EXIT_FINE;
}
