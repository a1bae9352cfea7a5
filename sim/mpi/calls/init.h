/* The beginning of a rank: MPI_Init in C and in Fortran. */
#ifndef RECLINE_INIT_H
#define RECLINE_INIT_H

#include <stdbool.h>

struct arena;
struct rank;

/* A rank's copy of the program calls these before its constructors, and after them (first_object.c,
 * last_object.c). The address lies in its data. */
void recline_program_begins(const void *inside_program);
void recline_program_is_built(const void *inside_program);

/* The beginning of MPI_Init: ends a program that was started outside of the simulator. */
void layer_need_simulator(void);

/* The rest of MPI_Init, after SMPI's. Returns the arena that the program uses from now on; NULL
 * without a protocol. */
struct arena *layer_init(void);

/* Called after that in MPI_Init_thread: returns the level of threads that the rank gets. */
int layer_thread_level(int required);

/* Sessions (wrap_session.c): the rank has called no MPI_Init; nothing but MPI's end is left. */
void layer_leave_world(struct rank *);
bool layer_is_last(void);

/* Returns whether sessions have begun MPI, which MPI_Init then need not. */
bool layer_joins_world(void);

#endif
