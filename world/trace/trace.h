/* Writes and reads traces, which tell what happened: a line for each move, in the notation of
 * protocols/text.h (docs/trace.md).
 *
 *     recline-trace 3
 *     protocol c3
 *     ranks 8
 *     capacity 64
 *     order fifo | any | none
 *     places anywhere | program
 *     host smpi | explorer
 *     ---
 *     0.001250 3 arrived peer=1 tag=7 comm=0 request=3 bytes=8 words=0,0,4 @12 | deliver
 *         request=3 # 8899aabbccddeeff                      (one line)
 *
 * `@n` is the number of a message, the same at its sending and at its arrival. After `#` stands the
 * digest of the rank's protocol state after the step. A replay (lock 4) takes a trace through the
 * same protocol objects and compares actions and digests.
 */
#ifndef RECLINE_TRACE_H
#define RECLINE_TRACE_H

#include <glib.h>
#include <stdbool.h>

#include "world/rules/world.h"

struct trace; /* a trace being written */

/* Starts a trace in `file`, which has a temporary name until trace_close(). `host` names the host.
 * If `steps`, times are printed as step numbers, otherwise as seconds with 9 decimals. */
struct trace *trace_open(const char *file, const struct world *, const char *host, bool steps,
                         GError **error);

/* Adds the line of a move that world_step() has just taken, and the line of a violation, if there
 * is one. The text of the verdict then has the numbers that its messages have in the trace. */
void trace_move(struct trace *, double time, const struct world *, const struct move *,
                const struct rcl_actions *, struct verdict *);

/* Adds a violation that no single move shows (at rest, an outcome), as the last line. The text of
 * the verdict then has the numbers that its messages have in the trace. */
void trace_violation(struct trace *, struct verdict *);

/* Adds the line which says that the moves from number `step` on repeat for ever. */
void trace_again(struct trace *, unsigned step);

bool trace_close(struct trace *,
                 GError **error); /* renames the file; frees `trace`, even after an error */

/* Holds the content of a trace. */
struct trace_story {
  const struct rcl_protocol *protocol;
  int ranks;
  bool overtaking; /* messages overtake each other, against MPI */
  bool free;       /* programs are free programs */
  bool spelled;    /* collectives of the scripts are messages */
  struct move *moves;
  unsigned count;
  unsigned again; /* number of moves at the end that repeat for ever, or 0 if none do */
};

/* Takes the trace in `file` through a world of its own, and sets the content of the trace. The
 * caller ends with trace_story_clear(). Returns false, with nothing to free and `error` set to
 * `file:line: what, expected what`, at the first line that does not parse, that the world refuses,
 * or whose actions or digest differ. */
bool trace_read(const char *file, struct trace_story *, GError **error);

/* Returns whether that file begins as a trace does, whatever its name is. */
bool trace_is(const char *file);

void trace_story_clear(struct trace_story *);

/* Reads the hazards that the header of the trace in `file` names. Errors as above. */
bool trace_hazards(const char *file, unsigned *hazards, GError **error);

/* Takes the trace in `file` through `world`, which has just begun, and calls `taken` after each
 * move, with the time of the move in seconds. The trace must have the header that `host` would
 * write for this world, but the trace may have fewer hazards than the world. Errors as above; some
 * moves may have been taken then. */
bool trace_continue(const char *file, struct world *world, const char *host,
                    void (*taken)(double time, const struct move *, const struct rcl_actions *,
                                  const struct verdict *),
                    GError **error);

/* Returns a digest of the state of a world as text: equal states have equal digests. The caller
 * frees it. */
char *trace_digest(const struct world *);

#endif
