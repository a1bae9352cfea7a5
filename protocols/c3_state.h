/* Defines the state and the log of a C3 rank. Only c3.c and its other headers include this file. */
#ifndef RECLINE_C3_STATE_H
#define RECLINE_C3_STATE_H

#include "protocols/parts/act.h"
#include "protocols/parts/transitions.h"

#include <string.h>

enum phase { RUNNING, CAPTURING, LOGGING, WRITING, RECOVERING };

enum control {
  PLEASE_CHECKPOINT = 1,
  MY_SEND_COUNT,
  READY_TO_STOP_LOGGING,
  STOP_LOGGING,
  STOPPED_LOGGING,
  SUPPRESS,      /* "I have your message of this number already" */
  SUPPRESS_LIST, /* "these were all numbers of your messages that I have" */
  CALLS,         /* "before my line I made this many collective calls on this communicator" */
  PASSED,        /* "as a root I have passed this collective call and all earlier ones" */
  REPLAYED,      /* "my replay is over: all that the log says has happened again" */
  /* With a topology only the initiator hears from all ranks. It sends the following messages: */
  MOST_CALLS, /* the largest number in CALLS of any rank, if it is larger than at the last line */
  CALLS_TOLD, /* "CALLS of all ranks were these" */
  PASSED_BY,  /* PASSED of another rank */
  LISTS_TOLD  /* "these were all PASSED; peers have the suppress lists of all ranks" */
};

static const char *const controls[] = {
    "none",
    "please-checkpoint: take checkpoint {about}",
    "my-send-count: messages that I have sent to you in the epoch before checkpoint {about}: "
    "{value}",
    "ready-to-stop-logging: I have all late messages of checkpoint {about}",
    "stop-logging: all have their late messages of checkpoint {about}",
    "stopped-logging: my image and my log of checkpoint {about} are stored",
    "suppress: I have a message of yours already: its number (c3-envelopes: its tag) is {value}",
    "suppress-list: that was all that I have already at checkpoint {about}",
    "calls: collective calls on communicator {about} that I have made before my line: {value}",
    "passed: as a root I have passed collective call {value} on communicator {about}",
    "replayed: my replay from checkpoint {about} is over",
    "most-calls: the most collective calls of any rank on communicator {about}: {value}",
    "calls-told: that was all about calls before checkpoint {about}",
    "passed-by: as a root rank {about.high} has passed collective call {value} on communicator "
    "{about.low}",
    "lists-told: all have the suppress lists of checkpoint {about}",
    NULL};

/* Names the words of a message. */
enum header { FLAGS, NUMBER };
enum flag { COLOUR = 1, IS_LOGGING = 2 };

/* Names the words of a contribution to a collective: the sender's epoch, and 1 if the sender is not
 * logging. */
enum contribution { EPOCH, STOPPED };

/* Counts the messages exchanged with one peer, by the epoch in which they were sent. */
struct peer {
  uint32_t sent;     /* messages sent to the peer in this epoch */
  uint32_t received; /* messages received from the peer that it sent in this epoch */
  uint32_t early;    /* messages received from the peer that it sent in the next epoch */
  uint32_t at_line;  /* value of `early` at the capture that began this epoch */
  /* messages received from the peer that it sent in the previous epoch, with the late ones */
  uint32_t previous;
  /* the peer's mySendCount: how many messages it sent to this rank in the previous epoch */
  uint32_t announced;
  uint32_t announced_for; /* the checkpoint to which `announced` belongs */
  uint32_t listed;        /* 1 if the peer's suppress list has arrived after the restart */
};

enum entry_kind { LATE = 1, OUTCOME, CHOICE, RESULT, CANCELLED };

/* Describes an event during logging, which the replay repeats. */
struct entry {
  uint16_t kind;
  uint16_t replayed;
  uint32_t request; /* LATE, OUTCOME, CANCELLED: number of the receive */
  int16_t peer;     /* LATE, OUTCOME: sender of the message; RESULT: root */
  int16_t comm;     /* RESULT: communicator of the call */
  int32_t tag;      /* LATE, OUTCOME: tag of the message; RESULT: number of the call */
  uint32_t outcome; /* CHOICE: its outcome; CANCELLED: 1 if the receive was cancelled, 0 if not */
  uint32_t times;   /* CHOICE: how many times in a row it came out so */
};

/* Names an early message from `peer`, or a message to `peer` that will be suppressed. The name is
 * the message's number in the sender's epoch, or its envelope; an envelope means the oldest message
 * that has it. */
struct number {
  int16_t peer;
  int16_t comm;    /* communicator, if the message is named by its envelope */
  uint32_t number; /* the number, or the tag if the message is named by its envelope */
};

/* Names the collective calls of one root on `comm` up to call `number`. */
struct call {
  int16_t comm, root;
  int32_t number;
};

/* Counts the collective calls of this rank on one communicator. */
struct comm {
  int16_t comm;
  int16_t member;   /* 1 if this rank is a member */
  int32_t made;     /* number of completed calls */
  int32_t told;     /* `made` when it was last announced */
  int32_t expected; /* most calls that a peer made before its line */
  /* at the initiator, with a topology: largest number of calls that it has told others */
  int32_t most;
  int32_t given; /* the last broadcast that this rank has made as root while logging */
};

struct state {
  uint32_t phase;
  uint32_t epoch; /* checkpoints taken; the colour is its lowest bit */
  /* checkpoint that was asked for and is not taken yet, or 0 if there is none */
  uint32_t wanted;
  uint32_t ready;        /* 1 if readyToStopLogging was sent in this epoch */
  uint32_t durable;      /* one bit for each part of this epoch's checkpoint that is on disk */
  uint32_t next_message; /* messages sent in this epoch */
  uint32_t log;          /* entries in the log */
  uint32_t early;        /* entries in the list of early messages */
  /* 1 from a restart until the log is replayed and nothing is left to suppress */
  uint32_t replaying;
  /* number of entries in the list of messages that are still to be suppressed */
  uint32_t suppress;
  /* number of broadcasts that this rank has already received and that their roots will repeat */
  uint32_t rejoin;
  /* number of reductions that this rank has passed as root and that senders may repeat */
  uint32_t passed;
  uint32_t suppress_calls; /* entries in the list of the PASSED that have come after a restart */
  uint32_t comms;          /* number of known communicators */
  uint32_t barrier_comm;
  uint32_t in_barrier;  /* number of the barrier that has forced the present capture */
                        /* the next fields are used at the initiator */
  uint32_t in_progress; /* checkpoint under way, or 0 if there is none */
  uint32_t ready_ranks;
  uint32_t stopped_ranks;
  uint32_t replaying_ranks;
  uint32_t by_envelope; /* 1 if messages have no numbers (struct variant) */
  /* with a topology: checkpoint before which the calls of all ranks are known */
  uint32_t calls_told;
  uint32_t lists_told; /* with a topology: checkpoint after whose restart all PASSED are known */
};

struct variant {
  /* Messages carry no numbers, so their envelopes tell them apart (section 3.3). */
  bool by_envelope;
};

#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(peers, struct peer, config->ranks)                                                         \
  LIST(log_of, struct entry, config->capacity, state->log, RCL_FULL_LOG)                           \
  LIST(early_of, struct number, config->capacity, state->early, RCL_FULL_EARLY)                    \
  LIST(suppress_of, struct number, config->capacity, state->suppress, RCL_FULL_SUPPRESS)           \
  LIST(rejoin_of, struct call, config->capacity, state->rejoin, RCL_FULL_CALLS)                    \
  LIST(suppress_calls_of, struct call, config->capacity, state->suppress_calls, RCL_FULL_CALLS)    \
  LIST(passed_of, struct call, config->capacity, state->passed, RCL_FULL_CALLS)                    \
  LIST(comms_of, struct comm, config->capacity, state->comms, RCL_FULL_CALLS)
RCL_STATE(LISTS)

static bool initiator(const struct rcl_config *config)
{
  return config->self == RCL_COORDINATOR_RANK;
}

/* Returns whether some ranks exchange no messages. */
static bool sparse(const struct rcl_config *config)
{
  return config->neighbours != NULL;
}

/* ---- the log ---- */

static struct entry *append(const struct rank *r, enum entry_kind kind)
{
  if (r->state->log == r->config->capacity) {
    rcl_give_up_full(r->actions, RCL_FULL_LOG);
    return NULL;
  }
  struct entry *entry = &log_of(r->config, r->state)[r->state->log++];
  *entry = (struct entry){.kind = (uint16_t)kind};
  return entry;
}

/* Returns the slot of an entry of the log, which holds the payload of a late message or of a
 * result. */
static uint32_t slot_of(const struct rank *r, const struct entry *entry)
{
  return (uint32_t)(entry - log_of(r->config, r->state)) + 1;
}

static void clear_log(const struct rank *r)
{
  struct entry *entry = log_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->log; i++)
    if (entry[i].kind == LATE || entry[i].kind == RESULT)
      rcl_act(r->actions, RCL_ACTION_FORGET)->slot = slot_of(r, &entry[i]);
  memset(entry, 0, r->state->log * sizeof *entry);
  r->state->log = 0;
}

#endif
