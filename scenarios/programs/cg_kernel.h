/* The kernel of cg. The program passes in how messages are sent and iterations are marked. A
 * process has one kernel; cg.c describes the method and names its source. */
#ifndef RECLINE_PROGRAMS_CG_KERNEL_H
#define RECLINE_PROGRAMS_CG_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "cg_matrix.h"

enum { CG_CHANGED = 6 };

struct cg_options {
  const struct class_spec *spec;
  int iterations;   /* outer ones */
  bool verbose;     /* prints zeta after every outer iteration */
  bool steps;       /* marks steps of the conjugate gradient method, not outer iterations */
  bool skeleton;    /* replaces the matrix of the class by a diagonal one */
  bool writes;      /* charges for vectors written as text, once in an outer iteration */
  bool distributed; /* any number of ranks, each with all rows of its columns */
};

/* The program's functions that the kernel calls. */
struct cg_calls {
  /* Sends `count` doubles to the partner and receives as many from it. */
  void (*exchange)(int partner, int tag, const double *out, double *in, int count);
  void (*begin)(unsigned mark); /* an iteration begins, from 1 */
  void (*meet)(void);           /* a barrier, after which the time is taken */
  /* Where the kernel is distributed: sums values over all ranks, who get the same bits; and sums
   * arrays of `count` doubles for each rank, of which each rank gets its own in `mine`. */
  void (*sum)(double *values, int count);
  void (*sum_blocks)(const double *all, double *mine, int count);
};

/* An array of `count` doubles, or of int, that a marked iteration changes. */
struct cg_changed {
  void *address;
  int count;
  bool doubles, vector; /* vector: a block of a vector */
};

/* Reads "[-v] [-s] [-k] [-w] [-d] CLASS [ITERATIONS]"; returns false if the words do not fit that.
 */
bool cg_parse(int count, char **words, struct cg_options *options);

/* Makes the part of `rank`; returns false if `ranks` is no power of two and the kernel is not
 * distributed. The caller owns the options and the calls, which have to outlive the kernel. */
bool cg_make(const struct cg_options *options, const struct cg_calls *calls, int rank, int ranks);

/* Fills `changed` with the arrays that must be restored before cg_go_on(), and returns their
 * number. */
int cg_changed(struct cg_changed changed[CG_CHANGED]);

/* Tells which part of the vectors this rank's blocks are. The vectors have `whole` elements, as
 * many as the order of the matrix, without padding. */
void cg_part(long long *whole, long long *first, long long *part);

/* Returns the bytes of vectors that a marked iteration copies so that it can be undone. */
unsigned long long cg_copied_bytes(void);

/* Runs the kernel from its beginning, or from before its timed part, or from the beginning of the
 * iteration that was marked last, whose data have been put back. */
void cg_run(void);
void cg_run_timed(void);
void cg_go_on(void);

/* Returns the seconds that this rank has taken. */
double cg_seconds(void);

/* Prints the result at rank 0. The time is printed apart, as it is no part of the result. Returns
 * true if the result is right or cannot be compared. */
void cg_print_time(double seconds);
bool cg_print_result(void);

/* Charges the simulated processor for the operations counted so far. */
void cg_compute_charged(void);

void cg_free(void);

#endif
