/* Sends states between the processes of one exploration.
 *
 * Each process numbers the values of components in the order in which it meets them, and packs
 * states by these numbers. So each process tells each other process once what a number stands for,
 * before the first state that uses it; the receiver keeps for each sender a table from the sender's
 * numbers to its own.
 *
 *     message:  how many of each | new values: part by part, with the bytes they keep
 *               | bits of each component | packed states
 *
 * The owner of a state is a process. It follows from a digest of the contents of the state's
 * component 0, which is rank 0. As other components do not count, most moves lead to a state of the
 * same owner, and each process learns the effects of moves only for its own values of rank 0.
 *
 * Exchange goes in phases, such as a level of the search. A process says when it has sent all that
 * it sends in a phase. It has received all when each other process has said so, because messages
 * from one process arrive in the order of sending.
 */
#ifndef RECLINE_EXCHANGE_H
#define RECLINE_EXCHANGE_H

#include "verify/distribute/process_transport.h"
#include "verify/state/model.h"

struct exchange;

/* Returns an exchange. The caller keeps the model and the transport. */
struct exchange *exchange_new(struct model *, const struct transport *);
void exchange_free(struct exchange *); /* may be NULL */
const struct transport *exchange_transport(const struct exchange *);
uint64_t exchange_bytes(const struct exchange *); /* memory taken, in bytes */

/* Returns the process that owns states with that number of component 0. */
unsigned exchange_owner(struct exchange *, uint32_t number);

/* Sends a state, in the model's present packing, to another process. The state's tag does not
 * matter. */
void exchange_put(struct exchange *, unsigned to, const uint32_t *state);

/* Says that this process has sent all states of this phase. */
void exchange_end(struct exchange *);

/* Takes one message that has come. Calls `take` for each state in the message, with the numbers
 * that the state's components have in this process. Returns false if there was no message, after a
 * pause if `wait`. */
bool exchange_take(struct exchange *, bool wait, void (*take)(void *ctx, const uint32_t *numbers),
                   void *ctx);

/* Returns whether all processes have sent all of this phase and this process has received it, so
 * that the next phase begins. All processes must synchronise (transport_sum()) before they send in
 * the next phase. */
bool exchange_is_over(struct exchange *);

/* exchange_save() writes all that a process must know to go on together with the others; the caller
 * saves the model. exchange_restore() reads what exchange_save() has written into a new exchange,
 * after the model was read. It returns false if it cannot. */
void exchange_save(const struct exchange *, FILE *);
bool exchange_restore(struct exchange *, FILE *);

/* Returns whether so many bytes wait to be sent that this process should receive first. */
bool exchange_is_full(const struct exchange *);

#endif
