/* The host of the protocol at one rank: events in, actions carried out, and the one place where a
 * program waits.
 *
 * A program that calls MPI comes to host_enter() and then, as often as it must wait, to
 * host_wait(). There, and nowhere else, arrivals and control messages are handled, images are
 * captured, and a rank is rolled back: the frames above then hold nothing but arena memory.
 */
#ifndef RECLINE_HOST_H
#define RECLINE_HOST_H

#include "sim/host/rank/rank.h"

/* At the end of MPI_Init: the RCL_FRESH image and the START from it. Returns again after every
 * rollback to RCL_FRESH. `inside_program` is an address in the program of the rank. */
void host_begin(struct rank *, const void *inside_program);

/* To be called at the entry of an MPI call: takes in what has come, lets the protocol take a
 * checkpoint, and tells it of new outputs of the program. */
void host_enter(struct rank *);

/* Raises an event for what the rank has said (held_output.h), if it has. */
void host_tell_outside(struct rank *);

/* To be called within an MPI call before another of its messages: takes in what is here without a
 * transfer. */
void host_answer_door(struct rank *);

/* To be called at a place where the program allows a checkpoint (recline_potential_checkpoint) or
 * begins that iteration (recline_iteration; from 1, 0: none). */
void host_place(struct rank *, uint32_t iteration);

/* MPI_Finalize is such a place, too. */
void host_place_at_end(struct rank *);

/* Application level (application.h). To be called when the program comes to that enum place, a
 * barrier on `comm`, or communicates (NONE). At a restart restores the program; returns whether it
 * was restored there. */
bool host_comes_to(struct rank *, int place, const struct comm *comm);

/* At a restart puts the data back and STARTs the rank; with NONE, wherever its program is. */
void host_restore(struct rank *, int place, const struct comm *comm);

/* Waits until `done` says so and the program is not held. `what` points into the arena or the
 * stack. */
void host_wait(struct rank *, bool (*done)(const struct rank *, const void *), const void *what);

/* The same, for a wait that only posted receives and sends can end. */
void host_wait_posted(struct rank *, bool (*done)(const struct rank *, const void *),
                      const void *what);

/* Returns whether the receiver would go on, or take a step of its protocol, if it had that message
 * now. Below the matching a rank takes every message. */
bool host_expects(const struct message *);
/* Returns whether a posted receive of the receiver takes that message. */
bool host_awaits(const struct message *);

/* Takes in what has come, without waiting for anything but the release of a held program. */
void host_poll(struct rank *);

/* The daemon of a rank that computes takes in notices and control messages; messages of the program
 * wait for its next call. */
void host_serve(struct rank *);

/* Waits until the program may go on: it has not crashed meanwhile, is not held, and all its
 * receives are announced. Every event of the program comes after this. */
void host_ready(struct rank *);

/* The same and, in a run by schedule, until it is the turn of the program's next event. */
void host_await_turn(struct rank *);

/* The program, which is ready, sends: returns the number of the send at the transport, 0 when it is
 * complete. No wait may lie between host_ready() and this, as the payload is not part of an image.
 */
uint32_t host_offer(struct rank *, int peer, int context, int32_t tag, struct payload *payload,
                    bool blocking, enum send_mode);

/* Charges the processor time of handling one message under a protocol that sees messages. */
void host_handle(struct rank *);

/* The program posts a receive, which is complete when request->done. */
void host_receive(struct rank *, struct request *);

/* Tells the protocol that a decision of the program among `choices` outcomes (0: any number) has
 * the outcome `outcome`; returns the outcome that it must have instead. */
uint32_t host_choose(struct rank *, uint32_t outcome, uint32_t choices);

/* Cancels a receive of the program: returns true if it is withdrawn, as nothing has come for it,
 * and false if it completes. */
bool host_cancel(struct rank *, struct request *);

/* The program makes the collective call of its MPI state: afterwards the call's state says whether
 * the rank takes part (CALL_JOINED, with its words) or has its result already. */
void host_collective(struct rank *);

/* Tells the protocol that the contributions to the call have come, which the call's words describe.
 * Returns when the protocol is done with the call, or wants it made again (CALL_ANNOUNCED). */
void host_collected(struct rank *);

/* The program has become a member of a communicator. */
void host_member(struct rank *, int comm);

/* The program has ended; returns when all have. */
void host_finish(struct rank *);

/* Crashes the rank, as its program ends its own process. Only for programs that repair
 * themselves. */
_Noreturn void host_crash(struct rank *);

/* The program computes or sleeps, interruptibly. */
void host_compute(struct rank *, double flops);
void host_sleep(struct rank *, double seconds);

#endif
