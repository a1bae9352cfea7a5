/* The world is everything around the protocols of all ranks, as rules on plain memory.
 *
 * It holds the channels with MPI's matching rules, the receives that programs have posted, the
 * payload slots, stable storage, crashes, detection, incarnations and restarts; it knows which
 * moves can happen next. It is the only caller of rcl_protocol_step() (lock 2), apart from the host
 * for real MPI, where no process knows the whole.
 *
 * The explorer takes every move that world_moves() lists. The SMPI host and the trace replay report
 * what did happen through world_step(), which refuses anything that the world could not have
 * produced (lock 3). There is no second copy of the rules.
 *
 *          +--------------------- world ---------------------+
 *          |  per rank:  RANK  PROGRAM  POSTED  SLOTS  FLOWS  SENT  STORED
 *          |             REJOINED  UNEXPECTED  LEFT
 *          |  per pair:  CHANNEL (messages)  CONTROL (control messages)
 *          |             SHARE (contributions to collectives)
 *          |  one:       GLOBAL  TOKENS
 *          +--------------------------------------------------+
 *
 * Each box is a *part*: a run of bytes, comparable with memcmp, that the host of the world keeps
 * (struct world_memory). The explorer interns parts, so that a state of the whole world is a tuple
 * of small numbers; the SMPI host and the replay keep them in place.
 *
 * A contribution flows to many ranks. In runs, which have many ranks, SHARE of all pairs is in
 * groups (shares.h), which read as the same bytes.
 *
 * For a protocol at the level of the channels (protocol.h), control messages are in CHANNEL, too.
 *
 * The judge of properties keeps its notes in parts, too, so they roll back with the programs. FLOWS
 * counts, for each (peer, tag, communicator), the messages that the program has sent and was given.
 * So a lost, doubled or overtaking message shows at its delivery.
 */
#ifndef RECLINE_WORLD_H
#define RECLINE_WORLD_H

#include "protocols/protocol.h"
#include "world/rules/reached.h"
#include "world/script/content.h"
#include "world/script/script.h"

/* ---- parts ---- */

enum part_kind {
  WORLD_RANK,    /* struct world_rank, then the protocol's state */
  WORLD_PROGRAM, /* struct world_program; with scripts that have windows, struct world_window behind
                    it */
  WORLD_POSTED,  /* struct world_receive[] in the order of posting */
  WORLD_SLOTS,   /* struct world_slot[] by slot number */
  WORLD_FLOWS,   /* struct world_flow[] by peer, tag, communicator */
  WORLD_SENT,    /* struct world_sent[] in the order of sending */
  WORLD_STORED,  /* struct world_record[] in the order of writing; writes of different parts end in
                    any order */
  WORLD_REJOINED,   /* struct world_share[]: contributions, still to be taken, to calls that the
                       rank rejoined after a restart */
  WORLD_UNEXPECTED, /* RCL_LEVEL_CHANNEL: struct world_slot[], delivered but not yet received */
  WORLD_LEFT, /* struct content[]: the outputs that the outside has seen, which no crash undoes */
  WORLD_RANK_PARTS,
  WORLD_CHANNEL = WORLD_RANK_PARTS, /* struct world_message[] in the order of sending */
  WORLD_CONTROL,
  WORLD_SHARE, /* struct world_message[]: tag is the number of the call */
  WORLD_GLOBAL,
  WORLD_TOKENS /* struct world_tokens, or empty */
};

enum rank_phase {
  RANK_NEW, /* before its first START */
  RANK_RUNNING,
  RANK_CAPTURING, /* between CAPTURE and CAPTURED: nothing else happens here */
  RANK_RESTORING, /* between ROLL_BACK and START */
  RANK_DEAD,      /* crashed, not yet detected */
  RANK_RESTARTING /* crashed and detected, not yet started again */
};

/* Describes an alarm of a clock, which is set or has gone off. */
struct world_alarm {
  uint32_t checkpoint; /* 0: none */
  int8_t after[RCL_BOUNDS];
  uint8_t pad;
};

enum connections {
  CONNECTIONS_CLOSED = 1, /* START or CAPTURED closed them, and there was no OPEN yet */
  CONNECTIONS_ANEW = 2 /* START closed all of them; peers that have not started have no connection,
                          either */
};

struct world_rank {
  uint8_t phase;
  uint8_t held;      /* a HOLD has had no RELEASE */
  uint8_t timer : 1; /* a SET_TIMER has had no TIMER */
  uint8_t timed : 7; /* independent: it has set a timer since it last started; 7 bits, so that no
                        bit of the byte is unused */
  uint8_t gave_up;   /* enum rcl_reason */
  uint16_t draining; /* 0: no peer; 1: every peer; else peer + 2 */
  uint16_t closed;   /* enum connections, or-ed */
  /* independent: the incarnation that its last crash began, or 0 if it has not crashed */
  uint16_t born;
  uint16_t incarnation; /* the incarnation in which it last started; messages of older ones do not
                           exist for the rank */
  uint16_t noticed; /* incarnation of the last DOWN; messages of a later one wait for its DOWN */
  uint8_t declared; /* declared dead while it lives: its process must still be ended */
  uint8_t set_back; /* it has gone back, and has noticed no failure after that (once-per-failure) */
  uint32_t capturing; /* checkpoint between CAPTURE and CAPTURED */
  uint32_t image;     /* kept bytes of the last capture: the parts in world_image_parts */
  uint32_t line;      /* last checkpoint captured */
  uint32_t stopped;   /* last checkpoint for which logging has stopped */
  /* Independent: the checkpoint from which it starts, or last started after a crash. */
  uint32_t origin;
  /* outputs up to this one may leave once `line` is committed, or 0 if there is none */
  uint32_t covered;
  struct world_alarm set, rung; /* clocks: the next alarm, and the last one that went off */
};

_Static_assert(sizeof(struct world_rank) % 8 == 0, "the protocol state that follows is 8-aligned");

/* Holds the fields of struct world_rank that steps of other ranks can see. */
struct world_head {
  uint8_t phase, declared;
  uint16_t closed, born, incarnation, noticed;
  uint16_t pad;
  struct world_alarm set, rung;
};

struct world_head world_head_of(const struct world_rank *);

enum call_state { CALL_NONE, CALL_ANNOUNCED, CALL_JOINED };

/* Describes the collective call that a program is in. */
struct world_call {
  uint8_t state; /* enum call_state */
  uint8_t flow;  /* enum rcl_flow */
  int16_t comm;
  int16_t root;
  uint16_t makes;            /* the communicator that the call makes */
  int32_t number;            /* number of the call on its communicator, from 1 */
  uint32_t words[RCL_WORDS]; /* own contribution, once joined */
};

struct world_program {
  uint32_t receives; /* number of receives posted so far, which is the number of the last one */
  struct content history; /* history: all that the program has received and chosen */
  uint16_t next;          /* scripts: index of the next operation */
  uint8_t finished; /* the program has reached its end; the rank still takes part in the protocol */
  uint8_t waiting;  /* scripts: 1 + the name for which the program waits, or 0 if there is none */
  struct world_call call;
  uint16_t calls[SCRIPT_COMMS]; /* scripts: collective calls so far, by communicator */
  uint16_t given;               /* scripts: a bit for each name whose receive is complete */
  uint16_t last;                /* scripts that branch: the outcome for which IF asks */
  uint16_t source[SCRIPT_NAMES +
                  1]; /* scripts that branch: the sender of the message that it was given */
  /* scripts: 1 + the incarnation of the synchronous send under way, which is the operation
   * before `next`, or 0 if there is none */
  uint16_t sending;
  /* scripts: number of the receive with that name, or 0 if there is none */
  uint32_t request[SCRIPT_NAMES + 1];
  struct content content[SCRIPT_NAMES + 1]; /* scripts: contents that it was given */
  uint32_t outputs; /* number of outputs made so far, which is the number of the last one */
};

/* Describes a message that waits at a rank's window. */
struct world_wait {
  uint16_t origin, place; /* place: number of the operation in its sender's script */
  uint16_t item[SCRIPT_PENDING];
};

/* Follows PROGRAM in scripts with windows: the window of the rank, and its accesses under way. */
struct world_window {
  uint16_t cell[SCRIPT_CELLS];
  uint16_t item[SCRIPT_PENDING]; /* by operation.name, for each access of this rank: the value that
                                    it gives, and later the value that it has fetched */
  uint16_t answer[SCRIPT_PENDING]; /* values for the origin that is answered next */
  /* For locks: */
  uint8_t held[SCRIPT_WINDOW_RANKS]; /* by origin: enum lock */
  /* 1 + the rank whose message the program takes in, or 0 if there is none */
  uint8_t source;
  uint8_t reply;   /* 1 + the rank that is answered next, or 0 if there is none */
  uint8_t granted; /* 1: the program's own lock is granted, and the program has not gone on */
  uint8_t waits;
  struct world_wait wait[SCRIPT_WINDOW_RANKS]; /* the messages that wait, in the order of arrival */
};

struct world_receive {
  uint32_t request;
  int16_t peer, comm; /* as the program posted the receive */
  int32_t tag;
  int16_t from;      /* the peer, or RCL_ANY, after a MATCH may have narrowed what was posted */
  uint8_t announced; /* the protocol has answered RECEIVE with MATCH */
  uint8_t pad;
  int32_t from_tag;
};

enum {
  CONTROL_COMM = -1, /* the comm of control messages */
  OUTSIDE = -3       /* the peer of an output */
};

struct world_message {
  int32_t tag;
  int16_t comm;
  uint16_t incarnation;
  uint32_t bytes;
  uint32_t words[RCL_WORDS];
  uint32_t sequence;      /* counts the messages of its flow in the sender's program, from 1 */
  struct content content; /* content of the payload */
  uint32_t line;          /* sender's line when the message was sent (only for claims that ask for
                             it) */
  uint32_t stopped;       /* the sender's stop-log line at that time */
  uint32_t behind; /* piggybacks: number of control messages that come before it in the channel */
  /* Clocks: the sender's last alarm when the message was sent, and its next alarm. */
  struct world_alarm after, before;
};

/* Names a collective call from which the contribution of `root`, when it comes, is taken and
 * dropped. */
struct world_share {
  int16_t comm, root;
  int32_t number;
};

struct world_slot {
  uint32_t slot; /* in UNEXPECTED: RCL_NO_SLOT */
  int16_t peer;
  /* 1 if this rank sent the message to `peer`, 0 if it received the message from `peer` */
  uint16_t sent;
  struct world_message message;
};

struct world_flow {
  int16_t peer, comm;
  int32_t tag;
  uint32_t sent;        /* messages sent to `peer`, suppressed ones included */
  uint32_t delivered;   /* messages from `peer` given to the program */
  struct content given; /* contents of the messages given to the program, in order */
};

/* Describes a message that the program has sent, perhaps suppressed. The contents are kept one by
 * one, because a receiver may have been given fewer than were sent. Free programs have no contents,
 * and runs that compare no contents keep none. Outputs are sent to the OUTSIDE. */
struct world_sent {
  int16_t peer, comm;
  int32_t tag;
  struct content content;
};

struct world_record {
  uint32_t checkpoint;
  uint8_t part; /* enum rcl_part */
  uint8_t durable;
  uint8_t reported; /* the rank was told that the part is durable; differs from `durable` only with
                       fault early-durable, and after a crash */
  uint8_t harm;     /* enum record_harm, or-ed */
  uint32_t image;   /* kept bytes of the capture (IMAGE only) */
  uint32_t state;   /* kept bytes of the protocol's state and SLOTS */
};

/* Tells what has harmed a record. TORN: a crash has cut the write. LOST, COPY_LOST: a node has
 * crashed, with the rank's own piece or with the copy on its partner's node. */
enum record_harm { HARM_TORN = 1, HARM_LOST = 2, HARM_COPY_LOST = 4 };

struct world_global {
  uint32_t committed;  /* checkpoint to recover from; RCL_FRESH at first */
  uint32_t committing; /* the checkpoint between COMMIT and COMMITTED, or 0 if there is none */
  uint32_t target;     /* the checkpoint of the recovery under way */
  /* attempts: the checkpoint before `committed`, behind which outputs have left, or RCL_FRESH if
   * there is none */
  uint32_t before;
  uint16_t restarts;    /* attempts: recoveries that went to `committed` since it became so */
  uint16_t falls;       /* attempts: recoveries that left `committed` for `before` */
  uint16_t incarnation; /* recoveries so far; independent: crashes detected so far */
  uint16_t crashes;     /* crashes that may still happen (explorer) */
  uint16_t timers;      /* TIMERs that may still happen (explorer) */
  uint8_t requested;    /* a TIMER has requested a checkpoint, and it is not committed */
  uint8_t injected;     /* the one fault that the host injects has happened */
  int16_t down;         /* the rank whose crash was detected last, or -1 if none was */
  uint8_t timed;        /* a rank (clocks: the coordinator) has set a timer; independent: 0, because
                           each rank notes this in its own part */
  uint8_t settled;      /* no rank goes back any more: world_settles() */
};

/* Sums up a global state that is being recorded, for property `tokens`. These numbers are not in
 * GLOBAL, because no rule reads them. */
struct world_tokens {
  uint32_t ranks; /* ranks that have recorded their part */
  uint32_t more;  /* the sum of these ranks' tokens */
};

/* Parts are compared, stored and hashed as bytes. They have no padding, which a compiler could
 * leave undefined. Their sizes are the same on 32-bit and 64-bit hosts, and so are states and
 * digests. */
_Static_assert(sizeof(struct world_rank) == 56, "size of RANK");
_Static_assert(sizeof(struct world_head) == 28, "size of a head: no padding that is undefined");
_Static_assert(sizeof(struct world_program) == 264, "size of PROGRAM");
_Static_assert(sizeof(struct world_window) == 76, "size of a window");
_Static_assert(sizeof(struct world_message) == 72, "size of a message");
_Static_assert(sizeof(struct world_slot) == 80, "size of a slot");
_Static_assert(sizeof(struct world_flow) == 32, "size of a flow");
_Static_assert(sizeof(struct world_sent) == 24, "size of a sent message");
_Static_assert(sizeof(struct world_record) == 16, "size of a stored part");
_Static_assert(sizeof(struct world_receive) == 20, "size of a receive");
_Static_assert(sizeof(struct world_global) == 32, "size of GLOBAL");
_Static_assert(sizeof(struct rcl_event) == 44, "size of an event");
_Static_assert(sizeof(struct rcl_action) == 44, "size of an action");

/* Lists the services that a host gives to the world. All functions take `ctx`. */
struct world_memory {
  void *ctx;
  /* Returns the bytes of a part, valid until the part is edited, and sets their number. Empty parts
   * have size 0. */
  const void *(*read)(void *ctx, uint32_t part, uint32_t *size);
  /* Returns the head of a RANK part, for callers that need only this. If the function is NULL or
   * returns NULL, `read` is called. */
  const struct world_head *(*read_head)(void *ctx, uint32_t part);
  /* Returns the part to write to, with `size` bytes: cut, or grown with zeroes. */
  void *(*edit)(void *ctx, uint32_t part, uint32_t size);
  /* Drops `bytes` bytes, all of which exist, from the front of a part, in a time that does not
   * depend on the part's size. NULL: `edit` is used. */
  void (*drop)(void *ctx, uint32_t part, uint32_t bytes);
  /* Keeps bytes for stable storage; equal bytes may get equal numbers; numbers count from 1. */
  uint32_t (*keep)(void *ctx, const void *bytes, uint32_t size);
  const void *(*kept)(void *ctx, uint32_t number, uint32_t *size);
  /* Tells that kept bytes are not needed any more. May be NULL. */
  void (*forget)(void *ctx, uint32_t number);
};

/* ---- the world ---- */

/* Keeps stored states that were merged into one, because an audit takes each START from all of
 * them. */
struct world_merges;
struct world_merges *world_merges_new(void);
void world_merges_free(struct world_merges *); /* may be NULL */

/* Names the faults that a host can inject, to show that the properties detect them. A host injects
 * one fault, once. The last two are no moves, and hold throughout: images lack the contents of
 * windows, or the holders of the windows' locks. */
enum injected_fault {
  FAULT_DROP = 1,
  FAULT_DUPLICATE = 2,
  FAULT_EARLY_DURABLE = 4,
  FAULT_WINDOWS_LOST = 8,
  FAULT_LOCKS_LOST = 16
};

/* Lists hazards of machines that a protocol may have to tolerate, beyond crashes between steps. */
enum hazard {
  /* A crash may fall between two actions of a step. The earlier actions then have taken effect. */
  HAZARD_CUT_STEPS = 1,
  /* After a crash, a write that was under way may be found whole or lost; a checksum tells which.
   */
  HAZARD_WHOLE_WRITES = 2,
  /* Such a write may also be torn: a prefix, or a mixture of old and new, which no checksum
   * detects. Writes to an event logger are never torn, because the logger is another machine: it
   * gets the whole message, or nothing. */
  HAZARD_TORN_WRITES = 4,
  /* A slow rank may be declared dead and fenced. Until its process is ended it goes on, and sends
   * to ranks that have not noticed, but storage takes nothing from it. */
  HAZARD_FALSE_DETECTION = 8,
  /* Control messages of a pair of ranks may overtake each other. */
  HAZARD_CONTROL_OVERTAKES = 16
};

/* Says what a crash leaves of a node (in move.fault): nothing (the ranks restart elsewhere), its
 * disks (the node comes back), or all (a process crashed alone). */
enum crash_leaves { CRASH_LEAVES_NOTHING, CRASH_LEAVES_DISKS, CRASH_LEAVES_ALL };

/* Describes a level of storage. Checkpoint k goes to the last level whose `every` divides k. Images
 * of world.stored_per_node successive ranks are on one node; `set` successive nodes make a set. A
 * ring keeps a copy of each node's images on the next node of its set; otherwise a set can be
 * rebuilt as long as at most `losses` of its nodes have lost their data. */
struct world_level {
  uint32_t every;
  uint8_t needs; /* enum crash_leaves: the least that a crash must leave for data on the node itself
                    to remain */
  bool ring;
  int16_t set, losses;
};
enum { WORLD_LEVELS = 8 };

struct shares;
struct guard;

struct world {
  const struct rcl_protocol *protocol;
  struct rcl_config *config; /* one for each rank */
  int ranks;
  char *topology; /* a text (protocols/neighbours.h), or NULL if all ranks are neighbours */
  /* the neighbours of all ranks, to which the configs point, or NULL if all ranks are neighbours */
  uint32_t *neighbours;
  uint32_t state_bytes; /* of the protocol's state */
  bool fifo;            /* channels deliver in the order of sending */
  bool overtaking;      /* channels keep no order at all, against MPI */
  bool places_anywhere; /* system level: a checkpoint may be taken anywhere; else only at
                           `checkpoint` operations */
  bool closes;          /* connections are closed for a capture or a restart (explorer) */
  bool line_stamps;     /* messages carry line and stopped */
  bool check;           /* check the protocol's invariants after every step */
  bool bounded;         /* crashes and timers are counted down (explorer) */
  bool whole;           /* contents that make no difference are kept (audit of the explorer) */
  bool blind;           /* tests: stored states are merged as if no image had outputs */
  /* States that were merged, for an audit (world_merges.c), or NULL if there is none. */
  struct world_merges *merges;
  unsigned faults;  /* enum injected_fault, or-ed */
  unsigned hazards; /* enum hazard, or-ed */
  int per_node;     /* number of ranks that crash together, in blocks; 1: each crashes alone */
  unsigned exceeds; /* clocks: bounds that do not hold, 1 << enum rcl_bound, or-ed */
  struct world_level level[WORLD_LEVELS];
  int levels; /* number of levels, or 0 if storage outlives all crashes */
  int stored_per_node;
  /* Number of restarts from one checkpoint that may fail before a further checkpoint commits. After
   * that number of failures, all ranks go back to the checkpoint committed before it, at most
   * `attempts` times. So that checkpoint is kept, too, and outputs leave one checkpoint later. 0:
   * any number, and only the last checkpoint is kept. Needs levels. */
  uint32_t attempts;
  /* names of the properties to judge, ends with NULL, or NULL for all */
  const char *const *properties;
  const struct script *script; /* NULL: programs are real, their events come from outside */
  /* Returns whether `rank` is a member of communicator `comm`, even before the first member is told
   * so. NULL: all ranks are members. */
  bool (*member)(const void *ctx, int comm, int rank);
  const void *member_ctx;
  struct world_memory memory;
  /* Contributions in groups (parts_group_shares()), or NULL if they are in parts. */
  struct shares *shares;
  /* memory in which the protocol is called, or NULL if it is called in the parts */
  struct guard *guard;
  bool all_in_use; /* the protocol's in_use is wrong about the first state, so all bytes count as in
                      use */
};

/* Returns the number of a part. `a` is a rank, or the source of a channel; `b` is its
 * destination. */
static inline uint32_t world_part(const struct world *w, enum part_kind kind, int a, int b)
{
  uint32_t n = (uint32_t)w->ranks, pairs = n * n;
  if (kind < WORLD_RANK_PARTS)
    return (uint32_t)a * WORLD_RANK_PARTS + (uint32_t)kind;
  if (kind == WORLD_GLOBAL || kind == WORLD_TOKENS)
    return n * WORLD_RANK_PARTS + 3 * pairs + (kind == WORLD_TOKENS);
  return n * WORLD_RANK_PARTS + (uint32_t)(kind - WORLD_CHANNEL) * pairs + (uint32_t)a * n +
         (uint32_t)b;
}

uint32_t world_parts(const struct world *);

/* Returns the number of the part's *component*: the parts of one rank, those between one pair of
 * ranks, or GLOBAL with TOKENS. Parts of a component depend on each other, so the explorer numbers
 * them together. */
uint32_t world_component(const struct world *, uint32_t part);
uint32_t world_components(const struct world *);

/* Fills in `world` for `ranks` ranks, with `capacity` entries in each list of the protocol. The
 * caller then sets the other fields and calls world_begin(), which writes the parts as they are
 * before the first START. */
void world_init(struct world *, const struct rcl_protocol *, int ranks, uint32_t capacity);
/* Sets a parameter of the protocol (rcl_config.parameter). Does nothing if the protocol does not
 * have it. */
void world_set_parameter(struct world *, const char *name, uint32_t value);
/* Declares who exchanges messages with whom, before world_begin(). `text` is in the notation of
 * protocols/neighbours.h, and is copied; NULL if all ranks are neighbours. A program that sends to
 * a rank that is no neighbour ends the run: its protocol gives up. Returns false, with `problem`
 * (NEIGHBOURS_PROBLEM bytes) set, if the text is wrong. */
bool world_set_topology(struct world *, const char *text, char *problem);
/* Adds a level of storage after the others. More than WORLD_LEVELS are a breach. */
void world_add_level(struct world *, struct world_level);
/* Makes the protocol work in memory of its own, in which property `pure` is judged in full.
 * `audit`: each step is taken again in other places. The configs must not grow after this. */
void world_guard(struct world *, bool audit);
void world_unguard(struct world *);
void world_begin(struct world *, unsigned crashes, unsigned timers);
/* Frees what world_init() and world_guard() made, but not the parts. */
void world_clear(struct world *);

enum move_kind {
  MOVE_EVENT,  /* `event` happens at `rank` */
  MOVE_CRASH,  /* `rank` fails; with several ranks on a node, all ranks of the node that begins with
                  it. -1: no rank, but the server loses what it has stored (runs, with levels) */
  MOVE_DETECT, /* the dispatcher notices the dead, fences storage and begins a new incarnation.
                  `rank` is -1; independent: the rank whose death is noticed */
  MOVE_FINISH, /* the program of `rank` ends (real programs) */
  MOVE_FAULT,  /* a faulty host drops or duplicates the message at `index` of peer -> rank */
  MOVE_SENT    /* the synchronous send of the program of `rank` ends (scripts) */
};

struct move {
  uint8_t kind;
  uint8_t fault; /* MOVE_FAULT, and a DURABLE that is told too early: enum injected_fault;
                    MOVE_DETECT: enum detection; MOVE_CRASH: enum crash_leaves; other events:
                    world_cut() */
  int16_t rank;
  uint32_t index; /* ARRIVED, CONTROL, FAULT: place of the message in its channel; WORLD_FIND: the
                     world finds it. MOVE_CRASH: what becomes of the writes under way, a digit of
                     enum write_end for each, in base WRITE_ENDS */
  struct content content; /* real programs, at SEND, ARRIVED and OUTPUT: content of the payload;
                             none: it is not given */
  struct rcl_event event;
};

/* A detection notices ranks that have crashed, declares a living rank dead
 * (HAZARD_FALSE_DETECTION), or ends the process of a rank that was so declared. */
enum detection { DETECT_DEAD, DETECT_FALSELY, DETECT_END };

enum write_end { WRITE_LOST, WRITE_WHOLE, WRITE_TORN, WRITE_ENDS };

/* HAZARD_CUT_STEPS: the rank crashes after this number of actions that have an effect outside of
 * it, or -1 if it does not crash. */
enum { FAULT_CUT = 8, FAULT_CUT_SHIFT = 4, FAULT_CUTS = 16 };
static inline int world_cut(const struct move *move)
{
  return move->kind == MOVE_EVENT && move->fault & FAULT_CUT ? move->fault >> FAULT_CUT_SHIFT : -1;
}

_Static_assert(sizeof(struct move) == 68, "moves are interned as bytes");

enum { WORLD_FIND = UINT32_MAX };

/* Says what a step showed, beyond its new state. */
enum verdict_kind {
  VERDICT_FINE,
  VERDICT_GAVE_UP,   /* the protocol gave up: an outcome, not an error */
  VERDICT_VIOLATION, /* a property does not hold */
  VERDICT_IMPOSSIBLE /* world_step() only: the world could not have produced this move */
};

/* Names messages of one flow to the rank that a verdict names, by the numbers with which the
 * sender's program counts them. */
struct verdict_messages {
  int16_t source, comm;
  int32_t tag;
  uint32_t sequence[2]; /* from 1, or 0 if there is none */
};

struct verdict {
  enum verdict_kind kind;
  const char *property; /* VIOLATION: name, as in claims */
  int rank;
  enum rcl_reason reason; /* GAVE_UP */
  bool refused;           /* `legal`: the list of actions breaks the grammar */
  bool puts_off; /* the step of a TIMER puts the checkpoint off: it only sets the timer again */
  struct reached reached;        /* what this step has reached */
  struct verdict_messages about; /* VIOLATION: the messages that the text speaks of */
  char text[192];                /* what was expected and what was seen; GAVE_UP: why */
};

/* Calls `visit` for every move that can happen now, in a fixed order: by origin. */
void world_moves(const struct world *, void (*visit)(void *data, const struct move *), void *data);

/* Returns the number of origins. The *origin* of a move is: a rank, by itself; a message to it from
 * one peer; its crash; the detection of the dead. The moves of one origin depend on few parts, so
 * the explorer can remember them. The moves of all open origins are the moves of the world. */
uint32_t world_origins(const struct world *);
void world_moves_of(const struct world *, uint32_t origin,
                    void (*visit)(void *data, const struct move *), void *data);

/* Tells how one rank stands or, put together from several standings, how all ranks stand. */
struct world_standing {
  bool gave_up;  /* the protocol has given up (of all: any) */
  bool finished; /* the program has ended, is not held (a held program may have to go back), and has
                    noticed all crashes (of all: everywhere) */
  bool dead;     /* it has crashed and was not yet detected, or must be ended (of all: any) */
  /* The fields below are known for a single rank only. */
  bool ended; /* the program has finished, even if the rank has crashed after that */
  bool held;
  bool behind; /* it has a crash to notice */
  bool starts; /* START is its only move, and commutes with all others */
  bool fresh;  /* it has never started */
  bool first;  /* no crash has been detected yet */
  bool safe;   /* no more crash may happen */
};

struct world_standing world_standing(const struct world *, int rank);
struct world_standing world_standing_of_all(const struct world_standing *, int ranks);

/* Returns the number of origins, counted from the first, that can have moves when all ranks stand
 * like this. */
uint32_t world_open_origins(const struct world *, const struct world_standing *all);

/* Returns the number of ways in which the writes under way can end when the node that begins with
 * `first` crashes, as move.index counts them. Only the first 20 writes count: a further write is
 * lost, as are all writes where no hazard lets them end in another way. */
uint32_t world_write_ends(const struct world *, int first);

/* Returns whether something of the rank is stored that a crash of its node would take. */
bool world_has_to_lose(const struct world *, int rank, enum crash_leaves);

/* Says where a recovery that began now would go. NEWEST: to the newest checkpoint that can be read.
 * BEFORE: restarts from that checkpoint have failed as often as world.attempts allows, so to the
 * checkpoint before it. EXHAUSTED: restarts have failed as often, but no recovery can go to the
 * checkpoint before it: there is none, it is lost, outputs behind it have left, or recoveries have
 * gone there as often already. The world then goes to the newest one again; a run gives up. */
enum { ATTEMPTS_MOST = 1000 }; /* most world.attempts */
enum next_line { NEXT_NEWEST, NEXT_BEFORE, NEXT_EXHAUSTED };
enum next_line world_next_line(const struct world *);

/* Independent: returns the part that a START of `rank` from `checkpoint` needs and that a crash has
 * taken from storage: the newest image, or the log after it. NULL: no part is missing. */
const struct world_record *world_lost_record(const struct world *, int rank, uint32_t checkpoint);

/* Returns NULL when `move` can happen now; otherwise why not, as a static text. */
const char *world_refuses(const struct world *, const struct move *);

/* Takes one move: the message leaves its channel, the protocol steps, its actions take effect.
 * `actions`, with the caller's room for RCL_ACTIONS_MAX items, tells the host what to carry out,
 * and is empty for moves without a step. Fills in the verdict, and the fields of `move` that the
 * world finds (index). */
void world_step(struct world *, struct move *, struct rcl_actions *, struct verdict *);

/* Judges a state that nothing but a crash can change: `deadlock` if a program has not finished,
 * `commits` if a checkpoint was requested and has not committed, `requests` if no more checkpoints
 * will be requested. A TIMER whose step sets the timer again may put a checkpoint off, and so may
 * the next TIMER. So `renews` tells whether the timer of `rank`, when it goes off in this state,
 * leads to a checkpoint that commits, or NULL if no timer does. `renews` leaves the state as it
 * was. */
void world_at_rest(const struct world *, struct verdict *);
void world_at_rest_renewing(const struct world *, bool (*renews)(void *ctx, int rank), void *ctx,
                            struct verdict *);

/* Judges a state to which a run comes back for ever: `progress` if world_at_rest() would find
 * `deadlock` or `commits`. */
void world_for_ever(const struct world *, struct verdict *);

/* Judges a state in which all programs have finished: `agreement` if a receiver was given other
 * contents than its sender sent in its final execution (a suppressed message came out differently
 * the second time); `no-duplicate` if a message that was given is under way again. */
void world_at_end(const struct world *, struct verdict *);

/* Returns whether a property of world_at_end() is judged, because that function looks at
 * everything. */
bool world_judges_end(const struct world *);

/* Returns the number of the kept bytes that replace an image of `rank` from which no rank will
 * start. Image 0 means the program as it stands. */
uint32_t world_settled_image(const struct world *, int rank, uint32_t image);

/* Strips a record of `rank` from which no rank will start. The bytes that it names stay kept,
 * because other records may name them. */
void world_settle_record(const struct world *, int rank, struct world_record *);

/* Renames ranks in a part of `size` bytes, in place: each rank becomes to[rank]. Returns false if
 * that is impossible, because histories are digests and stored states are bytes. */
bool world_rename(const struct world *, uint32_t part, const int16_t *to, void *bytes,
                  uint32_t size);

/* Returns the number that `part` has when ranks are renamed. */
uint32_t world_renamed(const struct world *, uint32_t part, const int16_t *to);

/* Replaces each number of kept bytes in `bytes` of that part, except 0, by the result of `map`, in
 * order. */
void world_map_kept(const struct world *, uint32_t part, void *bytes, uint32_t size,
                    uint32_t (*map)(void *ctx, uint32_t number), void *ctx);

/* Adds bytes to a digest. */
uint64_t world_digest_bytes(uint64_t digest, const void *bytes, uint32_t size);

/* Returns a digest of all parts. Equal states have equal digests in every exploration, even where
 * bytes were kept under other numbers. */
uint64_t world_digest(const struct world *);

/* Returns the share of one part in the digest, which is the sum over all parts. */
uint64_t world_digest_part(const struct world *, uint32_t part);

/* Returns whether the host still owes a move that neither a program nor a failure brings about: a
 * start, the notice of a crash, the end of a capture or of a write, a message that can arrive. If
 * the move never happens, the host has lost it. Sets `owed` to the first such move. */
bool world_owes(const struct world *, struct move *owed);

/* Returns whether all programs have finished, none is held, and every rank has noticed all
 * crashes. */
bool world_finished(const struct world *);

/* Sets `down` to the DOWN that `rank` must take next. Returns false if the rank knows of all
 * detected crashes. */
bool world_next_down(const struct world *, int rank, struct rcl_event *);

#endif
