/* What a program can tell recline. Programs need none of it; without recline it does nothing. */
#ifndef RECLINE_H
#define RECLINE_H

#ifdef __cplusplus
extern "C" {
#endif

/* A checkpoint may be taken here: with `places: program` in the scenario, only here and in
 * MPI_Finalize. */
void recline_potential_checkpoint(void);

#ifdef __cplusplus
}
#endif
#endif
