/* Declares functions that subcommands share: they read words, and find the data folder. */
#ifndef RECLINE_COMMON_H
#define RECLINE_COMMON_H

#include <glib.h>
#include <stdbool.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/glib/command_line.h"

/* Returns the folder with claims, platforms and scenarios: the environment variable RECLINE_DATA,
 * or the source tree. The text is static. */
const char *data_folder(void);

/* Reads the words of commands whose only option is --json: sets `json`, and `words` to all other
 * words (ends with NULL; the caller frees it with g_strfreev()). If an option is wrong, prints it
 * and returns false. */
bool read_words(const struct about *about, int argc, char **argv, gboolean *json, char ***words);

#endif
