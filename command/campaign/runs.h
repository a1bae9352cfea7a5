/* Keeps the runs of a campaign. Each run becomes a line of a file as soon as the run has ended, so
 * that the runs of a killed campaign are not lost. A line is one JSON object: `cell`, `run`,
 * `sweep` (the values of the cell), `exit` (of `recline run`), then all of result.json. An
 * inconclusive run has only the verdict instead of a result. A failed run has the verdict `failed`
 * and, as `gave_up`, its message. */
#ifndef RECLINE_RUNS_H
#define RECLINE_RUNS_H

#include <json-glib/json-glib.h>
#include <stdint.h>

#include "command/campaign/sweep.h"

struct row {
  char *line; /* the text, without newline */
  /* exit code: 0 as expected, 1 not as expected, 2 inconclusive, other codes failed */
  int exit;
  bool ended;    /* the program came to its end: completed or recovered */
  double *value; /* by field: its value, or NAN if that is not a number */
};

struct runs {
  const struct grid *grid;
  char *file;
  uint64_t added; /* runs made by this process */
  GHashTable *rows;
  GPtrArray *warnings; /* texts: values that the platform leaves out (warnings.h) */
  GPtrArray *fields;   /* names of the numbers in a result, "time_s.lost", in the order of the first
                          result */
};

/* Reads `file`, if it exists. Drops a last line that was cut off, and failed runs, because they
 * will be tried again. Returns false with `error` if the file belongs to no campaign or to another
 * one, or cannot be read. The caller ends with runs_close() in both cases. */
bool runs_open(struct runs *, const struct grid *, const char *file, GError **error);
void runs_close(struct runs *);

/* Returns the run, or NULL if it is not done yet. */
const struct row *runs_row(const struct runs *, unsigned cell, unsigned run);

/* Appends a run to the file. `result` is the output of `recline run --json`, empty if the run was
 * inconclusive. */
bool runs_add(struct runs *, unsigned cell, unsigned run, int code, const char *result,
              GError **error);

/* Appends a run that failed; `why` is the reason, a line for a person. */
bool runs_add_failed(struct runs *, unsigned cell, unsigned run, int code, const char *why,
                     GError **error);

/* Calls `take` for each number of a result that is an outcome: "simulated_s", "time_s.lost". */
void runs_visit_numbers(JsonObject *result,
                        void (*take)(const char *name, double value, void *data), void *data);

/* Returns whether the program of that result came to its end: completed or recovered. */
bool runs_has_ended(JsonObject *result);

/* Returns whether the name of a field says that it is a time in seconds. */
bool runs_is_time(const char *field);

/* Returns the index of a field, or -1 if no result has it. */
int runs_field(const struct runs *, const char *name);

/* runs_sort() puts the lines of the file in the order of runs and cells. runs_write_csv() writes
 * the first `count` runs of each cell as CSV, each on a line. */
bool runs_sort(const struct runs *, GError **error);
bool runs_write_csv(const struct runs *, unsigned count, const char *file, GError **error);

/* Writes `text` as a file that appears whole or not at all, and frees `text`. */
bool text_write(GString *text, const char *file, GError **error);

/* Appends `text` as a field of CSV. */
void csv_add(GString *, const char *text);

#endif
