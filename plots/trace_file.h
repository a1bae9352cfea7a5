/* The reader of the trace text (docs/trace.md), for pictures.
 *
 * It is not the module that writes traces and knows the types of protocols/: pictures are made from
 * files only, so a trace of a protocol that was renamed or removed can still be drawn. Events and
 * actions therefore stay words here, and an unknown one is no error.
 */
#ifndef RECLINE_TRACE_FILE_H
#define RECLINE_TRACE_FILE_H

#include <glib.h>
#include <stdbool.h>

enum { DISPATCHER = -1 }; /* the rank of lines that say `-` */

struct trace_field {
  const char *key;
  const char *value;
};

/* An event or an action: `control peer=1 please-checkpoint words=1,1,0 @1`. */
struct trace_item {
  const char *name;
  const char *word; /* the first bare word after the name; NULL when there is none */
  struct trace_field *fields;
  unsigned fields_count;
  gint64 message; /* the number after @; -1 when there is none */
};

struct trace_line {
  unsigned number; /* in the file, from 1 */
  const char *text;
  const char *time; /* as written: a step or seconds */
  int rank;
  struct trace_item event;
  struct trace_item *actions;
  unsigned actions_count;
};

struct trace_violation {
  const char *property;
  int rank; /* DISPATCHER when none is named */
  const char *text;
};

struct trace_file {
  char *name;
  const char *protocol; /* header lines, or NULL */
  const char *host;
  int ranks;
  int *numbers;       /* for a part (part.h): number of each rank in the whole; NULL: the same */
  bool timed;         /* seconds, not steps */
  GArray *lines;      /* struct trace_line */
  int again;          /* index of the first line that comes again and again; -1: none does */
  GArray *violations; /* struct trace_violation */
  char *text, *words; /* memory of all strings: lines and their pieces */
  GPtrArray *blocks;  /* memory of items and fields */
};

/* Reads `text`, the content of the file `name`. NULL on error: one line `file:line: what,
 * expected what`. */
struct trace_file *trace_file_parse(const char *name, const char *text, GError **error);
void trace_file_free(struct trace_file *);

/* Return the value of a field, or NULL; and a field as a whole number, or `otherwise`. */
const char *trace_item_field(const struct trace_item *, const char *key);
gint64 trace_item_number(const struct trace_item *, const char *key, gint64 otherwise);

/* Returns the first action of that name from index *after on, and sets *after behind it; NULL:
 * there is none. If `after` is NULL, searches from the first action on. */
const struct trace_item *trace_line_action(const struct trace_line *, const char *name,
                                           unsigned *after);

static inline const struct trace_line *trace_file_line(const struct trace_file *trace,
                                                       unsigned index)
{
  return &g_array_index(trace->lines, struct trace_line, index);
}

/* Returns the number of a rank in the whole trace. */
static inline int trace_file_rank(const struct trace_file *trace, int rank)
{
  return trace->numbers ? trace->numbers[rank] : rank;
}

static inline bool trace_item_is(const struct trace_item *item, const char *name)
{
  return g_str_equal(item->name, name);
}

#endif
