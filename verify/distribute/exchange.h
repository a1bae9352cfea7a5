/* States on their way between the processes of one exploration.
 *
 * Each process numbers the values of components in the order in which it meets them, and packs
 * states by these numbers. So each tells each other one once what a number of its own stands for,
 * before the first state that names it; the receiver keeps for each sender a table from the
 * sender's numbers to its own.
 *
 *     message:  how many of each | new values: part by part, with the bytes they keep
 *               | bits of each component | packed states
 *
 * The owner of a state follows from what its component 0 holds, which is rank 0, by a digest: not
 * from numbers, and not from the other components, so that most moves lead to a state of the same
 * owner, and each process learns the rules for its own values of rank 0.
 *
 * Exchange goes in phases, such as a level of the search. A process says when it has sent all that
 * it sends in a phase, and knows that it has received all when each other process has said so:
 * messages from one process arrive in the order of sending.
 */
#ifndef RECLINE_EXCHANGE_H
#define RECLINE_EXCHANGE_H

#include "verify/distribute/process_transport.h"
#include "verify/state/model.h"

struct exchange;

/* Both stay the caller's. */
struct exchange *exchange_new(struct model *, const struct transport *);
void exchange_free(struct exchange *); /* may be NULL */
const struct transport *exchange_transport(const struct exchange *);
uint64_t exchange_bytes(const struct exchange *); /* memory taken */

/* The process that owns states with that number of component 0. */
unsigned exchange_owner(struct exchange *, uint32_t number);

/* Sends a state, in the model's present packing (its tag does not matter), to another process. */
void exchange_put(struct exchange *, unsigned to, const uint32_t *state);

/* This process has sent all that it sends in this phase. */
void exchange_end(struct exchange *);

/* Takes one message that has come: calls `take` for each of its states, with the numbers of its
 * components here. False: there was none, and this process has paused when it was told to wait. */
bool exchange_take(struct exchange *, bool wait, void (*take)(void *ctx, const uint32_t *numbers),
                   void *ctx);

/* Returns whether all processes have sent all, and it has been received: then the next phase
 * begins. All have to synchronise (transport.sum()) before they send in it. */
bool exchange_is_over(struct exchange *);

/* Writes what a process has to know to go on with the others from where it is; the model is the
 * caller's. exchange_restore() into a new exchange, behind the model; false: it cannot be read. */
void exchange_save(const struct exchange *, FILE *);
bool exchange_restore(struct exchange *, FILE *);

/* Returns whether so much is still to be sent that this process should rather receive. */
bool exchange_is_full(const struct exchange *);

#endif
