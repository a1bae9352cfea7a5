/* The program `recline`: one table of subcommands. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "sim/command/main.h"
#include "play/play.h"
#include "report/report_folder.h"
#include "sim/campaign/campaign.h"
#include "sim/command/common.h"
#include "sim/replicate/replicate.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/base/output.h"

static int command_help(int argc, char **argv);

static int replicate(int argc, char **argv)
{
  return command_replicate(argc, argv, data_folder());
}

static const struct command {
  const char *name, *usage, *summary;
  int (*function)(int argc, char **argv);
} commands[] = {
    {"run", "SCENARIO [--set KEY=VALUE]... [--out DIR] [--json]",
     "simulate an MPI program with a protocol and failures", command_run},
    {"campaign", "SCENARIO [--runs N] [--sweep KEY=VALUE,VALUE...]... [--until P%] [--out DIR]",
     "many runs with different seeds and values: means with confidence intervals",
     command_campaign},
    {"interval", "SCENARIO [--runs N] [--out DIR]",
     "how often to take checkpoints: by theory and by simulation", command_interval},
    {"replicate", "[ID]... [--out DIR] [--jobs N] [--json]",
     "what papers have published beside what is simulated", replicate},
    {"check",
     "[CLAIM|SCENARIO]... [--all] [--jobs N] [--reduce none|por|sym|all] [--max-states N] "
     "[--out DIR] [--json|--tap|--junit]",
     "explore every interleaving and every crash of a small world", command_check},
    {"draw",
     "TRACE|PLATFORM|PROTOCOL [-o FILE.svg] [--from TIME] [--to TIME] [--ranks LIST] "
     "[--dependencies]",
     "draw a picture", command_draw},
    {"play", "CLAIM|SCENARIO|TRACE [-o FILE.html] [--source FILE.c]",
     "a page in which a world is taken move by move", command_play},
    {"report", "DIR [-o FILE.html|.paje|.json]",
     "a page about what --out has kept; a trace for other tools", command_report},
    {"demo", "", "the whole story: explore, run, crash, recover, draw", command_demo},
    {"list", "protocols|claims|platforms|scenarios|mutants [--json]", "say what there is",
     command_list},
    {"doctor", "[--json]", "say what is installed, what is missing and what to type",
     command_doctor},
    {"help", "[COMMAND]", "print this, or how a command is called", command_help},
};

/* Platforms, claims and scenarios: where the user says; in the sources, to which the build folder
 * has a link `data`; or where recline is installed. */
static void find_data(void)
{
  static const char *const places[] = {"../data", "../../../share/recline"};
  const char *named = g_getenv("RECLINE_DATA");
  if (named && *named)
    return;
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *bin = g_path_get_dirname(self ? self : ".");
  for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
    g_autofree char *place = g_build_filename(bin, places[i], NULL);
    char *found = realpath(place, NULL);
    g_setenv("RECLINE_DATA", found ? found : ".", TRUE);
    free(found);
    if (g_file_test(place, G_FILE_TEST_IS_DIR))
      return;
  }
}

static const struct command *command_named(const char *name)
{
  for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
    if (!strcmp(commands[i].name, name))
      return &commands[i];
  return NULL;
}

static int no_command(const char *name)
{
  GString *names = g_string_new(NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
    g_string_append_printf(names, "%s, ", commands[i].name);
  g_autofree char *problem = name ? g_strdup_printf("\"%s\" is no command", name) : NULL;
  bad_input("recline: %s, expected %sor --version", problem ? problem : "no command", names->str);
  g_string_free(names, TRUE);
  return EXIT_BAD_INPUT;
}

static void print_usage(const struct command *command)
{
  printf("  recline %s%s%s\n      %s\n", command->name, *command->usage ? " " : "", command->usage,
         command->summary);
}

static int command_help(int argc, char **argv)
{
  if (argc > 2)
    return bad_input("recline help: too many words, expected one command or none");
  if (argc == 2) {
    const struct command *command = command_named(argv[1]);
    if (!command)
      return no_command(argv[1]);
    print_usage(command);
    return EXIT_FINE;
  }
  printf("recline: does this checkpoint/rollback protocol recover, always, and what does it cost?\n"
         "\n");
  for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
    print_usage(&commands[i]);
  printf("\nExit codes: 0 as expected, 1 violated or not as expected, 2 inconclusive, 3 a bug of "
         "recline, 64 usage or bad input.\n");
  return EXIT_FINE;
}

/* Scenarios find platforms beside them, in the folders that the user named, in our own. */
static void add_platforms(void)
{
  const char *named = g_getenv("RECLINE_PLATFORMS");
  g_autofree char *own = g_build_filename(data_folder(), "platforms", NULL);
  g_autofree char *all = named && *named ? g_strconcat(named, ":", own, NULL) : g_strdup(own);
  g_setenv("RECLINE_PLATFORMS", all, TRUE);
}

/* Output counts only when it was written: a full disk is an error. */
static int close_output(int code)
{
  if (fflush(stdout) == 0 && !ferror(stdout))
    return code;
  return bad_input("recline: the output cannot be written, expected room for it");
}

int main(int argc, char **argv)
{
  setlocale(LC_CTYPE, "");  /* and no more: numbers keep their point */
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is told as a full disk is */
  if (argc < 2)
    return no_command(NULL);
  if (!strcmp(argv[1], "--version")) {
    printf("recline %s\n", RECLINE_VERSION);
    return close_output(EXIT_FINE);
  }
  bool help = !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h");
  const struct command *command = command_named(help ? "help" : argv[1]);
  if (!command)
    return no_command(argv[1]);
  g_autofree char *name = g_strconcat("recline ", command->name, NULL);
  g_set_prgname(name); /* as --help names it */
  find_data();
  add_platforms();
  output_sweep(g_get_tmp_dir());
  return close_output(command->function(argc - 1, argv + 1));
}
