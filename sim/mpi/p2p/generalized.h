/* Generalized requests: functions for the completion of requests. Each returns the error that the
 * program's function returns. */
#ifndef RECLINE_GENERALIZED_H
#define RECLINE_GENERALIZED_H

#include "sim/host/rank/rank.h"

/* Asks the program for the status of a complete one. */
int general_query(struct rank *, struct request *);

/* Tells the program that it is no longer needed. */
int general_free(struct rank *, struct request *);

/* Tells the program that it is to be cancelled. */
int general_cancel(struct rank *, struct request *);

#endif
