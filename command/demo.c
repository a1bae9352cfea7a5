/* recline demo: shows a newcomer the whole story, in three chapters.
 *
 * Every step is a command that a user could type. The demo shows the command and starts recline
 * with its words. The steps are listed below; a step with an unexpected result makes the demo fail.
 */
#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "base/output.h"
#include "command/common.h"
#include "command/main.h"

/* ---- the steps ---- */

struct claim {
  const char *id, *verdict, *says;
};

static const struct claim CLAIMS[] = {
    {"none-lost", "violated", "without a protocol a crash loses the program"},
    {"bookmark-recovers", "holds",
     "with the bookmark exchange it goes on as if there had been none"},
    {"c3-recovers", "holds", "so it does with C3, which stops no process for a checkpoint"},
    {"c3-second-crash", "holds", "also if a second crash strikes, during the recovery too"},
};

static const struct claim MUTANT = {"c3-no-suppress", "violated",
                                    "C3 that does not remember which messages came early"};

static const char SCENARIO[] = "demo.yaml";
static const char PROOF[] = "verification: PASS"; /* a line that the program of SCENARIO prints */

/* ---- printing ---- */

static void chapter(int number, const char *title, const char *text)
{
  g_print("\n%d. %s\n\n%s\n", number, title, text);
}

/* Prints a text in lines of at most 90 characters. The first line continues the present line on the
 * screen. All other lines are indented. */
static void wrapped(const char *text)
{
  enum { INDENT = 15, WIDTH = 90 };
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  size_t column = INDENT;
  for (char **word = words; *word != NULL; word++) {
    size_t length = (size_t)g_utf8_strlen(*word, -1);
    if (word != words && column + 1 + length > WIDTH) {
      g_print("\n%*s", INDENT, "");
      column = INDENT;
    } else if (word != words) {
      g_print(" ");
      column++;
    }
    g_print("%s", *word);
    column += length;
  }
  g_print("\n");
}

static bool complain(const char *format, ...) G_GNUC_PRINTF(1, 2);

static bool complain(const char *format, ...)
{
  va_list values;
  va_start(values, format);
  g_autofree char *line = g_strdup_vprintf(format, values);
  va_end(values);
  g_printerr("recline demo: %s\n", line);
  return false;
}

/* ---- running recline ---- */

static bool refused; /* a command has ended with 64, because there is no room on the disk */

/* Shows and runs `recline words...`. Returns the exit code, and sets *printed to the output. */
static int recline(const char *const *words, char **printed)
{
  g_autoptr(GPtrArray) command = g_ptr_array_new();
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  g_autoptr(GError) error = NULL;
  int status = 0;
  g_ptr_array_add(command, self);
  g_print("   $ recline");
  for (; *words != NULL; words++) {
    g_ptr_array_add(command, (char *)*words);
    g_print(" %s", *words);
  }
  g_print("\n");
  g_ptr_array_add(command, NULL);
  *printed = NULL;
  if (!g_spawn_sync(NULL, (char **)command->pdata, NULL, G_SPAWN_DEFAULT, NULL, NULL, printed, NULL,
                    &status, &error)) {
    complain("%s", error->message);
    return EXIT_BREACH;
  }
  refused |= WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BAD_INPUT;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_BREACH;
}

/* Returns the first object that has a verdict. It is the object of the whole text, or an object in
 * a list of that object. */
static JsonObject *with_verdict(JsonNode *node)
{
  JsonObject *found = NULL;
  if (node == NULL)
    return NULL;
  if (JSON_NODE_HOLDS_ARRAY(node)) {
    g_autoptr(GList) items = json_array_get_elements(json_node_get_array(node));
    for (GList *item = items; item != NULL && found == NULL; item = item->next)
      found = with_verdict(item->data);
  } else if (JSON_NODE_HOLDS_OBJECT(node)) {
    JsonObject *object = json_node_get_object(node);
    if (json_object_has_member(object, "verdict"))
      return object;
    g_autoptr(GList) values = json_object_get_values(object);
    for (GList *value = values; value != NULL && found == NULL; value = value->next)
      found = with_verdict(value->data);
  }
  return found;
}

static const char *text_of(JsonObject *object, const char *key)
{
  JsonNode *node = json_object_get_member(object, key);
  return node != NULL && json_node_get_value_type(node) == G_TYPE_STRING
             ? json_node_get_string(node)
             : NULL;
}

static double number_of(JsonObject *object, const char *key)
{
  JsonNode *node = json_object_get_member(object, key);
  return node != NULL && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_double(node) : 0;
}

/* ---- chapters 1 and 2: the explorer ---- */

/* Checks one claim. Sets `trace` to the path of the counterexample, if there is one. */
static bool check(const struct claim *claim, const char *out, char **trace)
{
  const char *words[] = {"check", claim->id, "--json", out != NULL ? "--out" : NULL, out, NULL};
  g_autofree char *printed = NULL;
  int code = recline(words, &printed);
  g_autoptr(JsonParser) parser = json_parser_new();
  if (printed == NULL || !json_parser_load_from_data(parser, printed, -1, NULL))
    return complain("%s: exit code %d and no JSON object", claim->id, code);
  JsonObject *result = with_verdict(json_parser_get_root(parser));
  const char *verdict = result != NULL ? text_of(result, "verdict") : NULL;
  if (verdict == NULL)
    return complain("%s: exit code %d and no verdict", claim->id, code);
  if (trace != NULL)
    *trace = g_strdup(text_of(result, "trace"));
  const char *why = text_of(result, "why");
  g_print("     %-9s %s\n", verdict, claim->says);
  if (why != NULL) {
    g_print("%15s", "");
    wrapped(why);
  }
  g_print("%15s%.0f states, %.0f transitions, %.2f s\n", "", number_of(result, "states"),
          number_of(result, "transitions"), number_of(result, "seconds"));
  if (strcmp(verdict, claim->verdict) != 0)
    return complain("%s: expected %s", claim->id, claim->verdict);
  return true;
}

static bool explore(void)
{
  chapter(
      1, "Every interleaving, every crash",
      "   The code of a protocol is taken through every order of events, with a crash at every\n"
      "   point, on a small world. A claim holds only if no order of them breaks it.\n");
  bool good = true;
  for (size_t i = 0; i < G_N_ELEMENTS(CLAIMS); i++)
    good = check(&CLAIMS[i], NULL, NULL) && good;
  return good;
}

static bool break_it(const char *folder)
{
  chapter(
      2, "One line left out",
      "   A mutant is a protocol with one flaw. The explorer finds the shortest run in which it\n"
      "   shows, and draws it: time runs to the right, one line for each rank.\n");
  g_autofree char *out = g_build_filename(folder, "mutant", NULL);
  g_autofree char *picture = g_build_filename(folder, "mutant.svg", NULL);
  g_autofree char *trace = NULL, *printed = NULL;
  if (!check(&MUTANT, out, &trace))
    return false;
  if (trace == NULL)
    return complain("%s: no counterexample", MUTANT.id);
  const char *words[] = {"draw", trace, "-o", picture, NULL};
  if (recline(words, &printed) != EXIT_FINE || !g_file_test(picture, G_FILE_TEST_EXISTS))
    return complain("%s: no picture of the counterexample", MUTANT.id);
  g_print("     picture   %s\n", picture);
  return true;
}

/* ---- chapter 3: the simulator ---- */

static bool recover(const char *folder)
{
  chapter(
      3, "The same code under a real program",
      "   A conjugate gradient solver runs on eight simulated nodes and takes checkpoints. After\n"
      "   the second one a node is lost, with all that it knew. The others go back with it to\n"
      "   that checkpoint, and the solver must still find the right number.\n");
  g_autofree char *scenario = g_build_filename(data_folder(), "scenarios", SCENARIO, NULL);
  g_autofree char *out = g_build_filename(folder, "run", NULL);
  g_autofree char *printed = NULL;
  const char *words[] = {"run", scenario, "--out", out, NULL};
  int code = recline(words, &printed);
  g_auto(GStrv) lines = g_strsplit(printed != NULL ? printed : "", "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    if (**line != '\0')
      g_print("     %s\n", *line);
  if (code != EXIT_FINE)
    return complain("%s: exit code %d, expected 0", SCENARIO, code);
  if (!g_strv_contains((const char *const *)lines, PROOF))
    return complain("%s: expected the line %s", SCENARIO, PROOF);
  return true;
}

/* ---- the command ---- */

const struct about about_demo = {
    "demo", "", "tell the whole story: explore, run, crash, recover, draw", "demo"};

int command_demo(int argc, char **argv)
{
  const GOptionEntry none[] = {{NULL, 0, 0, 0, NULL, NULL, NULL}};
  if (!options_read(&about_demo, argc, argv, none))
    return EXIT_BAD_INPUT;
  if (argc > 1)
    return bad_input("recline demo: too many words, expected none");
  g_autofree char *folder = g_dir_make_tmp("recline-demo-XXXXXX", NULL);
  if (folder == NULL)
    return bad_input("%s: no folder can be made there, expected one that can be written",
                     g_get_tmp_dir());
  g_print("recline: does a checkpoint/rollback protocol recover, always, and what does it cost?\n");
  bool explored = explore();
  bool broken = !refused && break_it(folder);
  bool recovered = !refused && recover(folder);
  if (refused) {
    output_remove(folder);
    return EXIT_BAD_INPUT;
  }
  g_print("\nThe picture and the run are in %s.\n", folder);
  return explored && broken && recovered ? EXIT_FINE : EXIT_NOT_AS_EXPECTED;
}
