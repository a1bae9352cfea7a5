/* Reads the numbers that `recline compare` compares: of one run or several, simulated or
 * measured. */
#ifndef RECLINE_SAMPLES_H
#define RECLINE_SAMPLES_H

#include <glib.h>
#include <stdbool.h>

/* Holds the numbers of repeated runs of one scenario. A number is called like a result's field
 * ("simulated_s", "time_s.lost"), or "phase NAME": a mean over the checkpoints of a run. */
struct samples {
  char *title; /* "c3, cg S on 8 ranks of clan.xml" */
  char *protocol, *program;
  int ranks;
  unsigned runs;
  GPtrArray *names;   /* names of numbers, in the order of their first appearance */
  GHashTable *values; /* name -> GArray of double, one for each run that has the number */
};

/* Reads a result.json, the folder of a run, a folder of such folders, a campaign of one cell
 * (runs.jsonl), or what the processes of a run on real MPI have left with RECLINE_TRACE=1. Returns
 * false with `error`, one line. The caller ends with samples_clear() in both cases. */
bool samples_read(struct samples *, const char *path, GError **error);
void samples_clear(struct samples *);

/* Adds a number of the run that is being read. */
void samples_add(struct samples *, const char *name, double value);

#endif
