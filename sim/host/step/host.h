/* Runs the protocol at one rank: raises its events, carries out its actions, and has the one place
 * where a program waits.
 *
 * A program that calls MPI comes to host_enter() and then, as often as it must wait, to
 * host_wait(). There, and nowhere else, arrivals and control messages are handled, images are
 * captured, and a rank is rolled back: the frames above then hold nothing but arena memory.
 */
#ifndef RECLINE_HOST_H
#define RECLINE_HOST_H

#include "sim/host/rank/rank.h"

/* Takes the RCL_FRESH image at the end of MPI_Init, and STARTs the rank from it. Returns again
 * after every rollback to RCL_FRESH. `inside_program` is an address in the program of the rank. */
void host_begin(struct rank *, const void *inside_program);

/* Call it at the entry of an MPI call. Takes in what has come, lets the protocol take a checkpoint,
 * and tells it of new outputs of the program. */
void host_enter(struct rank *);

/* Raises an event for what the rank has said (held_output.h), if it has said anything. */
void host_tell_outside(struct rank *);

/* Call it within an MPI call before another message of that call. Takes in what has come without a
 * transfer. */
void host_answer_door(struct rank *);

/* Call it at a place where the program allows a checkpoint (recline_potential_checkpoint;
 * `iteration` is 0) or begins that iteration (recline_iteration; from 1). */
void host_place(struct rank *, uint32_t iteration);

/* Call it in MPI_Finalize, which is such a place, too. */
void host_place_at_end(struct rank *);

/* Application level (application.h). Call it when the program comes to that enum place (for a
 * barrier, on `comm`) or communicates (NONE). At a restart puts the program's data back. Returns
 * whether that happened here. */
bool host_comes_to(struct rank *, int place, const struct comm *comm);

/* At a restart puts the data back and STARTs the rank. With NONE the program may be anywhere. */
void host_restore(struct rank *, int place, const struct comm *comm);

/* Waits until `done` returns true and the program is not held. `what` points into the arena or the
 * stack. */
void host_wait(struct rank *, bool (*done)(const struct rank *, const void *), const void *what);

/* Does the same for a wait that only posted receives and sends can end. */
void host_wait_posted(struct rank *, bool (*done)(const struct rank *, const void *),
                      const void *what);

/* Returns whether the receiver would go on, or take a step of its protocol, if it had that message
 * now. Below the matching a rank takes every message. */
bool host_expects(const struct message *);
/* Returns whether a posted receive of the receiver takes that message. */
bool host_awaits(const struct message *);

/* Takes in what has come, without waiting for anything but the release of a held program. */
void host_poll(struct rank *);

/* Takes in notices and control messages, in the daemon of a rank that computes. Messages of the
 * program wait for its next call. */
void host_serve(struct rank *);

/* Waits until the program may go on: it has not crashed meanwhile, is not held, and all its
 * receives are announced. Every event of the program comes after this call. */
void host_ready(struct rank *);

/* Does what host_ready() does and, in a run by schedule, waits for the turn of the program's next
 * event. */
void host_await_turn(struct rank *);

/* Sends a message of the program, which must be ready. Returns the number of the send at the
 * transport, or 0 if it is complete. No wait may lie between host_ready() and this call, because
 * the payload is not part of an image. */
uint32_t host_offer(struct rank *, int peer, int context, int32_t tag, struct payload *payload,
                    bool blocking, enum send_mode);

/* Charges the processor time of handling one message under a protocol that sees messages. */
void host_handle(struct rank *);

/* Posts a receive of the program, which is complete when request->done is true. */
void host_receive(struct rank *, struct request *);

/* Tells the protocol that a decision of the program among `choices` outcomes (0: any number) has
 * the outcome `outcome`; returns the outcome that it must have instead. */
uint32_t host_choose(struct rank *, uint32_t outcome, uint32_t choices);

/* Cancels a receive of the program. Returns true if the receive is withdrawn, because nothing has
 * come for it, and false if the receive completes. */
bool host_cancel(struct rank *, struct request *);

/* Tells the protocol that the program makes the collective call of its MPI state. Afterwards the
 * call's state says whether the rank takes part (CALL_JOINED, with its words) or has its result
 * already. */
void host_collective(struct rank *);

/* Tells the protocol that the contributions to the call have come, which the call's words describe.
 * Returns when the protocol is done with the call, or wants it made again (CALL_ANNOUNCED). */
void host_collected(struct rank *);

/* Tells the protocol that the program has become a member of a communicator. */
void host_member(struct rank *, int comm);

/* Notes that the program has ended. Returns when all programs have ended. */
void host_finish(struct rank *);

/* Crashes the rank, because its program ends its own process. Only for programs that repair
 * themselves. */
_Noreturn void host_crash(struct rank *);

/* Both functions let the program compute or sleep. Notices can interrupt either. */
void host_compute(struct rank *, double flops);
void host_sleep(struct rank *, double seconds);

#endif
