#define _POSIX_C_SOURCE 200809L /* execv */
#include "base/glib/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/nearest.h"

static struct {
  void (*see)(const struct about *, const GOptionEntry *, void *data);
  void *data;
} shown;

void options_show(void (*see)(const struct about *, const GOptionEntry *, void *data), void *data)
{
  shown.see = see;
  shown.data = data;
}

/* ---- help ---- */

/* Prints a text in lines of at most 80 columns. The first line begins behind `column` characters
 * that are printed already. */
static void print_wrapped(const char *text, size_t column, size_t indent)
{
  enum { WIDTH = 80 };
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  printf("%*s", column < indent ? (int)(indent - column) : 0, "");
  column = MAX(column, indent);
  for (char **word = words; *word; word++) {
    size_t length = strlen(*word);
    if (word != words && column + 1 + length > WIDTH) {
      printf("\n%*s", (int)indent, "");
      column = indent;
    } else if (word != words) {
      putchar(' ');
      column++;
    }
    fputs(*word, stdout);
    column += length;
  }
  putchar('\n');
}

static void print_option(const GOptionEntry *entry)
{
  enum { COLUMN = 26 };
  g_autofree char *name =
      g_strdup_printf("      --%s%s%s", entry->long_name, entry->arg_description ? "=" : "",
                      entry->arg_description ? entry->arg_description : "");
  if (entry->short_name)
    memcpy(name + 2, (char[]){'-', entry->short_name, ','}, 3);
  size_t length = strlen(name);
  printf("%s", name);
  if (length + 2 > COLUMN) {
    printf("\n");
    length = 0;
  }
  print_wrapped(entry->description, length, COLUMN);
}

static void print_help(const struct about *about, const GOptionEntry *entries)
{
  static const GOptionEntry help = {"help", 'h', 0, G_OPTION_ARG_NONE, NULL, "Print this", NULL};
  printf("Usage: recline %s [OPTION]...%s%s\n\n%c", about->name, *about->words ? " " : "",
         about->words, g_ascii_toupper(*about->summary));
  g_autofree char *rest = g_strconcat(about->summary + 1, ".", NULL);
  print_wrapped(rest, 1, 0);
  printf("\nOptions:\n");
  for (; entries->long_name; entries++)
    if (*entries->long_name)
      print_option(entries);
  print_option(&help);
  printf("\nExamples:\n");
  g_auto(GStrv) examples = g_strsplit(about->example, "\n", -1);
  for (char **example = examples; *example; example++)
    printf("  recline %s\n", *example);
}

void options_print_summary(const struct about *about)
{
  enum { COLUMN = 14 };
  g_autofree char *first = g_strndup(about->summary, strcspn(about->summary, ";"));
  printf("  %s", about->name);
  print_wrapped(first, 2 + strlen(about->name), COLUMN);
}

/* ---- errors ---- */

/* Returns a guess for the message "Unknown option --NAME=VALUE", which the caller frees. */
static char *guess(const GOptionEntry *entries, const char *message)
{
  static const char unknown[] = "Unknown option ";
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(names, g_strdup("--help"));
  for (; entries->long_name; entries++)
    if (*entries->long_name)
      g_ptr_array_add(names, g_strconcat("--", entries->long_name, NULL));
  g_ptr_array_add(names, NULL);
  const char *word = g_str_has_prefix(message, unknown) ? message + strlen(unknown) : "";
  g_autofree char *name = g_strndup(word, strcspn(word, "="));
  return did_you_mean(name, (const char *const *)names->pdata);
}

bool options_read(const struct about *about, int argc, char **argv, const GOptionEntry *entries)
{
  if (shown.see) {
    shown.see(about, entries, shown.data);
    return false;
  }
  gboolean help = FALSE;
  const GOptionEntry own[] = {{"help", 'h', 0, G_OPTION_ARG_NONE, &help, NULL, NULL},
                              {NULL, 0, 0, 0, NULL, NULL, NULL}};
  g_autoptr(GOptionContext) context = g_option_context_new(NULL);
  g_autoptr(GError) error = NULL;
  /* GOption takes words out of the array, but the array belongs to the caller. */
  g_autofree char **copy = g_memdup2(argv, sizeof *argv * ((size_t)argc + 1));
  g_option_context_set_help_enabled(context, FALSE);
  g_option_context_add_main_entries(context, entries, NULL);
  g_option_context_add_main_entries(context, own, NULL);
  if (g_option_context_parse(context, &argc, &copy, &error) && !help)
    return true;
  if (!error) {
    print_help(about, entries);
    exit(fflush(stdout) == 0 ? EXIT_FINE : EXIT_BAD_INPUT);
  }
  g_autofree char *meant = guess(entries, error->message);
  bad_input("recline %s: %s, expected an option of 'recline %s --help'%s", about->name,
            error->message, about->name, meant);
  return false;
}

void hand_over(const char *program, const GPtrArray *words)
{
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *bin = g_path_get_dirname(self ? self : ".");
  g_autofree char *path = g_build_filename(bin, program, NULL);
  g_autoptr(GPtrArray) all = g_ptr_array_new();
  g_ptr_array_add(all, path);
  for (guint i = 0; i < words->len; i++)
    g_ptr_array_add(all, words->pdata[i]);
  g_ptr_array_add(all, NULL);
  fflush(stdout);
  execv(path, (char **)all->pdata);
}
