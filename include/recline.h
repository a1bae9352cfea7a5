/* Optional calls of programs to recline; without recline they do nothing. */
#ifndef RECLINE_H
#define RECLINE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A checkpoint may be taken here: with `places: program` in the scenario, only here and in
 * MPI_Finalize. */
void recline_potential_checkpoint(void);

/* The program asks for a checkpoint, where the scenario lets it (`checkpoint.calls: taken`): as
 * soon as the protocol takes one. A call while one is under way asks for the next. One rank's call
 * asks for one of all ranks, under protocols whose ranks take theirs each by itself for its own. */
void recline_request_checkpoint(void);

/* Iteration `iteration` of the program, counted from 1, begins here, at all ranks alike; a
 * checkpoint may be taken. The hybrid protocol takes an iteration for a transaction: a rank that
 * lives goes back to its beginning. In Fortran an INTEGER. */
void recline_iteration(unsigned iteration);

/* From here on the copy that makes an iteration a transaction takes as long as one of `bytes`
 * bytes: what the program changes in an iteration. The rank is saved as a whole all the same, and a
 * checkpoint that is stored is copied as a whole; 0: every copy is one of the whole image. In
 * Fortran an INTEGER(8). */
void recline_iteration_bytes(unsigned long long bytes);

/* From here on a checkpoint of the calling rank takes `bytes` bytes of simulated storage, instead
 * of what the memory that is saved takes; 0: that again. For a program that stands for one with
 * more data, or with less to save. `checkpoint.bytes` of the scenario comes before it; at the
 * application level what is protected counts. In Fortran an INTEGER(8). */
void recline_image_bytes(unsigned long long bytes);

/* A random choice among 0 .. count-1, by the seed of the scenario: a decision that protocols know
 * of, so that a program which is rolled back repeats it where it has to, and elsewhere makes
 * another one. Without recline 0. */
int recline_choose(int count);

/* Tells the outside `size` bytes, on the standard output: one output, by itself, that leaves when
 * the protocol lets it. What a program prints is told in the same way, all that there is since its
 * last call of MPI as one output. Returns 0, or -1 if nothing can be written. In Fortran a
 * CHARACTER(*), and a subroutine. Without recline it is printed. */
int recline_output(const void *bytes, unsigned long long size);

/* Checkpoints at the application level (`checkpoint.level: application`;
 * docs/application-level.md). An image has what the rank protects when it comes to a place where a
 * checkpoint is allowed; at a restart main begins again, from the end of MPI_Init, and puts it
 * back:
 *
 *     recline_protect(1, &i, sizeof i);
 *     recline_protect_items(2, x, count, RECLINE_DOUBLE);
 *     for (i = 0; i < steps; i++) {
 *       recline_potential_checkpoint();          // at a restart the first one puts i and x back
 *       step(x);
 *     }
 *
 * At the system level they change nothing. Misuse ends the run with one line, exit 64. */

/* Where an image was taken. */
enum recline_place {
  RECLINE_NO_RESTART,
  RECLINE_AT_CHECKPOINT, /* recline_potential_checkpoint() or recline_iteration() */
  RECLINE_AT_BARRIER,    /* in a call of MPI_Barrier, which the program makes next */
  RECLINE_AT_END         /* in MPI_Finalize, which it calls next */
};

/* Types of items, by which an image can be read on a node of another byte order. */
enum recline_item {
  RECLINE_BYTE,
  RECLINE_INT16,
  RECLINE_INT32,
  RECLINE_INT64,
  RECLINE_FLOAT,
  RECLINE_DOUBLE,
  RECLINE_LONG_DOUBLE
};

/* From here on images have these bytes, the caller's, of no type; `id` names them, also at a
 * restart. In Fortran INTEGER id, any variable, INTEGER(8) bytes. */
void recline_protect(int id, void *address, size_t bytes);

/* The same, of `count` items of that type. In Fortran an INTEGER for the type: 0 to 6 as above. */
void recline_protect_items(int id, void *address, size_t count, enum recline_item);

/* No longer; before memory is freed or moved. */
void recline_unprotect(int id);

/* Returns whether main runs again after a crash and nothing is put back yet, and from which place.
 */
enum recline_place recline_restarts(void);

/* At a restart, the bytes that the image has for `id`; 0: none, or there is no restart. Fewer than
 * those must not be protected. In Fortran an INTEGER(8) function. */
size_t recline_protected_bytes(int id);

/* At a restart puts the data back, wherever the program is, and returns what recline_restarts()
 * did: the program goes on behind that place, before a barrier or MPI_Finalize with the call of it.
 * In Fortran an INTEGER function. */
enum recline_place recline_restore(void);

/* The position stack: where the program is, from 1, in functions that lead to a place. At a restart
 * recline_resume() pushes and returns the next position of the image, outermost first, so that each
 * function can go there; 0: there is none. The first place that the program comes to then puts the
 * data back, and must have the stack of the image. */
void recline_push(int position);
void recline_pop(void);
int recline_resume(void);

#ifdef __cplusplus
}
#endif
#endif
