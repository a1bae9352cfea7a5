/* Hybrid local/global rollback inside a program, by User-Level Failure Mitigation: what Dichev and
 * Nikolopoulos (EuroMPI 2019, sections 3 to 6) add to a kernel. The protocol `hybrid` does the same
 * below any program.
 *
 *     an iteration begins --> copy of what it changes: the transaction
 *            |                each `interval` iterations a checkpoint: the copy, and all agree
 *            v
 *     exchanges: sends are logged for `logged` iterations behind a checkpoint
 *            |
 *     a call fails (a process is dead, or another has revoked the communicator)
 *            v
 *     revoke --> agree --> shrink --> a spare process takes the place --> where is everyone?
 *            |                                      |
 *            | all that the hindmost needs          | some of it is not
 *            | is in the others' logs               |
 *            v                                      v
 *     LOCAL: the new process has the checkpoint,   GLOBAL: all have the checkpoint
 *     the others the beginnings of their
 *     iterations; logged sends go out again,
 *     sends that were received are left out
 *
 * A place is what a rank is without failures: 0 to places - 1. The processes of MPI_COMM_WORLD
 * beyond the places are spare ones. A checkpoint is in the memory of two processes, that of a place
 * and that of the next place; where both are lost, all begin anew.
 *
 * A program has to be deterministic; all places have the same iterations, and a message is received
 * in the iteration in which it is sent (sections 3 and 4). An error of MPI that is no failure ends
 * the run. */
#ifndef RECLINE_PROGRAMS_ULFM_H
#define RECLINE_PROGRAMS_ULFM_H

#include <stdbool.h>
#include <stddef.h>

enum { ULFM_PLACES_MAX = 1024 };

struct ulfm_options {
  int places;
  int interval; /* iterations from a checkpoint to the next: CP_INT */
  int logged;   /* iterations behind a checkpoint whose messages are logged: LOG_SIZE */
};

/* Counts of this process. */
struct ulfm_counts {
  int local, global, anew;   /* recoveries in which it took part, by kind */
  long logged, logged_bytes; /* messages that were put into the log */
  long replayed, filtered;   /* sent from the log; not sent */
  long iterations;           /* begun by this process */
};
extern struct ulfm_counts ulfm_counts;

enum ulfm_begin { ULFM_ANEW, ULFM_AT_ITERATION };

/* Takes a place or waits as a spare process until all places have ended. `work(place, begin)` runs
 * the program at a place, perhaps more than once: from its beginning, or from the beginning of the
 * iteration that was marked last, whose data have been put back; it first calls ulfm_restore().
 * Collective over MPI_COMM_WORLD. Returns the place, or -1. */
int ulfm_run(const struct ulfm_options *options, void (*work)(int place));

/* Registers memory that an iteration changes and a checkpoint holds; all places register the same.
 * The program owns the memory and must not move it. */
void ulfm_protect(void *address, size_t bytes);

/* Returns from where the program runs. `work` calls it when all memory is registered. */
enum ulfm_begin ulfm_restore(void);

/* Tells that iteration `iteration` begins; the first is 1. */
void ulfm_iteration(unsigned iteration);

/* Sends `count` doubles to the place `partner`, and receives as many from it. */
void ulfm_exchange(int partner, int tag, const double *out, double *in, int count);

#endif
