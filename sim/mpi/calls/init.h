/* The beginning of a rank: what MPI_Init does in C and in Fortran. */
#ifndef RECLINE_INIT_H
#define RECLINE_INIT_H

struct arena;

/* A rank's copy of the program calls these before its constructors, and after them (first_object.c,
 * last_object.c). The address is one in its data. */
void recline_program_begins(const void *inside_program);
void recline_program_is_built(const void *inside_program);

/* The beginning of MPI_Init: ends a program that was started outside of the simulator. */
void layer_need_simulator(void);

/* The rest of MPI_Init, after SMPI's. Returns the arena that the program is to use; NULL without a
 * protocol. */
struct arena *layer_init(void);

/* After it, in MPI_Init_thread: the level of threads that the rank is provided with. */
int layer_thread_level(int required);

#endif
