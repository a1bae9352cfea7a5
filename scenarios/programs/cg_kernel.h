/* Declares the kernel of cg. The program passes functions to it that send messages and mark
 * iterations. A process has one kernel; cg.c describes the method and names its source. */
#ifndef RECLINE_PROGRAMS_CG_KERNEL_H
#define RECLINE_PROGRAMS_CG_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "cg_matrix.h"

enum { CG_CHANGED = 6 };

struct cg_options {
  const struct class_spec *spec;
  int iterations;   /* number of outer iterations */
  bool verbose;     /* prints zeta after every outer iteration */
  bool steps;       /* marks steps of the conjugate gradient method, not outer iterations */
  bool skeleton;    /* replaces the matrix of the class by a diagonal one */
  bool writes;      /* charges the time to write vectors as text, once in each outer iteration */
  bool distributed; /* runs on any number of ranks; each rank has all rows of its columns */
};

/* Holds the functions of the program that the kernel calls. */
struct cg_calls {
  /* Sends `count` doubles to the partner and receives as many from it. */
  void (*exchange)(int partner, int tag, const double *out, double *in, int count);
  void (*begin)(unsigned mark); /* tells that an iteration begins; marks begin with 1 */
  void (*meet)(void);           /* waits in a barrier, after which the time is taken */
  /* Both functions are called only by a distributed kernel. The first sums values over all ranks,
   * which all get the same bits. The second sums arrays that have `count` doubles for each rank;
   * each rank gets the sums of its own part in `mine`. */
  void (*sum)(double *values, int count);
  void (*sum_blocks)(const double *all, double *mine, int count);
};

/* Describes an array of `count` elements, double or int, that a marked iteration changes. */
struct cg_changed {
  void *address;
  int count;
  bool doubles, vector; /* the type is double; the array is a block of a vector */
};

/* Reads "[-v] [-s] [-k] [-w] [-d] CLASS [ITERATIONS]". Returns false if the arguments have another
 * form. */
bool cg_parse(int count, char **words, struct cg_options *options);

/* Makes the part of the kernel that `rank` has. Returns false if `ranks` is no power of two, unless
 * the kernel is distributed. The caller owns the options and the calls, which must live as long as
 * the kernel. */
bool cg_make(const struct cg_options *options, const struct cg_calls *calls, int rank, int ranks);

/* Fills `changed` with the arrays that must be restored before cg_go_on(), and returns their
 * number. */
int cg_changed(struct cg_changed changed[CG_CHANGED]);

/* Tells which part of the vectors this rank has. A vector has `whole` elements, one for each row of
 * the matrix, without padding. */
void cg_part(long long *whole, long long *first, long long *part);

/* Returns the bytes of vectors that a marked iteration copies so that it can be undone. */
unsigned long long cg_copied_bytes(void);

/* cg_run() runs the kernel from its beginning, cg_run_timed() from the start of its timed part,
 * and cg_go_on() from the iteration that was marked last. The data of that iteration must have
 * been restored before cg_go_on(). */
void cg_run(void);
void cg_run_timed(void);
void cg_go_on(void);

/* Returns the seconds that this rank has taken. */
double cg_seconds(void);

/* Prints the result at rank 0. Prints the time separately, as it is no part of the result. Returns
 * true if the result is right, or if there is no reference to compare it with. */
void cg_print_time(double seconds);
bool cg_print_result(void);

/* Charges the simulated processor for the operations counted so far. */
void cg_compute_charged(void);

void cg_free(void);

#endif
