/* recline prove: hands over to the program recline-prove, which is only built if LLVM and Z3 are
 * installed. */
#include "base/breach.h"
#include "base/exit_codes.h"
#include "command/common.h"
#include "command/main.h"
#include "world/scenario/parameters.h"

const struct about about_prove = {"prove", "PROTOCOL|FILE.c...",
                                  "prove the line invariant of a protocol, or of every event what "
                                  "a step may do; any number of messages",
                                  "prove --memory blocking\n"
                                  "prove --memory bookmark --ranks 2 --capacity 1"};

struct proving {
  const char *what, *form, *without, *keep, *set;
  double seconds;
  int ranks, capacity;
};

/* Hands over to recline-prove. Returns only if this build does not have that program. */
static int prove(const struct proving *asked, char **names)
{
  char limit[G_ASCII_DTOSTR_BUF_SIZE], number[2][16];
  g_ascii_dtostr(limit, sizeof limit, asked->seconds);
  g_snprintf(number[0], sizeof number[0], "%d", asked->ranks);
  g_snprintf(number[1], sizeof number[1], "%d", asked->capacity);
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  g_ptr_array_add(words, (char *)asked->what);
  g_ptr_array_add(words, (char *)asked->form);
  g_ptr_array_add(words, limit);
  g_ptr_array_add(words, number[0]);
  g_ptr_array_add(words, number[1]);
  g_ptr_array_add(words, (char *)asked->without);
  g_ptr_array_add(words, (char *)asked->keep);
  g_ptr_array_add(words, (char *)asked->set);
  for (char **name = names; *name; name++)
    g_ptr_array_add(words, *name);
  hand_over("recline-prove", words);
  return bad_input("recline prove: this build has no prover, expected the packages clang, llvm-dev "
                   "and libz3-dev where it is configured");
}

/* Returns the words for recline-prove that give values to parameters (prove/settings.h), or NULL if
 * an assignment is wrong. The caller frees them. */
static char *settings(char **set, GError **error)
{
  static const char *const none[] = {NULL};
  g_autoptr(GArray) given = parameters_read(set ? (const char *const *)set : none, error);
  GString *words = given ? g_string_new(NULL) : NULL;
  for (guint i = 0; given && i < given->len; i++) {
    const struct parameter *one = &g_array_index(given, struct parameter, i);
    g_string_append_printf(words, "%s%s=%u=%s", i ? "," : "", one->name, one->value, one->text);
  }
  return words ? g_string_free(words, FALSE) : NULL;
}

int command_prove(int argc, char **argv)
{
  enum { RANKS_MOST = 8, CAPACITY_MOST = 64 };
  gboolean memory = FALSE, json = FALSE;
  gint ranks = 0, capacity = 0;
  g_autofree char *limit = NULL, *without = NULL, *keep = NULL, *values = NULL;
  g_auto(GStrv) names = NULL, set = NULL;
  g_autoptr(GError) error = NULL;
  double seconds = 600;
  const GOptionEntry entries[] = {
      {"memory", 0, 0, G_OPTION_ARG_NONE, &memory,
       "Prove that no step overflows, leaves its memory or the grammar of actions", NULL},
      {"set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &set,
       "Prove it for that value of a parameter, not for all (protocol.exchange=once)",
       "PARAMETER=VALUE"},
      {"without", 0, 0, G_OPTION_ARG_STRING, &without,
       "Leave out that clause of the line invariant, to see what needs it", "CLAUSE"},
      {"keep", 0, 0, G_OPTION_ARG_FILENAME, &keep,
       "Keep in that folder which moves are proved, and do not prove them again", "DIR"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object and nothing else", NULL},
      {"ranks", 0, 0, G_OPTION_ARG_INT, &ranks,
       "Prove it for worlds of N ranks (2; with --memory 2 and 3)", "N"},
      {"capacity", 0, 0, G_OPTION_ARG_INT, &capacity,
       "Prove it for lists of N entries (1; with --memory 1 and 2)", "N"},
      {"timeout", 0, 0, G_OPTION_ARG_STRING, &limit,
       "Stop a protocol after that time: undecided (10min; 0: never)", "TIME"},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &names, NULL, NULL},
      G_OPTION_ENTRY_NULL};
  if (!options_read(&about_prove, argc, argv, entries))
    return EXIT_BAD_INPUT;
  if (limit && !scenario_option_seconds(limit, &seconds, &error))
    return bad_input("recline prove: --timeout %s, expected a time", limit);
  if (memory && without)
    return bad_input("recline prove: --without, expected no --memory");
  if (memory && keep)
    return bad_input("recline prove: --keep, expected no --memory");
  if (memory && json)
    return bad_input("recline prove: --json, expected no --memory");
  if (ranks < 0 || ranks > RANKS_MOST || ranks == 1)
    return bad_input("recline prove: --ranks: expected 2 to 8");
  if (capacity < 0 || capacity > CAPACITY_MOST)
    return bad_input("recline prove: --capacity: expected 1 to 64");
  if (!names)
    return bad_input("recline prove: expected a protocol");
  values = settings(set, &error);
  if (!values)
    return bad_input("recline prove: %s", error->message);
  const struct proving asked = {.what = memory ? "memory" : "line",
                                .form = json ? "json" : "text",
                                .without = without ? without : "",
                                .keep = keep ? keep : "",
                                .set = values,
                                .seconds = seconds,
                                .ranks = ranks,
                                .capacity = capacity};
  return prove(&asked, names);
}
