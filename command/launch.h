/* The simulation as a child process: its program, hosts and environment.
 *
 * SimGrid's smpimain is started directly, with the options that the smpirun script would give it.
 * smpirun splits the program's arguments at spaces and expands `*` in them, writes its own lines
 * on the program's standard output, and would let its helpers (mktemp, grep, python) run with our
 * preloaded heap.
 */
#ifndef RECLINE_LAUNCH_H
#define RECLINE_LAUNCH_H

#include <glib.h>
#include <stdbool.h>

/* Returns the path of a program: an absolute path as it is; a bare name is looked for in the
 * folders of RECLINE_PROGRAMS (separated by colons), then among recline's own programs. NULL when
 * it is nowhere. */
char *launch_find(const char *name);

/* Returns NULL when `program` needs the library that recline-cc links into programs; otherwise why
 * it cannot be run ("was not built with recline-cc"), a static text. */
const char *launch_refuses(const char *program);

struct launch {
  const char *program;     /* absolute path */
  const char *const *args; /* ends with NULL */
  const char *input;       /* file for its standard input; NULL: an empty one */
  const char *platform;    /* SimGrid platform file */
  int processes;           /* the program's ranks and the dispatcher */
  const char *scenario;    /* for the layer: scenario.yaml as resolved */
  const char *directory;   /* absolute path, private: holds `hosts`, with a host for each process,
                              trace.txt, and the simulator's temporary files */
  int folder;              /* its descriptor, which the simulation gets: it holds the lock */
  const char *result;      /* for the layer: where result.json goes */
  const char *out, *err;   /* files for the program's output */
  bool trace;              /* write trace.txt */
  const char *restart;     /* folder of the run that this one continues; NULL: none */
  const char *record;      /* folder for a recording of the program; NULL: none */
  const char *replay;      /* folder of the recording that the program replays; NULL: it does not */
  double skew;             /* with it: factor by which the program's clocks run faster */
  double timeout;          /* seconds of wall time after which it is stopped; 0: never */
  double memory;           /* bytes above which it is stopped; 0: none */
};

/* `interrupted` where a limit stopped the simulation. */
enum { LAUNCH_TIMEOUT = -1, LAUNCH_MEMORY = -2 };

/* Runs the simulation to its end, and writes its output to `out` and `err`. Sets its wait status,
 * or sets `interrupted` to the signal that stopped this process or to one of the above: then the
 * child and its descendants are gone. The caller has called launch_block(). Returns false with
 * `error` if it could not be started, or its output could not be written. */
bool launch(const struct launch *, int *status, int *interrupted, GError **error);

/* Blocks the signals for which launch() waits, and SIGPIPE: they stay pending until a call of
 * launch() or until launch_unblock(), so that the caller can clean up. Unblocking delivers them. */
void launch_block(void);
void launch_unblock(void);

#endif
