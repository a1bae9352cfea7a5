/* recline doctor: says what is installed, what is missing, and which commands install it. The
 * launcher has a shorter answer of its own, because it runs before anything is built. */
#include <stdio.h>
#include <string.h>

#include "base/glib/json.h"
#include "command/common.h"
#include "command/main.h"

static const struct tool {
  const char *name, *asks; /* the program, and the option that prints its version */
  const char *package;     /* name of Debian's package */
  const char *purpose;
  bool needed; /* recline itself cannot do without it */
} tools[] = {
    {"smpirun", "--version", "libsimgrid-dev", "runs MPI programs on simulated machines", true},
    {"smpicc", "--version", "libsimgrid-dev", "builds MPI programs in C", true},
    {"smpicxx", "--version", "libsimgrid-dev", "builds MPI programs in C++", true},
    {"smpif90", "--version", "libsimgrid-dev", "builds MPI programs in Fortran", true},
    {"gcc", "--version", "gcc", "compiles C", true},
    {"g++", "--version", "g++", "compiles C++", true},
    {"gfortran", "--version", "gfortran", "compiles Fortran", true},
    {"cmake", "--version", "cmake", "builds recline", true},
    {"ninja", "--version", "ninja-build", "builds recline", true},
    {"dot", "-V", "graphviz", "lays out pictures", true},
    {"gnuplot", "--version", "gnuplot-nox", "draws curves", true},
    {"prove", "--version", "perl", "runs the tests", true},
    {"patch", "--version", "patch", "makes mutants", true},
    {"nm", "--version", "binutils", "looks into objects", true},
    {"spin", "-V", "spin", "referees the explorer in the tests", false},
    {"jq", "--version", "jq", "reads results in the tests", false},
    {"clang", "--version", "clang", "compiles the page of recline play", false},
    {"wasm-ld", "--version", "lld", "links the page of recline play", false},
    {"node", "--version", "nodejs", "runs that page in the tests", false},
    {"chromium", "--version", "chromium", "shows that page in the tests", false},
    {"pj_dump", "--version", "pajeng", "reads traces in the tests", false},
    {"sbatch", "--version", "slurm-client", "hands campaigns to a cluster", false},
};

/* Holds the findings about one tool. */
struct finding {
  char *path, *version; /* path and version of the tool, or NULL if it is missing */
  /* the tool ends with an error; `version` is the first line of the error's text */
  bool fails;
};

/* Returns the first line that is not empty. */
static char *first_line(const char *text)
{
  while (g_ascii_isspace(*text))
    text++;
  g_autofree char *valid = g_utf8_make_valid(text, (gssize)strcspn(text, "\n"));
  return g_strdup(g_strchomp(valid));
}

static struct finding find(const struct tool *tool)
{
  struct finding finding = {.path = g_find_program_in_path(tool->name)};
  g_autofree char *out = NULL, *err = NULL;
  int status = 0;
  char *words[] = {finding.path, (char *)tool->asks, NULL};
  if (finding.path &&
      g_spawn_sync(NULL, words, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &err, &status, NULL)) {
    finding.fails = !g_spawn_check_wait_status(status, NULL);
    finding.version = first_line(*out && !finding.fails ? out : err);
  }
  return finding;
}

static char *packages_missing(const struct finding *findings)
{
  GString *packages = g_string_new(NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(tools); i++) {
    bool again = i && !strcmp(tools[i].package, tools[i - 1].package) && !findings[i - 1].path;
    if (!findings[i].path && !again)
      g_string_append_printf(packages, "%s%s", packages->len ? " " : "", tools[i].package);
  }
  return g_string_free(packages, FALSE);
}

static void print_findings(const struct finding *findings)
{
  printf("recline %s, data in %s\n", RECLINE_VERSION, data_folder());
  for (size_t i = 0; i < G_N_ELEMENTS(tools); i++)
    if (findings[i].path)
      printf("  %-8s %-9s %s\n", findings[i].fails ? "fails" : "found", tools[i].name,
             findings[i].version ? findings[i].version : "");
    else
      printf("  missing  %-9s %s%s: apt-get install %s\n", tools[i].name, tools[i].purpose,
             tools[i].needed ? "" : " (tests only)", tools[i].package);
}

static void print_findings_json(const struct finding *findings, bool ready, const char *type)
{
  g_autoptr(JsonBuilder) builder = json_builder_new();
  json_builder_begin_object(builder);
  json_add_bool(builder, "ready", ready);
  json_add_text(builder, "version", RECLINE_VERSION);
  json_add_text(builder, "data", data_folder());
  json_add_text(builder, "type", type);
  json_open_list(builder, "tools");
  for (size_t i = 0; i < G_N_ELEMENTS(tools); i++) {
    json_builder_begin_object(builder);
    json_add_text(builder, "name", tools[i].name);
    json_add_text(builder, "package", tools[i].package);
    json_add_text(builder, "purpose", tools[i].purpose);
    json_add_bool(builder, "needed", tools[i].needed);
    json_add_text(builder, "path", findings[i].path);
    json_add_text(builder, "version", findings[i].fails ? NULL : findings[i].version);
    json_builder_end_object(builder);
  }
  json_builder_end_array(builder);
  json_builder_end_object(builder);
  json_print(builder);
}

const struct about about_doctor = {"doctor", "",
                                   "say what is installed, what is missing and what to type",
                                   "doctor\n"
                                   "doctor --json"};

int command_doctor(int argc, char **argv)
{
  struct finding findings[G_N_ELEMENTS(tools)];
  g_auto(GStrv) words = NULL;
  gboolean json = FALSE;
  if (!read_words(&about_doctor, argc, argv, &json, &words))
    return EXIT_BAD_INPUT;
  if (*words)
    return bad_input("recline doctor: \"%s\" is one word too many, expected --json or nothing",
                     *words);
  bool ready = true;
  for (size_t i = 0; i < G_N_ELEMENTS(tools); i++) {
    findings[i] = find(&tools[i]);
    ready = ready && (findings[i].path || !tools[i].needed);
  }
  g_autofree char *packages = packages_missing(findings);
  g_autofree char *type = *packages ? g_strconcat("apt-get install ", packages, NULL) : NULL;
  if (json)
    print_findings_json(findings, ready, type);
  else
    print_findings(findings);
  if (!json)
    printf("%s%s\n", type ? "type: " : "nothing is missing", type ? type : "");
  for (size_t i = 0; i < G_N_ELEMENTS(tools); i++) {
    g_free(findings[i].path);
    g_free(findings[i].version);
  }
  return ready ? EXIT_FINE : EXIT_NOT_AS_EXPECTED;
}
