/* Declares the door: the interface between a checkpoint/rollback protocol and its host.
 *
 * A protocol is a pure step function on plain memory: an event goes in, actions come out.
 *
 *     step(config, state, event)  ->  state', actions[]
 *
 * The protocol has no clock, no heap, no file, no payload and no global, and knows neither MPI nor
 * SimGrid. All hosts drive the same object: the explorer (verify/) tries every interleaving and
 * every crash; the SMPI host (sim/) runs real MPI programs on simulated machines; the MPI host
 * (mpi/) runs them on real machines.
 *
 * An action only *starts* work. The end of the work comes back as an event, so a crash always falls
 * between two steps.
 *
 *     program                 protocol                       host
 *        | send   SEND ----------> | TRANSMIT / SUPPRESS ------> |
 *        | recv   RECEIVE -------> | MATCH / DELIVER slot -----> |
 *        |                         | <----------------- ARRIVED  |
 *        | <-------------- DELIVER | KEEP slot ----------------> |
 *        |                         | CAPTURE, STORE, COMMIT ---> |
 *        |                         | <------- CAPTURED, DURABLE  |
 *
 * The protocol in this picture is at the level of the application: it sees receives, and it sees a
 * message when the message is matched. A protocol at the level of the channels is below the
 * matching. Two ranks have one channel between them, where messages of the program and control
 * messages come in the order of sending:
 *
 *     program                 matching               protocol              channels
 *        | send ---------------------------- SEND ------> | TRANSMIT, CONTROL -> |
 *        | recv -----> | posted receives                  | <- ARRIVED, CONTROL  |
 *        | <---------- | unexpected messages <--- DELIVER | KEEP slot            |
 *
 * The host does the matching: delivered messages and posted receives belong to the rank and to its
 * image. RECEIVE and SAFE_POINT are not raised, and CAPTURE is possible at any moment.
 *
 * The host holds payloads; the protocol holds numbers and envelopes. The host keeps a payload that
 * the protocol needs again in a *slot*, whose number the protocol chooses.
 *
 * One table, grammar.c, says which actions may answer an event, how often, in which order and with
 * which fields. All hosts read this table. A step that breaks the rules violates property `legal`
 * in the world, and ends a run with a breach. An action stands at most once in a step, except
 * CONTROL, ERASE, FORGET, OUTPUT, REJOIN, RESEND, STORE of other parts and, below the matching,
 * DELIVER from slots.
 *
 * What a protocol needs after a restart must be in its state and in its slots when it says STORE.
 * The host saves state and slots with that part of the checkpoint, and START gives them back.
 *
 * Recovery is global by default: one checkpoint is committed for all ranks, every crash makes all
 * ranks ROLL_BACK to it, and no message survives a rollback. If a protocol is `independent`, each
 * rank has checkpoints of its own:
 *
 *     - A crashed rank starts from the last of its own images that is durable, or FRESH. Its state
 *       is the one that was stored with its newest durable part, image or log, whichever
 *       checkpoint that part belongs to; its slots are those of the image.
 *     - The others are told (DOWN, once for each failed rank) and go on. Messages under way from
 *       the failed rank to the others are lost. Messages that the others sent to the failed rank
 *       before they were told are lost, too.
 *     - ROLL_BACK is possible in any step, to any image of the rank that is not erased, durable or
 *       not. State and slots stay as they are: only the program goes back. Later images of the
 *       rank are dropped.
 *     - PART_LOG is kept by an event logger: it can be stored at any time and as often as needed,
 *       beside images, and costs only what is new in it. The newest log replaces older ones.
 *
 * Without `clocks` a timer only says that it is time for a checkpoint. With `clocks` every rank has
 * a clock of its own and one alarm at a time. Each checkpoint has an instant: one checkpoint
 * interval after the first SET_TIMER that names the checkpoint. Alarm time = instant + the sum over
 * the bounds b of after[b] x b. There are three bounds: a clock deviates from true time by at most
 * `deviation`, and a message takes at most `longest` and at least `shortest`. The checkpoint
 * interval is longer than any sum of a few bounds. A protocol never sees a time, but because of the
 * bounds some orders of alarms and messages are impossible. */
#ifndef RECLINE_PROTOCOL_H
#define RECLINE_PROTOCOL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  RCL_ANY = -1,    /* any source or any tag; in `peer` of DRAIN: every peer */
  RCL_NOBODY = -2, /* in MATCH: no message, because the receive was cancelled before the crash */
  /* number of words that a protocol adds to a message; a control message has as many */
  RCL_WORDS = 3,
  RCL_NO_REQUEST = 0, /* in ARRIVED: no receive of the program has matched the message */
  /* in DELIVER: the payload that has just arrived, not one in a slot; slots count from 1 */
  RCL_NO_SLOT = 0,
  /* in START: the beginning of the program, not a checkpoint; checkpoints count from 1 */
  RCL_FRESH = 0,
  RCL_CAPACITY_MAX = 1 << 20, /* largest rcl_config.capacity */
  RCL_PARAMETERS = 4,         /* most parameters that a protocol may have of its own */
  RCL_COORDINATOR_RANK = 0 /* the rank that may COMMIT, and whose TIMER begins a checkpoint of all
                              ranks; papers say initiator */
};

/* Holds what a rank's protocol knows about the run. Nothing in it changes during the run. */
struct rcl_config {
  int16_t self;  /* this rank, 0 .. ranks-1 */
  int16_t ranks; /* number of ranks of the program */
  /* Room of each of the protocol's lists, in entries. When a list is full, the protocol gives up
   * (GIVE_UP) or does what its paper says; it never drops an entry silently. Costs depend on how
   * much of a list is in use, not on `capacity`. */
  uint32_t capacity;
  uint32_t
      /* values by index, with the names of rcl_protocol.parameters; 0 if not set */
      parameter[RCL_PARAMETERS];
  /* The ranks with which this rank's program exchanges messages, if they are fixed, or NULL for all
   * ranks. A neighbour `peer` has bit peer % 32 of word peer / 32 set, in (ranks + 31) / 32 words.
   * The relation is symmetric. The memory is the host's, and lasts as long as the config is used. A
   * program that sends to another rank ends the run, and no protocol sees its message. Control
   * messages go to any rank. */
  const uint32_t *neighbours;
};

/* Returns whether `peer` is a neighbour of this rank. No rank is its own neighbour. */
static inline bool rcl_is_neighbour(const struct rcl_config *config, int peer)
{
  return peer != config->self &&
         (!config->neighbours || config->neighbours[peer / 32] & 1u << peer % 32);
}

enum rcl_event_kind {
  RCL_EVENT_NONE,

  /* The next events concern the life of the rank. */

  /* The rank starts from `checkpoint`, or from the beginning (RCL_FRESH). Its state is the one that
   * was stored with the last durable part of that checkpoint, or zeroes. With independent recovery,
   * `incarnation` is the last incarnation that the rank knows of, or 0 if it knows of no crash. */
  RCL_EVENT_START,
  /* `peer` was found dead. `checkpoint` is the last committed checkpoint; with independent recovery
   * it is the checkpoint from which `peer` starts, in `incarnation`. */
  RCL_EVENT_DOWN,
  /* The timer of SET_TIMER has gone off, because it is time for a checkpoint or because a log is
   * nearly full. This can be at any time, even at once. With clocks, the alarm of `checkpoint` has
   * gone off. */
  RCL_EVENT_TIMER,

  /* The program. */

  RCL_EVENT_SEND,    /* the program sends `bytes` to `peer` with `tag` on `comm` */
  RCL_EVENT_RECEIVE, /* the program posts receive `request` for (`peer`|ANY, `tag`|ANY, `comm`) */
  /* A nondeterministic choice (a test, probe, wait-any or random number) is about to come out as
   * `outcome`. With a `request`, the choice is whether that receive is cancelled (1) or completes
   * (0). */
  RCL_EVENT_CHOICE,
  RCL_EVENT_SAFE_POINT, /* a checkpoint is allowed here; `iteration` begins here unless it is 0 */
  /* The rank has become a member of a new communicator `comm`; it is always a member of 0. The
   * event follows the COLLECTED of the call with `makes`, or the DELIVER in its place, with no
   * event in between. When all members have freed `comm`, a later communicator of the same members
   * is the same `comm` again: they become members again, and the count of its calls goes on. */
  RCL_EVENT_MEMBER,
  /* The program makes collective `call` on `comm`. Data flow as `flow` says, from or to `root`.
   * Only protocols with `collectives` get this event. */
  RCL_EVENT_COLLECTIVE,
  /* The program makes output `output` of `bytes` for the outside, which never rolls back: text on
   * the standard output, for example. The host holds the output until an action OUTPUT lets it
   * leave, and drops it if the program makes it again after it has left. When all programs have
   * ended, held outputs leave. */
  RCL_EVENT_OUTPUT,

  /* The network. */

  /* A message from `peer`, with its `words`, has arrived. It has matched receive `request`, which
   * had a wildcard if `wildcard` is set; or it was drained (NO_REQUEST); or, at LEVEL_CHANNEL, it
   * has come out of its channel (NO_REQUEST). */
  RCL_EVENT_ARRIVED,
  RCL_EVENT_CONTROL, /* control message (`control`, `about`, `value`) from the protocol at `peer` */
  /* All contributions to `call` that flow to this rank are here: `contributions` is their number,
   * and `words` has the sums of their words. */
  RCL_EVENT_COLLECTED,

  /* Stable storage. */

  /* The image of CAPTURE `checkpoint` is in memory, so the program may go on. */
  RCL_EVENT_CAPTURED,
  RCL_EVENT_DURABLE,   /* `part` of `checkpoint` is on stable storage */
  RCL_EVENT_COMMITTED, /* `checkpoint` is recorded as the one to recover from */
  RCL_EVENT_KINDS
};

/* Names the level at which a protocol sees messages. */
enum rcl_level {
  RCL_LEVEL_APPLICATION, /* above MPI's matching: the protocol sees receives */
  RCL_LEVEL_CHANNEL      /* below MPI's matching: the protocol sees channels */
};

enum rcl_part { RCL_PART_IMAGE, RCL_PART_LOG, RCL_PARTS };

/* Names the bounds on which protocols with clocks rely. Only their host knows the bounds in
 * seconds. */
enum rcl_bound { RCL_BOUND_DEVIATION, RCL_BOUND_LONGEST, RCL_BOUND_SHORTEST, RCL_BOUNDS };

/* Names collectives by the direction of their data (Bronevetsky et al., ICS 2003, section 4). */
enum rcl_flow {
  RCL_FLOW_NONE,
  RCL_FLOW_FROM_ROOT, /* single sender: Bcast, Scatter */
  RCL_FLOW_TO_ROOT,   /* single receiver: Reduce, Gather */
  RCL_FLOW_ALL,       /* all to all: Allreduce, Allgather, Alltoall */
  RCL_FLOW_BARRIER,   /* no data, but no rank leaves before all have entered */
  RCL_FLOWS
};

/* Holds an event of any kind. Fields that do not belong to its kind are zero. */
struct rcl_event {
  uint8_t kind;     /* enum rcl_event_kind */
  uint8_t part;     /* DURABLE: enum rcl_part */
  uint8_t wildcard; /* ARRIVED: the receive named ANY source or ANY tag */
  uint8_t flow;     /* COLLECTIVE, COLLECTED: enum rcl_flow */
  uint8_t closed;   /* START, CAPTURED: the rank's connections are closed (see `reconnects`) */
  uint8_t makes;    /* COLLECTIVE, COLLECTED: this call makes the rank a member (see MEMBER) */
  uint8_t pad[2];   /* zero */
  union {
    int16_t peer; /* SEND: destination; RECEIVE, ARRIVED, CONTROL: source; DOWN: the failed rank */
    int16_t root; /* COLLECTIVE, COLLECTED; 0 if there is no root */
  };
  int16_t comm; /* SEND, RECEIVE, ARRIVED, MEMBER, COLLECTIVE, COLLECTED: the communicator */
  union {
    int32_t tag;  /* SEND, RECEIVE, ARRIVED */
    int32_t call; /* COLLECTIVE, COLLECTED: number of the call on `comm`, from 1 */
  };
  union {
    /* RECEIVE, ARRIVED, CHOICE: number of the receive, counted from 1 by the rank's program; the
     * count rolls back with the program */
    uint32_t request;
    /* OUTPUT: number of the output, counted from 1 likewise; START, CAPTURED: number of outputs
     * that the program of the image has made */
    uint32_t output;
  };
  /* SEND, ARRIVED, OUTPUT: length of the payload in bytes; COLLECTIVE: bytes that this rank
   * contributes */
  uint32_t bytes;
  uint32_t checkpoint; /* START, DOWN, CAPTURED, DURABLE, COMMITTED; with clocks also TIMER */
  union {
    uint32_t outcome;       /* CHOICE */
    uint32_t iteration;     /* SAFE_POINT: the iteration that begins here, or 0 if there is none */
    uint32_t contributions; /* COLLECTED: number of contributions that are here */
    uint32_t incarnation;   /* with independent recovery: START, DOWN */
  };
  union {
    uint32_t
        /* ARRIVED: words that TRANSMIT added; COLLECTED: sums of the words that JOIN added */
        words[RCL_WORDS];
    struct {            /* CONTROL: the fields with which ACTION_CONTROL sent the message */
      uint32_t control; /* kind of the message: index in rcl_protocol.controls */
      uint32_t about;   /* the checkpoint, epoch, communicator ... that the message is about */
      uint32_t value;
    };
  };
};

enum rcl_action_kind {
  RCL_ACTION_NONE,

  /* The answer to SEND is exactly one of the next two actions, perhaps after KEEP. */

  RCL_ACTION_TRANSMIT, /* put the message, with `words`, on the wire */
  /* the receiver has the message already: complete the send, transmit nothing */
  RCL_ACTION_SUPPRESS,

  /* The answer to RECEIVE is either MATCH, or DELIVER from a slot, for the event's `request`. */

  RCL_ACTION_MATCH, /* let `request` match a message from (`peer`|ANY|NOBODY, `tag`|ANY) */

  /* The answer to ARRIVED is either DELIVER without a slot, or DISCARD. */

  /* Give receive `request` of the event the payload that arrived (NO_SLOT), or the payload in
   * `slot`, which `peer` sent with `tag`. At LEVEL_CHANNEL: pass the payload to the matching,
   * without `request`; from a slot this is possible in any step. */
  RCL_ACTION_DELIVER,
  RCL_ACTION_DISCARD, /* drop the message; its receive goes on waiting */
  /* KEEP alone is also an answer to ARRIVED, and KEEP may stand before DELIVER. After KEEP alone,
   * the receive for which the message came has matched nothing, and the host announces it again as
   * soon as the program is not held. */

  /* Payloads. */

  /* keep in `slot` the payload that arrived or, at SEND, the payload that is being sent */
  RCL_ACTION_KEEP,
  RCL_ACTION_FORGET, /* empty `slot` */
  /* Put the sent message that is kept in `slot` on the wire to `peer`, with `words`. This is
   * possible in any step. */
  RCL_ACTION_RESEND,

  /* The answer to COLLECTIVE is one of JOIN, SUPPRESS, and DELIVER from a slot with a kept result.
   * The answer to COLLECTED is DELIVER, perhaps after KEEP. In a barrier it may also be CAPTURE;
   * then DELIVER follows at CAPTURED, and after a restart the call of the barrier is announced
   * again, as posted receives are. */

  /* Take part, contributing `words`; COLLECTED follows if data flow to this rank. */
  RCL_ACTION_JOIN,
  /* After a restart: take part again, for the sake of others, in `call` on `comm` with `root`,
   * which this rank's program has passed. */
  RCL_ACTION_REJOIN,

  /* The answer to CHOICE is FORCE; without it the outcome stays as it is. */

  RCL_ACTION_FORCE, /* the choice must come out as `outcome`, as it did before the crash */

  /* The next action sends from protocol to protocol. */

  RCL_ACTION_CONTROL, /* send control message (`control`, `about`, `value`) to `peer` */

  /* The program. */

  RCL_ACTION_HOLD, /* the program takes no step until RELEASE */
  RCL_ACTION_RELEASE,
  /* Until RELEASE, take in messages from `peer`|ANY even if no receive matches. */
  RCL_ACTION_DRAIN,

  /* Checkpoints. */

  /* Take the program's image for `checkpoint`, whose number is above that of the last one. This is
   * allowed at SAFE_POINT, at COLLECTED of a barrier, and at any event while the program is held or
   * at LEVEL_CHANNEL. Inside a collective it is allowed only at that COLLECTED. */
  RCL_ACTION_CAPTURE,
  /* Write `part` of `checkpoint` with the state after this step, and with the slots. With
   * independent recovery an image may be `bare`: without slots. An image must be captured and not
   * yet stored; with global recovery a log is stored once. */
  RCL_ACTION_STORE,
  /* Record `checkpoint` as the one to recover from. Only the coordinator may do this, only with
   * global recovery, and for one checkpoint at a time. */
  RCL_ACTION_COMMIT,
  /* this rank no longer needs any part of `checkpoint`; RCL_FRESH names no checkpoint */
  RCL_ACTION_ERASE,
  /* Restore this rank from `checkpoint`, then START it. This is the last action of its step, which
   * must have no CAPTURE. With global recovery the event must be DOWN, `checkpoint` must be the one
   * of that event, and the step must have no STORE. */
  RCL_ACTION_ROLL_BACK,

  /* The outside. */

  /* Output commit, in any step: outputs of the program up to `output` may leave. They leave now or,
   * with global recovery, once `checkpoint` is committed, unless a crash is detected before the
   * commit. Held outputs are not in the rank's memory: a crash undoes only outputs that the program
   * makes again. */
  RCL_ACTION_OUTPUT,

  /* Other. */

  RCL_ACTION_OPEN, /* after connections were closed: others can send to this rank again */
  /* Ask for TIMER after the checkpoint interval of the scenario, or when a log of sent messages or
   * events (RCL_FULL_SENT, RCL_FULL_EVENTS) has little room left. With clocks, ask for it at the
   * instant of `checkpoint` plus `after`. */
  RCL_ACTION_SET_TIMER,
  /* Say that from here on nothing is logged for `checkpoint`. The world judges the properties of C3
   * by this action, and property `tokens` by its `surplus`. */
  RCL_ACTION_STOPPED_LOGGING,
  /* recovery is impossible because of `reason`; if that is FULL, later actions are dropped */
  RCL_ACTION_GIVE_UP,
  RCL_ACTION_KINDS
};

enum rcl_reason {
  RCL_REASON_NONE,
  RCL_REASON_NO_CHECKPOINT, /* the protocol takes no checkpoints */
  RCL_REASON_FULL,          /* a list of `capacity` entries is full */
  RCL_REASON_PROTOCOL,      /* an event that the protocol's assumptions exclude */
  RCL_REASONS
};

/* Names the list that is full, for messages; the list has `capacity` entries. */
enum rcl_full {
  RCL_FULL_UNNAMED,
  RCL_FULL_KEPT,     /* messages that are kept until they are received */
  RCL_FULL_SENT,     /* the log of sent messages */
  RCL_FULL_AHEAD,    /* messages ahead of a gap */
  RCL_FULL_LOG,      /* the log of late messages, decisions and results */
  RCL_FULL_EVENTS,   /* the event log */
  RCL_FULL_EARLY,    /* early messages, or orphans */
  RCL_FULL_SUPPRESS, /* messages to suppress */
  RCL_FULL_ENVELOPES,
  RCL_FULL_CALLS, /* collective calls, or communicators */
  RCL_FULL_CHECKPOINTS,
  RCL_FULL_LIMIT, /* a list with a limit of the protocol's own, whatever the capacity is */
  RCL_FULLS
};

/* Holds an action of any kind. Fields that do not belong to its kind are zero. */
struct rcl_action {
  uint8_t kind;   /* enum rcl_action_kind */
  uint8_t part;   /* STORE: enum rcl_part */
  uint8_t reason; /* GIVE_UP: enum rcl_reason */
  /* STORE of an image: 1 if the slots stay in memory only, and are empty after START */
  uint8_t bare;
  union {
    int16_t peer; /* MATCH, DELIVER, CONTROL, DRAIN, RESEND */
    int16_t root; /* REJOIN */
  };
  int16_t comm; /* REJOIN */
  union {
    int32_t tag;  /* MATCH, DELIVER */
    int32_t call; /* REJOIN */
  };
  union {
    uint32_t request; /* MATCH, DELIVER */
    uint32_t output;  /* OUTPUT */
  };
  uint32_t slot; /* DELIVER, KEEP, FORGET, RESEND */
  /* CAPTURE, STORE, COMMIT, ERASE, ROLL_BACK, STOPPED_LOGGING; OUTPUT, where it may be 0; with
   * clocks also SET_TIMER */
  uint32_t checkpoint;
  union {
    uint32_t outcome; /* FORCE */
    uint32_t list;    /* GIVE_UP, FULL: enum rcl_full */
    /* STOPPED_LOGGING, for property `tokens`: number of messages that this rank has recorded as
     * received or as under way to it, minus the number that it has recorded as sent; may be
     * negative (two's complement) */
    uint32_t surplus;
  };
  union {
    uint32_t words[RCL_WORDS]; /* TRANSMIT, RESEND, JOIN */
    struct {                   /* CONTROL */
      uint32_t control, about, value;
    };
  };
  /* with clocks, SET_TIMER: factor of each bound; negative factors make the time earlier */
  int8_t after[RCL_BOUNDS];
  uint8_t pad2; /* zero */
};

/* Holds the actions of one step, in the order in which they take effect. The memory is the
 * caller's. */
struct rcl_actions {
  uint32_t count;
  uint32_t capacity;
  bool overflow; /* there were more actions than RCL_ACTIONS_MAX, which is a breach */
  struct rcl_action *item;
};

/* Returns the number of actions for which a step may need room: some control messages for each
 * peer, and a few actions for each entry of a list. */
#define RCL_ACTIONS_MAX(config) (32u + 12u * (uint32_t)(config)->ranks + 2u * (config)->capacity)

/* Returns whether a receive for (`peer`|ANY, `tag`|ANY) takes a message of `sender` with
 * `sent_tag`, on the same communicator. Programs, the world and logs of protocols use this function
 * (MPI 3.1, section 3.2.4). */
static inline bool rcl_matches(int peer, int32_t tag, int sender, int32_t sent_tag)
{
  return (peer == RCL_ANY || peer == sender) && (tag == RCL_ANY || tag == sent_tag);
}

/* Counts the operations of a rank's protocol, which events cost besides messages, copies and
 * writes. A platform says how many seconds each operation takes. */
struct rcl_work {
  double records; /* number of envelopes recorded, each in envelope_record_s */
  double matches; /* number of pairs of envelopes compared, each in envelope_match_s */
  double probes;  /* number of probes for requests of checkpoints, each in request_probe_s */
  /* Counts that the protocol itself uses for a peer. The host keeps them from one control message
   * of the peer to the next, and sets them to 0 at START. */
  uint32_t sent, received;
};

/* Describes a phase of a checkpoint or of a recovery, named as in the protocol's paper: the time
 * that one rank takes from a step to a later step. A step is named by its event or by one of its
 * actions, as protocols/text.h prints it, perhaps with fields: "hold", "durable part=log". Several
 * entries with the same name are forms of one phase. If both ends are the same, the phase lasts
 * from the first such step after a START to the last. */
struct rcl_phase {
  const char *name, *from, *to;
};

/* Locates bytes of a state that are in use: the struct at the state's beginning, an array, or a
 * list up to its last entry. */
struct rcl_piece {
  uint32_t offset, bytes; /* distance from the beginning of the state, and number of bytes in use */
  /* number of bytes that may come into use; it exceeds `bytes` only in lists */
  uint32_t room;
  uint32_t list; /* enum rcl_full: the name that messages have for the list */
};

enum { RCL_PIECES = 16 }; /* largest number of pieces of a state */

/* The following types place a protocol on the map of all protocols (docs/map.md). A test compares
 * these declarations with what claims show and what a run does. */

enum rcl_logged {
  RCL_LOGGED_NOTHING,
  RCL_LOGGED_MESSAGES,    /* payloads */
  RCL_LOGGED_ENVELOPES,   /* peer, communicator and tag of messages */
  RCL_LOGGED_DETERMINANTS /* outcomes of events that the program does not determine */
};

enum rcl_logged_when {
  RCL_LOGGED_AT_CHECKPOINTS, /* only while a checkpoint is taken, and only what crosses its line */
  RCL_LOGGED_ALWAYS,         /* each one, in memory */
  RCL_LOGGED_FIRST,          /* each one, on stable storage before a message that depends on it
                                leaves */
  RCL_LOGGED_LATER,          /* each one, on stable storage some time later */
  RCL_LOGGED_WITH_MESSAGES   /* each one, on the messages that depend on it */
};

enum rcl_logged_where {
  RCL_LOGGED_BY_SENDER,
  RCL_LOGGED_BY_RECEIVER,
  RCL_LOGGED_BY_BOTH,
  RCL_LOGGED_BY_LOGGER, /* the event logger */
  RCL_LOGGED_BY_PEERS   /* every rank that depends on the event */
};

/* Says which ranks go back after a crash. */
enum rcl_back {
  RCL_BACK_NONE, /* none: a crash is not repaired */
  RCL_BACK_FAILED,
  RCL_BACK_FAILED_OR_ALL, /* the failed rank, or all ranks if the logs do not suffice */
  RCL_BACK_DEPENDENT,     /* the failed rank, and the ranks that depend on what it had done */
  RCL_BACK_ALL
};

/* Lists what a protocol assumes in addition to what all protocols assume, as bits. */
enum rcl_assumes {
  RCL_ASSUMES_CONTROL_ORDER = 1 << 0, /* control messages of a pair of ranks keep their order */
  RCL_ASSUMES_MPI_ORDER = 1 << 1,     /* messages of one envelope keep their order */
  RCL_ASSUMES_FIFO = 1 << 2, /* all messages of a pair, also control messages, keep their order */
  /* Checkpoints can be taken at any time, not only at safe points. */
  RCL_ASSUMES_ANYWHERE = 1 << 3,
  RCL_ASSUMES_BARRIERS = 1 << 4,     /* there are barriers that no message crosses */
  RCL_ASSUMES_ITERATIONS = 1 << 5,   /* there are iterations that no message crosses */
  RCL_ASSUMES_RECEIVED = 1 << 6,     /* each message is received at some time */
  RCL_ASSUMES_SAME_AGAIN = 1 << 7,   /* a message that is sent again has the same contents */
  RCL_ASSUMES_CLOCKS = 1 << 8,       /* clocks and latencies keep within bounds */
  RCL_ASSUMES_WHOLE_WRITES = 1 << 9, /* no write is torn by a crash */
  RCL_ASSUMES_LOGGER = 1 << 10,      /* the event logger never loses what was stored */
  RCL_ASSUMES_FAILURES = 1 << 11,    /* only a limited number of ranks fail at once */
  RCL_ASSUMES_CONNECTED = 1 << 12    /* neighbours connect rank 0 with every rank */
};

enum { RCL_PLACE_LOGS = 2 }; /* largest number of kinds of logs */

struct rcl_place {
  struct {
    uint8_t what, when, where; /* enum rcl_logged, rcl_logged_when, rcl_logged_where */
  } logs[RCL_PLACE_LOGS];
  uint8_t back;     /* enum rcl_back */
  uint32_t assumes; /* enum rcl_assumes */
};

struct rcl_protocol {
  const char *name;         /* the protocol's name in scenarios, such as "c3" */
  const char *title;        /* a description, with its paper and section */
  uint32_t piggyback_bytes; /* number of bytes that the protocol adds to each message on the wire */
  /* number of bytes of a rank's words in a collective call; 0 stands for piggyback_bytes */
  uint32_t call_bytes;
  /* The piggyback bytes are in one piece with the message, so sender and receiver copy the message
   * once more. */
  bool header;
  uint32_t control_bytes; /* length of a control message on the wire */
  enum rcl_level level;
  /* true if COLLECTIVE is raised; otherwise the protocol sees the messages of which collectives
   * consist */
  bool collectives;
  /* The protocol expects the host to close connections: for a restart all connections, for a
   * capture those of interconnects that cannot be captured. A rank whose connections were closed
   * neither sends nor receives a message before its OPEN. On an interconnect that cannot be
   * captured, other protocols are refused unless checkpoint.places is program. */
  bool reconnects;
  bool independent; /* each rank has checkpoints of its own (above); otherwise recovery is global */
  bool clocks;      /* every rank has a clock of its own (above) */
  bool piggybacks;  /* LEVEL_APPLICATION: control messages travel with the messages of the program:
                       a message arrives after all control messages that its sender sent before it */
  bool
      /* A process beside the program steps the protocol (MPICH-V), so ends of writes and control
       * messages come while the program computes. If false, they come in the program's next call of
       * MPI. */
      daemon;
  bool barrier_words; /* words of JOIN count in barriers even if piggyback_bytes is 0 */
  /* Control messages, by `control`. The list ends with NULL. An entry is "NAME: TEXT", or NAME
   * alone. NAME is the message's name in the paper; traces show it. TEXT is what the message says,
   * in the words of its sender, for those who read a run: narrations, pictures and pages show it.
   * In TEXT, {about} and {value} stand for the words of the message, and {about.high}, {about.low},
   * {value.high}, {value.low} for 16 bits of them. {WORD?N:A|M:B|C} stands for A if the word is N,
   * for B if it is M, and else for C, in which % stands for the word. */
  const char *const *controls;
  /* Texts of the numbered invariants, from 1; the list ends with NULL. An entry is "TEXT: otherwise
   * HARM", or TEXT alone. HARM is what a program would suffer if the invariant did not hold, for
   * those who read a run in which it is violated. */
  const char *const *invariants;
  /* names of rcl_config.parameter, a list that ends with NULL, or NULL if there are none */
  const char *const *parameters;

  /* Where the program must be for a checkpoint: "barriers", or NULL for any safe point. */
  const char *captures_at;
  /* Names of the properties that this protocol promises in addition to the default ones
   * (docs/architecture.md). Runs are audited for them, and a claim shows each. The list ends with
   * NULL; it is NULL if there are none. */
  const char *const *promises;

  /* The phases whose times a run reports for each checkpoint and recovery, or NULL if there are
   * none. The last entry has no name. */
  const struct rcl_phase *phases;

  /* Returns the size of the state of one rank in bytes, a multiple of 8, for any config. */
  size_t (*state_size)(const struct rcl_config *);

  /* Sets piece[RCL_PIECES] to the pieces of `state` that are in use, in the order of their places,
   * and returns their number. All other bytes are zero. In all states of a config the pieces have
   * the same number and offsets; a piece of no bytes may lie behind the end. Hosts copy and digest
   * only these pieces. If the function is NULL, the whole state is one piece. */
  uint32_t (*in_use)(const struct rcl_config *, const void *state, struct rcl_piece *piece);

  /* Makes one step. `state` is state_size(config) bytes of 8-aligned memory that memcmp can
   * compare: bytes that are not in use are zero. */
  void (*step)(const struct rcl_config *, void *state, const struct rcl_event *,
               struct rcl_actions *);

  /* Adds the costs of the event that is about to come in that state. Only runs call this function,
   * which is NULL if there are no costs. */
  void (*work)(const struct rcl_config *, const void *state, const struct rcl_event *,
               struct rcl_work *);

  /* Returns the number of the first invariant that `state` violates, or 0 if all hold. */
  int (*violated_invariant)(const struct rcl_config *, const void *state);

  /* Permutes the ranks: turns `state`, a state of rank config->self, into a state of rank
   * to[config->self]. All that the state says about rank i, it then says about rank to[i].
   * to[RCL_COORDINATOR_RANK] is the coordinator. The function is NULL if the ranks are not
   * interchangeable. Words of messages must not name ranks. */
  void (*permute_ranks)(const struct rcl_config *, void *state, const int16_t *to);

  /* Another form of the same protocol from the same source, registered with it, or NULL if there is
   * none. */
  const struct rcl_protocol *variant;

  /* the protocol's place on the map, or NULL if it is not on the map */
  const struct rcl_place *place;

  /* the protocol's line invariant (line.h), or NULL if there is none */
  const struct rcl_clause *line;

  /* Has bit 1 << `control` for some control messages. A rank whose program is held and not yet
   * captured looks for these messages without a pause. It looks for all other control messages as
   * often as its platform says (control_poll_s). */
  uint64_t spins;
};

/* Makes a step; no other function calls a protocol's step (lock 2). Returns the number of the first
 * invariant that the new state breaks, or 0 if all hold or if `check` is false. If the step has
 * more actions than there is room for, sets actions->overflow; this is a breach, which the caller
 * reports. `actions->item` must have room for `actions->capacity` >= RCL_ACTIONS_MAX(config); count
 * is reset. */
int rcl_protocol_step(const struct rcl_protocol *, const struct rcl_config *, void *state,
                      const struct rcl_event *, struct rcl_actions *, bool check);

/* Does what rcl_protocol.in_use does, for any protocol. */
uint32_t rcl_protocol_in_use(const struct rcl_protocol *, const struct rcl_config *,
                             const void *state, struct rcl_piece *);

/* Returns a 64-bit digest of `bytes` of memory, less than 4 GiB. Machines with the same byte order
 * compute the same digest. */
uint64_t rcl_protocol_digest(const void *state, size_t bytes);

/* Returns the same digest of a whole state, but reads only its pieces. Traces have the digest of
 * the state after each step. */
uint64_t rcl_protocol_digest_state(const struct rcl_protocol *, const struct rcl_config *,
                                   const void *state);

/* These functions return a protocol of the registry, by name or by index, or NULL if there is no
 * such protocol. */
const struct rcl_protocol *rcl_protocol_named(const char *name);
const struct rcl_protocol *rcl_protocol_at(size_t index);

/* Adds protocols to the registry of this process, before threads start. `list` ends with NULL and
 * must outlive the process. Returns false if there are too many lists. */
bool rcl_protocol_register(const struct rcl_protocol *const *list);

/* Declares the protocols of a shared object from another repository, at the end of its source:
 * RECLINE_PROTOCOLS(&mine, &other); scenarios name the object by protocol.file. RECLINE_DOOR is the
 * version of everything above; an object carries the version with which it was compiled. A change
 * of a size below or of struct rcl_protocol raises the version. */
#define RECLINE_DOOR 17u
static_assert(RECLINE_DOOR == 17u && sizeof(struct rcl_config) == 24 + sizeof(const uint32_t *) &&
                  sizeof(struct rcl_event) == 44 && sizeof(struct rcl_action) == 44 &&
                  sizeof(struct rcl_piece) == 16 && RCL_PIECES == 16 && RCL_EVENT_KINDS == 17 &&
                  RCL_ACTION_KINDS == 26 && RCL_REASONS == 4,
              "the door has changed: raise RECLINE_DOOR, then these numbers");
#define RECLINE_PROTOCOLS(...)                                                                     \
  extern const uint32_t recline_door;                                                              \
  const uint32_t recline_door = RECLINE_DOOR;                                                      \
  extern const struct rcl_protocol *const recline_protocols[];                                     \
  const struct rcl_protocol *const recline_protocols[] = {__VA_ARGS__, NULL}

#endif
