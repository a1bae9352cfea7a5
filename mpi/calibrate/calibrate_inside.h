/* Declares the functions and data that the files of recline-calibrate share. All processes call
 * each of these functions. */
#ifndef RECLINE_CALIBRATE_INSIDE_H
#define RECLINE_CALIBRATE_INSIDE_H

#include <mpi.h>

#include "base/output.h"

struct calibration {
  int rank, ranks;
  int nodes, per_node; /* number of nodes, and of processes on the node that has most of them */
  /* a process of rank 0's node, and one of another node, or -1 if there is none */
  int near, far;
  int repetitions;
  long largest; /* largest size of a message or a file, in bytes */
  int disks;
  char **disk; /* the folders to measure, one for each disk */
  struct output *output;
};

enum { TEXT = 256 };

/* Ends all processes with one line and exit code 64. */
_Noreturn void calibrate_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Appends the `count` values of each process, by rank, to the samples: `sample HEAD : VALUE...`.
 * `count` may differ between processes. */
void calibrate_put(struct calibration *, const char *head, const double *values, int count);

/* Returns room for `count` values. The caller frees it with free(). */
double *calibrate_room(int count);

void calibrate_messages(struct calibration *);
void calibrate_collectives(struct calibration *);
void calibrate_memory(struct calibration *);
void calibrate_disks(struct calibration *);

#endif
