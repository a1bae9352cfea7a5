/* Makes the cells of a campaign: every combination of the values of its sweeps. */
#ifndef RECLINE_SWEEP_H
#define RECLINE_SWEEP_H

#include <glib.h>
#include <stdbool.h>

struct sweep {
  char *key;     /* key of a scenario, as for --set */
  char **values; /* texts in YAML, at least one and all different; the list ends with NULL */
};

struct grid {
  struct sweep *sweep;
  /* numbers of sweeps and of cells; there is at least one cell, and the last sweep changes
   * fastest */
  unsigned sweeps, cells;
};

/* Reads `texts`, each "KEY=VALUE,VALUE..."; NULL stands for no text. Commas in brackets, braces and
 * quotes belong to a value. Returns false with `error` in one line. The caller ends with
 * grid_clear() in both cases. */
bool grid_read(struct grid *, char *const *texts, GError **error);
void grid_clear(struct grid *);

/* Returns the value of a sweep in a cell. */
const char *grid_value(const struct grid *, unsigned cell, unsigned sweep);

/* Returns the settings of a cell for scenario_load(): `first`, then "KEY=VALUE" of each sweep. The
 * caller frees them with g_strfreev(). */
char **grid_settings(const struct grid *, unsigned cell, char *const *first);

/* Sets `number` to the position of a value on an axis: the number, the seconds or the bytes.
 * Returns false if it is none of these. */
bool sweep_number(const char *value, double *number);

#endif
