/* Declares the state that the files of the host for real MPI share: `real`, of which each process
 * has one. */
#ifndef RECLINE_REAL_INSIDE_H
#define RECLINE_REAL_INSIDE_H

#include "base/output.h"
#include "mpi/real_host.h"
#include "protocols/protocol.h"

/* Holds the bytes of a message. All holders of the message share this payload. */
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

/* Queues messages: first in, first out. */
struct real_queue {
  struct real_message *first, **end;
};

struct real_receive {
  struct real_receive *next;
  uint32_t request;
  int16_t peer, comm; /* source and communicator that the program has asked for */
  int32_t tag;
  int16_t from; /* the source that the protocol's MATCH allows */
  bool announced, done;
  int32_t from_tag;
  int16_t source; /* in a receive that is done: the source of the message */
  int32_t sent_tag;
  struct real_payload *payload;
};

/* Describes a real_combine() under way, to which this process has contributed. */
struct real_combination {
  uint32_t on, count; /* at rank 0, `count` is the number of contributions that `values` has */
  uint64_t values[REAL_COMBINED];
};

struct real_region {
  int id, type;
  void *address;
  size_t bytes, item_bytes;
  struct real_shape shape;
  struct real_stream stream; /* the functions for a region whose address is NULL */
};

/* Stands in an image in front of each region. */
struct real_region_head {
  int32_t id, type;
  uint64_t bytes;
  uint32_t item_bytes, pad;
  struct real_shape shape;
};

/* Says where a region is in an image: its bytes begin at offset `at` of the file. */
struct real_found {
  struct real_region_head head;
  long at;
};

struct real_slot {
  bool full;
  struct real_message message;
};

/* Lists the events that end the work under way, in the order in which the protocol started the
 * work. */
struct real_due {
  struct rcl_event *item;
  uint32_t count, room;
};

struct real {
  bool on;
  struct real_options options;
  char *folder; /* a copy of options.folder */
  int rank, ranks;

  const struct rcl_protocol *protocol;
  struct rcl_config config;
  void *state;
  struct rcl_actions actions;
  bool determinants; /* the protocol logs outcomes, so the host reports choices to it */

  /* The next fields are about the step under way. */
  /* the message that the event is about, which is being sent or has just arrived */
  struct real_message *now;
  struct rcl_action answer; /* the action FORCE or JOIN of the step */

  /* The next fields are about the rank. */
  bool over; /* no further checkpoint is taken */
  bool held, draining;
  uint32_t capturing; /* the checkpoint between CAPTURE and CAPTURED, or 0 if there is none */
  bool finished;
  bool requested; /* at the coordinator: a checkpoint is requested and not committed */
  double alarm;   /* time in seconds at which TIMER is due, or 0 if no timer is set */
  struct real_due due;
  bool unmoved; /* the last safe point had no effect, and nothing has happened after it */

  /* The next fields are about the program. */
  enum real_place place; /* the place at which the program may be captured now */
  uint32_t receives, calls, iteration;
  struct real_combination combined;
  struct real_receive *posted; /* the posted receives, in the order of posting */
  /* Messages that have come and that no receive has taken. At level CHANNEL these are delivered
   * messages only. */
  struct real_queue channel;
  struct real_slot *slot; /* the slot with number n is slot[n - 1] */
  uint32_t slots;
  struct real_region *region; /* the protected regions, sorted by id */
  uint32_t regions, regions_room;

  /* The next fields are about a restart. */
  uint32_t checkpoint; /* the checkpoint from which this life has started */
  /* The program may go on from a checkpoint of another number of processes, while the protocol
   * begins anew. Then `from` is that checkpoint and `from_ranks` that number of processes;
   * otherwise both are 0. */
  uint32_t from;
  int from_ranks;
  uint32_t life;           /* number of starts before this one */
  enum real_place restart; /* the place at which the image was taken, until the data are put back */
  /* The place at which the data were put back. If the program comes to a place of that kind next,
   * the place is the same one, so it has no effect. */
  enum real_place same;

  /* The next fields are the account (real_account.c). */
  double began; /* start of the process in seconds since the epoch, as in lines of the trace */
  double spent[REAL_ACTIVITIES], since;
  enum real_activity activity;
  bool recovers; /* the process has been held since its start */
  /* `image_bytes` is the size of the largest image */
  uint64_t stored_bytes, image_bytes, iterations;

  /* The next fields are about storage. */
  struct output *image; /* the image of the last capture, until the image is stored */
  uint32_t image_of;
  FILE *trace; /* the trace, written line by line so that a killed process leaves its lines */
};

extern struct real real;

static inline bool real_below_matching(void)
{
  return real.protocol->level == RCL_LEVEL_CHANNEL;
}

/* ---- real_options.c ---- */

/* Ends all processes with exit code `code` and one line. */
_Noreturn void real_die(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- real_host.c ---- */

/* Raises one event. `message` is the message that is being sent or has arrived, or NULL if there is
 * none. */
void real_step(struct rcl_event, struct real_message *message);

/* Takes messages that have come, and events that are due. If there is neither and `wait` is set,
 * gives the processor away for a moment. */
void real_pump(bool wait);
void real_ready(void); /* returns when the program may cause its next event */
void real_come_to(enum real_place, uint32_t iteration);

/* ---- real_queues.c ---- */

struct real_payload *real_payload_new(size_t size);
struct real_payload *real_payload_hold(struct real_payload *);
void real_payload_drop(struct real_payload *); /* may be NULL */
void real_append(struct real_queue *, struct real_message *);
struct real_message *real_take_out(struct real_queue *, struct real_message **place);
void real_add_receive(struct real_receive *);

/* Adds a copy of a receive from an image. A receive that is done has its message; a receive that is
 * not done is announced again. */
void real_restore_receive(const struct real_receive *);

/* returns the slot with that number, which must be full */
struct real_slot *real_slot_of(uint32_t number);
void real_keep(const struct rcl_action *);
void real_forget(const struct rcl_action *);

/* ---- real_messages.c ---- */

/* Takes a message out of the channel, below the matching. */
void real_arrive(struct real_message *);
void real_match_all(void);    /* matches messages that have come with posted receives */
void real_announce_all(void); /* announces the posted receives */
void real_deliver(const struct rcl_action *);
void real_resend(const struct rcl_action *);
/* Returns the posted receive that accepts any message of the communicator, and posts it if there is
 * none. */
struct real_receive *real_standing(int comm);
void real_allow(const struct rcl_action *); /* carries out a MATCH */

/* ---- real_wire.c ---- */

void real_wire_begin(MPI_Comm);
void real_wire_end(void);
MPI_Comm real_wire_comm(void); /* for collectives of the host's own */
void real_wire_send(int peer, const struct real_message *);
void real_wire_control(int peer, const uint32_t words[RCL_WORDS]);

/* Returns a message, which the caller owns, or NULL if none has come. A control message has no
 * payload. */
struct real_message *real_wire_receive(void);
void real_wire_busy(void);  /* tells the wire that there was something to do */
void real_wire_flush(void); /* returns when all sent messages are on their way */
/* returns the reduction of `value` over all processes */
uint32_t real_wire_agree(uint32_t value, MPI_Op);

/* ---- real_storage.c ---- */

void real_storage_begin(void); /* finds the checkpoint to start from, and the number of this life */
void real_storage_load(void);  /* loads state, slots and all else except the program's data */
void real_storage_capture(void);
void real_storage_store(const struct rcl_action *);
void real_storage_commit(uint32_t checkpoint);
void real_storage_erase(uint32_t checkpoint);
void real_storage_erase_others(uint32_t checkpoint);
/* Removes all files of this rank. Before that, rank 0 removes the record, and the files of runs
 * with another number of processes. */
void real_storage_clear(void);

/* ---- real_data.c ---- */

void real_data_save(FILE *); /* writes all that is protected */

/* Finds `regions` regions from the present position of the file, and moves behind them. Returns
 * them, which the caller frees, or NULL if the file is too short. */
struct real_found *real_data_find(FILE *, uint32_t regions);

/* Remembers the regions as those from which the data are put back. The host owns both arguments
 * from here on. */
void real_data_keep(FILE *, struct real_found *, uint32_t regions);

/* ---- real_redistribution.c ---- */

/* real_redistribute_begin() expects the images of `count` processes. real_redistribute_add() takes
 * one image; the host owns the file and the regions from here on. */
void real_redistribute_begin(int count);
void real_redistribute_add(int owner, FILE *, struct real_found *, uint32_t regions);

/* Does what real_protected_bytes() does. An array that is spread over the processes counts as a
 * whole, and data in which processes differ count as 0 bytes. */
size_t real_redistribute_bytes(int id);
void real_redistribute(void); /* puts the data back, and closes the images */

/* ---- real_account.c ---- */

void real_account_begin(void);
enum real_activity real_held_activity(void); /* the activity of a process that is held */

/* ---- real_trace.c ---- */

double real_trace_now(void); /* seconds since the epoch */
/* sets real.life; reads real.checkpoint; all processes call this function */
void real_trace_find_life(void);
void real_trace_begin(void);
void real_trace_step(const struct rcl_event *, const struct real_message *);
void real_trace_finished(void);
/* Writes the account as it is at the capture of `checkpoint`, or at the end of the program if
 * `checkpoint` is 0. */
void real_trace_account(uint32_t checkpoint);
void real_trace_end(void);

#endif
