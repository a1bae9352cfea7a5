/* Declares what the files of the replay share: replay.c, which reads lines, replay_header.c and
 * replay_temporal.c. */
#ifndef RECLINE_REPLAY_H
#define RECLINE_REPLAY_H

#include <glib.h>

#include "world/rules/in_place.h"
#include "world/temporal/temporal.h"
#include "world/trace/trace.h"
#include "world/trace/trace_lines.h"

struct replay {
  const char *file;
  unsigned line;
  GError **error;
  struct trace_lines *lines;
  struct world *world;
  struct script *script;
  struct parts parts;
  struct rcl_actions actions;
  struct verdict verdict; /* the verdict on the last move */
  bool begun;
  GArray *moves;      /* struct move: each move taken */
  unsigned again;     /* number of moves at the end that repeat for ever */
  bool repeats;       /* the trace says that some moves repeat */
  GPtrArray *digests; /* trace_digest() of the world before each step, if moves repeat */
  /* the names of properties in the lines `violation`; the array ends with NULL */
  GPtrArray *properties;
  struct temporal formula; /* the temporal formula that is violated */
  /* uint32_t: the formula's facts in each state so far; NULL without a formula */
  GArray *facts;
  GHashTable *members; /* member_key() of each member of a communicator that the trace names */
};

/* Holds the header of a trace: the lines before `---`. */
struct header {
  char *protocol, *topology;
  guint64 ranks, capacity, crashes, timers, per_node, hazards, exceeds, stored_per_node, attempts,
      parameter[RCL_PARAMETERS];
  struct world_level level[WORLD_LEVELS];
  int levels;
  bool fifo, overtaking, anywhere, bounded, stamps;
  unsigned lies;
  GString *script; /* text of the scripts, or NULL if there are none */
};

/* Sets an error that names the present line. Returns false. */
bool replay_bad(struct replay *, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Reads a number in a line, from `least` to `most`. Returns false, with a message, if the word is
 * something else. */
bool replay_whole(struct replay *, const char *key, const char *value, guint64 least, guint64 most,
                  guint64 *number);

/* Reads a line of the header. Returns false with an error. replay_clear_header() frees what lines
 * have added. */
bool replay_read_header(struct replay *, const char *text, struct header *);
void replay_clear_header(struct header *);

/* Collects the members of communicators from the whole trace, because contributions to a collective
 * go to all members, and some ranks learn only later that they are members. */
void replay_find_members(struct replay *, char **lines);

/* Begins the world that the header describes. Returns false with an error. */
bool replay_begin(struct replay *, const struct header *);

/* Finds the temporal formula that the trace calls violated, if there is one, and notes the facts of
 * the first state. Returns false with an error. */
bool replay_find_formula(struct replay *, char **lines);

/* Notes the facts of the present state, if there is a formula. */
void replay_note_facts(struct replay *);

/* Judges the run so far by the formula, and sets the verdict to the violation or to none. */
void replay_judge_formula(struct replay *, struct verdict *);

#endif
