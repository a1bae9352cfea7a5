/* Reads options and prints help, in the same way for all commands. Belongs to the library
 * recline-base-glib. */
#ifndef RECLINE_COMMAND_LINE_H
#define RECLINE_COMMAND_LINE_H

#include <glib.h>
#include <stdbool.h>

/* Holds the texts about a command for `recline help`, --help, the manual pages and completion. */
struct about {
  const char *name; /* "run" */
  /* the arguments besides options, such as "SCENARIO", or "" if there are none */
  const char *words;
  /* what the command does, without a full stop; a list of commands shows the text up to its
   * semicolon */
  const char *summary;
  const char *example; /* command lines without the word "recline" */
};

/* Reads the options `entries` from `argc` arguments, of which the first is the command. Does not
 * change the array. Adds --help, which prints the summary and every option, and ends the process.
 * Returns false after printing which option is wrong and what was expected. */
bool options_read(const struct about *about, int argc, char **argv, const GOptionEntry *entries);

/* Prints this command's entry for the list of all commands, one or several lines. */
void options_print_summary(const struct about *about);

/* Replaces this process by the program of that name in this program's folder, with `words` as its
 * arguments. Returns only if there is no such program. The caller keeps both arguments. */
void hand_over(const char *program, const GPtrArray *words);

/* Makes options_read() pass its arguments to `see`, together with `data`, and return false. If
 * `see` is NULL, options_read() reads options again. */
void options_show(void (*see)(const struct about *, const GOptionEntry *, void *data), void *data);

#endif
