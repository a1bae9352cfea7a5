/* The calls of MPI that programs make: what other files ask of them. */
#ifndef RECLINE_REAL_CALLS_H
#define RECLINE_REAL_CALLS_H

/* Ends the program where a request is pending: it is not part of an image. */
void real_calls_check_place(void);

#endif
