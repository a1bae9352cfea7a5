/* Begins a rank: MPI_Init in C and in Fortran. */
#ifndef RECLINE_INIT_H
#define RECLINE_INIT_H

#include <stdbool.h>

struct arena;
struct rank;

/* A rank's copy of the program calls the first of these functions before its constructors and the
 * second after them (first_object.c, last_object.c). The address lies in the program's data. */
void recline_program_begins(const void *inside_program);
void recline_program_is_built(const void *inside_program);

/* Ends a program that was started outside of the simulator. MPI_Init begins with this call. */
void layer_need_simulator(void);

/* Does the rest of MPI_Init, after SMPI's MPI_Init. Returns the arena that the program uses from
 * now on, or NULL without a protocol. */
struct arena *layer_init(void);

/* Returns the level of thread support that the rank gets. MPI_Init_thread calls it after
 * layer_init(). */
int layer_thread_level(int required);

/* Both functions serve sessions (wrap_session.c). layer_leave_world() notes that the rank is not
 * between MPI_Init and MPI_Finalize. layer_is_last() returns whether it has no open session either,
 * so that only the end of MPI is left. */
void layer_leave_world(struct rank *);
bool layer_is_last(void);

/* Returns whether sessions have begun MPI, so that MPI_Init need not begin it. */
bool layer_joins_world(void);

#endif
