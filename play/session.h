/* Runs a small world move by move, back and forth, for the page of `recline play` and its tests.
 * Plain C without GLib, compiled natively and for wasm32.
 *
 * A world is described by a text: the header of a trace (docs/trace.md), `property NAME` lines for
 * the properties to judge (none: all), `closes 1` where connections close, and `---`. Without
 * `script` lines programs are real: they do only what the given moves say.
 */
#ifndef RECLINE_SESSION_H
#define RECLINE_SESSION_H

#include "base/buffer.h"
#include "base/intern.h"
#include "verify/explore/explorer.h"
#include "world/rules/in_place.h"
#include "world/trace/trace_lines.h"

/* The first word of the state of the protocol at the rank of a move, which is its phase where the
 * protocol has phases, before and after the move. */
struct session_phase {
  uint32_t from, to;
};

struct session {
  struct world world;
  struct parts parts;
  struct script *script;
  const char **properties; /* ends with NULL, or NULL for all */
  char *description;
  unsigned crashes, timers;
  /* For real programs: the sorted members of communicators. */
  uint32_t *members, members_count, members_room;
  struct rcl_actions actions;
  struct trace_lines *lines;
  struct move *moves; /* moves from the beginning, as taken */
  uint32_t moves_room;
  struct session_phase *phases; /* of the moves that have been taken, by move */
  uint32_t phases_room;
  /* Mutants: the protocol that has the removed rule, and how it would have taken each move. */
  const struct rcl_protocol *intact;
  struct rcl_actions intact_actions;
  char **differences; /* by move; NULL for alike */
  uint32_t differences_room;
  unsigned count, at;   /* number of known moves, and of those that have been taken */
  struct move *enabled; /* the moves that are enabled at present, in the world's order */
  uint32_t enabled_room;
  unsigned enabled_count;
  struct verdict verdict; /* verdict about the last move */
  struct intern outcomes; /* outcomes of runs without failures, if has_outcomes */
  bool has_outcomes;
};

/* Opens a session at the first state of the described world. The caller zeroes the session before
 * and clears it with session_clear() afterwards, also after an error. Returns NULL, or a static
 * error message. */
const char *session_begin(struct session *, const char *description);
void session_clear(struct session *);

/* Returns the header of a trace of the session. The caller frees it with free(). */
char *session_header(struct session *);

/* Takes a move and forgets the known moves after it. Appends the trace's line to `line` (may be
 * NULL), without time and line end, and a line `violation` if the move shows one. Returns false if
 * the world refuses the move, with the reason in session->verdict; the state must then not be used
 * until session_go(). */
bool session_take(struct session *, const struct move *, struct buffer *line);

/* Replaces the known moves after the present state by these; session_go() takes them. */
void session_know(struct session *, const struct move *, uint32_t count);

/* Returns how the protocol without the flaw of a mutant would have taken move `move`, which has
 * been taken: a line for each action, "+ACTION" if only that protocol returns it, "-ACTION" if only
 * the mutant does; or, if both return the same and remember different things, three lines: "state",
 * and the states after the step, of that protocol and of the mutant, as session_put_state() prints
 * them. Returns NULL if both do the same or there is no such protocol. The text stays until the
 * move is taken again.
 */
const char *session_difference(const struct session *, unsigned move);

/* Goes to the state after `at` known moves. Appends a complete line for each move to `lines` (may
 * be NULL). Returns false if the world refuses a move, as session_take() does. */
bool session_go(struct session *, unsigned at, struct buffer *lines);

/* Returns whether that enabled move leads to another state. For real programs it is always true. */
bool session_changes(struct session *, const struct move *);

/* Judges the properties that a state shows and no move does: `agreement` and `outcome` at the end;
 * `deadlock`, `commits` and others at rest. Returns false, with the verdict set, if one is
 * violated. */
bool session_judge(struct session *, struct verdict *);

/* Takes `steps` moves drawn by `seed`, and begins anew when a run ends. Returns a digest of all
 * lines, states and verdicts that they showed. */
uint64_t session_walk(struct session *, uint64_t seed, unsigned steps);

/* Returns one draw for a walk, below `count`, which is not 0; `*seed` becomes the next seed. */
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
