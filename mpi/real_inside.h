/* Inside the host for real MPI: the state that its files share. One process has one host, in
 * `real`. */
#ifndef RECLINE_REAL_INSIDE_H
#define RECLINE_REAL_INSIDE_H

#include "base/output.h"
#include "mpi/real_host.h"
#include "protocols/protocol.h"

/* Bytes of a message, shared by those that hold it. */
struct real_payload {
  uint32_t holders;
  size_t size;
  unsigned char bytes[];
};

struct real_message {
  struct real_message *next;
  int16_t peer, comm;
  int32_t tag;
  uint32_t words[RCL_WORDS];
  struct real_payload *payload;
};

/* First in, first out. */
struct real_queue {
  struct real_message *first, **end;
};

struct real_receive {
  struct real_receive *next;
  uint32_t request;
  int16_t peer, comm; /* as posted */
  int32_t tag;
  int16_t from; /* as MATCH allows */
  bool announced, done;
  int32_t from_tag;
  int16_t source; /* done: the message that came */
  int32_t sent_tag;
  struct real_payload *payload;
};

/* real_combine(), while it is under way: this process has contributed. */
struct real_combination {
  uint32_t on, count; /* rank 0: contributions that are in `values` */
  uint64_t values[REAL_COMBINED];
};

struct real_region {
  int id, type;
  void *address;
  size_t bytes;
  struct real_stream stream; /* address NULL */
};

struct real_slot {
  bool full;
  struct real_message message;
};

/* Work under way: the events of its ends, in the order in which it was started. */
struct real_due {
  struct rcl_event *item;
  uint32_t count, room;
};

struct real {
  bool on;
  struct real_options options;
  char *folder; /* options.folder */
  int rank, ranks;

  const struct rcl_protocol *protocol;
  struct rcl_config config;
  void *state;
  struct rcl_actions actions;
  bool determinants; /* the protocol logs outcomes, so choices are events */

  /* The step under way. */
  struct real_message *now; /* being sent, or just arrived */
  struct rcl_action answer; /* FORCE, JOIN */

  /* The rank. */
  bool over; /* no checkpoint is taken any more */
  bool held, draining;
  uint32_t capturing; /* CAPTURE without CAPTURED; 0: none */
  bool finished;
  bool requested; /* coordinator: a checkpoint was asked for, and is not committed */
  double alarm;   /* seconds when TIMER is due; 0: none */
  struct real_due due;
  bool unmoved; /* nothing has happened since a safe point that had no effect */

  /* The program. */
  enum real_place place; /* where it may be captured now */
  uint32_t receives, calls;
  struct real_combination combined;
  struct real_receive *posted; /* in the order of posting */
  /* Messages that have come and are not received; level CHANNEL: delivered ones. */
  struct real_queue channel;
  struct real_slot *slot; /* slot[n - 1] is number n */
  uint32_t slots;
  struct real_region *region; /* by id */
  uint32_t regions, regions_room;

  /* Restart. */
  uint32_t checkpoint;     /* the checkpoint from which this life has started */
  uint32_t life;           /* starts before this one */
  enum real_place restart; /* the place of the image, until the data are put back */
  /* The place where the data were put back: the next such place counts as the same one. */
  enum real_place same;

  /* The account (real_account.c). */
  double began; /* seconds of the epoch, as lines of the trace have them */
  double spent[REAL_ACTIVITIES], since;
  enum real_activity activity;
  bool recovers;                                  /* held since the start */
  uint64_t stored_bytes, image_bytes, iterations; /* image_bytes: of the largest image */

  /* Storage. */
  struct output *image; /* checkpoint of the last capture, not stored yet */
  uint32_t image_of;
  FILE *trace; /* written a line at a time, so that the lines of a killed process are there */
};

extern struct real real;

static inline bool real_below_matching(void)
{
  return real.protocol->level == RCL_LEVEL_CHANNEL;
}

/* ---- real_options.c ---- */

/* Ends all processes with one line. */
_Noreturn void real_die(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- real_host.c ---- */

/* Raises one event. `message` is the one that is being sent, or has arrived; NULL: none. */
void real_step(struct rcl_event, struct real_message *message);

/* Takes messages that have come and events that are due; with `wait`, gives the processor away when
 * there were none. */
void real_pump(bool wait);
void real_ready(void); /* returns when the program may make its next event */
void real_come_to(enum real_place, uint32_t iteration);

/* ---- real_queues.c ---- */

struct real_payload *real_payload_new(size_t size);
struct real_payload *real_payload_hold(struct real_payload *);
void real_payload_drop(struct real_payload *); /* may be NULL */
void real_append(struct real_queue *, struct real_message *);
struct real_message *real_take_out(struct real_queue *, struct real_message **place);
void real_add_receive(struct real_receive *);

/* Adds a copy of a receive of an image: a done one has its message, another is announced again. */
void real_restore_receive(const struct real_receive *);

struct real_slot *real_slot_of(uint32_t number); /* a full one */
void real_keep(const struct rcl_action *);
void real_forget(const struct rcl_action *);

/* ---- real_messages.c ---- */

void real_arrive(struct real_message *); /* a message leaves the channel, below the matching */
void real_match_all(void);               /* messages that have come meet receives */
void real_announce_all(void);            /* announces receives that are posted */
void real_deliver(const struct rcl_action *);
void real_resend(const struct rcl_action *);
struct real_receive *real_standing(int comm); /* posted for any message, and not taken */
void real_allow(const struct rcl_action *);   /* MATCH */

/* ---- real_wire.c ---- */

void real_wire_begin(MPI_Comm);
void real_wire_end(void);
MPI_Comm real_wire_comm(void); /* for collectives of the host's own */
void real_wire_send(int peer, const struct real_message *);
void real_wire_control(int peer, const uint32_t words[RCL_WORDS]);

/* NULL: nothing has come. A control message has no payload. */
struct real_message *real_wire_receive(void);
void real_wire_busy(void);                        /* there was something to do */
void real_wire_flush(void);                       /* returns when all that was sent is on its way */
uint32_t real_wire_agree(uint32_t value, MPI_Op); /* of all processes */

/* ---- real_storage.c ---- */

void real_storage_begin(void); /* finds the checkpoint to start from, and this life's number */
void real_storage_load(void);  /* state, slots and all else that does not belong to the program */
void real_storage_capture(void);
void real_storage_store(const struct rcl_action *);
void real_storage_commit(uint32_t checkpoint);
void real_storage_erase(uint32_t checkpoint);
void real_storage_erase_others(uint32_t checkpoint);
void real_storage_clear(void); /* all of this rank; and the record, by rank 0 before */

/* ---- real_data.c ---- */

void real_data_save(FILE *); /* all that is protected */

/* Remembers the place of the data, that many bytes from here on in a file that it owns from now on,
 * and moves behind them. Returns false if the file is too short. */
bool real_data_find(FILE *, uint32_t regions);

/* ---- real_account.c ---- */

void real_account_begin(void);
enum real_activity real_held_activity(void); /* what a process that is held spends its time with */

/* ---- real_trace.c ---- */

double real_trace_now(void);     /* seconds of the epoch */
void real_trace_find_life(void); /* sets real.life; the checkpoint must be known */
void real_trace_begin(void);
void real_trace_step(const struct rcl_event *, const struct real_message *);
void real_trace_finished(void);
void real_trace_account(uint32_t checkpoint); /* that was captured just now; 0: at the end */
void real_trace_end(void);

#endif
