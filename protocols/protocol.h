/* The door between a checkpoint/rollback protocol and its host.
 *
 * A protocol is a pure step function on plain memory: an event goes in, actions come out.
 *
 *     step(config, state, event)  ->  state', actions[]
 *
 * It has no clock, no heap, no file, no payload and no global, and it knows neither MPI nor
 * SimGrid. Two hosts drive the very same object: the explorer (verify/), which tries every
 * interleaving and every crash, and the SMPI host (sim/), which runs real MPI programs.
 *
 * An action only *starts* work. The end of the work comes back as an event, so that every
 * window in which a crash can fall lies between two steps.
 *
 *     program                 protocol                       host
 *        | send   OFFER ---------> | TRANSMIT / SUPPRESS ------> |
 *        | recv   RECEIVE -------> | MATCH / DELIVER slot -----> |
 *        |                         | <----------------- ARRIVED  |
 *        | <-------------- DELIVER | KEEP slot ----------------> |
 *        |                         | CAPTURE, STORE, COMMIT ---> |
 *        |                         | <------- CAPTURED, DURABLE  |
 *
 * That is a protocol at the level of the application: it sees receives, and messages when they are
 * matched. One at the level of the channels sits below the matching. Between two ranks there is one
 * channel, in which program messages and control messages come in the order of sending:
 *
 *     program                 matching               protocol              channels
 *        | send --------------------------- OFFER ------> | TRANSMIT, CONTROL -> |
 *        | recv -----> | posted receives                  | <- ARRIVED, CONTROL  |
 *        | <---------- | unexpected messages <--- DELIVER | KEEP slot            |
 *
 * The matching is the host's: what has been delivered and what is posted belongs to the rank and to
 * its image. RECEIVE and PLACE are not raised, and any moment will do for a CAPTURE.
 *
 * The host holds payloads; the protocol holds numbers and envelopes. A payload that the protocol
 * wants to see again is held by the host in a *slot*, whose number the protocol chooses.
 *
 * What a protocol wants to find after a restart must be in its state (and in its slots) when it
 * says STORE: the host saves both with that part of the checkpoint, and START gives them back.
 *
 * Recovery comes in two kinds. By default it is global: one checkpoint is committed for all, every
 * crash makes all ranks ROLL_BACK to it, and no message outlives that. Where a protocol is
 * `independent`, each rank has checkpoints of its own:
 *
 *     - A crashed rank starts from the last of its own images that is durable, or FRESH. Its state
 *       is that of its part which was stored last and is durable, whichever checkpoint that
 *       belongs to; its slots are those of the image.
 *     - The others are told (DOWN, once for each dead) and go on. What the dead had under way to
 *       them is gone; so is what they sent to it before they were told.
 *     - ROLL_BACK is possible in any step, to any image of the rank that is not erased, durable or
 *       not. State and slots stay as they are: only the program goes back. Later images of the
 *       rank are gone.
 *     - PART_LOG lies with an event logger: it can be stored at any time and as often as wanted,
 *       next to images, and costs only what is new in it. The newest replaces those before.
 *
 * Without `clocks` a timer only says that it is time for a checkpoint. With `clocks` every rank has
 * a clock of its own and one alarm at a time. Each checkpoint has an instant, which the first
 * SET_TIMER that names it puts one checkpoint interval ahead; an alarm is so far behind that
 * instant, or before it, as a number of each bound says: that clocks deviate, from true time, by no
 * more than the deviation, and that a message takes no longer than the longest latency and no less
 * than the shortest. The interval is longer than anything made of a few bounds. So a protocol never
 * sees a time, and yet some orders of alarms and messages are impossible.
 */
#ifndef RECLINE_PROTOCOL_H
#define RECLINE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  ANY = -1,            /* any source, any tag; as `peer` of DRAIN: every peer */
  NOBODY = -2,         /* MATCH: no message at all, as the receive was cancelled before the crash */
  WORDS = 3,           /* words that a protocol adds to a message, or that make a control message */
  NO_REQUEST = 0,      /* ARRIVED: out of the channel, but not for a receive of the program */
  NO_SLOT = 0,         /* DELIVER: the payload that has just arrived; slots are numbered from 1 */
  FRESH = 0,           /* START: from the beginning of the program; checkpoints count from 1 */
  COORDINATOR_RANK = 0 /* the one rank that gets TIMER and may COMMIT: the papers' initiator */
};

/* What a rank's protocol knows of the run; it never changes during the run. */
struct config {
  int16_t self;      /* this rank, 0 .. ranks-1 */
  int16_t ranks;     /* ranks of the program */
  uint32_t capacity; /* entries in each of the protocol's lists; a full list is an answer
                        (GIVE_UP, or what the protocol's paper says), never a silent drop */
  uint32_t interval; /* hybrid: iterations from one checkpoint to the next (CP_INT); 0: none */
  uint32_t log;      /* hybrid: iterations of each interval whose payloads are kept (LOG_SIZE) */
};

enum event_kind {
  EVENT_NONE,
  /* life of the rank */
  EVENT_START, /* the rank starts from `checkpoint`, or FRESH; state holds what was stored
                  with the last durable part of that checkpoint, or zeroes. Independent: `outcome`
                  is the incarnation that the rank knows of, 0 for its first life */
  EVENT_DOWN,  /* `peer` was found dead; `checkpoint` is the last committed one. Independent: the
                  one that `peer` starts from; `outcome` is the incarnation that this begins */
  EVENT_TIMER, /* the timer of SET_TIMER went off: time for a checkpoint; clocks: the alarm of
                  `checkpoint` */
  /* the program */
  EVENT_OFFER,      /* it sends to `peer` with `tag` on `comm`, `bytes` long */
  EVENT_RECEIVE,    /* it posts receive number `request` for (`peer`|ANY, `tag`|ANY, `comm`) */
  EVENT_CHOOSE,     /* a test, probe, wait-any or random choice is about to come out as `outcome`;
                       with a `request`: whether that receive is cancelled (1) or completes (0) */
  EVENT_PLACE,      /* a checkpoint is allowed here; `outcome`: iteration that begins, 0: none */
  EVENT_MEMBER,     /* it has become a member of a new communicator `comm`; of 0 it always is */
  EVENT_COLLECTIVE, /* it calls a collective: call number `tag` on `comm`, whose data flow as `flow`
                       says, from or to root `peer`; only for protocols with `collectives` */
  /* the network */
  EVENT_ARRIVED,   /* a message from `peer` with its `words` matched receive `request` (posted for
                      `wildcard` if so), was drained (NO_REQUEST), or has come out of its channel
                      (LEVEL_CHANNEL, NO_REQUEST) */
  EVENT_CONTROL,   /* control message `words` from the protocol at `peer` */
  EVENT_COLLECTED, /* all contributions that flow to this rank in that call are here: `outcome` of
                      them, with the sums of their `words` */
  /* stable storage */
  EVENT_CAPTURED,  /* the image of CAPTURE `checkpoint` is in memory, the program may go on */
  EVENT_DURABLE,   /* `part` of `checkpoint` is on stable storage */
  EVENT_COMMITTED, /* `checkpoint` is recorded as the one to recover from */
  EVENT_KINDS
};

/* Where a protocol sits. */
enum level {
  LEVEL_APPLICATION, /* above MPI's matching */
  LEVEL_CHANNEL      /* below it */
};

enum part { PART_IMAGE, PART_LOG, PARTS };

/* What protocols with clocks rely on; in seconds only their host knows them. */
enum bound { BOUND_DEVIATION, BOUND_LONGEST, BOUND_SHORTEST, BOUNDS };

/* Collectives by the direction in which data flow (Bronevetsky et al., ICS 2003, section 4). */
enum flow {
  FLOW_NONE,
  FLOW_FROM_ROOT, /* single sender: Bcast, Scatter */
  FLOW_TO_ROOT,   /* single receiver: Reduce, Gather */
  FLOW_ALL,       /* all to all: Allreduce, Allgather, Alltoall */
  FLOW_BARRIER,   /* no data, but nobody passes before everybody has come */
  FLOWS
};

/* One plain shape for every event; fields that a kind does not name are zero. */
struct event {
  uint8_t kind;     /* enum event_kind */
  uint8_t part;     /* DURABLE */
  uint8_t wildcard; /* ARRIVED: the receive named ANY source or ANY tag */
  uint8_t flow;     /* COLLECTIVE, COLLECTED: enum flow */
  uint8_t closed;   /* START, CAPTURED: the rank's connections are closed, see `reconnects` */
  uint8_t pad[3];   /* zero */
  int16_t peer; /* OFFER: destination; COLLECTIVE, COLLECTED: root, 0 without one; RECEIVE, ARRIVED,
                   CONTROL: source; DOWN: the dead */
  int16_t comm; /* OFFER, RECEIVE, ARRIVED: number of the communicator */
  int32_t tag;  /* OFFER, RECEIVE, ARRIVED */
  uint32_t request;      /* RECEIVE, ARRIVED, CHOOSE: counts the receives of the rank's program
                            from 1 and rolls back with it */
  uint32_t bytes;        /* OFFER, ARRIVED: length of the payload in bytes */
  uint32_t checkpoint;   /* START, DOWN, CAPTURED, DURABLE, COMMITTED; clocks: TIMER */
  uint32_t outcome;      /* CHOOSE, PLACE, COLLECTED; independent: START, DOWN */
  uint32_t words[WORDS]; /* ARRIVED: what TRANSMIT added; CONTROL: what CONTROL sent */
};

enum action_kind {
  ACTION_NONE,
  /* answers to OFFER: exactly one of */
  ACTION_TRANSMIT, /* put the message on the wire with `words` */
  ACTION_SUPPRESS, /* its receiver has it already: complete the send, transmit nothing */
  /* answers to RECEIVE: MATCH, or DELIVER with a slot */
  ACTION_MATCH, /* let `request` match a message from (`peer`|ANY|NOBODY, `tag`|ANY) */
  /* answers to ARRIVED */
  ACTION_DELIVER, /* give the program's receive `request` the payload that arrived (NO_SLOT), or
                     the one in `slot`, sent by `peer` with `tag`; LEVEL_CHANNEL: pass it up to
                     the matching, also at START */
  ACTION_DISCARD, /* drop the message; its receive waits on */
  /* payloads */
  ACTION_KEEP,   /* hold in `slot` the payload that arrived or, with OFFER, the one that is sent */
  ACTION_FORGET, /* empty `slot` */
  ACTION_RESEND, /* put the sent message that is kept in `slot` on the wire to `peer`, with
                    `words`; in any step */
  /* answers to COLLECTIVE: JOIN, SUPPRESS, or DELIVER with a slot */
  ACTION_JOIN, /* take part, contributing `words`; COLLECTED follows where data flow to this rank */
  /* answer to COLLECTED: DELIVER, after KEEP or CAPTURE where wanted; CAPTURE only in a barrier,
     whose call is then announced again after a restart, as posted receives are */
  ACTION_REJOIN, /* after a restart: take part once more, for the others' sake, in call `tag` on
                    `comm` with root `peer`, which this rank's program has passed */
  /* answer to CHOOSE; without it the outcome stands */
  ACTION_FORCE, /* the outcome must be `outcome`, as it was before the crash */
  /* between protocols */
  ACTION_CONTROL, /* send control message `words` to `peer` */
  /* the program */
  ACTION_HOLD, /* the program makes no step until RELEASE */
  ACTION_RELEASE,
  ACTION_DRAIN, /* until RELEASE take in messages from `peer`|ANY even if no receive matches */
  /* checkpoints */
  ACTION_CAPTURE,   /* take the program's image for `checkpoint`; at a PLACE, while held, or
                       LEVEL_CHANNEL */
  ACTION_STORE,     /* write `part` of `checkpoint` with the state as it is after this step */
  ACTION_COMMIT,    /* record `checkpoint` as the one to recover from (coordinator only) */
  ACTION_ERASE,     /* all parts of `checkpoint`, of this rank, are no longer needed */
  ACTION_ROLL_BACK, /* restore this rank from `checkpoint`, then START it; the last action */
  /* other */
  ACTION_OPEN,            /* after connections were closed: others can send to this rank again */
  ACTION_SET_TIMER,       /* ask for TIMER after the checkpoint interval of the scenario; clocks: at
                             the instant of `checkpoint` plus `after` */
  ACTION_STOPPED_LOGGING, /* from here on nothing is logged for `checkpoint` (for monitors);
                             property `tokens`: `outcome` is how many more messages this rank has
                             recorded as received, or under way to it, than as sent */
  ACTION_GIVE_UP,         /* recovery is impossible: `reason` */
  ACTION_KINDS
};

enum reason {
  REASON_NONE,
  REASON_NO_CHECKPOINT, /* the protocol takes none */
  REASON_FULL,          /* a list of `capacity` entries is full */
  REASON_PROTOCOL,      /* an event that the protocol's claims exclude */
  REASONS
};

/* One plain shape for every action; fields that a kind does not name are zero. */
struct action {
  uint8_t kind;          /* enum action_kind */
  uint8_t part;          /* STORE */
  uint8_t reason;        /* GIVE_UP */
  uint8_t pad;           /* zero */
  int16_t peer;          /* MATCH, DELIVER, REJOIN, CONTROL, DRAIN, RESEND */
  int16_t comm;          /* REJOIN */
  int32_t tag;           /* MATCH, DELIVER */
  uint32_t request;      /* MATCH, DELIVER */
  uint32_t slot;         /* DELIVER, KEEP, FORGET, RESEND */
  uint32_t checkpoint;   /* CAPTURE, STORE, COMMIT, ERASE, ROLL_BACK, STOPPED_LOGGING; clocks:
                            SET_TIMER */
  uint32_t outcome;      /* FORCE, STOPPED_LOGGING */
  uint32_t words[WORDS]; /* TRANSMIT, RESEND, CONTROL */
  int8_t after[BOUNDS];  /* clocks, SET_TIMER: how many of each bound; negative: before */
  uint8_t pad2;          /* zero */
};

/* Actions of one step, in the order in which they take effect. The memory is the caller's. */
struct actions {
  uint32_t count;
  uint32_t capacity;
  bool overflow; /* more actions than ACTIONS_MAX: a breach */
  struct action *item;
};

/* Room that a step may need: some control messages per peer, a few actions per list entry. */
#define ACTIONS_MAX(config) (32u + 12u * (uint32_t)(config)->ranks + 2u * (config)->capacity)

struct protocol {
  const char *name;         /* as in scenarios: "c3" */
  const char *title;        /* what it is, with its paper and section */
  uint32_t piggyback_bytes; /* added to each message on the wire */
  bool header;              /* these are made one with the message, which is copied once more by
                               its sender and by its receiver */
  uint32_t control_bytes;   /* length of a control message on the wire */
  enum level level;
  bool collectives; /* COLLECTIVE is raised; otherwise collectives are the messages that they
                       consist of */
  bool reconnects; /* it knows that interconnects which cannot be captured are closed for a capture,
                      and all for a restart; then nothing is sent by a rank, or to it, before its
                      OPEN. Where others depend on that a run is refused */
  bool independent; /* each rank has checkpoints of its own (above); otherwise recovery is global */
  bool clocks;      /* every rank has a clock of its own (above) */
  bool barrier_words;          /* words of JOIN count in barriers even where piggyback_bytes is 0 */
  const char *const *controls; /* words[0] of a control message -> its name in the paper; ends
                                  with NULL */
  const char *const *invariants; /* texts of the numbered invariants, from 1; ends with NULL */

  /* Size of the state of one rank, in bytes; a multiple of 8. Any config. */
  size_t (*bytes)(const struct config *);

  /* One step. `state` is bytes(config) of 8-aligned memory, comparable with memcmp. */
  void (*step)(const struct config *, void *state, const struct event *, struct actions *);

  /* Number of the first invariant that does not hold in `state`; 0 when all hold. */
  int (*broken)(const struct config *, const void *state);

  /* Ranks get other names: what `state`, of rank config->self, says of rank i it says of rank to[i]
   * afterwards, and it is a state of rank to[config->self]. to[COORDINATOR_RANK] is that rank.
   * NULL: its states cannot be renamed, or ranks are not alike. Words must not name ranks. */
  void (*rename)(const struct config *, void *state, const int16_t *to);

  /* Another form of the same protocol from the same source, registered with it; NULL: no more. */
  const struct protocol *variant;
};

/* The only caller of a protocol's step (lock 2). Returns the number of the first invariant that
 * the new state breaks, 0 when all hold or `check` is false. Aborts with a message when the step
 * wants more than ACTIONS_MAX actions: a breach.
 * `actions->item` must have room for `actions->capacity` >= ACTIONS_MAX(config); count is reset. */
int protocol_step(const struct protocol *, const struct config *, void *state, const struct event *,
                  struct actions *, bool check);

/* A 64-bit digest of `bytes` of memory, the same on every machine of the same byte order. Traces
 * carry that of the state after each step. */
uint64_t protocol_digest(const void *state, size_t bytes);

/* The registry. Both return NULL when there is none: no such name, or past the last index. */
const struct protocol *protocol_named(const char *name);
const struct protocol *protocol_at(size_t index);

/* Adds protocols to the registry for this process, before threads start: `list` ends with NULL
 * and must outlive the process. False when there were too many lists. */
bool protocol_register(const struct protocol *const *list);

/* For protocols kept in other repositories, at the end of a shared object that scenarios name by
 * protocol.file: RECLINE_PROTOCOLS(&mine, &other);
 * RECLINE_DOOR changes with everything above that such an object was compiled with. */
#define RECLINE_DOOR 3u
#define RECLINE_PROTOCOLS(...)                                                                     \
  extern const uint32_t recline_door;                                                              \
  const uint32_t recline_door = RECLINE_DOOR;                                                      \
  extern const struct protocol *const recline_protocols[];                                         \
  const struct protocol *const recline_protocols[] = {__VA_ARGS__, NULL}

#endif
