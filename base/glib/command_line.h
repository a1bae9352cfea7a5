/* What all commands do with their options. In the library recline-base-glib. */
#ifndef RECLINE_COMMAND_LINE_H
#define RECLINE_COMMAND_LINE_H

#include <glib.h>
#include <stdbool.h>

/* What `recline help`, --help, the manual pages and completion say about a command. */
struct about {
  const char *name;    /* "run" */
  const char *words;   /* arguments that are no options: "SCENARIO"; "": none */
  const char *summary; /* without a full stop; a list of commands shows it up to the semicolon */
  const char *example; /* lines, each a command without "recline" */
};

/* Reads the options `entries` from `argc` words, of which the first is the command; the array stays
 * as it is. Adds --help, which prints what the command is for and every option, and ends the
 * process. Returns false after printing which option is wrong and what was expected. */
bool options_read(const struct about *about, int argc, char **argv, const GOptionEntry *entries);

/* Prints what the list of all commands has for this one, a line or several. */
void options_print_summary(const struct about *about);

/* Ends as the program of that name does that lies beside this one, with these words; returns only
 * if there is none. Both stay the caller's. */
void hand_over(const char *program, const GPtrArray *words);

/* From now on options_read() passes its arguments to `see`, together with `data`, and returns
 * false; NULL ends that. */
void options_show(void (*see)(const struct about *, const GOptionEntry *, void *data), void *data);

#endif
