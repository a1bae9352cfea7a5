/* How programs end, otherwise than by returning from main() after MPI_Finalize. */
#ifndef RECLINE_PROGRAM_END_H
#define RECLINE_PROGRAM_END_H

/* Once, when the layer begins: a signal that ends a program (SIGSEGV, SIGABRT, ...) ends the run
 * with one line that names the rank. */
void program_end_begin(void);

/* In MPI_Init of each rank: a program that returns without MPI_Finalize ends the run. */
void program_end_watch(void);

#endif
