/* Reads the text of a trace (docs/trace.md), for pictures.
 *
 * Another module (world/trace) writes traces and knows the types of protocols/. Pictures are made
 * from files only, so that a trace can be drawn even if its protocol was renamed or removed. So
 * events and actions stay words here, and an unknown event or action is no error. */
#ifndef RECLINE_TRACE_FILE_H
#define RECLINE_TRACE_FILE_H

#include <glib.h>
#include <stdbool.h>

enum { DISPATCHER = -1 }; /* the rank of lines that say `-` */

struct trace_field {
  const char *key;
  const char *value;
};

/* Holds an event or an action: `control peer=1 please-checkpoint words=1,1,0 @1`. */
struct trace_item {
  const char *name;
  const char *word; /* the first word after the name without a `=`, or NULL if there is none */
  struct trace_field *fields;
  unsigned fields_count;
  gint64 message; /* the number after @, or -1 if there is none */
};

struct trace_line {
  unsigned number; /* number of the line in the file, from 1 */
  const char *text;
  const char *time; /* the time as written: a step, or seconds */
  int rank;
  struct trace_item event;
  struct trace_item *actions;
  unsigned actions_count;
};

struct trace_violation {
  const char *property;
  int rank; /* the rank, or DISPATCHER if the line names no rank */
  const char *text;
  /* time, as written, of the step that violates the property, or NULL if the trace has no such
   * step */
  const char *by;
};

struct trace_file {
  char *name;
  const char *protocol; /* name of the protocol from the header, or NULL */
  const char *host;
  GHashTable *controls; /* texts of control messages (protocols/protocol.h), by name */
  int ranks;
  /* if this is a part (part.h): by rank, its number in the whole trace; NULL if the numbers are
   * the same */
  int *numbers;
  bool timed;         /* times are seconds, not steps */
  GArray *lines;      /* struct trace_line */
  int again;          /* index of the first line that repeats for ever, or -1 if none does */
  GArray *violations; /* struct trace_violation */
  char *text, *words; /* memory of all strings: lines and their pieces */
  GPtrArray *blocks;  /* memory of items and fields */
};

/* Reads `text`, the content of the file `name`. The caller frees the result with trace_file_free().
 * Returns NULL with `error` set to one line `file:line: what, expected what`. */
struct trace_file *trace_file_parse(const char *name, const char *text, GError **error);
void trace_file_free(struct trace_file *);

/* trace_item_field() returns the value of a field, or NULL if there is no such field.
 * trace_item_number() returns the value as a whole number, or `otherwise`. */
const char *trace_item_field(const struct trace_item *, const char *key);
gint64 trace_item_number(const struct trace_item *, const char *key, gint64 otherwise);

/* Returns the first action of that name from index *after on, and sets *after to the index behind
 * that action. Returns NULL if there is no such action. If `after` is NULL, the search begins at
 * the first action. */
const struct trace_item *trace_line_action(const struct trace_line *, const char *name,
                                           unsigned *after);

/* Returns what a control message says, an event or an action, in the words of its sender. The
 * caller frees the text. Returns NULL if the trace has no words for it. */
char *trace_item_says(const struct trace_file *, const struct trace_item *);

/* Returns whether a violation names the message by its number, as "@3". Control messages and
 * program messages are numbered in one sequence. */
bool trace_file_names(const struct trace_file *, gint64 number);

static inline const struct trace_line *trace_file_line(const struct trace_file *trace,
                                                       unsigned index)
{
  return &g_array_index(trace->lines, struct trace_line, index);
}

/* Returns the number that a rank of this trace has in the whole trace. */
static inline int trace_file_rank(const struct trace_file *trace, int rank)
{
  return trace->numbers ? trace->numbers[rank] : rank;
}

static inline bool trace_item_is(const struct trace_item *item, const char *name)
{
  return g_str_equal(item->name, name);
}

#endif
