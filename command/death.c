/* Explains why a simulation ended without a result. */
#include "command/death.h"

#include <glib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/output.h"
#include "sim/host/storage/routes.h"

struct death {
  const char *directory;
  const struct scenario *scenario;
  int status;
  char *text; /* what the program has written to standard error */
};

static bool exited(const struct death *death, int code)
{
  return WIFEXITED(death->status) && WEXITSTATUS(death->status) == code;
}

/* Returns the line of the text around `place`, which the caller frees. */
static char *line_at(const struct death *death, const char *place)
{
  const char *line = place;
  while (line > death->text && line[-1] != '\n')
    line--;
  return g_strndup(line, strcspn(line, "\n"));
}

/* Appends the last lines of a file to `text`, each after ` | `. Leaves out the line `told`, which
 * was shown already. `told` is NULL if there is no such line. */
static void add_tail(GString *text, const char *file, const char *told)
{
  enum { LINES = 10, BYTES = 4096 };
  g_autoptr(GMappedFile) map = g_mapped_file_new(file, FALSE, NULL);
  size_t length = map != NULL ? g_mapped_file_get_length(map) : 0;
  if (length == 0)
    return;
  size_t start = length > BYTES ? length - BYTES : 0;
  g_autofree char *raw = g_strndup(g_mapped_file_get_contents(map) + start, length - start);
  g_autofree char *valid = g_utf8_make_valid(g_strchomp(raw), -1);
  g_auto(GStrv) lines = g_strsplit(valid, "\n", -1);
  unsigned count = g_strv_length(lines);
  for (unsigned i = count > LINES ? count - LINES : 0; i < count; i++)
    if (told == NULL || !g_str_has_suffix(lines[i], told))
      g_string_append_printf(text, "  | %s\n", lines[i]);
}

/* Returns SimGrid's message if SimGrid ended the process because of the platform. SimGrid may do so
 * while it reads the file, before any time has passed, or at the first use. The text is "FILE:LINE:
 * what", or "what". Returns NULL if there is none. The caller frees it. */
static char *platform_refusal(const struct death *death)
{
  static const char SAID[] = "Parse error at ", CRITICAL[] = "CRITICAL] ",
                    UNCAUGHT[] = "Uncaught exception ";
  const char *found = strstr(death->text, SAID);
  if (found != NULL)
    return g_strndup(found + strlen(SAID), strcspn(found + strlen(SAID), "\n"));
  found = strstr(death->text, CRITICAL);
  if (found == NULL)
    return NULL;
  g_autofree char *line = line_at(death, found);
  found += strlen(CRITICAL);
  g_autofree char *what = g_strndup(found, strcspn(found, "\n"));
  if (!g_str_has_prefix(line, "[0.000000] ") && strstr(what, "Invalid factor") == NULL &&
      strstr(what, "no connecting path") == NULL && strstr(what, "Bad gateways") == NULL)
    return NULL;
  const char *after = g_str_has_prefix(what, UNCAUGHT) ? strstr(what, ": ") : NULL;
  g_autofree char *name = scenario_platform_name(death->scenario);
  const char *file = death->scenario->platform.file;
  return g_strdup_printf("%s: %s", file != NULL ? file : name, after != NULL ? after + 2 : what);
}

/* Returns the layer's message if it refused a value of the scenario, or NULL if there is none. The
 * caller frees it. */
static char *scenario_refusal(const struct death *death)
{
  static const char SAID[] = "recline: " REFUSED;
  const char *found = exited(death, EXIT_BAD_INPUT) ? strstr(death->text, SAID) : NULL;
  if (found == NULL)
    return NULL;
  g_autofree char *line = g_strndup(found + strlen(SAID), strcspn(found + strlen(SAID), "\n"));
  g_auto(GStrv) parts = g_strsplit(line, ": ", 2); /* the key, and what is wrong with its value */
  g_autoptr(GError) error = NULL;
  if (parts[0] == NULL || parts[1] == NULL)
    return NULL;
  scenario_complain(death->scenario, parts[0], &error, "%s", parts[1]);
  return g_strdup(error->message);
}

/* Returns the message that the disk was full. It is a message of the layer about a file, or a
 * message of SimGrid about its copies of the program. Returns NULL if there is none. The caller
 * frees it. */
static char *full_disk(const struct death *death)
{
  const char *layer =
      exited(death, EXIT_BAD_INPUT) ? strstr(death->text, OUTPUT_CANNOT_PART) : NULL;
  if (layer != NULL)
    return line_at(death, layer);
  if (strstr(death->text, "] Error while copying ") == NULL)
    return NULL;
  return g_strdup_printf(OUTPUT_CANNOT, death->directory,
                         "the simulator has no room for its copies of the program");
}

/* Returns the line that says that memory ran out, or NULL if there is none. The line may come from
 * libc, the dynamic linker, C++, GLib, SimGrid or recline. The caller frees it. */
static char *no_memory(const struct death *death)
{
  static const char *const words[] = {
      "Cannot allocate memory",   "failed to map segment", "bad_alloc",
      "ailed to allocate ",       "allocation of ",        "out of memory",
      "memory allocation failure"};
  for (size_t i = 0; i < G_N_ELEMENTS(words) && !exited(death, EXIT_BAD_INPUT); i++) {
    const char *found = strstr(death->text, words[i]);
    if (found != NULL)
      return line_at(death, found);
  }
  return NULL;
}

/* Returns the layer's message if the layer ended the process, or NULL if there is none. The caller
 * frees it. */
static char *last_line_of_layer(const struct death *death)
{
  static const char SAID[] = "recline: ";
  const char *last = NULL;
  for (const char *at = death->text; (at = strstr(at, SAID)) != NULL; at++)
    if (at == death->text || at[-1] == '\n')
      last = at + strlen(SAID);
  return last != NULL ? g_strndup(last, strcspn(last, "\n")) : NULL;
}

/* Returns the message about a call that SimGrid lacks, if SimGrid ended the process at such a call.
 * There are other calls that SimGrid lacks and about which it only warns. Returns NULL if there is
 * none. The caller frees it. */
static char *missing_call(const struct death *death)
{
  static const char SAID[] = "CRITICAL] Not yet implemented: P";
  const char *found = strstr(death->text, SAID);
  if (found == NULL)
    return NULL;
  found += strlen(SAID);
  return g_strdup_printf("SimGrid has no %.*s, expected a program without this call",
                         (int)strcspn(found, ". \n"), found);
}

/* Prints how the simulation ended, and the last lines of the program's output, if there are any.
 * The layer and programs end with 64 on bad input; any other end is unexpected. */
static int tell(const struct death *death, const char *err)
{
  int code = WIFEXITED(death->status) ? WEXITSTATUS(death->status) : -1;
  g_autofree char *said = missing_call(death);
  if (said != NULL)
    code = EXIT_BAD_INPUT;
  else if (code == EXIT_BAD_INPUT)
    said = last_line_of_layer(death);
  g_autoptr(GString) tail = g_string_new(NULL);
  g_autofree char *out = g_build_filename(death->directory, "program.out", NULL);
  add_tail(tail, out, NULL);
  add_tail(tail, err, said);
  if (said != NULL)
    g_printerr("recline run: %s%s", said, tail->len > 0 ? "; the program's last lines:" : "");
  else if (WIFSIGNALED(death->status))
    g_printerr("recline run: the simulation was killed by signal %d (%s); it said:",
               WTERMSIG(death->status), g_strsignal(WTERMSIG(death->status)));
  else if (code == 0)
    g_printerr("recline run: the program ended, and the layer wrote no result; it said:");
  else
    g_printerr("recline run: the simulation failed, exit code %d and no result; it said:", code);
  g_printerr("\n%s", tail->str);
  return code == EXIT_BAD_INPUT ? code : EXIT_BREACH;
}

int death_explain(const char *directory, const struct scenario *scenario, int status, bool *keeps)
{
  g_autofree char *err = g_build_filename(directory, "program.err", NULL);
  g_autofree char *text = NULL;
  if (!g_file_get_contents(err, &text, NULL, NULL))
    text = g_strdup("");
  const struct death death = {directory, scenario, status, text};
  g_autofree char *full = full_disk(&death), *memory = no_memory(&death),
                  *refusal = platform_refusal(&death), *refused = scenario_refusal(&death);
  *keeps = full == NULL && memory == NULL && refusal == NULL && refused == NULL;
  if (full != NULL)
    return bad_input("%s", full);
  if (memory != NULL) {
    g_printerr("recline run: inconclusive: no memory: %s\n", memory);
    return EXIT_INCONCLUSIVE;
  }
  if (refused != NULL)
    return bad_input("%s", refused);
  if (refusal != NULL)
    return bad_input("%s, expected a SimGrid platform", refusal);
  return tell(&death, err);
}
