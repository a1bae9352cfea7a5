/* Adds hybrid local/global rollback to a program, by User-Level Failure Mitigation. Dichev and
 * Nikolopoulos (EuroMPI 2019, sections 3 to 6) add the same to a kernel. The protocol `hybrid` does
 * it below any program.
 *
 *     an iteration begins --> the transaction: a copy of the data that the iteration changes
 *            |                every `interval` iterations the copy becomes a checkpoint
 *            v
 *     exchanges: sends are logged for `logged` iterations after a checkpoint
 *            |
 *     a call fails (a process is dead, or another has revoked the communicator)
 *            v
 *     revoke --> agree --> shrink --> a spare process takes the place --> gather all iterations
 *            |                                      |
 *            | logs have all messages that          | logs lack some of
 *            | the hindmost process needs           | these messages
 *            v                                      v
 *     LOCAL: the new process goes back to the      GLOBAL: all processes go back
 *     checkpoint, the others to the beginning      to the checkpoint
 *     of their iteration; logged messages are
 *     sent again; messages that were received
 *     are not sent again
 *
 * A *place* is the role that a rank has in a run without failures, from 0 to places - 1. Other
 * processes of MPI_COMM_WORLD are spare ones. The checkpoint of a place is in the memory of two
 * processes, that of the place and that of the next place. If both are lost, all processes begin
 * from the start.
 *
 * A program has to be deterministic; all places have the same iterations, and a message is received
 * in the iteration in which it is sent (sections 3 and 4). An error of MPI that is not a failure
 * ends the run. */
#ifndef RECLINE_PROGRAMS_ULFM_H
#define RECLINE_PROGRAMS_ULFM_H

#include <stdbool.h>
#include <stddef.h>

enum { ULFM_PLACES_MAX = 1024 };

struct ulfm_options {
  int places;
  int interval; /* number of iterations from one checkpoint to the next: CP_INT */
  int logged;   /* number of iterations after a checkpoint whose messages are logged: LOG_SIZE */
};

/* Counts what this process has done. */
struct ulfm_counts {
  int local, global, anew;   /* recoveries in which the process took part, by kind */
  long logged, logged_bytes; /* messages that were put into the log */
  /* messages that were sent again from the log, and messages that were not sent again */
  long replayed, filtered;
  long iterations; /* iterations that this process has begun */
};
extern struct ulfm_counts ulfm_counts;

enum ulfm_begin { ULFM_ANEW, ULFM_AT_ITERATION };

/* Takes a place, or waits as a spare process until all places have ended. `work(place)` runs the
 * program at a place, perhaps more than once. It must first call ulfm_restore(), which says whether
 * the program runs from its beginning or from the iteration that was marked last, whose data are
 * restored. All processes of MPI_COMM_WORLD must call this function. Returns the place, or -1. */
int ulfm_run(const struct ulfm_options *options, void (*work)(int place));

/* Registers memory that an iteration changes and a checkpoint contains. All places register the
 * same memory. The program owns the memory and must not move it. */
void ulfm_protect(void *address, size_t bytes);

/* Returns from which point the program runs. `work` calls it when all memory is registered. */
enum ulfm_begin ulfm_restore(void);

/* Tells that iteration `iteration` begins. The first iteration is 1. */
void ulfm_iteration(unsigned iteration);

/* Sends `count` doubles to the place `partner`, and receives the same number from it. */
void ulfm_exchange(int partner, int tag, const double *out, double *in, int count);

#endif
