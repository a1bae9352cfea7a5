/* Finds the files that come with recline, below the folder that the environment variable
 * RECLINE_DATA names. A file is called by its name without the suffix, as `recline list` shows it.
 * Claims and mutants have a folder for each protocol, and the protocol's name comes first:
 * c3/recovers.yaml is called c3-recovers. Belongs to the library recline-base-glib. */
#ifndef RECLINE_CATALOGUE_H
#define RECLINE_CATALOGUE_H

#include <stdbool.h>

/* Lists flags for kinds of files, in the order in which kinds are searched for a name. */
enum catalogue {
  CATALOGUE_CLAIMS = 1,
  CATALOGUE_MUTANTS = 2,
  CATALOGUE_LONG = 4, /* claims that take long to check */
  CATALOGUE_MATRIX = 8,
  CATALOGUE_SCENARIOS = 16,
  CATALOGUE_PROTOCOLS = 32, /* sources of protocols */
  CATALOGUE_PLATFORMS = 64,
  CATALOGUE_MACHINES = 128, /* platforms described in YAML */
};

/* Returns the paths of all files of `kinds`, sorted within each kind; missing folders count as
 * empty. The caller frees the list with g_strfreev(). */
char **catalogue_files(unsigned kinds);

/* Returns the names of all files of `kinds`, in the same order. The caller frees the list with
 * g_strfreev(). */
char **catalogue_names(unsigned kinds);

/* Returns the file of that name, with or without its suffix, in the first of `kinds` that has such
 * a file, or NULL if no kind has one. The caller frees it. */
char *catalogue_find(unsigned kinds, const char *name);

/* Returns "; did you mean NAME?" with the nearest name among `kinds`, or "". The caller frees
 * it. */
char *catalogue_guess(unsigned kinds, const char *name);

/* Returns the file of the scenario that a command's arguments name (`names` ends with NULL, and may
 * be NULL). An argument that is a path, has a suffix or is a file stands for itself; any other
 * argument names a scenario of recline's own. If there is not exactly one argument, or no such
 * scenario of recline's own, prints the reason in the name of `command` and returns NULL. The
 * caller frees it.
 */
char *catalogue_scenario(const char *command, char *const *names);

#endif
