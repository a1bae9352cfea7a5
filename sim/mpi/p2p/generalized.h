/* Calls the program's functions of generalized requests, for the completion of requests. Each
 * function returns the error that the program's function returns. */
#ifndef RECLINE_GENERALIZED_H
#define RECLINE_GENERALIZED_H

#include "sim/host/rank/rank.h"

/* Asks the program for the status of a complete request. */
int general_query(struct rank *, struct request *);

/* Tells the program that the request is no longer needed. */
int general_free(struct rank *, struct request *);

/* Tells the program that the request is to be cancelled. */
int general_cancel(struct rank *, struct request *);

#endif
