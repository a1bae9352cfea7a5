/* What recline comes with: files below the folder RECLINE_DATA (an environment variable), each
 * known by its name without the suffix, as `recline list` shows it. Claims and mutants lie in a
 * folder for each protocol, whose name begins theirs: c3/recovers.yaml is c3-recovers. In the
 * library recline-base-glib. */
#ifndef RECLINE_CATALOGUE_H
#define RECLINE_CATALOGUE_H

#include <stdbool.h>

/* Flags, in the order in which a name is looked for. */
enum catalogue {
  CATALOGUE_CLAIMS = 1,
  CATALOGUE_MUTANTS = 2,
  CATALOGUE_LONG = 4, /* claims that take longer */
  CATALOGUE_MATRIX = 8,
  CATALOGUE_SCENARIOS = 16,
  CATALOGUE_PROTOCOLS = 32, /* sources */
  CATALOGUE_PLATFORMS = 64,
  CATALOGUE_MACHINES = 128, /* descriptions of platforms */
};

/* The paths of all files of `kinds`, sorted within each kind; empty where a folder is missing. The
 * caller frees it with g_strfreev(). */
char **catalogue_files(unsigned kinds);

/* The names of the same. The caller frees them with g_strfreev(). */
char **catalogue_names(unsigned kinds);

/* The file of that name, with or without its suffix, in the first of `kinds` that has it; NULL:
 * none. The caller frees it. */
char *catalogue_find(unsigned kinds, const char *name);

/* "; did you mean NAME?" with the name of `kinds` that is nearest, or "". The caller frees it. */
char *catalogue_guess(unsigned kinds, const char *name);

/* Returns the scenario that the arguments of a command name (NULL-terminated; NULL: none): one of
 * recline's own, or the name itself if it is a path, has a suffix or is a file. Returns NULL, and
 * prints why in the name of `command`, if the arguments are not exactly one known name. The caller
 * frees it. */
char *catalogue_scenario(const char *command, char *const *names);

#endif
