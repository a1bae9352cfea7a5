/* cg: the kernel, apart from how a program sends its messages and marks its iterations. One of a
 * process; what it is and where it is from: cg.c. */
#ifndef RECLINE_PROGRAMS_CG_KERNEL_H
#define RECLINE_PROGRAMS_CG_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "cg_matrix.h"

enum { CG_CHANGED = 6 };

struct cg_options {
  const struct class_spec *spec;
  int iterations; /* outer ones */
  bool verbose;   /* prints zeta after every outer iteration */
  bool steps;     /* what is marked: steps of the conjugate gradient method */
  bool skeleton;  /* a diagonal matrix in the place of the class's */
  bool writes;    /* vectors as text, once in an outer iteration */
};

/* What the kernel asks of the program. */
struct cg_calls {
  /* Sends `count` doubles to the partner and receives as many from it. */
  void (*exchange)(int partner, int tag, const double *out, double *in, int count);
  void (*begin)(unsigned mark); /* an iteration begins, from 1 */
  void (*meet)(void);           /* a barrier: then the time is taken */
};

/* `count` doubles, or int, that a marked iteration changes. */
struct cg_changed {
  void *address;
  int count;
  bool doubles;
};

/* Reads "[-v] [-s] [-k] [-w] CLASS [ITERATIONS]"; false if that makes no sense. */
bool cg_parse(int count, char **words, struct cg_options *options);

/* Makes the part of `rank` of `ranks`; false if they are no power of two. The options and the calls
 * are kept, the caller's. */
bool cg_make(const struct cg_options *options, const struct cg_calls *calls, int rank, int ranks);

/* Returns what is to be put back for cg_go_on(); returns how many of CG_CHANGED there are. */
int cg_changed(struct cg_changed changed[CG_CHANGED]);

/* Bytes of vectors that a marked iteration copies to go back to its beginning. */
unsigned long long cg_copied_bytes(void);

/* Runs the kernel from its beginning, or from before its timed part, or from the beginning of the
 * iteration that was marked last, whose data have been put back. */
void cg_run(void);
void cg_run_timed(void);
void cg_go_on(void);

/* Seconds that this rank has taken. */
double cg_seconds(void);

/* Prints the result, at rank 0, and the time, which is no part of it, where there is one. Returns
 * whether it is right, or cannot be compared. */
void cg_print_time(double seconds);
bool cg_print_result(void);

/* Lets the processor do what is charged. */
void cg_compute_charged(void);

void cg_free(void);

#endif
