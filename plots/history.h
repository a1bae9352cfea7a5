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
  FATE_DISCARDED,  /* the message was received, and dropped as a duplicate */
  FATE_SUPPRESSED, /* the message was offered, but not sent, as the receiver has it already */
};

enum crossing { CROSSING_NONE, CROSSING_LATE, CROSSING_EARLY };

struct message {
  bool control;
  const char *name; /* in a control message: the message's name in the protocol's paper */
  /* the number after the @ in the trace, or -1 if there is none, as for a suppressed message */
  gint64 number;
  int from, to;
  int sent, received; /* `received` is NOWHERE for FATE_FLIGHT and FATE_SUPPRESSED */
  enum fate fate;
  enum crossing crossing;
  gint64 checkpoint; /* checkpoint of the recovery line that the message crosses */
};

/* Holds the recovery line of a checkpoint: at[] is the capture of each rank, or NOWHERE if the rank
 * was not captured. */
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

/* Describes a stretch of a rank's line. If the stretch has no end, `to` is the number of lines in
 * the trace. */
struct span {
  enum span_kind kind;
  int rank, from, to;
};

/* Describes a rollback. `from` is the roll-back action, or the start of a rank that had crashed.
 * `to` is the capture, or the rank's first start. */
struct rollback {
  int rank, from, to;
  gint64 checkpoint;
};

/* Describes a payload that the program gets from the receiver's log. */
struct replay {
  int rank, kept, delivered; /* `kept` is NOWHERE if the trace does not show it */
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

/* Reads the history of a trace. The caller frees the history with history_free(), before the trace.
 * Returns NULL with `error` set if a message arrives that was never sent. */
struct history *history_read(const struct trace_file *, GError **error);
void history_free(struct history *);

/* Returns an empty history of the trace. The caller frees it with history_free(). */
struct history *history_new(const struct trace_file *);

#endif
