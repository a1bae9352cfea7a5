/* A run of a small world, taken move by move, back and forth: what the page of `recline play` and
 * its tests drive. Plain C without GLib; compiled natively and for wasm32.
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

struct session {
  struct world world;
  struct parts parts;
  struct script *script;
  const char **properties; /* ends with NULL; NULL: all */
  char *description;
  unsigned crashes, timers;
  uint32_t *members, members_count, members_room; /* of communicators, sorted; real programs */
  struct rcl_actions actions;
  struct trace_lines *lines;
  struct move *moves; /* moves from the beginning, as taken */
  uint32_t moves_room;
  unsigned count, at;   /* moves known, and those of them that have been taken */
  struct move *enabled; /* now, in the world's order */
  uint32_t enabled_room;
  unsigned enabled_count;
  struct verdict verdict; /* of the last move */
  struct intern outcomes; /* outcomes of runs without failures, once they have been asked for */
  bool has_outcomes;
};

/* Opens a session at the first state of the described world. Returns NULL, or what is wrong
 * (static). The session is the caller's, zeroed; session_clear() frees what it holds, also after an
 * error. */
const char *session_begin(struct session *, const char *description);
void session_clear(struct session *);

/* Returns the header of a trace of the session. The caller frees it with free(). */
char *session_header(struct session *);

/* Takes a move and drops the known moves after it. Appends the line of the trace to `line` (may be
 * NULL), without time and line end, and a line `violation` where the move shows one. Returns false
 * if the world refuses it, as session->verdict says; then the state must not be used until
 * session_go(). */
bool session_take(struct session *, const struct move *, struct buffer *line);

/* Replaces the known moves after the present state by these; session_go() takes them. */
void session_know(struct session *, const struct move *, uint32_t count);

/* Goes to the state after that many of the known moves; `lines` and the result are as above, with a
 * complete line for each move. */
bool session_go(struct session *, unsigned at, struct buffer *lines);

/* Returns whether that enabled move leads to another state; for real programs always true.
 */
bool session_changes(struct session *, const struct move *);

/* Judges properties that a state shows and no move does: `agreement` and `outcome` at the end,
 * `deadlock`, `commits` and others at rest. Returns false if none is violated. */
bool session_judge(struct session *, struct verdict *);

/* Takes `steps` moves drawn by `seed`, from the beginning again where a run ends; returns a digest
 * of all that they showed: lines, states, verdicts. */
uint64_t session_walk(struct session *, uint64_t seed, unsigned steps);

/* Returns one draw for a walk, below `count`, which is not 0; `*seed` becomes the next seed. */
unsigned session_draw(uint64_t *seed, unsigned count);

/* Searches from the present state for a shortest run to a violation; options->from is set here. The
 * caller frees the result with exploration_clear(). */
void session_explore(struct session *, struct explorer_options options, struct exploration *);

/* Appends what the page shows of the present state, in JSON (docs/play.md). */
void session_view(struct session *, struct buffer *);

/* Appends a text, quoted as in JSON. */
void session_quote(struct buffer *, const char *text);

#endif
