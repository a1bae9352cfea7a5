/* What all commands do with their options. In the library recline-base-glib. */
#ifndef RECLINE_COMMAND_LINE_H
#define RECLINE_COMMAND_LINE_H

#include <glib.h>
#include <stdbool.h>

/* What `recline help`, --help, the manual pages and completion tell of a command. */
struct about {
  const char *name;    /* "run" */
  const char *words;   /* those that are no options: "SCENARIO"; "": none */
  const char *summary; /* without an end; up to a semicolon, what a list of commands says */
  const char *example; /* lines, each a command without "recline" */
};

/* Reads the options `entries` from `argc` words, of which the first is the command; the array stays
 * as it is. Adds --help, which prints what the command is for and every option, and ends the
 * process. False: a wrong option, and it has said what and what was expected. */
bool options_read(const struct about *about, int argc, char **argv, const GOptionEntry *entries);

/* Prints the line, or lines, of a command among all. */
void options_print_summary(const struct about *about);

/* Lets each further call of options_read() give what it gets to `see`, with `data`, and return
 * false; NULL: no more. */
void options_show(void (*see)(const struct about *, const GOptionEntry *, void *data), void *data);

#endif
