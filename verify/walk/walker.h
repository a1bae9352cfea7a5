/* Takes a run through the world of a claim. Moves are drawn, and the world judges each step. */
#ifndef RECLINE_WALKER_H
#define RECLINE_WALKER_H

#include <glib.h>

#include "verify/walk/dice.h"
#include "world/rules/world.h"
#include "world/scenario/scenario.h"

/* Holds a claim that is ready to be walked through. */
struct course {
  struct scenario *claim;
  struct script *script;
  GPtrArray *judged; /* names of the judged properties; the array ends with NULL */
  bool unguarded;    /* property `pure` is not judged in full, so that a step costs less */
};

/* course_open() opens the claim in `file`, the other function the claim in a text. They return
 * false with `error` set (`file:line: what, expected what`) if the claim is wrong. Even then the
 * caller ends with course_close().
 */
bool course_open(struct course *, const char *file, GError **error);
bool course_read(struct course *, const char *text, GError **error);
void course_close(struct course *);

/* Says how a run ends. */
enum ending {
  ENDING_FINISHED, /* at rest, with all programs finished */
  ENDING_RESTED,   /* at rest otherwise, which is allowed */
  ENDING_FULL,     /* the protocol gave up because a list was full, which is allowed */
  ENDING_CUT,      /* the run has the largest number of moves that is allowed */
  ENDING_VIOLATED
};
enum { ENDINGS = ENDING_VIOLATED + 1 };

struct run {
  GArray *moves; /* struct move, as they were taken */
  enum ending ending;
  struct verdict why; /* the violation, with ENDING_VIOLATED */
  struct reached reached;
  unsigned crashes; /* number of crashes */
};

void run_init(struct run *);
void run_clear(struct run *);

/* Takes a run of drawn moves. `run` must have been through run_init(), and may have been used
 * before. */
void walker_run(const struct course *, struct dice *, struct run *run);

/* Takes the moves again. If a move is not possible, a similar move is taken, or none. Then goes on
 * in a fixed order, without crashes. to[rank] is the present number of a rank, or -1 if the rank is
 * gone. */
void walker_follow(const struct course *, const GArray *moves, const int16_t *to, struct run *run);

#endif
