/* Keeps the shadow world: every event of the run goes through the same rules as in the explorer,
 * and protocols are stepped only in this world. A run that leaves the rules is a breach (exit
 * 3). */
#ifndef RECLINE_SHADOW_H
#define RECLINE_SHADOW_H

#include "sim/host/rank/rank.h"

/* Begins the world. `history` is the trace of the earlier run, whose moves the world takes first,
 * or NULL if there was none. Writes a trace of everything to `trace_file`, unless it is NULL. */
void shadow_begin(const struct scenario *, const char *trace_file, const char *history);
void shadow_end(void); /* writes the last verdict and the end of the trace */

/* Serves runs by schedule. After a call with `true`, the protocol's invariants are checked after
 * every step, and the end is judged as the explorer judges it. A call with `false` ends this
 * mode. */
void shadow_set_strict(bool);

/* The next functions serve runs by schedule. shadow_digest() returns a digest of the world, which
 * is the same for equal states; the caller frees it. shadow_judge_repeated() judges the state as a
 * state that recurs for ever, shadow_judge_rest() as a state in which nothing more can happen. */
char *shadow_digest(void);
void shadow_judge_repeated(const char *state);
void shadow_judge_rest(void);

/* shadow_require_rest() must be called when a run stands still. If the world still expects an event
 * of its host, the host must have lost it, which is a breach. shadow_require_end() must be called
 * at the end of a run. It is a breach if some program has not ended. */
void shadow_require_rest(void);
void shadow_require_end(void);

const struct rcl_protocol *shadow_protocol(void);

/* Returns whether recovery is independent (protocols/protocol.h). */
bool shadow_independent(void);
bool shadow_cuts_steps(void);        /* ranks may crash within steps (HAZARD_CUT_STEPS) */
bool shadow_control_overtakes(void); /* HAZARD_CONTROL_OVERTAKES */
const struct world_rank *shadow_rank(int rank);
const struct world_global *shadow_global(void);
uint32_t shadow_slots(int rank); /* number of payload slots of the rank that are filled */
uint32_t shadow_actions_max(void);
/* the rank from which messages are drained, RCL_ANY or RCL_NOBODY */
int shadow_draining(int rank);
bool shadow_next_down(int rank, struct rcl_event *); /* does what world_next_down() does */

/* Returns the bytes of the protocol's state of a rank that are in use. Its lists have room for
 * `capacity` entries; a protocol that wrote them to disk would not write the empty entries. */
uint32_t shadow_state_bytes(int rank);

/* Returns how many bytes of the state are new since the last call for that rank. `*before` holds
 * the state at that call; it is NULL at first, and the caller frees it. */
uint32_t shadow_state_increment(int rank, void **before);
bool shadow_finished(void);     /* whether all programs have ended */
uint32_t shadow_left(int rank); /* number of outputs of the rank that have left */
/* number of outputs that the rank's program has made in its present execution */
uint32_t shadow_outputs(int rank);

/* Returns whether that part of the checkpoint of `rank` is on stable storage. */
bool shadow_is_stored(int rank, uint32_t checkpoint, enum rcl_part);

/* shadow_holds() returns whether an image of that checkpoint is stored or being written.
 * shadow_has_lost() returns whether the rank's node has lost the image. */
bool shadow_holds(int rank, uint32_t checkpoint);
bool shadow_has_lost(int rank, uint32_t checkpoint);

/* Returns whether a start from that checkpoint would miss a log that a crash has taken from
 * storage.
 */
bool shadow_has_lost_log(int rank, uint32_t checkpoint);
bool shadow_has_to_lose(int rank, enum crash_leaves); /* world_has_to_lose() */
enum next_line shadow_next_line(void);                /* world_next_line() */
/* whether the rank can start from the checkpoint */
bool shadow_can_read(int rank, uint32_t checkpoint);

/* Returns whether, with independent recovery, a dead rank starts from an image that is older than a
 * durable one. */
bool shadow_starts_behind(int rank);
/* Returns a rank that must start from a lost checkpoint. Returns -1 if there is none or if recovery
 * is independent. */
int shadow_stranded(void);
bool shadow_loses(void); /* whether crashes can take stored checkpoints away */

/* Returns how the writes under way at a crash of `rank` end, in the form of move.index. With
 * check.hazards, writes that the host has `begun` are found torn or whole; otherwise all writes
 * under way are lost. */
uint32_t shadow_write_ends(int rank,
                           bool (*begun)(int rank, uint32_t checkpoint, enum rcl_part part));

/* Returns whether digests tell payloads apart. In a scenario without failures nothing is sent
 * twice, so digests are needed only for a trace and in a run by schedule. */
bool shadow_compares_contents(void);

/* Returns whether `move` can happen now. It is for events that a detection may have overtaken; it
 * must not be used to hide an event that should not have happened. */
bool shadow_allows(const struct move *);

/* Takes a move. `actions` has room for shadow_actions_max(); its count is 0 if there was no step.
 * Returns false if the protocol gave up; then `reason` says why. */
bool shadow_step(struct move *, struct rcl_actions *, enum rcl_reason *reason);

/* A rank has two kinds of logs that checkpoints shorten: checkpoints of the receivers shorten logs
 * of sent messages, the rank's own checkpoints shorten logs of events. `sent` and `events` say how
 * full the fullest log of a kind is: 0 if less than half full, 1 from a half on, 2 from three
 * quarters on, 3 from seven eighths on. */
struct fill {
  uint32_t sent, events;
  bool low; /* no log is filled to a quarter */
};
struct fill shadow_fill(int rank);

/* Returns whether the last step was at a TIMER and put the checkpoint off. */
bool shadow_puts_off(void);

/* Counts the operations that the event, which comes next, costs the rank's protocol
 * (protocols/protocol.h).
 */
void shadow_work(int rank, const struct rcl_event *, struct rcl_work *);

/* Returns why the last protocol that gave up did so, and what would help. */
const char *shadow_why(void);

#endif
