/* `recline play CLAIM|SCENARIO|TRACE [-o FILE.html]` makes a page in which a user takes a world's
 * moves one by one. */
#ifndef RECLINE_PLAY_H
#define RECLINE_PLAY_H

#include <glib.h>

#include "base/glib/command_line.h"
#include "world/rules/world.h"

/* Holds a world as text (play/session.h), and the moves that the page knows from the beginning. */
struct played {
  /* `title` is the title of the page; `statement` and `source` may be NULL. */
  char *name, *title, *statement, *source;
  char *violation; /* the last line `violation` of the trace, or NULL if there is none */
  char *protocol;  /* name of the protocol */
  /* The shared object that has the protocol, or NULL if it is recline's own, or a mutant. */
  char *object;
  char *description;
  char *times; /* times of the steps of a run, one line each, or NULL if steps have numbers */
  struct move *moves;
  unsigned count, again; /* number of moves, and how many of them, at the end, repeat for ever */
  unsigned at;           /* number of moves that are taken when the page opens */
  bool searches;         /* the page opens with a search for the violation that a claim expects */
};

/* Reads a claim by its id, a scenario, or a trace, which it replays. `source` is NULL, or the C
 * file of a protocol that reading the trace does not find. played_clear() frees the result, also
 * after an error. Returns false with `error` set to one line `what, expected what`. */
bool played_read(const char *name, const char *source, struct played *, GError **error);
void played_clear(struct played *);

/* Runs the command; argv[0] is "play". Prints the path of the page and returns 0, or returns 64 on
 * bad input. */
extern const struct about about_play;
int command_play(int argc, char **argv);

#endif
