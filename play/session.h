/* Runs a small world move by move, back and forth, for the page of `recline play` and its tests.
 * Plain C without GLib, compiled natively and for wasm32.
 *
 * A world is described by a text: the header of a trace (docs/trace.md), lines `property NAME` for
 * the properties to judge (without such a line, all are judged), a line `closes 1` if connections
 * close, and `---`. Without lines `script` the programs are real programs: they do only what the
 * given moves say. */
#ifndef RECLINE_SESSION_H
#define RECLINE_SESSION_H

#include "base/buffer.h"
#include "base/intern.h"
#include "verify/explore/explorer.h"
#include "world/rules/in_place.h"
#include "world/trace/trace_lines.h"

/* Holds the first word of the protocol's state at the rank of a move, before and after the move. If
 * the protocol has phases, this word is its phase. */
struct session_phase {
  uint32_t from, to;
};

struct session {
  struct world world;
  struct parts parts;
  struct script *script;
  /* the properties to judge, a list that ends with NULL; NULL for all properties */
  const char **properties;
  char *description;
  unsigned crashes, timers;
  /* members of communicators, sorted; only for traces of real programs */
  uint32_t *members, members_count, members_room;
  struct rcl_actions actions;
  struct trace_lines *lines;
  struct move *moves; /* the known moves, from the beginning */
  uint32_t moves_room;
  struct session_phase *phases; /* by move that has been taken: its phases */
  uint32_t phases_room;
  /* For mutants: the protocol that has the removed rule, and how that protocol would have taken
   * each move. */
  const struct rcl_protocol *intact;
  struct rcl_actions intact_actions;
  char **differences; /* by move; NULL if mutant and protocol act alike */
  uint32_t differences_room;
  unsigned count, at;   /* number of known moves, and number of these that have been taken */
  struct move *enabled; /* the moves that are enabled at present, in the world's order */
  uint32_t enabled_room;
  unsigned enabled_count;
  struct verdict verdict; /* verdict on the last move */
  struct intern outcomes; /* outcomes of runs without failures, if has_outcomes is true */
  bool has_outcomes;
};

/* Opens a session at the first state of the described world. The caller zeroes the session before
 * and clears it with session_clear() afterwards, also after an error. Returns NULL, or a static
 * error message. */
const char *session_begin(struct session *, const char *description);
void session_clear(struct session *);

/* Returns the header of a trace of the session. The caller frees it with free(). */
char *session_header(struct session *);

/* Takes a move and forgets the known moves after it. Appends the move's line of the trace, without
 * time and line end, to `line` (may be NULL), and a line `violation` if the move shows a violation.
 * Returns false if the world refuses the move, with the reason in session->verdict; the state must
 * then not be used until session_go(). */
bool session_take(struct session *, const struct move *, struct buffer *line);

/* Replaces the known moves after the present state by the given ones; session_go() takes them. */
void session_know(struct session *, const struct move *, uint32_t count);

/* Returns how the protocol that has a mutant's removed rule would have taken move `move`, which has
 * been taken. The text has a line for each action that differs: "+ACTION" if only the protocol
 * returns the action, "-ACTION" if only the mutant returns it. If the actions agree but the states
 * after the step differ, the text has three lines: "state", the protocol's state and the mutant's
 * state, as session_put_state() prints states. Returns NULL if actions and states agree or there is
 * no such protocol. The text stays until the move is taken again. */
const char *session_difference(const struct session *, unsigned move);

/* Goes to the state after `at` known moves. Appends a complete line for each move to `lines` (may
 * be NULL). Returns false if the world refuses a move, as session_take() does. */
bool session_go(struct session *, unsigned at, struct buffer *lines);

/* Returns whether the enabled move leads to another state. For real programs the result is always
 * true. */
bool session_changes(struct session *, const struct move *);

/* Judges the properties that a state shows but no move shows: `agreement` and `outcome` at the end;
 * `deadlock`, `commits` and others at rest. Returns false, with the verdict set, if a property is
 * violated. */
bool session_judge(struct session *, struct verdict *);

/* Takes `steps` moves drawn by `seed`, and begins anew when a run ends. Returns a digest of all
 * lines, states and verdicts that the moves showed. */
uint64_t session_walk(struct session *, uint64_t seed, unsigned steps);

/* Returns a random number below `count`, which is not 0, for a walk. Sets `*seed` to the next
 * seed. */
unsigned session_draw(uint64_t *seed, unsigned count);

/* Searches from the present state for a shortest run to a violation. The function sets
 * options->from itself. The caller frees the result with exploration_clear(). */
void session_explore(struct session *, struct explorer_options options, struct exploration *);

/* Appends the page's view of the present state, in JSON (docs/play.md). */
void session_view(struct session *, struct buffer *);

/* Appends the protocol's state at a rank: " OFFSET:BYTES" for each word of 8 bytes that is not
 * zero, with the bytes in hexadecimal digits. */
void session_put_state(const struct world *, struct buffer *, int rank);

/* Appends a text, quoted as in JSON. */
void session_quote(struct buffer *, const char *text);

#endif
