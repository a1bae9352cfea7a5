/* Inside recline-calibrate: what its files share. Every function here is called by all processes.
 */
#ifndef RECLINE_CALIBRATE_INSIDE_H
#define RECLINE_CALIBRATE_INSIDE_H

#include <mpi.h>

#include "base/output.h"

struct calibration {
  int rank, ranks;
  int nodes, per_node; /* per_node: of the fullest node */
  int near, far;       /* process of rank 0's node, of another node; -1: none */
  int repetitions;
  long largest; /* bytes of the largest message and file */
  int disks;
  char **disk; /* folders */
  struct output *output;
};

enum { TEXT = 256 };

/* Ends all processes with one line and exit code 64. */
_Noreturn void calibrate_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Appends the values of all processes, by rank, to the samples: `sample HEAD : VALUE...`. */
void calibrate_put(struct calibration *, const char *head, const double *values, int count);

/* Returns room for that many values; the caller frees it. */
double *calibrate_room(int count);

void calibrate_messages(struct calibration *);
void calibrate_collectives(struct calibration *);
void calibrate_memory(struct calibration *);
void calibrate_disks(struct calibration *);

#endif
