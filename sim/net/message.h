/* Messages between the ranks and the dispatcher, as the transport carries them.
 *
 * A message is an envelope that travels by pointer, in memory that all ranks share. Over the
 * simulated network travels a number of bytes given by the sender (`wire_bytes`), which determines
 * the time.
 */
#ifndef RECLINE_MESSAGE_H
#define RECLINE_MESSAGE_H

#include "sim/net/payload.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  MESSAGE_WORDS = 3
}; /* most words that a protocol adds to a message, or that a control message has */

enum message_kind {
  MESSAGE_PROGRAM, /* a message of the program, handled by the protocol */
  MESSAGE_BYPASS,  /* a message of a collective call that the protocol handles as one
                      (collective_messages.h) */
  MESSAGE_CONTROL, /* a control message of the protocol */
  MESSAGE_REVOKE,  /* where programs repair themselves: `comm` is revoked (faults.h) */
  MESSAGE_AGREE,   /* a message of agreement number `tag` on `comm` (agreement.h) */
  MESSAGE_NOTICE   /* a notice of the dispatcher */
};

enum notice_kind {
  NOTICE_DOWN,    /* `peer` is dead, `checkpoint` is the one to recover from */
  NOTICE_RESTART, /* to a dead rank: start again from `checkpoint` */
  NOTICE_TIMER,
  NOTICE_DURABLE,   /* `part` of `checkpoint` */
  NOTICE_COMMITTED, /* `checkpoint` */
  NOTICE_REPAIRED,  /* the communicator (ulfm.h) */
  NOTICE_TURN,      /* runs by schedule: it is the rank's turn, or the schedule has ended */
  NOTICE_END        /* all programs have finished */
};

enum send_mode {
  SEND_STANDARD,
  SEND_BUFFERED,   /* complete at once, however large */
  SEND_SYNCHRONOUS /* complete when it is matched */
};

/* The state of a rendezvous whose payload travels without being asked for. */
enum flight {
  FLIGHT_NONE,
  FLIGHT_UNDER_WAY,
  FLIGHT_IN_VAIN /* the message was dropped meanwhile */
};

/* The times of a control message, in seconds (control_mail.h). */
struct posted {
  double left;    /* when it has left its sender, with the last byte */
  double latency; /* of its route */
};

struct message {
  enum message_kind kind;
  int source, destination; /* ranks; the dispatcher is the number of ranks */
  uint64_t wire_bytes;     /* on the network */
  void *self;              /* the item that the transfer of its payload hands over */
  uint32_t serial;         /* counts the messages of this source to this destination, from 1 */
  uint32_t incarnation;    /* that the sender has noticed */
  uint32_t life;           /* life of the sender: counts its crashes */
  int comm;
  int32_t tag;
  uint32_t bytes; /* of its payload, as the program sees it */
  uint32_t words[MESSAGE_WORDS];
  uint32_t shares;         /* BYPASS: number of contributions in the words' sums; 0: no words */
  uint32_t line;           /* last checkpoint that its sender had captured */
  struct payload *payload; /* NULL: it has no payload, or a receive has it */
  /* Lane of the transfer that must be fetched; NULL: the payload comes or is here. */
  struct lane *lane;
  enum flight flight;
  bool in_transit; /* sent, and neither parked nor handed on */
  bool eager;      /* receiving it costs the processor of its receiver */
  enum send_mode mode;
  /* notices */
  enum notice_kind notice;
  int peer;
  uint32_t checkpoint;
  int part;             /* part of the checkpoint: enum rcl_part */
  uint32_t for_life;    /* life of the receiver; RESTART: the life that it begins */
  struct posted posted; /* control */
  bool joined;          /* control: goes with one before it to the same rank, in one message */
  uint32_t (
      *piggybacked)[MESSAGE_WORDS]; /* words of the control messages that travel with it; a message
                                       without words of its own consists of these only */
  uint32_t riders_count;
  uint32_t slot;     /* below the matching: its slot, while it waits for its delivery */
  double held_until; /* control, at its receiver: overtaken until then, seconds; 0: not */
};

/* A control message that is under way without a transfer (control_mail.h). Each pair of ranks may
 * have some at once, so it has half of the bytes of a message. */
struct letter {
  double due; /* at its receiver, in seconds */
  double latency, occupies;
  uint64_t wire_bytes;
  uint32_t (*piggybacked)[MESSAGE_WORDS];
  uint32_t riders_count;
  uint32_t words[MESSAGE_WORDS];
  int source;
  uint32_t serial, incarnation, life, line;
  uint32_t number; /* counts those to its receiver */
  bool joined;
};

/* Makes a message with these fields; the others are zero. Its last owner frees it; if its payload
 * is in flight, it is freed when the payload has come. */
struct message *message_new(enum message_kind, int source, int destination);
void message_free(struct message *);

/* Sets whether it counts in transport_in_transit(); a notice never does. */
void message_set_in_transit(struct message *, bool);

/* A control message in transit becomes a letter, and a message again at `destination`. */
struct letter message_fold(struct message *);
struct message *message_unfold(const struct letter *, int destination);

#endif
