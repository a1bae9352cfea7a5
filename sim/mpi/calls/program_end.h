/* Ends of programs other than a return from main() after MPI_Finalize. */
#ifndef RECLINE_PROGRAM_END_H
#define RECLINE_PROGRAM_END_H

/* Called before the first program begins: a signal that ends a program (SIGSEGV, SIGABRT, ...) ends
 * the run with one line that names the rank. */
void program_end_begin(void);

/* Called before the program of each rank begins: a program that returns without MPI_Init or
 * MPI_Finalize ends the run. */
void program_end_watch(void);

/* Ends the run, as the program of a rank has failed in the way that the text says. After a rollback
 * the run is lost, as the recovery may be to blame; otherwise the process ends with one line and
 * exit code 64. */
_Noreturn void program_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
