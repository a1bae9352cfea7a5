/* The simulation as a child process: which program, on which hosts, with what around it.
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

/* The path of a program: absolute as it is; a bare name in the folders of RECLINE_PROGRAMS
 * (separated by colons), then among recline's own programs. NULL when it is nowhere. */
char *launch_find(const char *name);

/* NULL when `program` needs the library that recline-cc links into programs; otherwise why it
 * cannot be run ("was not built with recline-cc"). A static text. */
const char *launch_refuses(const char *program);

struct launch {
  const char *program;     /* absolute path */
  const char *const *args; /* ends with NULL */
  const char *input;       /* file on its standard input; NULL: an empty one */
  const char *platform;    /* SimGrid platform file */
  int processes;           /* the program's ranks and the dispatcher */
  const char *scenario;    /* for the layer: scenario.yaml as resolved */
  const char *directory;   /* absolute path, private: `hosts`, with a host for each process, and
                              trace.txt and the simulator's temporary files */
  int folder;              /* its descriptor, which the simulation gets: what locks it */
  const char *result;      /* for the layer: where result.json goes */
  const char *out, *err;   /* what the program prints */
  bool trace;              /* write trace.txt */
  const char *restart;     /* the folder of the run from which it goes on; NULL: none */
  const char *record;      /* folder for a recording of the program; NULL: none */
  double skew;             /* with it: how many times as fast the program's clocks run */
  double timeout;          /* seconds of wall time after which it is stopped; 0: never */
  double memory;           /* bytes above which it is stopped; 0: none */
};

/* `interrupted` where a limit stopped the simulation. */
enum { LAUNCH_TIMEOUT = -1, LAUNCH_MEMORY = -2 };

/* Runs the simulation to its end, and writes what it prints to `out` and `err`. Gives its wait
 * status, or sets `interrupted` to the signal that stopped us, or to one of the above: then the
 * child and what it started are gone. The caller has called launch_block(). False with `error` when
 * it could not be started, or what it prints could not be written. */
bool launch(const struct launch *, int *status, int *interrupted, GError **error);

/* Blocks the signals that launch() waits for, and that of a pipe without a reader: they stay
 * pending until a call of it or until launch_unblock(), so that the caller can clean up. Unblocking
 * delivers them. */
void launch_block(void);
void launch_unblock(void);

#endif
