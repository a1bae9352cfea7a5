/* The program `recline`: finds the subcommand in a table and runs it. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "command/main.h"
#include "command/calibrate/calibrate.h"
#include "command/campaign/campaign.h"
#include "command/common.h"
#include "command/compare/compare.h"
#include "command/complete.h"
#include "command/replicate/replicate.h"
#include "play/play.h"
#include "plots/draw.h"
#include "report/report_folder.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/output.h"
#include "verify/check/check.h"
#include "verify/walk/walk.h"

static int command_help(int argc, char **argv);

static const char commit[] = /* " (COMMIT)", or empty if the build does not know the commit */
#include "commit.inc"
    ;

static int replicate(int argc, char **argv)
{
  return command_replicate(argc, argv, data_folder());
}

const struct about about_help = {"help", "[COMMAND]",
                                 "say what there is to do, or how a command is called", "help run"};

static const struct command {
  const struct about *about;
  int (*function)(int argc, char **argv);
} commands[] = {
    {&about_run, command_run},
    {&about_campaign, command_campaign},
    {&about_interval, command_interval},
    {&about_compare, command_compare},
    {&about_replicate, replicate},
    {&about_check, command_check},
    {&about_walk, command_walk},
    {&about_prove, command_prove},
    {&about_draw, command_draw},
    {&about_play, command_play},
    {&about_report, command_report},
    {&about_join, command_join},
    {&about_demo, command_demo},
    {&about_platform, command_platform},
    {&about_calibrate, command_calibrate},
    {&about_list, command_list},
    {&about_doctor, command_doctor},
    {&about_help, command_help},
};

/* Finds the folder of platforms, claims and scenarios: the folder that the user names; or the
 * sources, to which the link `data` in the build folder leads; or the folder in which recline is
 * installed. */
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
    if (!strcmp(commands[i].about->name, name))
      return &commands[i];
  return NULL;
}

struct names {
  const char *all[G_N_ELEMENTS(commands) + 1]; /* ends with NULL */
};

static struct names command_names(void)
{
  struct names names = {{NULL}};
  for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
    names.all[i] = commands[i].about->name;
  return names;
}

static int no_command(const char *name)
{
  const struct names names = command_names();
  g_autofree char *known = g_strjoinv(", ", (char **)names.all);
  g_autofree char *problem = g_strdup_printf("\"%s\" is no command", name ? name : "");
  g_autofree char *guess = did_you_mean(name ? name : "", names.all);
  return bad_input("recline: %s, expected %s, or --version%s", name ? problem : "no command", known,
                   guess);
}

static int command_help(int argc, char **argv)
{
  const GOptionEntry none[] = {{NULL, 0, 0, 0, NULL, NULL, NULL}};
  if (!options_read(&about_help, argc, argv, none))
    return EXIT_BAD_INPUT;
  if (argc > 2)
    return bad_input("recline help: too many words, expected one command or none");
  if (argc == 2) {
    const struct command *command = command_named(argv[1]);
    char *words[] = {argv[1], (char *)"--help", NULL};
    return command ? command->function(2, words) : no_command(argv[1]);
  }
  printf("Usage: recline COMMAND [OPTION]... [WORD]...\n\n"
         "Does this checkpoint/rollback protocol recover, always, and what does it cost?\n\n"
         "Commands:\n");
  for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
    options_print_summary(commands[i].about);
  printf("\n'recline COMMAND --help' names the options, 'recline --version' the version.\n"
         "Exit codes: 0 as expected, 1 violated or not as expected, 2 inconclusive, 3 a\n"
         "bug of recline, 64 usage or bad input.\n");
  return EXIT_FINE;
}

/* Scenarios find platforms in the folder of the scenario, in the folders that the user named, and
 * among recline's own platforms. */
static void add_platforms(void)
{
  const char *named = g_getenv("RECLINE_PLATFORMS");
  g_autofree char *own = g_build_filename(data_folder(), "platforms", NULL);
  g_autofree char *all = named && *named ? g_strconcat(named, ":", own, NULL) : g_strdup(own);
  g_setenv("RECLINE_PLATFORMS", all, TRUE);
}

static int complete(int count, char **words)
{
  const struct names names = command_names();
  const struct command *command = count > 1 ? command_named(words[0]) : NULL;
  if (command)
    complete_words(count, words, names.all, command->function);
  else if (count <= 1)
    complete_command(count, words, names.all);
  return EXIT_FINE;
}

/* Checks that all output was written, which fails on a full disk. */
static int close_output(int code)
{
  if (fflush(stdout) == 0 && !ferror(stdout))
    return code;
  return bad_input("recline: the output cannot be written, expected room for it");
}

int main(int argc, char **argv)
{
  setlocale(LC_CTYPE, "");  /* no other category is set, so that numbers keep their decimal point */
  signal(SIGXFSZ, SIG_IGN); /* a write to a file at its size limit fails, as on a full disk */
  if (argc < 2)
    return no_command(NULL);
  if (!strcmp(argv[1], "--version")) {
    printf("recline %s%s\n", RECLINE_VERSION, commit);
    return close_output(EXIT_FINE);
  }
  find_data();
  add_platforms();
  if (!strcmp(argv[1], "--complete"))
    return close_output(complete(argc - 2, argv + 2));
  bool help = !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h");
  if (help)
    argv[1] = (char *)"help";
  const struct command *command = command_named(argv[1]);
  if (!command)
    return no_command(argv[1]);
  output_sweep(g_get_tmp_dir());
  return close_output(command->function(argc - 1, argv + 1));
}
