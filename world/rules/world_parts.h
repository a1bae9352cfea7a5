/* Gives the files of the world access to its parts. A list is an array that fills its part, so the
 * size of the part tells its length. */
#ifndef RECLINE_WORLD_PARTS_H
#define RECLINE_WORLD_PARTS_H

#include <string.h>

#include "world/rules/shares.h"
#include "world/rules/world.h"

static inline const void *world_read(const struct world *w, enum part_kind kind, int a, int b,
                                     uint32_t *size)
{
  return w->memory.read(w->memory.ctx, world_part(w, kind, a, b), size);
}

static inline void *world_edit(const struct world *w, enum part_kind kind, int a, int b,
                               uint32_t size)
{
  return w->memory.edit(w->memory.ctx, world_part(w, kind, a, b), size);
}

static inline const struct world_rank *read_rank(const struct world *w, int rank)
{
  uint32_t size;
  return world_read(w, WORLD_RANK, rank, 0, &size);
}

/* Reads only the head of a rank, so that a step does not depend on the rest of the rank. */
static inline struct world_head read_rank_head(const struct world *w, int rank)
{
  const struct world_head *head =
      w->memory.read_head ? w->memory.read_head(w->memory.ctx, world_part(w, WORLD_RANK, rank, 0))
                          : NULL;
  return head ? *head : world_head_of(read_rank(w, rank));
}

static inline struct world_rank *edit_rank(const struct world *w, int rank)
{
  return world_edit(w, WORLD_RANK, rank, 0, (uint32_t)sizeof(struct world_rank) + w->state_bytes);
}

static inline const struct world_program *read_program(const struct world *w, int rank)
{
  uint32_t size;
  return world_read(w, WORLD_PROGRAM, rank, 0, &size);
}

static inline bool has_windows(const struct world *w)
{
  return w->script && w->script->windows;
}

static inline uint32_t program_bytes(const struct world *w)
{
  return (uint32_t)(sizeof(struct world_program) +
                    (has_windows(w) ? sizeof(struct world_window) : 0));
}

static inline struct world_program *edit_program(const struct world *w, int rank)
{
  return world_edit(w, WORLD_PROGRAM, rank, 0, program_bytes(w));
}

static inline const struct world_global *read_global(const struct world *w)
{
  uint32_t size;
  return world_read(w, WORLD_GLOBAL, 0, 0, &size);
}

static inline struct world_global *edit_global(const struct world *w)
{
  return world_edit(w, WORLD_GLOBAL, 0, 0, sizeof(struct world_global));
}

static inline bool is_control(const struct world_message *message)
{
  return message->comm == CONTROL_COMM;
}

/* Returns whether the protocol sits below the matching. */
static inline bool below_matching(const struct world *w)
{
  return w->protocol->level == RCL_LEVEL_CHANNEL;
}

/* Returns whether programs take every message as soon as it has been delivered. */
static inline bool are_free(const struct world *w)
{
  return w->script && w->script->free;
}

static inline bool control_overtakes(const struct world *w)
{
  return w->hazards & HAZARD_CONTROL_OVERTAKES;
}

/* Returns whether messages of that part overtake each other. */
static inline bool is_unordered(const struct world *w, enum part_kind kind)
{
  return kind == WORLD_CONTROL ? control_overtakes(w) : w->overtaking;
}

/* Returns the kind of channel in which control messages travel. */
static inline enum part_kind control_part(const struct world *w)
{
  return below_matching(w) ? WORLD_CHANNEL : WORLD_CONTROL;
}

/* Reads a list of items of `type`, and sets `count` to their number. */
#define READ_LIST(type, w, kind, a, b, count)                                                      \
  ((const type *)world_list((w), (kind), (a), (b), (uint32_t)sizeof(type), (count)))

static inline const void *world_list(const struct world *w, enum part_kind kind, int a, int b,
                                     uint32_t item, uint32_t *count)
{
  uint32_t size;
  const void *list = world_read(w, kind, a, b, &size);
  *count = size / item;
  return list;
}

/* Inserts a copy of `item` before `index`. */
static inline void list_insert(const struct world *w, enum part_kind kind, int a, int b,
                               uint32_t index, const void *item, uint32_t bytes)
{
  uint32_t size;
  world_read(w, kind, a, b, &size);
  unsigned char *list = world_edit(w, kind, a, b, size + bytes);
  unsigned char *at = list + (size_t)index * bytes;
  memmove(at + bytes, at, size - (size_t)index * bytes);
  memcpy(at, item, bytes);
}

/* Removes an item. Moves the items before it or the items behind it, whichever are fewer. */
static inline void list_remove(const struct world *w, enum part_kind kind, int a, int b,
                               uint32_t index, uint32_t bytes)
{
  uint32_t size;
  world_read(w, kind, a, b, &size);
  unsigned char *list = world_edit(w, kind, a, b, size);
  size_t before = (size_t)index * bytes, behind = size - before - bytes;
  if (before < behind && w->memory.drop) {
    memmove(list + bytes, list, before);
    w->memory.drop(w->memory.ctx, world_part(w, kind, a, b), bytes);
    return;
  }
  memmove(list + before, list + before + bytes, behind);
  world_edit(w, kind, a, b, size - bytes);
}

static inline void list_clear(const struct world *w, enum part_kind kind, int a, int b)
{
  uint32_t size;
  world_read(w, kind, a, b, &size);
  if (size)
    world_edit(w, kind, a, b, 0);
}

/* Sets the pieces of a rank's protocol state that are in use, and returns their number. */
static inline uint32_t world_in_use(const struct world *w, int rank, const void *state,
                                    struct rcl_piece *piece)
{
  if (!w->all_in_use)
    return rcl_protocol_in_use(w->protocol, &w->config[rank], state, piece);
  *piece = (struct rcl_piece){.bytes = w->state_bytes, .room = w->state_bytes};
  return 1;
}

/* ---- messages and incarnations ---- */

/* Returns whether a message exists for a rank. The message carries the incarnation that its sender
 * had noticed, which must not be earlier than the rank's last start. A message from an incarnation
 * that the rank has not noticed waits until the rank notices it. With global recovery, the
 * incarnation of the last start and the last noticed incarnation are the same. */
static inline bool world_exists(const struct world_rank *to, const struct world_message *message)
{
  return message->incarnation >= to->incarnation && message->incarnation <= to->noticed;
}

/* ---- rules shared by listing, refusing and taking moves (world_rules.c) ---- */

/* Returns the receive of `rank` that would get that message of `peer`, by MPI's order of matching,
 * or NULL if no receive accepts the message. */
const struct world_receive *world_matching(const struct world *, int peer, int rank,
                                           const struct world_message *);

/* Returns whether the program has posted that receive; if so, sets `place` to its place in the
 * list. */
bool world_is_posted(const struct world *, int rank, uint32_t request, uint32_t *place);

/* Returns the first receive that must be announced again after a restart, or NULL if there is
 * none. */
const struct world_receive *world_unannounced(const struct world *, int rank);

/* Returns the checkpoint from which `rank` starts next. */
uint32_t world_start_of(const struct world *, int rank);

/* Returns false if the image of that checkpoint was stored and crashes have taken it. */
bool world_can_read(const struct world *, int rank, uint32_t checkpoint);

/* Returns the rank after the last rank of the node that begins with `rank`. */
static inline int world_node_end(const struct world *w, int rank)
{
  return rank + w->per_node < w->ranks ? rank + w->per_node : w->ranks;
}

/* Returns whether message `index` of a channel (WORLD_CHANNEL or WORLD_CONTROL) may come out next:
 * it is the oldest message, or messages may overtake each other. */
bool world_comes_out(const struct world *, enum part_kind, int peer, int rank, uint32_t index);

/* Returns whether that part of `rank` is being written. Sets `index` to the first such write, which
 * ends before other writes of the same part. Writes of different parts or checkpoints end in any
 * order. */
bool world_is_being_written(const struct world *, int rank, uint32_t checkpoint, enum rcl_part,
                            uint32_t *index);

/* For the explorer: returns whether the TIMER of `rank` can happen only if a timer is left
 * (world_global.timers). With clocks, a TIMER for a checkpoint that the coordinator has begun needs
 * no timer. */
bool world_needs_timer(const struct world *, int rank);

/* For clocks (world_clock_rules.c): these functions return why the bounds do not yet allow that the
 * alarm of `rank` goes off, or that the message has reached `rank`. They return NULL if the bounds
 * allow it. */
const char *world_too_early(const struct world *, int rank);
const char *world_too_fast(const struct world *, int rank, const struct world_message *);

/* Returns whether message `index` of the channel may arrive now. Sets `request` to the receive that
 * gets it, or to RCL_NO_REQUEST if it is drained. */
bool world_may_arrive(const struct world *, int peer, int rank, uint32_t index, uint32_t *request);

/* Returns the flow of `rank` to and from `peer` with that envelope (world_flows.c), or NULL if
 * there is none. Sets `count` to the number of flows, and `place` to the index that the flow has or
 * would have. */
const struct world_flow *world_find_flow(const struct world *, int rank, int peer, int comm,
                                         int tag, uint32_t *place, uint32_t *count);

bool world_is_member(const struct world *, int comm, int rank);

/* Returns the key that selects the contributions to the call that `rank`, whose part is `me`, may
 * take. */
struct shares_key world_shares_key(const struct world_call *, const struct world_rank *me,
                                   int rank);

/* world_flows_to() returns whether data of the call flow to `rank` at all, world_flows() whether
 * they flow from `peer` to `rank`. */
bool world_flows_to(const struct world_call *, int rank);
bool world_flows(const struct world *, const struct world_call *, int peer, int rank);

/* Returns the contribution of `peer` to the call of `rank`, whose part is `me`, and sets its place.
 * Returns NULL if the contribution has not come. */
const struct world_message *world_find_share(const struct world *, const struct world_call *,
                                             const struct world_rank *me, int peer, int rank,
                                             uint32_t *index);

/* Sets the COLLECTED event of the call in which `rank` is, with number and sums of the
 * contributions that have come, including the rank's own. Returns false if the rank has not joined,
 * or contributions are missing (scripts). */
bool world_collected(const struct world *, int rank, struct rcl_event *);

/* Sets the next event that the script offers and, for CHOICE, sets `choices` to the number of
 * outcomes. Returns false if the script is blocked or finished, or if there is no script. */
bool world_script_event(const struct world *, int rank, struct rcl_event *, unsigned *choices);

/* Returns whether the program is in a call that makes a communicator, and the call's data have come
 * together. */
bool world_makes_communicator(const struct world *, int rank);

/* Returns whether the program's CHOICE can have that outcome: a test or a wait can only find a
 * message that has come. */
bool world_script_allows(const struct world *, int rank, uint32_t outcome);

/* Notes that the program of `rank` has sent. */
void world_script_sent(const struct world *, int rank);

/* Begins a synchronous send, if the send that the program of `rank` has just made in that
 * incarnation is synchronous. */
void world_begin_synchronous(const struct world *, int rank, uint16_t incarnation);

/* Returns NULL if the synchronous send in which the program is can end, because its receiver has
 * taken the message for a receive, has drained it, or has crashed. Otherwise returns why it cannot
 * end. */
const char *world_refuses_sent(const struct world *, int rank);

/* Sets PROGRAM of `rank` to its value before the first event. */
void world_begin_program(const struct world *, int rank);

/* Returns the content that the program sends, or contributes, at its present operation. The
 * contents of two sends in a row differ. Free programs always have the same content. */
struct content world_content(const struct world *, int rank);

/* ---- faults (world_fault_rules.c) ---- */

/* Returns whether the rank has a running process that can crash and was not declared dead. */
bool world_is_alive(const struct world *, int rank);

/* Returns whether the rank runs or, if failed restarts count, is being started again. */
bool world_can_crash(const struct world *, int rank);

/* Returns whether one more crash is allowed. */
bool world_crash_is_left(const struct world *);

/* These functions return why a MOVE_CRASH, MOVE_DETECT or MOVE_FAULT cannot happen, or NULL if it
 * can. The text is constant. */
const char *world_refuses_crash(const struct world *, const struct move *);
const char *world_refuses_detection(const struct world *, const struct move *);
const char *world_refuses_fault(const struct world *, const struct move *);

/* ---- windows of scripts (world_windows.c) ---- */

/* Passes an operation on windows that needs no event, as world_script_advance() does for other
 * operations. Returns false if it is not such an operation.
 */
bool world_window_pass(const struct world *, int rank, struct world_program *);

/* Takes a message for the window that the program was given. The program does not see it. */
void world_window_take(const struct world *, int rank, struct world_program *,
                       const struct content *);

/* world_window_content() returns the content that the program sends, or contributes, at its
 * operation. world_window_sent() notes that it was sent, and returns whether the operation is over.
 */
struct content world_window_content(const struct world *, int rank);
bool world_window_sent(const struct world *, int rank, struct world_program *);

/* world_window_event() sets the event of a program that serves its window, and returns false if the
 * program does not serve. world_window_allows() returns whether the program's CHOICE can have that
 * outcome: it can if a message has come, or the event for which the program waits.
 * world_window_choose() takes the outcome. */
bool world_window_event(const struct world *, int rank, struct rcl_event *, unsigned *choices);
bool world_window_allows(const struct world *, int rank, uint32_t outcome);
void world_window_choose(const struct world *, int rank, uint32_t outcome);

static inline bool is_serving(const struct operation *op)
{
  return op->kind == SCRIPT_SERVE || op->kind == SCRIPT_UNLOCK_OWN;
}

/* Empties the parts of the window that a faulty host leaves out of images. The caller has just
 * restored the program from an image. */
void world_window_restored(const struct world *, int rank);

/* Returns the history of a program before its first operation. It depends on the rank, so that a
 * receiver can tell from which rank it has received. */
struct content world_first_history(int rank);

/* Lets a script pass operations that need no event. */
void world_script_advance(const struct world *, int rank);

#endif
