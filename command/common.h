/* Functions that subcommands share: words, data folder. */
#ifndef RECLINE_COMMON_H
#define RECLINE_COMMON_H

#include <glib.h>
#include <stdbool.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/glib/command_line.h"

/* The folder with protocols' claims, platforms and scenarios: the environment variable
 * RECLINE_DATA, or the source tree. Static. */
const char *data_folder(void);

/* For commands whose only option is --json: reads it into `json`, and the other words into `words`
 * (ends with NULL; the caller frees it with g_strfreev()). On a wrong option prints which and
 * returns false. */
bool read_words(const struct about *about, int argc, char **argv, gboolean *json, char ***words);

#endif
