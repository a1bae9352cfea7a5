/* Runs the protocol at one rank: raises its events, carries out its actions, and has the one place
 * where a program waits.
 *
 * A program that calls MPI comes to host_enter() and then, as often as it must wait, to
 * host_wait(). Only there are arrivals and control messages handled, images captured, and ranks
 * rolled back, because the calling frames then hold pointers to nothing but arena memory. */
#ifndef RECLINE_HOST_H
#define RECLINE_HOST_H

#include "sim/host/rank/rank.h"

/* Takes the RCL_FRESH image of the rank at the end of MPI_Init, and STARTs the rank from that
 * image. Returns again after every rollback to RCL_FRESH. `inside_program` is an address in the
 * program of the rank. */
void host_begin(struct rank *, const void *inside_program);

/* Takes in what has come, lets the protocol take a checkpoint, and tells the protocol of new
 * outputs of the program. It must be called at the entry of an MPI call. */
void host_enter(struct rank *);

/* Raises an event OUTPUT for what the rank has printed (held_output.h), if it has printed
 * anything. */
void host_tell_outside(struct rank *);

/* Takes in what has come without a transfer. It must be called within an MPI call before another
 * message of that call. */
void host_answer_door(struct rank *);

/* Must be called where the program allows a checkpoint (recline_potential_checkpoint; then
 * `iteration` is 0) or begins an iteration (recline_iteration; then `iteration` is its number, from
 * 1). */
void host_place(struct rank *, uint32_t iteration);

/* Must be called in MPI_Finalize, where a checkpoint is allowed, too. */
void host_place_at_end(struct rank *);

/* At the application level (application.h), must be called when the program comes to `place` (enum
 * place; a barrier is on `comm`) or communicates (PLACE_NONE). At a restart, puts the program's
 * data back. Returns whether it has put them back. */
bool host_comes_to(struct rank *, int place, const struct comm *comm);

/* At a restart, puts the data back and STARTs the rank. With PLACE_NONE the program may be
 * anywhere. */
void host_restore(struct rank *, int place, const struct comm *comm);

/* Waits until `done` returns true and the program is not held. `what` points into the arena or the
 * stack. */
void host_wait(struct rank *, bool (*done)(const struct rank *, const void *), const void *what);

/* Does what host_wait() does, for a wait that only posted receives and sends can end. */
void host_wait_posted(struct rank *, bool (*done)(const struct rank *, const void *),
                      const void *what);

/* Returns whether the receiver would go on, or take a step of its protocol, if it had that message
 * now. Below the matching a rank takes every message. */
bool host_expects(const struct message *);
/* Returns whether a posted receive of the receiver takes that message. */
bool host_awaits(const struct message *);

/* Takes in what has come. If the program is held, waits for its release, but for nothing else. */
void host_poll(struct rank *);

/* Takes in notices and control messages, in the daemon of a rank that computes. Messages of the
 * program wait for the program's next call. */
void host_serve(struct rank *);

/* Waits until the program is ready: it has not crashed, is not held, and all its receives are
 * announced. Every event of the program must come after this call. */
void host_ready(struct rank *);

/* Does what host_ready() does and, in a run by schedule, waits for the turn of the program's next
 * event. */
void host_await_turn(struct rank *);

/* Sends a message of the program, which must be ready (host_ready()). Returns the number of the
 * send at the transport, or 0 if it is complete. No wait may lie between host_ready() and this
 * call, because the payload is not part of an image. */
uint32_t host_offer(struct rank *, int peer, int context, int32_t tag, struct payload *payload,
                    bool blocking, enum send_mode);

/* Charges the processor time of handling one message under a protocol that sees messages. */
void host_handle(struct rank *);

/* Posts a receive of the program, which is complete when request->done is true. */
void host_receive(struct rank *, struct request *);

/* Tells the protocol that a decision of the program has the outcome `outcome`; there are `choices`
 * possible outcomes, or any number if that is 0. Returns the outcome that the decision must
 * have. */
uint32_t host_choose(struct rank *, uint32_t outcome, uint32_t choices);

/* Cancels a receive of the program. Returns true if the receive is withdrawn, because nothing has
 * come for it, and false if the receive completes. */
bool host_cancel(struct rank *, struct request *);

/* Tells the protocol that the program makes the collective call of its MPI state. Afterwards the
 * call's state says whether the rank takes part (CALL_JOINED, with its words) or has its result
 * already. */
void host_collective(struct rank *);

/* Tells the protocol that the contributions to the call have come; the call's words describe them.
 * Returns when the protocol is done with the call, or wants the call made again
 * (CALL_ANNOUNCED). */
void host_collected(struct rank *);

/* Tells the protocol that the program has become a member of a communicator. */
void host_member(struct rank *, int comm);

/* Notes that the program has ended. Returns when all programs have ended. */
void host_finish(struct rank *);

/* Crashes the rank, because its program ends its own process. This is only for programs that repair
 * themselves. */
_Noreturn void host_crash(struct rank *);

/* host_compute() lets the program compute, host_sleep() lets it sleep. Notices can interrupt
 * both. */
void host_compute(struct rank *, double flops);
void host_sleep(struct rank *, double seconds);

#endif
