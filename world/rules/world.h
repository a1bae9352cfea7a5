/* The world is everything around the protocols of all ranks, as rules on plain memory.
 *
 * It holds the channels with MPI's matching rules, the receives that programs have posted, the
 * payload slots, stable storage, crashes, detection, incarnations and restarts; it knows which
 * moves can happen next. It is the only caller of rcl_protocol_step() (lock 2), apart from the host
 * for real MPI, where no process knows the state of all ranks.
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
 * A contribution flows to many ranks. In runs, which have many ranks, the SHAREs of all pairs are
 * kept in groups (shares.h); reading them gives the same bytes.
 *
 * For a protocol at the level of the channels (protocol.h), control messages are in CHANNEL, too.
 *
 * The judge of properties keeps its notes in parts, too, so they roll back with the programs. FLOWS
 * counts, for each triple of peer, tag and communicator, the messages that the program has sent and
 * was given. So a lost, doubled or overtaking message is noticed at a delivery.
 */
#ifndef RECLINE_WORLD_H
#define RECLINE_WORLD_H

#include "protocols/protocol.h"
#include "world/rules/reached.h"
#include "world/script/content.h"
#include "world/script/script.h"

/* ---- parts ---- */

enum part_kind {
  WORLD_RANK, /* struct world_rank, then the protocol's state */
  /* struct world_program, followed by struct world_window for scripts that have windows */
  WORLD_PROGRAM,
  WORLD_POSTED, /* struct world_receive[] in the order of posting */
  WORLD_SLOTS,  /* struct world_slot[] by slot number */
  WORLD_FLOWS,  /* struct world_flow[] by peer, tag, communicator */
  WORLD_SENT,   /* struct world_sent[] in the order of sending */
  /* struct world_record[] in the order in which writes began; writes of different parts end in
   * any order */
  WORLD_STORED,
  /* struct world_share[]: contributions that are still to be taken, to calls that the rank has
   * rejoined after a restart */
  WORLD_REJOINED,
  /* RCL_LEVEL_CHANNEL: struct world_slot[], messages that were delivered but not yet received */
  WORLD_UNEXPECTED,
  WORLD_LEFT, /* struct content[]: the outputs that the outside has seen, which no crash undoes */
  WORLD_RANK_PARTS,
  WORLD_CHANNEL = WORLD_RANK_PARTS, /* struct world_message[] in the order of sending */
  WORLD_CONTROL,
  WORLD_SHARE, /* struct world_message[]: contributions; `tag` is the number of the call */
  WORLD_GLOBAL,
  WORLD_TOKENS /* struct world_tokens, or empty */
};

enum rank_phase {
  RANK_NEW, /* before the rank's first START */
  RANK_RUNNING,
  RANK_CAPTURING, /* between CAPTURE and CAPTURED, where no other event happens at the rank */
  RANK_RESTORING, /* between ROLL_BACK and START */
  RANK_DEAD,      /* crashed, not yet detected */
  RANK_RESTARTING /* crashed and detected, not yet started again */
};

/* Describes an alarm of a clock that is set or has gone off. */
struct world_alarm {
  uint32_t checkpoint; /* checkpoint of the alarm, or 0 if there is no alarm */
  int8_t after[RCL_BOUNDS];
  uint8_t pad;
};

enum connections {
  /* START or CAPTURED has closed the rank's connections, and there was no OPEN yet */
  CONNECTIONS_CLOSED = 1,
  CONNECTIONS_ANEW =
      2 /* START has closed all connections, and peers that have not started have none, either */
};

struct world_rank {
  uint8_t phase;
  uint8_t held;      /* 1 after HOLD until RELEASE */
  uint8_t timer : 1; /* 1 after SET_TIMER until TIMER */
  /* with independent recovery: 1 if the rank has set a timer since it last started; 7 bits, so
   * that no bit of the byte is unused */
  uint8_t timed : 7;
  uint8_t gave_up; /* enum rcl_reason, or 0 if the protocol has not given up */
  /* the peer whose messages are drained: 0 for no peer, 1 for every peer, otherwise peer + 2 */
  uint16_t draining;
  uint16_t closed; /* enum connections, or-ed */
  /* with independent recovery: the incarnation that the rank's last crash began, or 0 if it has not
   * crashed */
  uint16_t born;
  /* the incarnation in which the rank last started; messages of older incarnations do not exist
   * for the rank */
  uint16_t incarnation;
  /* incarnation of the rank's last DOWN; messages of a later incarnation wait for its DOWN */
  uint16_t noticed;
  /* 1 if the rank was declared dead while it lives, so that its process must still be ended */
  uint8_t declared;
  /* 1 if the rank has gone back, and has noticed no failure afterwards (once-per-failure) */
  uint8_t set_back;
  uint32_t capturing; /* the checkpoint between CAPTURE and CAPTURED, or 0 */
  /* number of the kept bytes of the last capture, which are the parts in world_image_parts */
  uint32_t image;
  uint32_t line;    /* the last captured checkpoint */
  uint32_t stopped; /* the last checkpoint for which logging has stopped */
  /* With independent recovery: the checkpoint from which the rank starts, or from which it last
   * started after a crash. */
  uint32_t origin;
  /* number of the last output that may leave once `line` is committed, or 0 if there is none */
  uint32_t covered;
  struct world_alarm set, rung; /* with clocks: the next alarm, and the last alarm that went off */
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
  uint16_t makes;            /* number of the communicator that the call makes */
  int32_t number;            /* number of the call on its communicator, from 1 */
  uint32_t words[RCL_WORDS]; /* the rank's own contribution, once the rank has joined */
};

struct world_program {
  /* number of receives posted so far, which is also the number of the last receive */
  uint32_t receives;
  struct content history; /* digest of all that the program has received and chosen */
  uint16_t next;          /* scripts: index of the next operation */
  /* 1 if the program has reached its end; the rank still takes part in the protocol */
  uint8_t finished;
  uint8_t waiting; /* scripts: 1 + the name for which the program waits, or 0 if there is none */
  struct world_call call;
  uint16_t calls[SCRIPT_COMMS]; /* scripts: number of collective calls so far, by communicator */
  uint16_t given;               /* scripts: a bit for each name whose receive is complete */
  uint16_t last;                /* scripts that branch: the outcome for which IF asks */
  uint16_t source[SCRIPT_NAMES +
                  /* scripts that branch: the sender of the message that the program was given */
                  1];
  /* scripts: 1 + the incarnation of the synchronous send under way, which is the operation
   * before `next`, or 0 if there is none */
  uint16_t sending;
  /* scripts: by name, the number of the receive, or 0 if there is none */
  uint32_t request[SCRIPT_NAMES + 1];
  /* scripts: contents that the program was given, by name */
  struct content content[SCRIPT_NAMES + 1];
  uint32_t outputs; /* number of outputs made so far, which is also the number of the last output */
};

/* Describes a message that waits at a rank's window. */
struct world_wait {
  /* `origin` has sent the message; `place` is the number of the operation in its script */
  uint16_t origin, place;
  uint16_t item[SCRIPT_PENDING];
};

/* Follows PROGRAM in scripts with windows: the window of the rank, and its accesses under way. */
struct world_window {
  uint16_t cell[SCRIPT_CELLS];
  /* by operation.name, for each access of this rank: the value that the access gives, and later
   * the value that it has fetched */
  uint16_t item[SCRIPT_PENDING];
  uint16_t answer[SCRIPT_PENDING]; /* values for the origin that is answered next */
  /* The next fields are for locks. */
  uint8_t held[SCRIPT_WINDOW_RANKS]; /* by origin: the lock that it holds (enum lock) */
  /* 1 + the rank whose message the program takes in, or 0 if there is none */
  uint8_t source;
  uint8_t reply;   /* 1 + the rank that is answered next, or 0 if there is none */
  uint8_t granted; /* 1 if the program's own lock is granted and the program has not gone on */
  uint8_t waits;
  struct world_wait wait[SCRIPT_WINDOW_RANKS]; /* the messages that wait, in the order of arrival */
};

struct world_receive {
  uint32_t request;
  int16_t peer, comm; /* peer and communicator that the program has named */
  int32_t tag;
  /* the peer that the receive accepts, or RCL_ANY; MATCH may have narrowed what was posted */
  int16_t from;
  uint8_t announced; /* 1 if the protocol has answered RECEIVE with MATCH */
  uint8_t pad;
  int32_t from_tag;
};

enum {
  CONTROL_COMM = -1, /* value of `comm` in control messages */
  OUTSIDE = -3       /* value of `peer` for outputs */
};

struct world_message {
  int32_t tag;
  int16_t comm;
  uint16_t incarnation;
  uint32_t bytes;
  uint32_t words[RCL_WORDS];
  /* number of the message in its flow, counted by the sender's program from 1 */
  uint32_t sequence;
  struct content content; /* content of the payload */
  /* the sender's `line` when it sent the message (only for claims that need it) */
  uint32_t line;
  uint32_t stopped; /* the sender's `stopped` when it sent the message */
  /* with `piggybacks`: number of control messages that come before the message in the channel */
  uint32_t behind;
  /* With clocks: the sender's last alarm when it sent the message, and its next alarm. */
  struct world_alarm after, before;
};

/* Names a collective call. When the contribution of `root` to it comes, it is taken and dropped. */
struct world_share {
  int16_t comm, root;
  int32_t number;
};

struct world_slot {
  uint32_t slot; /* number of the slot; RCL_NO_SLOT in UNEXPECTED */
  int16_t peer;
  /* 1 if this rank sent the message to `peer`, 0 if it received the message from `peer` */
  uint16_t sent;
  struct world_message message;
};

struct world_flow {
  int16_t peer, comm;
  int32_t tag;
  uint32_t sent;      /* number of messages sent to `peer`, including suppressed messages */
  uint32_t delivered; /* number of messages from `peer` that were given to the program */
  /* digest of the contents of the messages that were given to the program, in order */
  struct content given;
};

/* Describes a message that the program has sent, perhaps suppressed. The contents are kept one by
 * one, because a receiver may have been given fewer messages than were sent. Free programs have no
 * contents, and runs that compare no contents keep none. Outputs count as messages to OUTSIDE. */
struct world_sent {
  int16_t peer, comm;
  int32_t tag;
  struct content content;
};

struct world_record {
  uint32_t checkpoint;
  uint8_t part; /* enum rcl_part */
  uint8_t durable;
  /* 1 if the rank was told that the part is durable; differs from `durable` only with fault
   * early-durable, and after a crash */
  uint8_t reported;
  uint8_t harm;   /* enum record_harm, or-ed */
  uint32_t image; /* number of the kept bytes of the capture (RCL_PART_IMAGE only) */
  uint32_t state; /* number of the kept bytes of the protocol's state and SLOTS */
};

/* Tells what has harmed a record. HARM_TORN: a crash has cut the write. HARM_LOST: a node has
 * crashed and taken the rank's own piece. HARM_COPY_LOST: a node has crashed and taken the copy on
 * the partner's node. */
enum record_harm { HARM_TORN = 1, HARM_LOST = 2, HARM_COPY_LOST = 4 };

struct world_global {
  uint32_t committed;  /* the checkpoint to recover from; RCL_FRESH at first */
  uint32_t committing; /* the checkpoint between COMMIT and COMMITTED, or 0 if there is none */
  uint32_t target;     /* the checkpoint of the recovery under way */
  /* with world.attempts: the checkpoint before `committed`, behind which outputs have left, or
   * RCL_FRESH if there is none */
  uint32_t before;
  /* with world.attempts: number of recoveries to `committed` since its commit */
  uint16_t restarts;
  /* with world.attempts: number of recoveries that gave `committed` up for `before` */
  uint16_t falls;
  /* number of recoveries so far; with independent recovery, of crashes detected so far */
  uint16_t incarnation;
  uint16_t crashes;  /* number of crashes that may still happen (explorer) */
  uint16_t timers;   /* number of TIMERs that may still happen (explorer) */
  uint8_t requested; /* 1 if a TIMER has requested a checkpoint that is not committed yet */
  uint8_t injected;  /* 1 if the one fault that the host injects has happened */
  int16_t down;      /* the rank whose crash was detected last, or -1 if none was */
  /* 1 if a rank (with clocks, the coordinator) has set a timer; 0 with independent recovery,
   * where each rank notes this in its own part */
  uint8_t timed;
  uint8_t settled; /* 1 if no rank goes back any more (world_settles()) */
};

/* Sums up a global state that is being recorded, for property `tokens`. These numbers are not in
 * GLOBAL, because no rule reads them. */
struct world_tokens {
  uint32_t ranks; /* number of ranks that have recorded their state */
  uint32_t more;  /* sum of the surpluses of these ranks (rcl_action.surplus) */
};

/* Parts are compared, stored and hashed as bytes. They have no padding, which a compiler could
 * leave undefined. Their sizes are the same on 32-bit and 64-bit hosts, so states and digests are
 * the same, too. */
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
  /* Returns the part, to be written, with `size` bytes. The part is cut, or grown with zeroes. */
  void *(*edit)(void *ctx, uint32_t part, uint32_t size);
  /* Drops `bytes` bytes, all of which exist, from the front of a part, in a time that does not
   * depend on the part's size. If the function is NULL, `edit` is used. */
  void (*drop)(void *ctx, uint32_t part, uint32_t bytes);
  /* Keeps bytes for stable storage and returns their number, from 1. Equal bytes may get equal
   * numbers. */
  uint32_t (*keep)(void *ctx, const void *bytes, uint32_t size);
  const void *(*kept)(void *ctx, uint32_t number, uint32_t *size);
  /* Tells that kept bytes are not needed any more. The function may be NULL. */
  void (*forget)(void *ctx, uint32_t number);
};

/* ---- the world ---- */

/* Keeps stored states that were merged into one state, because an audit takes each START from all
 * of them. */
struct world_merges;
struct world_merges *world_merges_new(void);
void world_merges_free(struct world_merges *); /* may be NULL */

/* Names the faults that a host can inject, to show that the properties detect them. A host injects
 * one fault, once. The last two faults are no moves, but last for the whole run: images lack the
 * contents of windows, or the holders of the windows' locks. */
enum injected_fault {
  FAULT_DROP = 1,
  FAULT_DUPLICATE = 2,
  FAULT_EARLY_DURABLE = 4,
  FAULT_WINDOWS_LOST = 8,
  FAULT_LOCKS_LOST = 16
};

/* Lists hazards of machines that a protocol may have to tolerate, beyond crashes between steps. */
enum hazard {
  /* A crash may fall between two actions of a step. In this case the earlier actions have taken
   * effect. */
  HAZARD_CUT_STEPS = 1,
  /* After a crash, a write that was under way may be found whole or lost; a checksum tells which.
   */
  HAZARD_WHOLE_WRITES = 2,
  /* Such a write may also be torn, that is, be a prefix or a mixture of old and new that no
   * checksum detects. Writes to an event logger are never torn, because the logger is another
   * machine, which gets the whole message or nothing. */
  HAZARD_TORN_WRITES = 4,
  /* A slow rank may be declared dead and fenced. Until its process is ended, the rank goes on and
   * sends to ranks that have not noticed, but storage takes nothing from it. */
  HAZARD_FALSE_DETECTION = 8,
  /* Control messages of a pair of ranks may overtake each other. */
  HAZARD_CONTROL_OVERTAKES = 16
};

/* Says what a crash leaves of a node (in move.fault): nothing, if the ranks restart elsewhere; its
 * disks, if the node comes back; or all, if a process has crashed alone. */
enum crash_leaves { CRASH_LEAVES_NOTHING, CRASH_LEAVES_DISKS, CRASH_LEAVES_ALL };

/* Describes a level of storage. Checkpoint k goes to the last level whose `every` divides k. Images
 * of world.stored_per_node successive ranks are on one node; `set` successive nodes make a set.
 * With `ring`, the next node of the set keeps a copy of each node's images. Otherwise a set can be
 * rebuilt as long as at most `losses` of its nodes have lost their data. */
struct world_level {
  uint32_t every;
  /* enum crash_leaves: the least that a crash must leave so that data on the node itself remain */
  uint8_t needs;
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
  uint32_t state_bytes; /* size of the protocol's state in bytes */
  bool fifo;            /* channels deliver in the order of sending */
  bool overtaking;      /* channels keep no order at all, against MPI */
  /* at the system level: a checkpoint may be taken anywhere; otherwise only at operations
   * `checkpoint` */
  bool places_anywhere;
  bool closes;      /* connections are closed for a capture or a restart (explorer) */
  bool line_stamps; /* messages carry `line` and `stopped` */
  bool check;       /* the protocol's invariants are checked after every step */
  bool bounded;     /* crashes and timers are counted down (explorer) */
  bool whole;       /* contents that make no difference are kept (for the explorer's audit) */
  bool blind;       /* for tests: stored states are merged as if no image had outputs */
  /* States that were merged, for an audit (world_merges.c), or NULL if there is none. */
  struct world_merges *merges;
  unsigned faults;  /* enum injected_fault, or-ed */
  unsigned hazards; /* enum hazard, or-ed */
  int per_node;     /* number of successive ranks that crash together; 1 if each crashes alone */
  unsigned exceeds; /* with clocks: bounds that do not hold, 1 << enum rcl_bound, or-ed */
  struct world_level level[WORLD_LEVELS];
  int levels; /* number of levels, or 0 if storage outlives all crashes */
  int stored_per_node;
  /* Number of restarts from one checkpoint that may fail before a further checkpoint commits. After
   * that number of failures, all ranks go back to the checkpoint that was committed before, at most
   * `attempts` times. So the earlier checkpoint is kept, too, and outputs leave one checkpoint
   * later. With 0, any number may fail, and only the last checkpoint is kept. Needs levels. */
  uint32_t attempts;
  /* names of the properties to judge, in a list that ends with NULL; NULL for all */
  const char *const *properties;
  /* the script, or NULL if programs are real and their events come from outside */
  const struct script *script;
  /* Returns whether `rank` is a member of communicator `comm`, even before the first member is told
   * so. If the function is NULL, all ranks are members. */
  bool (*member)(const void *ctx, int comm, int rank);
  const void *member_ctx;
  struct world_memory memory;
  /* Contributions in groups (parts_group_shares()), or NULL if they are in parts. */
  struct shares *shares;
  /* memory in which the protocol is called, or NULL if it is called in the parts */
  struct guard *guard;
  /* the protocol's in_use() is wrong about the first state, so all bytes count as in use */
  bool all_in_use;
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

/* Returns the number of the part's *component*: the parts of one rank, the parts between two ranks,
 * or GLOBAL with TOKENS. Parts of a component depend on each other, so the explorer numbers them
 * together. */
uint32_t world_component(const struct world *, uint32_t part);
uint32_t world_components(const struct world *);

/* Fills in `world` for `ranks` ranks, with `capacity` entries in each list of the protocol. The
 * caller then sets the other fields and calls world_begin(), which sets the parts to their values
 * before the first START. */
void world_init(struct world *, const struct rcl_protocol *, int ranks, uint32_t capacity);
/* Sets a parameter of the protocol (rcl_config.parameter). Does nothing if the protocol has no such
 * parameter. */
void world_set_parameter(struct world *, const char *name, uint32_t value);
/* Declares who exchanges messages with whom, before world_begin(). `text` is in the notation of
 * protocols/neighbours.h, and is copied; NULL if all ranks are neighbours. A program that sends to
 * a rank that is no neighbour ends the run: its protocol gives up. Returns false, with `problem`
 * (NEIGHBOURS_PROBLEM bytes) set, if the text is wrong. */
bool world_set_topology(struct world *, const char *text, char *problem);
/* Adds a level of storage after the others. More than WORLD_LEVELS levels are a breach. */
void world_add_level(struct world *, struct world_level);
/* Makes the protocol work in memory of its own, in which property `pure` is judged in full. If
 * `audit`, each step is taken again at other addresses. The configs must not grow afterwards. */
void world_guard(struct world *, bool audit);
void world_unguard(struct world *);
void world_begin(struct world *, unsigned crashes, unsigned timers);
/* Frees what world_init() and world_guard() made, but not the parts. */
void world_clear(struct world *);

enum move_kind {
  MOVE_EVENT, /* `event` happens at `rank` */
  /* `rank` fails or, with several ranks on a node, all ranks of the node that begins with
   * `rank`. If `rank` is -1, no rank fails, but the server loses what it has stored (runs, with
   * levels) */
  MOVE_CRASH,
  /* the dispatcher notices dead ranks, fences storage and begins a new incarnation. `rank` is -1
   * or, with independent recovery, the rank whose death is noticed */
  MOVE_DETECT,
  MOVE_FINISH, /* the program of `rank` ends (real programs) */
  MOVE_FAULT,  /* a faulty host drops or duplicates the message at `index` of peer -> rank */
  MOVE_SENT    /* the synchronous send of the program of `rank` ends (scripts) */
};

struct move {
  uint8_t kind;
  /* MOVE_FAULT, and a DURABLE that comes too early: enum injected_fault; MOVE_DETECT: enum
   * detection; MOVE_CRASH: enum crash_leaves; other events: world_cut() */
  uint8_t fault;
  int16_t rank;
  /* ARRIVED, CONTROL, FAULT: place of the message in its channel, or WORLD_FIND if the world has
   * to find it. MOVE_CRASH: how the writes under way end, one digit of enum write_end for each,
   * in base WRITE_ENDS */
  uint32_t index;
  /* real programs, at SEND, ARRIVED and OUTPUT: content of the payload, or zeros if it is not
   * given */
  struct content content;
  struct rcl_event event;
};

/* A detection notices ranks that have crashed, declares a living rank dead
 * (HAZARD_FALSE_DETECTION), or ends the process of a rank that was declared dead. */
enum detection { DETECT_DEAD, DETECT_FALSELY, DETECT_END };

enum write_end { WRITE_LOST, WRITE_WHOLE, WRITE_TORN, WRITE_ENDS };

/* With HAZARD_CUT_STEPS: returns the number of actions with an effect outside of the rank after
 * which it crashes, or -1 if it does not crash. */
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
  VERDICT_GAVE_UP,   /* the protocol gave up, which is an outcome and not an error */
  VERDICT_VIOLATION, /* a property does not hold */
  VERDICT_IMPOSSIBLE /* only world_step() returns this: the world could not have produced this move
                      */
};

/* Names messages of one flow to the rank that a verdict names, by the numbers with which the
 * sender's program counts them. */
struct verdict_messages {
  int16_t source, comm;
  int32_t tag;
  uint32_t sequence[2]; /* the numbers, from 1, or 0 if there is no message */
};

struct verdict {
  enum verdict_kind kind;
  const char *property; /* VIOLATION: name of the property, as in claims */
  int rank;
  enum rcl_reason reason; /* GAVE_UP: the reason */
  bool refused;           /* `legal`: the list of actions breaks the grammar */
  /* the step was at a TIMER and put the checkpoint off: it only set the timer again */
  bool puts_off;
  struct reached reached;        /* what this step has reached */
  struct verdict_messages about; /* VIOLATION: the messages that the text speaks of */
  /* what was expected and what was seen; GAVE_UP: why the protocol gave up */
  char text[192];
};

/* Calls `visit` for every move that can happen now, in a fixed order, sorted by origin. */
void world_moves(const struct world *, void (*visit)(void *data, const struct move *), void *data);

/* Returns the number of origins. The *origin* of a move is a rank by itself, a message to it from
 * one peer, its crash, or the detection of dead ranks. The moves of one origin depend on few parts,
 * so the explorer can remember them. The moves of all open origins are the moves of the world. */
uint32_t world_origins(const struct world *);
void world_moves_of(const struct world *, uint32_t origin,
                    void (*visit)(void *data, const struct move *), void *data);

/* Tells the standing of one rank or, put together from several standings, of all ranks. */
struct world_standing {
  bool gave_up; /* the protocol has given up (for all ranks: at any rank) */
  /* the program has ended, is not held (a held program may have to go back), and the rank has
   * noticed all crashes (for all ranks: at every rank) */
  bool finished;
  /* the rank has crashed and was not yet detected, or must be ended (for all ranks: any rank) */
  bool dead;
  /* The fields below are known for a single rank only. */
  bool ended; /* the program has finished, even if the rank has crashed after that */
  bool held;
  bool behind; /* the rank has a crash to notice */
  bool starts; /* START is the rank's only move, and commutes with all other moves */
  bool fresh;  /* the rank has never started */
  bool first;  /* no crash has been detected yet */
  bool safe;   /* no more crash may happen */
};

struct world_standing world_standing(const struct world *, int rank);
struct world_standing world_standing_of_all(const struct world_standing *, int ranks);

/* Returns how many origins, counted from the first one, can have moves with this standing of all
 * ranks. */
uint32_t world_open_origins(const struct world *, const struct world_standing *all);

/* Returns the number of ways in which the writes under way can end when the node that begins with
 * `first` crashes, as move.index counts them. Only the first 20 writes count: a further write is
 * lost, and so are all writes if no hazard lets them end in another way. */
uint32_t world_write_ends(const struct world *, int first);

/* Returns whether something of the rank is stored that a crash of its node would take. */
bool world_has_to_lose(const struct world *, int rank, enum crash_leaves);

/* Says to which checkpoint a recovery would go now. NEWEST: to the newest checkpoint that can be
 * read. BEFORE: to the checkpoint before the newest one, because restarts from the newest one have
 * failed as often as world.attempts allows. EXHAUSTED: restarts have failed as often, but no
 * recovery can go to the checkpoint before, because there is none, it is lost, outputs behind it
 * have left, or recoveries have already gone there as often as allowed. Then the world goes to the
 * newest checkpoint again, and a run gives up. */
enum { ATTEMPTS_MOST = 1000 }; /* largest value of world.attempts */
enum next_line { NEXT_NEWEST, NEXT_BEFORE, NEXT_EXHAUSTED };
enum next_line world_next_line(const struct world *);

/* With independent recovery, returns the part that a START of `rank` from `checkpoint` needs and
 * that a crash has taken from storage. This is the newest image, or the log after it. Returns NULL
 * if no part is missing. */
const struct world_record *world_lost_record(const struct world *, int rank, uint32_t checkpoint);

/* Returns NULL if `move` can happen now, otherwise the reason why it cannot, as a static text. */
const char *world_refuses(const struct world *, const struct move *);

/* Takes one move: the message leaves its channel, the protocol takes a step, and its actions take
 * effect. `actions`, with the caller's room for RCL_ACTIONS_MAX items, tells the host what to carry
 * out, and is empty for moves without a step. Fills in the verdict, and the fields of `move` that
 * the world finds (index). */
void world_step(struct world *, struct move *, struct rcl_actions *, struct verdict *);

/* Judges a state that nothing but a crash can change: `deadlock` if a program has not finished,
 * `commits` if a checkpoint was requested and has not committed, `requests` if no more checkpoints
 * will be requested. A TIMER whose step sets the timer again may put a checkpoint off, and so may
 * the next TIMER. So `renews` tells whether the timer of `rank`, if it goes off in this state,
 * leads to a checkpoint that commits. `renews` is NULL if no timer does. It leaves the state as it
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
 * start. Image 0 stands for the present program. */
uint32_t world_settled_image(const struct world *, int rank, uint32_t image);

/* Strips a record of `rank` from which no rank will start. The bytes that it names stay kept,
 * because other records may name them. */
void world_settle_record(const struct world *, int rank, struct world_record *);

/* Renames ranks in a part of `size` bytes, in place: each rank becomes to[rank]. Returns false if
 * that is impossible because the part has histories, which are digests, or stored states, which are
 * bytes. */
bool world_rename(const struct world *, uint32_t part, const int16_t *to, void *bytes,
                  uint32_t size);

/* Returns the number that `part` has after ranks were renamed. */
uint32_t world_renamed(const struct world *, uint32_t part, const int16_t *to);

/* Replaces each number of kept bytes in `bytes` of that part, except 0, by the result of `map`, in
 * order. */
void world_map_kept(const struct world *, uint32_t part, void *bytes, uint32_t size,
                    uint32_t (*map)(void *ctx, uint32_t number), void *ctx);

/* Adds bytes to a digest. */
uint64_t world_digest_bytes(uint64_t digest, const void *bytes, uint32_t size);

/* Returns a digest of all parts. Equal states have equal digests in every exploration, even if
 * bytes were kept under other numbers. */
uint64_t world_digest(const struct world *);

/* Returns what one part adds to the digest, which is the sum over all parts. */
uint64_t world_digest_part(const struct world *, uint32_t part);

/* Returns whether the host still owes a move that neither a program nor a failure brings about:
 * such as a start, the notice of a crash, the end of a capture or of a write, or a message that can
 * arrive. If the move never happens, the host has lost it. Sets `owed` to the first such move. */
bool world_owes(const struct world *, struct move *owed);

/* Returns whether all programs have finished, none is held, and every rank has noticed all
 * crashes. */
bool world_finished(const struct world *);

/* Sets `down` to the DOWN that `rank` must take next. Returns false if the rank knows of all
 * detected crashes. */
bool world_next_down(const struct world *, int rank, struct rcl_event *);

#endif
