/* Declares what the files of the world share about a move that is being taken. world.c calls these
 * files in turn:
 *
 *     world_events.c    the event takes place
 *     world_door.c      the protocol takes its step
 *     world_actions.c   the actions of the step take effect, if the grammar of a step allows them
 *     world_channels.c  messages come and go
 *     world_matching.c  messages are given to receives of the program
 *     world_shares.c    collectives
 *     world_storage.c   images, stable storage, restart
 *     world_merges.c    stored states that count as one
 *     world_crash.c     crash, detection
 *     world_output.c    outputs are made, and leave
 *     world_flows.c     what programs have sent and were given
 *     world_judge_step.c  properties: what is judged and noted during a step
 *     world_judge.c     properties: the order of messages; states at rest and at the end
 */
#ifndef RECLINE_WORLD_STEP_H
#define RECLINE_WORLD_STEP_H

#include "world/rules/properties.h"
#include "world/rules/world_parts.h"

struct step_context {
  const struct world *w;
  struct move *move;
  struct rcl_actions *actions;
  struct verdict *verdict;
  int rank;
  struct rcl_event event; /* the complete event, as the protocol sees it */
  /* SEND: the message that is sent; ARRIVED: the message that has arrived. */
  struct world_message message;
  struct content result; /* COLLECTED: the content of all contributions together */
  uint32_t newest_stop;  /* COLLECTED: the highest stop-log line among the contributions, and the
                            sender of that contribution */
  int newest_peer;
  /* CHOICE: the outcome that counts, which is the program's own or a forced one */
  uint32_t outcome;
  bool rolled_back; /* the last action of the step has rolled the rank back */
  /* DOWN: an earlier DOWN has rolled the rank back, so this DOWN must roll it back, too */
  bool undone;
  /* START with global recovery: number of the kept bytes of the state, or 0 if there is none */
  uint32_t stored;
  const struct rcl_action *action; /* the action that takes effect, or NULL if there is none */
};

/* world_before_step() lets the event take effect before the protocol's step; world_after_step()
 * does what follows the step. */
void world_before_step(struct step_context *);
void world_after_step(struct step_context *);

/* ---- calls of the protocol (world_door.c) ---- */

enum { FLAW_MAX = sizeof(((struct verdict *)0)->text) };

/* Takes a step of the protocol in `state`, which belongs to `rank`. No other function of the world
 * calls the protocol's step. Returns false if the step violates property `pure`: `flaw` (FLAW_MAX
 * bytes) says how, and there are no actions. If world.check is set, sets `broken` to the number of
 * a broken invariant, as in rcl_protocol_step(). If `broken` is NULL, invariants are not
 * checked. */
bool world_call_step(const struct world *, int rank, void *state, const struct rcl_event *,
                     struct rcl_actions *, int *broken, char *flaw);

/* Returns the size of a state in bytes. It is a breach if the size is not equal for all ranks and
 * all calls (world_size.c). */
uint32_t world_ask_state_size(const struct world *);

/* Permutes the ranks in a state of `rank`. It is a breach if the protocol's function is not
 * pure. */
void world_call_permute(const struct world *, int rank, void *state, const int16_t *to);

/* ---- clocks (world_clocks.c) ---- */

void world_set_alarm(struct step_context *, const struct rcl_action *);
void world_ring(struct step_context *); /* lets the rank's alarm go off */

/* ---- matching (world_matching.c) ---- */

/* Gives `message` to receive `request` of the program. */
void world_give(struct step_context *, uint32_t request, int peer, const struct world_message *);

/* Withdraws a receive: it matches nothing until it is announced again. */
static inline void world_withdraw(struct world_receive *receive)
{
  receive->announced = false;
  receive->from = receive->peer;
  receive->from_tag = receive->tag;
}

/* Below the matching: world_pass_up() gives `message` to the receive that it matches, or adds it to
 * the unexpected messages. world_take_unexpected() gives the first unexpected message that matches
 * to the receive that was posted last. */
void world_pass_up(struct step_context *, int peer, const struct world_message *);
void world_take_unexpected(struct step_context *);

/* ---- channels (world_channels.c) ---- */

/* world_is_reachable() returns whether a message of that incarnation to `rank` exists: it does not
 * exist if the rank is dead or will never take it. world_is_cut_off() returns whether `from` has
 * noticed that the rank of the step was declared dead, and so takes nothing more from that rank. */
bool world_is_reachable(const struct world *, int rank, uint16_t incarnation);
bool world_is_cut_off(const struct step_context *, int from);

/* Sends a message of the rank of the step, if the message exists for the receiver. */
void world_put_on(struct step_context *, enum part_kind, int peer, const struct world_message *);

/* Removes message `index` from its channel. If it is a control message, later messages of the
 * program stop waiting for it. */
void world_remove_message(const struct world *, enum part_kind, int peer, int rank, uint32_t index);

/* Drops the messages of one channel that are from before that incarnation. */
void world_drop_stale(const struct world *, enum part_kind, int peer, int rank,
                      uint16_t incarnation);

/* ---- collectives (world_shares.c) ---- */

/* Ends the program's call. `content` is the result of the call, if it has `given` a result. */
void world_end_call(struct step_context *, bool given, struct content content);

void world_join_call(struct step_context *, const struct rcl_action *);
void world_rejoin_call(struct step_context *, const struct rcl_action *);
void world_collect(struct step_context *); /* takes the data; all of them have come */

/* Drops contributions of `peer`, or of all ranks if that is RCL_ANY, to `rank` from before that
 * incarnation. */
void world_drop_shares(const struct world *, int peer, int rank, uint16_t incarnation);

/* ---- images, storage, failures (world_storage.c) ---- */

/* Keeps an image of the program as it is. Returns the number of the kept bytes. */
uint32_t world_keep_image(struct step_context *);
void world_drop_image(const struct world *, int rank); /* drops an image that was not stored */
void world_store(struct step_context *, const struct rcl_action *);
void world_erase(struct step_context *, uint32_t checkpoint);
void world_drop_cut(const struct world *, int rank); /* drops writes that are not durable */
void world_drop_old_logs(const struct world *, int rank);
void world_report(struct step_context *); /* DURABLE: notes that a part is durable */

/* Returns whether storage is fenced against the rank, because it has not noticed a recovery yet. */
bool world_fenced(const struct step_context *);

void world_crash(struct step_context *);
void world_crash_in_step(struct step_context *);

/* Ends the writes of one rank that crashes, as the first digits of `ends` (move.index) say. Returns
 * the remaining digits, for the writes of other ranks. */
uint32_t world_crash_one(const struct world *, int rank, uint32_t ends);
void world_detect(struct step_context *);
void world_restore(struct step_context *);

/* With independent recovery: begins to set the program of the rank back to `checkpoint`, which a
 * START ends. The protocol's state stays. */
void world_set_back(struct step_context *, uint32_t checkpoint);

/* ---- stored states that count as one (world_merges.c) ---- */

/* world_merge_state() replaces the state by the state that is stored in its place, for a START of
 * `rank` from that checkpoint. world_note_merge() notes, for an audit, that `state` was stored as
 * `number`. */
void world_merge_state(const struct world *, int rank, uint32_t checkpoint, void *state);
void world_note_merge(const struct world *, int rank, uint32_t number, const void *state);

/* For audits: checks, after the step of a START, that all states that were merged into its state
 * lead to the same result. It is a breach if they do not. */
void world_audit_merges(const struct step_context *);

/* ---- the outside (world_output.c) ---- */

/* Makes an output. If the output has left already, it must be the same. */
void world_make_output(struct step_context *);

/* world_let_out() carries out action OUTPUT. world_let_out_covered() lets the outputs leave that
 * the committed `checkpoint` covers. world_let_out_behind() lets the outputs leave that the images
 * of `checkpoint` show as made. For this function, `checkpoint` is the checkpoint before the
 * committed one, and no rank goes back behind it. */
void world_let_out(struct step_context *, const struct rcl_action *);
void world_let_out_behind(struct step_context *, uint32_t checkpoint);
void world_let_out_covered(struct step_context *, uint32_t checkpoint);
void world_judge_waiting(struct step_context *);

/* ---- levels of storage (world_levels.c) ---- */

/* Loses what was on the node of `rank`, which crashes. */
void world_lose(const struct world *, int rank, enum crash_leaves);

/* Loses everything durable that is not on nodes, because the server crashes. */
void world_lose_server(const struct world *);

/* Notes whether record `index` of `rank`, which is durable, has a copy. It has a copy unless the
 * partner's node is down. */
void world_note_copy(const struct world *, int rank, uint32_t index);

/* Returns whether the recorded part of `rank` can be read, or rebuilt. */
bool world_is_there(const struct world *, int rank, const struct world_record *);

/* Returns the newest committed checkpoint, at most `most`, that all ranks can read or rebuild, or
 * RCL_FRESH if there is none. */
uint32_t world_newest_line(const struct world *, uint32_t most);

/* Chooses the checkpoint to which a recovery that begins now goes, and counts the recovery. */
uint32_t world_choose_line(const struct world *);

/* Puts the pieces of `checkpoint`, from which `rank` starts, on the rank's node again. Also puts
 * there the copies that the node keeps of other ranks' pieces, if those pieces are not lost. */
void world_rebuild(const struct world *, int rank, uint32_t checkpoint);

/* Returns whether a newer checkpoint is committed on a level that survives as many failures. With
 * world.attempts there must be two newer checkpoints. */
bool world_is_superseded(const struct world *, int rank, uint32_t checkpoint);

/* Returns whether that stored checkpoint is part of a consistent state of all ranks
 * (world_useful.c). */
bool world_is_useful(const struct world *, int rank, uint32_t checkpoint);

/* world_image_parts has the parts of an image, in the order in which they are kept. */
enum { IMAGE_PARTS = 5 };
extern const enum part_kind world_image_parts[IMAGE_PARTS];

/* Returns a part of an image, and sets its size in bytes. */
const void *world_part_of_image(const struct world *, uint32_t image, enum part_kind,
                                uint32_t *size);

/* Returns the record of that part of a checkpoint of `rank` if the part is durable, otherwise
 * NULL. */
const struct world_record *world_durable_record(const struct world *, int rank, uint32_t checkpoint,
                                                enum rcl_part);

/* With independent recovery: returns the last checkpoint whose image of `rank` is durable, or
 * RCL_FRESH if there is none. */
uint32_t world_last_image(const struct world *, int rank);

/* Returns a part of the image from which `rank` would be started now, and sets its size in bytes.
 * Returns NULL if there is no such image. */
const void *world_line_part(const struct world *, int rank, enum part_kind, uint32_t *size);

/* Returns whether no rank will start from storage any more, because no crash may still happen
 * (explorer, global recovery). When also no recovery is under way any more (world_global.settled),
 * the contents of images and stored states are left out, so that states which differ only in these
 * contents become one. Returns false if contents still matter: if outputs wait for later
 * checkpoints (world.attempts), or if `useful` is judged, which reads all contents. */
bool world_settles(const struct world *);

/* Keeps a substitute for `image`, or for the present program if that is 0. If `counts`, the
 * substitute has the numbers of messages that the image has received; otherwise it is an empty
 * image. Returns the substitute's number. */
uint32_t world_keep_received(const struct world *, int rank, uint32_t image, bool counts);

/* Drops messages in transit to `rank` from the earlier incarnation of `peer`. */
void world_disconnect(const struct world *, int rank, int peer, uint16_t incarnation);

/* Clears the rank's memory, which is lost, and drops messages to it from earlier incarnations. */
void world_wipe(const struct world *, int rank, enum rank_phase, uint16_t incarnation);

/* ---- what programs have sent and were given (world_flows.c) ---- */

/* Returns the flow of `rank` to and from `peer` with that envelope, for writing. Makes the flow if
 * there is none. */
struct world_flow *world_flow(const struct world *, int rank, int peer, int comm, int tag);

/* Copies that flow from a stored part of `size` bytes. Returns false if the part has no such
 * flow. */
bool world_flow_in(const unsigned char *part, uint32_t size, int peer, int comm, int tag,
                   struct world_flow *);

/* ---- properties (world_judge.c, world_judge_step.c) ---- */

/* Returns whether `property` is judged in this world. */
static inline bool is_judged(const struct world *w, const char *property)
{
  return properties_judge(w->properties, property);
}

/* Notes a violation of a property, if the property is judged and the step has no earlier violation.
 * For `legal`, the text begins with the action and the event, and then names the rule. */
void world_violate(struct step_context *, const char *property, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Notes that there is an occasion to judge that property (enum property). */
static inline void world_occasion(const struct step_context *t, unsigned property)
{
  reached_judge(&t->verdict->reached, property);
}

/* Returns whether flows are followed. Flows of free programs are followed only if a property needs
 * them, because they would multiply states. */
bool world_follows(const struct world *);

/* Returns whether a property needs to know which messages images have received
 * (world_line_part()). */
bool world_judges_garbage(const struct world *);

/* Returns whether a property (`useful`) looks at the images of all stored checkpoints, whether or
 * not a rank may start from them. */
bool world_judges_useful(const struct world *);

/* These functions note what the step shows: that a checkpoint commits after `recoveries`
 * recoveries, and that a rank has started. */
void world_reach_commit(struct step_context *, uint32_t checkpoint, uint16_t recoveries);
void world_reach_start(struct step_context *);

/* These functions note what happens to messages, and which lines messages cross. `line` is the line
 * of the message's sender; a message that crosses a line violates `uncrossed`. */
void world_reach_action(struct step_context *, const struct rcl_action *);
void world_reach_crossing(struct step_context *, uint32_t line);

/* Notes that the program has sent a message with that content, as t->event says. */
void world_note_sent(struct step_context *, const struct content *);

/* Judges a message that is given to the program. It must be the next message of its flow. */
void world_check_sequence(struct step_context *, int peer, const struct world_message *);

/* Does what world_violate() does, with words such as "the 2nd message from rank 0 with tag 7" in
 * front of `text`. `text` may speak of another message: `other` is that message's place in its
 * flow, or 0 if there is none. */
void world_violate_message(struct step_context *, const char *property, int peer,
                           const struct world_message *, uint32_t other, const char *text);

/* Judges claims 1.2 and 1.3 of C3 at a delivery. `stopped` is the receiver's `stopped` (world_rank)
 * before the step. */
void world_check_lines(struct step_context *, uint32_t stopped);

/* Judges claims 2.2 and 2.3 of C3 for a contribution, when all data of a call are collected. */
void world_check_share_lines(struct step_context *, int peer, const struct world_message *share);
void world_check_collected_lines(struct step_context *);

/* These functions judge a survivor that is told of a failure or, with independent recovery, goes
 * back to `checkpoint`. */
void world_judge_told(struct step_context *);
void world_judge_set_back(struct step_context *, uint32_t checkpoint);

/* Judges claim 1.1 of C3, when a rank has stopped logging for `checkpoint`. */
void world_check_all_beyond(struct step_context *, uint32_t checkpoint);

/* Judges a rank's part of a recorded global state: all parts together must have as many messages
 * received or under way as were sent. */
void world_check_tokens(struct step_context *, uint32_t more);

/* Judges property frees-at-capture, when an image is stored. */
void world_check_stored(struct step_context *);

/* Judges bookmarks: no message is under way from or to a rank when it is captured. */
void world_check_quiet(struct step_context *);

#endif
