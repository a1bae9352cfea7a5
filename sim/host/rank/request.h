/* Fills and ends requests of the program. */
#ifndef RECLINE_REQUEST_H
#define RECLINE_REQUEST_H

#include "sim/host/rank/rank.h"

/* Returns the number by which a status names `member`, a rank of the program that belongs to the
 * communicator or to its remote group. */
int request_source(const struct comm *, int member);

/* Writes the payload into the buffer of the receive, and sets the status of the receive. The
 * program looks at neither before the request is complete. */
void request_fill(struct request *, const struct payload *, int source, int32_t tag);
/* Does the same with the payload of a message, and frees the message. */
void request_take(struct request *, struct message *);

/* Gives the message of the complete receive `sized` (request.sized) to `request`, which becomes
 * complete. Frees the receive. */
void request_hand_over(struct request *sized, struct request *request);

/* Must be called when the request is complete. Frees the request if the program has freed it
 * (MPI_Request_free). */
void request_complete(struct request *);

/* Frees the request. It must be called when the program no longer uses the request, at a point that
 * does not depend on time. */
void request_free(struct request *);

/* Notes that the request is no longer pending, because the program has completed it or given it
 * up. */
void request_end(const struct request *);

/* Returns whether the request is complete; inactive and null requests are complete. */
bool request_is_complete(const struct rank *, const struct request *);

/* Returns whether the request is complete, or a failure keeps it from ever being complete
 * (faults.h). */
bool request_is_done(const struct rank *, const struct request *);

/* Takes a complete request back: fills in its status, and frees its memory unless the request is
 * persistent. Charges the overhead of receiving an eager message. Returns the error code that its
 * call has to return. */
int request_retire(struct request **, MPI_Status *);

/* Sets the status of a null or inactive request; nothing happens with MPI_STATUS_IGNORE. */
void request_empty_status(MPI_Status *);

#endif
