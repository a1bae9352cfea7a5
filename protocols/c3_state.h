/* The state of a C3 rank, and its log. Included by c3.c and its other headers only; see c3.c. */
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
  SUPPRESS_LIST, /* "and these were all of them" */
  CALLS,         /* "before my line I made this many collective calls on this communicator" */
  PASSED,        /* "as a root I have passed this collective call and all before it" */
  REPLAYED,      /* "my replay is over: all that its line's log says has happened again" */
  /* With a topology, from the initiator, which alone hears from all: */
  MOST_CALLS, /* the most CALLS of a rank, if more than before the line before */
  CALLS_TOLD, /* "these were those of all ranks" */
  PASSED_BY,  /* PASSED of a rank */
  LISTS_TOLD  /* "these were all, and the suppress lists of all ranks are with their peers" */
};

static const char *const controls[] = {"none",          "please-checkpoint",
                                       "my-send-count", "ready-to-stop-logging",
                                       "stop-logging",  "stopped-logging",
                                       "suppress",      "suppress-list",
                                       "calls",         "passed",
                                       "replayed",      "most-calls",
                                       "calls-told",    "passed-by",
                                       "lists-told",    NULL};

/* Words of a message. */
enum header { FLAGS, NUMBER };
enum flag { COLOUR = 1, IS_LOGGING = 2 };

/* Words of a contribution to a collective: the epoch, and whether its sender does not log. */
enum contribution { EPOCH, STOPPED };

/* Counts of messages exchanged with one peer, by the epoch in which they were sent. */
struct peer {
  uint32_t sent;          /* to the peer, this epoch */
  uint32_t received;      /* from it, sent in this epoch */
  uint32_t early;         /* from it, sent in the next epoch */
  uint32_t at_line;       /* `early` when this epoch's checkpoint was taken */
  uint32_t previous;      /* from it, sent in the previous epoch, late ones included */
  uint32_t announced;     /* its mySendCount: how many it sent in the previous epoch */
  uint32_t announced_for; /* checkpoint of that mySendCount */
  uint32_t listed;        /* its suppress list has arrived since the restart */
};

enum entry_kind { LATE = 1, OUTCOME, CHOICE, RESULT, CANCELLED };

/* An event while logging, which happens again on replay. */
struct entry {
  uint16_t kind;
  uint16_t replayed;
  uint32_t request; /* LATE, OUTCOME, CANCELLED: number of the receive */
  int16_t peer;     /* LATE, OUTCOME: what it received; RESULT: root */
  int16_t comm;     /* RESULT */
  int32_t tag;      /* LATE, OUTCOME; RESULT: number of the call */
  uint32_t outcome; /* CHOICE; CANCELLED: 1 if it was, 0 if it was too late */
  uint32_t times;   /* CHOICE: number of times in a row */
};

/* An early message that was received from `peer`, or one to it that will be suppressed: named by
 * its number in its sender's epoch or, by envelope, the oldest one. */
struct number {
  int16_t peer;
  int16_t comm;    /* by envelope */
  uint32_t number; /* by envelope: its tag */
};

/* Collective calls up to `number` on `comm`, by their root. */
struct call {
  int16_t comm, root;
  int32_t number;
};

/* Collective calls of this rank on one communicator. */
struct comm {
  int16_t comm;
  int16_t member;   /* this rank is one */
  int32_t made;     /* calls completed */
  int32_t told;     /* `made` when it was last announced */
  int32_t expected; /* most calls that a peer made before its line */
  int32_t most;     /* at the initiator, with a topology: most calls that it has told others of */
  int32_t given;    /* the last broadcast that this rank made as root, logging */
};

struct state {
  uint32_t phase;
  uint32_t epoch;          /* checkpoints taken; the colour is its lowest bit */
  uint32_t wanted;         /* checkpoint asked for and not yet taken; 0: none */
  uint32_t ready;          /* readyToStopLogging sent in this epoch */
  uint32_t durable;        /* parts of this epoch's checkpoint on disk, a bit each */
  uint32_t next_message;   /* messages sent in this epoch */
  uint32_t log;            /* entries in the log */
  uint32_t early;          /* entries in the list of early messages */
  uint32_t replaying;      /* since a restart, until the log is replayed and nothing to suppress */
  uint32_t suppress;       /* numbers still to suppress */
  uint32_t rejoin;         /* broadcasts received that their roots will repeat */
  uint32_t passed;         /* reductions passed as root that their senders might repeat */
  uint32_t suppress_calls; /* calls that the roots have told of after a restart */
  uint32_t comms;          /* communicators known */
  uint32_t barrier_comm;
  uint32_t in_barrier; /* number of the barrier that forced the checkpoint being captured */
  /* initiator */
  uint32_t in_progress; /* checkpoint under way; 0: none */
  uint32_t ready_ranks;
  uint32_t stopped_ranks;
  uint32_t replaying_ranks;
  uint32_t by_envelope; /* this form carries no numbers */
  uint32_t calls_told;  /* topology: checkpoint before which the calls of all ranks are known */
  uint32_t lists_told;  /* topology: checkpoint after whose restart the calls that roots have passed
                           are known */
};

struct variant {
  bool by_envelope; /* messages carry no numbers: envelopes tell them apart (section 3.3) */
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

/* Some ranks exchange no messages. */
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

/* A late message, or a result, keeps its payload in the slot with the number of its entry. */
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
