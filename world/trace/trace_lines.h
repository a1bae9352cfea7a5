/* Writes and reads the text of traces (docs/trace.md), for hosts that write traces and for the
 * replay. These files use no GLib, so that every host can print. */
#ifndef RECLINE_TRACE_LINES_H
#define RECLINE_TRACE_LINES_H

#include "base/buffer.h"
#include "world/rules/world.h"

/* Keeps what lines need to know of earlier lines: the numbers of messages. */
struct trace_lines;

struct trace_lines *trace_lines_new(void);
void trace_lines_free(struct trace_lines *);

/* Returns all lines of a header, up to and with `---`. `host` names the host. The caller frees the
 * text with free(). */
char *trace_header(const struct world *, const char *host);

/* trace_line() returns the line of a move that world_step() has just taken, without time and line
 * end. trace_violation_line() returns the line of a violation, after trace_name_messages(). If the
 * verdict says that the step was impure, a move's line has no digest of the protocol's state,
 * because computing the digest would call the protocol. The caller frees the lines with free(). */
char *trace_line(struct trace_lines *, const struct world *, const struct move *,
                 const struct rcl_actions *, const struct verdict *);
char *trace_violation_line(const struct trace_lines *, struct verdict *);

/* Appends to the text of a verdict the numbers that its messages have in the lines so far, as far
 * as the text has room. A message that was sent again has several numbers: " (@3, @10)". If the
 * text speaks of two messages, a semicolon separates their numbers: " (@9; @5)". Numbers are known
 * for the last 16,384 messages of the programs only. A second call appends nothing. */
void trace_name_messages(const struct trace_lines *, struct verdict *);

/* trace_print_move() appends to `text` the words of a move's line that say what happened, without
 * message numbers. trace_print_operation() appends an operation as scripts write it. */
void trace_print_move(struct buffer *text, const struct world *, const struct move *);
void trace_print_operation(struct buffer *text, const struct operation *);

/* Appends the operations from `first` up to `end` to `text`, as in a line of a script. */
void trace_print_operations(struct buffer *text, const struct operation *first,
                            const struct operation *end);

/* Returns the number of the message that a move would take, or 0 if there is none. */
uint64_t trace_number(struct trace_lines *, const struct world *, const struct move *);

/* Returns whether a message leaves its channel by that move, or is the subject of a fault. */
bool trace_takes_message(const struct move *);

/* Returns the place, in its channel, of the message with that number that the move takes. If a
 * fault has doubled the message, the move takes the copy at `place`, or any copy if that is
 * negative. Returns a negative number if there is no such message. */
int64_t trace_find(struct trace_lines *, const struct world *, const struct move *, uint64_t number,
                   int64_t place);

struct trace_lie {
  unsigned lie; /* the injected fault: enum injected_fault */
  const char *name;
};

enum { TRACE_LIES = 5 };
extern const struct trace_lie trace_lies[TRACE_LIES];

#endif
