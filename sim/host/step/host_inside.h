/* Inside the host of the protocol at one rank:
 *
 *     host.c          what comes in, what is done next, and the one loop that waits
 *     host_step.c     one step of the protocol: an event, and its actions
 *     host_rollback.c capturing images, and going back to them
 *     host_program.c  what the program does, and its computations
 */
#ifndef RECLINE_HOST_INSIDE_H
#define RECLINE_HOST_INSIDE_H

#include "sim/host/rank/shadow.h"
#include "sim/host/step/host.h"

/* ---- host_step.c ---- */

/* Operands of the actions of one step. They lie on the stack of the step, which no image holds. */
struct step {
  struct message *offered; /* SEND: the message to transmit */
  bool blocking;
  uint32_t send; /* its number at the transport */
  struct message *arrived;
  bool drained;          /* it arrived for no receive */
  bool passed;           /* below the matching: the message that goes up */
  uint32_t slot;         /* slot in which it is kept */
  struct request *given; /* the receive that gets the message */
  struct call *call;     /* COLLECTIVE, COLLECTED, CAPTURED: the program is in it */
  bool forced;
  uint32_t outcome;
};

/* Takes the move and carries out the protocol's answer. The step may be NULL: no operands. */
void host_take(struct rank *, struct move *, struct step *);
void host_take_event(struct rank *, const struct rcl_event *, struct step *);

/* Tell the kind of the protocol (protocols/protocol.h). */
bool host_below_matching(void);

/* Returns whether a rollback that the rank has not noticed cuts its work, or the rank was declared
 * dead.
 */
bool host_fenced(const struct rank *);

/* Below the matching: gives a message that the protocol passes up to the receive that it fits, or
 * lets it wait for one. Owns the message. */
void host_pass_up(struct rank *, struct message *);

/* The same for a receive that has just been posted. */
void host_take_unexpected(struct rank *, struct request *);

/* Fetches the bytes of a message that was given to that receive; NULL: to none. */
void host_fetch(struct rank *, struct message *, struct request *);

/* ---- host_rollback.c ---- */

void host_capture(struct rank *);
_Noreturn void host_roll_back(struct rank *);

/* Does what host_restore() does, without the waits of START, at a restart at the application
 * level. */
void host_put_back(struct rank *, int place, const struct comm *comm);

/* The rank has crashed, or the protocol has told it to go back: it goes back at its next step. */
static inline bool host_goes_back(const struct rank *r)
{
  return r->dead || shadow_rank(r->index)->phase == RANK_RESTORING;
}

/* Takes notice of a detection; independent: of each death. */
void host_note_down(struct rank *);
void host_note_deaths(struct rank *);

/* Independent: drops messages from the dead to this rank, and from this rank to the dead.
 */
void host_disconnect(struct rank *, int peer);

/* Sorts messages of later incarnations again, as the rank may have reached theirs now. */
void host_look_again(struct rank *);

/* Drops a message that the rank will not take. */
void host_drop(struct rank *, struct message *);

/* ---- host.c ---- */

void host_announce(struct rank *, struct request *);
void host_offer_place(struct rank *, uint32_t iteration);

/* With clocks: return whether the alarm of the next checkpoint is due, and its time; negative:
 * none. */
bool host_alarm_is_due(const struct rank *);
double host_alarm_time(const struct rank *);

#endif
