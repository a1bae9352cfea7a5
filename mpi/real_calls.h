/* The calls of MPI that programs make: a check that other files need. */
#ifndef RECLINE_REAL_CALLS_H
#define RECLINE_REAL_CALLS_H

/* Ends the program where a request is pending: it is not part of an image. */
void real_calls_check_place(void);

#endif
