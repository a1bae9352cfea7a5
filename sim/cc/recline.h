/* Optional calls of programs to recline; without recline they do nothing. */
#ifndef RECLINE_H
#define RECLINE_H

#ifdef __cplusplus
extern "C" {
#endif

/* A checkpoint may be taken here: with `places: program` in the scenario, only here and in
 * MPI_Finalize. */
void recline_potential_checkpoint(void);

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
 * more data, or with less to save. `checkpoint.bytes` of the scenario comes before it. In Fortran
 * an INTEGER(8). */
void recline_image_bytes(unsigned long long bytes);

/* A random choice among 0 .. count-1, by the seed of the scenario: a decision that protocols know
 * of, so that a program which is rolled back repeats it where it has to, and elsewhere makes
 * another one. Without recline 0. */
int recline_choose(int count);

#ifdef __cplusplus
}
#endif
#endif
