/* Declares a check of the calls that programs make (real_calls.c). */
#ifndef RECLINE_REAL_CALLS_H
#define RECLINE_REAL_CALLS_H

/* Ends the program if a request is pending, because an image does not hold requests. */
void real_calls_check_place(void);

#endif
