/* recline play CLAIM|SCENARIO|TRACE [-o FILE.html]: a page in which a world is taken move by move.
 */
#ifndef RECLINE_PLAY_H
#define RECLINE_PLAY_H

#include <glib.h>

#include "base/glib/command_line.h"
#include "world/rules/world.h"

/* A world as text (play/session.h), and the moves that the page knows from the beginning. */
struct played {
  char *name, *title, *statement, *source; /* its title; the last two may be NULL */
  char *violation;                         /* the last line `violation` of a trace; NULL: none */
  char *protocol;                          /* its name */
  char *object; /* the shared object that it is in; NULL: recline's own, or a mutant */
  char *description;
  char *times; /* times of the steps of a run, a line each; NULL: steps have numbers */
  struct move *moves;
  unsigned count, again; /* number of moves, and of the last ones that come again and again */
  unsigned at;           /* the page opens after that many moves */
};

/* Reads a claim by its id, a scenario or a trace (which is replayed). `source`: the C file of a
 * protocol that the trace does not find by itself, or NULL. played_clear() frees it, also after an
 * error: false, and `error` says in one line what is wrong and what was expected. */
bool played_read(const char *name, const char *source, struct played *, GError **error);
void played_clear(struct played *);

/* argv[0] is "play". Prints the path of the page and returns 0; 64 on bad input. */
extern const struct about about_play;
int command_play(int argc, char **argv);

#endif
