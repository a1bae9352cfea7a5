/* Declares optional calls of programs to recline. Without recline they have no effect, except that
 * recline_output() prints. */
#ifndef RECLINE_H
#define RECLINE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Says that a checkpoint may be taken here. With `places: program` in the scenario, checkpoints are
 * taken only here and in MPI_Finalize. */
void recline_potential_checkpoint(void);

/* Asks for a checkpoint as soon as the protocol can take one, if the scenario allows it
 * (`checkpoint.calls: taken`). A call while a checkpoint is under way asks for the next. One rank's
 * call asks for a checkpoint of all ranks; under protocols whose ranks take checkpoints
 * independently, it asks for one of the calling rank alone. */
void recline_request_checkpoint(void);

/* Says that iteration `iteration` of the program, counted from 1, begins here, at all ranks alike,
 * and that a checkpoint may be taken. The hybrid protocol takes an iteration for a transaction:
 * when a rank has crashed, the others go back to the beginning of the iteration. In Fortran the
 * argument is an INTEGER. */
void recline_iteration(unsigned iteration);

/* Says that the program changes `bytes` bytes in an iteration. From here on, the copy of the rank
 * at the beginning of an iteration takes the time of a copy of that size. The whole rank is saved
 * nevertheless, and the copy for a stored checkpoint takes the time of the whole image. With 0,
 * every copy takes the time of the whole image. In Fortran the argument is an INTEGER(8). */
void recline_iteration_bytes(unsigned long long bytes);

/* Says that from here on a checkpoint of the calling rank takes `bytes` bytes of simulated storage,
 * instead of the size of the saved memory. With 0, the size of the saved memory counts again. The
 * call is for a program that stands for one with more data, or with less to save.
 * `checkpoint.bytes` of the scenario overrides this size. At the application level the size of the
 * protected data counts instead. In Fortran the argument is an INTEGER(8). */
void recline_image_bytes(unsigned long long bytes);

/* Returns a random number from 0 to count-1, by the seed of the scenario. Protocols know of this
 * choice, so a program that is rolled back repeats a choice that the protocol has logged; other
 * choices may come out anew. Without recline, returns 0. */
int recline_choose(int count);

/* Writes `size` bytes to standard output as one output, which leaves when the protocol allows that.
 * What a program prints becomes outputs as well: all that it has printed since its last call of MPI
 * is one output. Returns 0, or -1 if nothing can be written. In Fortran, recline_output is a
 * subroutine, and its argument is a CHARACTER(*). Without recline the bytes are printed at once. */
int recline_output(const void *bytes, unsigned long long size);

/* The next calls are for checkpoints at the application level (`checkpoint.level: application`;
 * docs/application-level.md). An image holds what the rank protects when the rank reaches a place
 * where a checkpoint is allowed. At a restart main begins again, from the end of MPI_Init, and the
 * program puts the data back:
 *
 *     recline_protect(1, &i, sizeof i);
 *     recline_protect_items(2, x, count, RECLINE_DOUBLE);
 *     for (i = 0; i < steps; i++) {
 *       recline_potential_checkpoint();          // at a restart the first one puts i and x back
 *       step(x);
 *     }
 *
 * At the system level these calls change nothing. Misuse ends the run with one line, exit 64. */

/* Names the places where an image may have been taken. */
enum recline_place {
  RECLINE_NO_RESTART,
  RECLINE_AT_CHECKPOINT, /* at recline_potential_checkpoint() or recline_iteration() */
  RECLINE_AT_BARRIER,    /* in a call of MPI_Barrier, which the program makes next */
  RECLINE_AT_END         /* in MPI_Finalize, which the program calls next */
};

/* Names the types of items, so that an image can be read on a node of another byte order. */
enum recline_item {
  RECLINE_BYTE,
  RECLINE_INT16,
  RECLINE_INT32,
  RECLINE_INT64,
  RECLINE_FLOAT,
  RECLINE_DOUBLE,
  RECLINE_LONG_DOUBLE
};

/* Says that from here on images hold these untyped bytes. The memory stays the caller's; `id` names
 * the bytes, also at a restart. In Fortran the arguments are an INTEGER, any variable, and an
 * INTEGER(8). */
void recline_protect(int id, void *address, size_t bytes);

/* Protects `count` items of that type in the same way. In Fortran the type is an INTEGER, 0 to 6,
 * in the order above. */
void recline_protect_items(int id, void *address, size_t count, enum recline_item);

/* Protects a part of an array that is spread over the ranks, so that a run with another number of
 * ranks can go on from the checkpoint (docs/application-level.md, "Other numbers of ranks"). The
 * array has 1 to 3 `dimensions` and whole[d] items in each; this rank has the box of part[d] items
 * from first[d] on, counted from 0. The box lies at `address` without gaps, and items of the last
 * dimension are next to each other. part[d] may be 0. An item that several ranks have must have the
 * same value in all of them. In Fortran the three arrays are INTEGER(8), the first dimension is the
 * one without gaps, and `first` counts from 1. */
void recline_protect_distributed(int id, void *address, enum recline_item, int dimensions,
                                 const long long whole[], const long long first[],
                                 const long long part[]);

/* Ends the protection of `id`. Call it before the memory is freed or moved. */
void recline_unprotect(int id);

/* Returns the place at which the image was taken, from a restart until the data are put back, and
 * RECLINE_NO_RESTART at other times. */
enum recline_place recline_restarts(void);

/* At a restart, returns how many bytes the image has for `id`, or 0 if it has none or there is no
 * restart. The program must protect at least as many. On another number of ranks, returns 0 for
 * memory in which ranks differ, and for a distributed array the size of the whole array. In Fortran
 * it is an INTEGER(8) function. */
size_t recline_protected_bytes(int id);

/* Puts the data back at a restart, wherever the program is, and returns what recline_restarts()
 * returned. The program goes on behind that place. If the place is in MPI_Barrier or MPI_Finalize,
 * the program goes on with a call of that function. In Fortran it is an INTEGER function. */
enum recline_place recline_restore(void);

/* The position stack says where the program is: a number from 1 for each function that leads to a
 * place. At a restart recline_resume() pushes and returns the next position of the image, outermost
 * first, so that each function can go there. It returns 0 once no position is left. Then the first
 * place to which the program comes puts the data back. There the stack must be as in the image. */
void recline_push(int position);
void recline_pop(void);
int recline_resume(void);

#ifdef __cplusplus
}
#endif
#endif
