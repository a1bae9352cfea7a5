/* The shadow world: every event of the run goes through the same rules as in the explorer, and the
 * protocols are stepped there and nowhere else. A run that leaves the rules is a breach (exit 3).
 */
#ifndef RECLINE_SHADOW_H
#define RECLINE_SHADOW_H

#include "sim/host/rank/rank.h"

/* `history`: the trace of what was before, which the world is taken through; NULL: nothing was. Of
 * all of it a trace is written to `trace_file`; NULL: none. */
void shadow_begin(const struct scenario *, const char *trace_file, const char *history);
void shadow_end(void); /* the last verdict, and the end of the trace */

/* Runs by schedule: from here on the protocol's invariants are checked after every step, until it
 * is told `false`; and the end is judged as the explorer does. */
void shadow_set_strict(bool);

/* Runs by schedule: a text that is the same for equal states of the world, the caller's; judges the
 * state as one that comes again and again, when it is; as one in which nothing more can happen. */
char *shadow_state_text(void);
void shadow_judge_repeated(const char *state);
void shadow_judge_rest(void);

/* A run that stands still: a breach, where the world still expects something of its host, which has
 * lost it. A run that has come to its end: one, where it has not for the world. */
void shadow_require_rest(void);
void shadow_require_end(void);

const struct rcl_protocol *shadow_protocol(void);

/* Returns whether ranks recover one by one (protocols/protocol.h). */
bool shadow_independent(void);
bool shadow_cuts_steps(void);        /* ranks may crash within steps (HAZARD_CUT_STEPS) */
bool shadow_control_overtakes(void); /* HAZARD_CONTROL_OVERTAKES */
const struct world_rank *shadow_rank(int rank);
const struct world_global *shadow_global(void);
uint32_t shadow_slots(int rank); /* payload slots of the rank that are filled */
uint32_t shadow_actions_max(void);
int shadow_draining(int rank);                       /* a rank, RCL_ANY or RCL_NOBODY */
bool shadow_next_down(int rank, struct rcl_event *); /* as world_next_down() */

/* Bytes of the protocol's state of a rank that are in use. Its lists have room for `capacity`
 * entries; a protocol that wrote them to disk would not write the empty ones. */
uint32_t shadow_state_bytes(int rank);

/* Bytes of it that are new since the last call for that rank: `*before` holds it as it was then,
 * NULL at first, and is the caller's. */
uint32_t shadow_state_increment(int rank, void **before);
bool shadow_finished(void);        /* all programs have ended */
uint32_t shadow_left(int rank);    /* outputs of the rank that have left */
uint32_t shadow_outputs(int rank); /* that its program, as it stands, has made */

/* Returns whether that part of a checkpoint of `rank` is on stable storage. */
bool shadow_is_stored(int rank, uint32_t checkpoint, enum rcl_part);

/* Returns whether an image of that checkpoint is stored, or being written; whether the rank's node
 * has lost it; independent: whether a rank that died starts behind an image that was durable. */
bool shadow_holds(int rank, uint32_t checkpoint);
bool shadow_has_lost(int rank, uint32_t checkpoint);

/* Returns whether a start from that checkpoint would miss the log behind a newer one, which was
 * lost. */
bool shadow_has_lost_log(int rank, uint32_t checkpoint);
bool shadow_can_read(int rank, uint32_t checkpoint); /* the rank can start from it */
bool shadow_starts_behind(int rank);
int shadow_stranded(void); /* a rank that is to start from what is gone; -1: none, or independent */
bool shadow_loses(void);   /* whether a crash takes any of them */

/* Returns what becomes of the writes under way at a crash of `rank`, as move.index says it: with
 * check.hazards those that the host has `begun` are found torn, or whole; else all are lost. */
uint32_t shadow_write_ends(int rank,
                           bool (*begun)(int rank, uint32_t checkpoint, enum rcl_part part));

/* Returns whether payloads are told apart by digests. In a scenario without failures nothing is
 * sent twice, so there is nothing to compare unless the trace shows it. */
bool shadow_compares_contents(void);

/* Returns whether `move` can happen now. For events that may have been overtaken by a detection,
 * never to hide what should not have happened. */
bool shadow_allows(const struct move *);

/* Takes a move. `actions` has room for shadow_actions_max(); count is 0 when there was no step.
 * False when the protocol gave up: `reason` says why. */
bool shadow_step(struct move *, struct rcl_actions *, enum rcl_reason *reason);

/* A rank has two kinds of logs that checkpoints shorten: checkpoints of the receivers shorten logs
 * of sent messages, the rank's own ones logs of events. `sent` and `events` say how full the
 * fullest log of a kind is: 0 below a half, 1 from a half on, 2 from three quarters on, 3 from
 * seven eighths on. */
struct fill {
  uint32_t sent, events;
  bool low; /* none is filled to a quarter */
};
struct fill shadow_fill(int rank);

/* Returns whether the last step was that of a TIMER, and put the checkpoint off. */
bool shadow_puts_off(void);

/* Counts what the event, which comes next, costs the protocol of the rank (protocols/protocol.h).
 */
void shadow_work(int rank, const struct rcl_event *, struct rcl_work *);

/* Why the last protocol that gave up did so, and what would help. */
const char *shadow_why(void);

#endif
