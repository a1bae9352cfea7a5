/* Declares what the files of the host of the protocol at one rank share:
 *
 *     host.c          takes in messages and notices, decides what to do next, and waits
 *     host_step.c     takes one step of the protocol: an event, and its actions
 *     host_rollback.c captures images, and goes back to them
 *     host_program.c  handles the program's calls and its computations
 */
#ifndef RECLINE_HOST_INSIDE_H
#define RECLINE_HOST_INSIDE_H

#include "sim/host/rank/shadow.h"
#include "sim/host/step/host.h"

/* ---- host_step.c ---- */

/* Holds the operands of the actions of one step. It lies on the stack of the step, of which no
 * image is taken. */
struct step {
  struct message *offered; /* SEND: the message to transmit */
  bool blocking;
  uint32_t send; /* number of the send at the transport */
  struct message *arrived;
  bool drained;          /* the message was drained, so it arrived for no receive */
  bool passed;           /* below the matching: the message is passed up to the program */
  uint32_t slot;         /* slot in which the message is kept */
  struct request *given; /* the receive that gets the message */
  struct call *call;     /* COLLECTIVE, COLLECTED, CAPTURED: the call that the program is in */
  bool forced;
  uint32_t outcome;
};

/* Takes the move and carries out the protocol's answer. `step` is NULL if there are no operands. */
void host_take(struct rank *, struct move *, struct step *);
void host_take_event(struct rank *, const struct rcl_event *, struct step *);

/* Returns whether the protocol sits below the matching (protocols/protocol.h). */
bool host_below_matching(void);

/* Returns whether the rank's work is void: the rank was declared dead, or a rollback that it has
 * not noticed has undone the work. */
bool host_fenced(const struct rank *);

/* Below the matching: gives a message that the protocol passes up to the receive that accepts it,
 * or lets the message wait for such a receive. Takes ownership of the message. */
void host_pass_up(struct rank *, struct message *);

/* Gives a receive that has just been posted the first waiting message that it accepts, or lets the
 * receive wait. */
void host_take_unexpected(struct rank *, struct request *);

/* Fetches the bytes of a message that was given to the receive, or to no receive if that is
 * NULL. */
void host_fetch(struct rank *, struct message *, struct request *);

/* ---- host_rollback.c ---- */

void host_capture(struct rank *);
_Noreturn void host_roll_back(struct rank *);

/* Does what host_restore() does at a restart at the application level, but without the waits of
 * START. */
void host_put_back(struct rank *, int place, const struct comm *comm);

/* Returns whether the rank goes back at its next step, because it has crashed or the protocol has
 * told it to. */
static inline bool host_goes_back(const struct rank *r)
{
  return r->dead || shadow_rank(r->index)->phase == RANK_RESTORING;
}

/* host_note_down() takes notice of a detection, with global recovery. host_note_deaths() takes
 * notice of each death, with independent recovery. */
void host_note_down(struct rank *);
void host_note_deaths(struct rank *);

/* Drops messages from the dead peer to this rank and from this rank to the peer, with independent
 * recovery.
 */
void host_disconnect(struct rank *, int peer);

/* Sorts messages of later incarnations again, because the rank may have reached their incarnation
 * now. */
void host_look_again(struct rank *);

/* Drops a message that the rank will not take. */
void host_drop(struct rank *, struct message *);

/* ---- host.c ---- */

void host_announce(struct rank *, struct request *);
void host_offer_place(struct rank *, uint32_t iteration);

/* Both functions serve protocols with clocks. host_alarm_is_due() returns whether the alarm of the
 * next checkpoint is due. host_alarm_time() returns the time of the alarm, or a negative number if
 * no alarm is set. */
bool host_alarm_is_due(const struct rank *);
double host_alarm_time(const struct rank *);

#endif
