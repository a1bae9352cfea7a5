/* Finds in a trace what a picture shows: messages, recovery lines, rollbacks, down times.
 *
 *     rank 0  --o-----[C]--------x            crash: DOWN until the next start
 *               \      :          ~~~~>--     start checkpoint=1: a rollback to [C]
 *     rank 1  ---\-[C]-:---------<~~>---      roll-back: RESTORING until the next start
 *                 \ :  recovery line 1
 *                  *: late: sent before the sender's capture, received after the receiver's
 *
 * All positions are indexes into the lines of the trace.
 */
#ifndef RECLINE_HISTORY_H
#define RECLINE_HISTORY_H

#include "plots/trace_file.h"

enum { NOWHERE = -1 };

enum fate {
  FATE_FLIGHT, /* never received in this trace */
  FATE_RECEIVED,
  FATE_DISCARDED,  /* it was received, and dropped as a duplicate */
  FATE_SUPPRESSED, /* it was offered, but not sent, as the receiver has it already */
};

enum crossing { CROSSING_NONE, CROSSING_LATE, CROSSING_EARLY };

struct message {
  bool control;
  const char *name; /* of a control message: its name in the protocol's paper */
  gint64 number;    /* after the @ in the trace, or -1 if it has none, as when it is suppressed */
  int from, to;
  int sent, received; /* `received` is NOWHERE for FATE_FLIGHT and FATE_SUPPRESSED */
  enum fate fate;
  enum crossing crossing;
  gint64 checkpoint; /* checkpoint of the recovery line that it crosses */
};

/* The recovery line of a checkpoint: at[] is the capture of each rank, or NOWHERE if the rank made
 * none. */
struct cut {
  gint64 checkpoint;
  bool committed;
  int *at;
};

enum span_kind {
  SPAN_DOWN,      /* from a crash to the next start */
  SPAN_RESTORING, /* from a roll-back to the next start */
  SPAN_UNDONE,    /* work that a rollback took back */
  SPAN_HELD,      /* from hold to release */
};

/* A stretch of a rank's line. A stretch without an end has the number of lines in the trace as
 * `to`. */
struct span {
  enum span_kind kind;
  int rank, from, to;
};

/* A rollback. It goes `from` the roll-back action, or from the start of a rank that had crashed,
 * `to` the capture, or to the rank's first start. */
struct rollback {
  int rank, from, to;
  gint64 checkpoint;
};

/* A payload that the program gets from the receiver's log. */
struct replay {
  int rank, kept, delivered; /* kept: NOWHERE when the trace does not show it */
  gint64 slot, peer;
};

struct history {
  const struct trace_file *trace;
  GArray *messages;  /* struct message, in the order of sending */
  GArray *cuts;      /* struct cut, in the order of their first capture */
  GArray *spans;     /* struct span */
  GArray *rollbacks; /* struct rollback */
  GArray *replays;   /* struct replay */
};

/* Reads the history. The caller frees it with history_free(), before the trace. Returns NULL with
 * `error` set if a message arrives that was never sent. */
struct history *history_read(const struct trace_file *, GError **error);
void history_free(struct history *);

/* Returns an empty history of the trace. The caller frees it with history_free(). */
struct history *history_new(const struct trace_file *);

#endif
