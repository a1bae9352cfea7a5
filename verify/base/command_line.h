/* What all commands do with their options. With GLib: in the library recline-base-glib. */
#ifndef RECLINE_COMMAND_LINE_H
#define RECLINE_COMMAND_LINE_H

#include <glib.h>
#include <stdbool.h>

/* Reads the options `entries` from `argc` words, of which the first is the command and the array
 * stays as it is. --help, which ends the process, shows `words` (or NULL), the words that are no
 * options, and `summary`. False: a wrong option, and `error` says what it is. */
bool options_read(int argc, char **argv, const char *words, const char *summary,
                  const GOptionEntry *entries, GError **error);

#endif
