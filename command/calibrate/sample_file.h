/* Reads the samples that recline-calibrate has measured (mpi/calibrate/calibrate_main.c). */
#ifndef RECLINE_SAMPLE_FILE_H
#define RECLINE_SAMPLE_FILE_H

#include <glib.h>
#include <stdbool.h>

/* Holds the sorted values of one measurement, which are seconds, or bytes for an eager limit. */
struct series {
  char *name;
  /* number of bytes of a message and of operations of a computation; each is 0 if the series has
   * none */
  double bytes, flops;
  int writers; /* number of writers, or 0 if the series is about no writes */
  int disk;    /* number of the disk, or -1 if the series is about no disk */
  double *value;
  guint count; /* number of values, at least 1 */
};

struct disk_of_samples {
  bool shared; /* all processes see the files in its folder */
  char *folder;
};

struct sample_file {
  int ranks, nodes, per_node, cores;
  char *library;
  GArray *disks;  /* struct disk_of_samples */
  GArray *series; /* struct series, in the order of the file */
};

/* Reads the file. Returns false with `error`, one line `file:line: what, expected what`. The caller
 * ends with sample_file_clear() in both cases. */
bool sample_file_read(struct sample_file *, const char *file, GError **error);
void sample_file_clear(struct sample_file *);

/* Returns the next series of that name behind `last`, or the first one if `last` is NULL. Returns
 * NULL if there is none. */
const struct series *series_next(const struct sample_file *, const char *name,
                                 const struct series *last);

/* Returns the value below which a `share` (0 to 1) of all values lies. */
double series_quantile(const struct series *, double share);

/* Returns the median. */
double series_middle(const struct series *);

/* Returns whether the middle half of the values spreads over more than a quarter of the median. */
bool series_is_unstable(const struct series *);

#endif
