/* Describes messages between the ranks and the dispatcher, as the transport carries them.
 *
 * A message is an envelope that travels by pointer, because all ranks share memory. The simulated
 * network carries as many bytes as the sender says (`wire_bytes`), which determine the time. */
#ifndef RECLINE_MESSAGE_H
#define RECLINE_MESSAGE_H

#include "sim/net/payload.h"

#include <stdbool.h>
#include <stdint.h>

/* largest number of words of a protocol in a message, or in a control message */
enum { MESSAGE_WORDS = 3 };

enum message_kind {
  MESSAGE_PROGRAM, /* a message of the program, handled by the protocol */
  /* a message of a collective call that the protocol handles as a whole (collective_messages.h) */
  MESSAGE_BYPASS,
  MESSAGE_CONTROL, /* a control message of the protocol */
  MESSAGE_REVOKE,  /* for programs that repair themselves: `comm` is revoked (faults.h) */
  MESSAGE_AGREE,   /* a message of agreement number `tag` on `comm` (agreement.h) */
  MESSAGE_NOTICE   /* a notice of the dispatcher */
};

enum notice_kind {
  NOTICE_DOWN,    /* `peer` is dead; recover from `checkpoint` */
  NOTICE_RESTART, /* to a dead rank: start again, from `checkpoint` */
  NOTICE_TIMER,
  NOTICE_DURABLE,   /* `part` of `checkpoint` is on storage */
  NOTICE_COMMITTED, /* `checkpoint` is committed */
  NOTICE_REPAIRED,  /* the communicator is repaired (ulfm.h) */
  NOTICE_TURN,      /* in runs by schedule: it is the rank's turn, or the schedule has ended */
  NOTICE_END        /* all programs have finished */
};

enum send_mode {
  SEND_STANDARD,
  SEND_BUFFERED,   /* the send is complete at once, whatever the size */
  SEND_SYNCHRONOUS /* the send is complete when the message is matched */
};

/* Says what has become of a rendezvous payload that travels before the receiver asks for it. */
enum flight {
  FLIGHT_NONE,
  FLIGHT_UNDER_WAY,
  FLIGHT_IN_VAIN /* the message was dropped before the payload came */
};

/* Holds the times of a control message, in seconds (control_mail.h). */
struct posted {
  double left;    /* time at which the last byte has left the sender */
  double latency; /* latency of the message's route */
};

struct message {
  enum message_kind kind;
  int source, destination; /* ranks; the number of ranks stands for the dispatcher */
  uint64_t wire_bytes;     /* number of bytes on the network */
  void *self;              /* the item that the transfer of the payload carries */
  /* number of the message, counted from 1 among the messages of its source to its destination */
  uint32_t serial;
  uint32_t incarnation; /* the last incarnation that the sender knew */
  uint32_t life;        /* life of the sender: number of its crashes */
  int comm;
  int32_t tag;
  uint32_t bytes; /* size of the payload, as the program sees it */
  uint32_t words[MESSAGE_WORDS];
  /* BYPASS: number of contributions in the sums that the words hold, or 0 if there are no words */
  uint32_t shares;
  uint32_t line;           /* last checkpoint that the sender had captured */
  struct payload *payload; /* the payload, or NULL if there is none or a receive has taken it */
  /* Lane of the payload's transfer if the receiver must fetch the payload; NULL if the payload
   * comes by itself or is here. */
  struct lane *lane;
  enum flight flight;
  bool in_transit; /* sent, but neither parked nor handed on */
  bool eager;      /* the receiver's processor spends time on the message */
  enum send_mode mode;
  /* the next fields are for notices */
  enum notice_kind notice;
  int peer;
  uint32_t checkpoint;
  int part;             /* part of the checkpoint: enum rcl_part */
  uint32_t for_life;    /* life of the receiver; RESTART: the life that begins */
  struct posted posted; /* for control messages */
  /* for control messages: the message travels with an earlier control message to the same rank, as
   * one message */
  bool joined;
  uint32_t(
      /* words of the control messages that travel with the message; a message without words of its
       * own has only these */
      *piggybacked)[MESSAGE_WORDS];
  uint32_t riders_count;
  uint32_t slot; /* below the matching: the slot of the message while it awaits delivery */
  /* for a control message at its receiver: the time, in seconds, until which other messages may
   * overtake it, or 0 if it is not held back */
  double held_until;
};

/* Describes a control message that travels without a transfer (control_mail.h). Each pair of ranks
 * may have several such messages under way, so a letter has only half the size of a message. */
struct letter {
  double due; /* time at which the letter arrives, in seconds */
  double latency, occupies;
  uint64_t wire_bytes;
  uint32_t (*piggybacked)[MESSAGE_WORDS];
  uint32_t riders_count;
  uint32_t words[MESSAGE_WORDS];
  int source;
  uint32_t serial, incarnation, life, line;
  uint32_t number; /* number of the letter among all letters to its receiver */
  bool joined;
};

/* Makes a message with these fields; all other fields are zero. The last owner frees the message.
 * If its payload is in flight, the memory is freed after the payload has come. */
struct message *message_new(enum message_kind, int source, int destination);
void message_free(struct message *);

/* Sets whether the message counts in transport_in_transit(); notices never count. */
void message_set_in_transit(struct message *, bool);

/* message_fold() turns a control message in transit into a letter; message_unfold() makes a message
 * of the letter again, at `destination`. */
struct letter message_fold(struct message *);
struct message *message_unfold(const struct letter *, int destination);

#endif
