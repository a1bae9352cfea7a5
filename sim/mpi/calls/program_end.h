/* Handles all ways in which programs end, except for a return from main() after MPI_Finalize. */
#ifndef RECLINE_PROGRAM_END_H
#define RECLINE_PROGRAM_END_H

/* Makes a signal that ends a program (SIGSEGV, SIGABRT, ...) end the run with one line that names
 * the rank. Call it before the first program begins. */
void program_end_begin(void);

/* Makes a program that returns without MPI_Init or MPI_Finalize end the run. Call it before the
 * program of each rank begins. */
void program_end_watch(void);

/* Crashes the calling rank, because its program has ended itself, if the scenario counts restarts
 * that fail (recovery.attempts); otherwise returns. */
void program_crashes(void);

/* Ends the run, because the program of a rank has failed; the text says how. After a rollback the
 * run is lost, because the recovery may have caused the failure; otherwise the process ends with
 * one line and exit code 64. */
_Noreturn void program_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
