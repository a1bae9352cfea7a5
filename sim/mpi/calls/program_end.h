/* How programs end, otherwise than by returning from main() after MPI_Finalize. */
#ifndef RECLINE_PROGRAM_END_H
#define RECLINE_PROGRAM_END_H

/* Before the first program begins: a signal that ends a program (SIGSEGV, SIGABRT, ...) ends the
 * run with one line that names the rank. */
void program_end_begin(void);

/* Before the program of each rank begins: one that returns without MPI_Init or MPI_Finalize ends
 * the run. */
void program_end_watch(void);

/* The program of a rank has failed, as the text says: after a rollback the run is lost, for the
 * recovery may be to blame; otherwise the process ends with one line and exit code 64. */
_Noreturn void program_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
