/* Runs the simulation as a child process, with its program, hosts and environment.
 *
 * SimGrid's smpimain is started directly, with the options that the smpirun script would give it.
 * smpirun splits the program's arguments at spaces and expands `*` in them, writes its own lines on
 * the program's standard output, and would let its helpers (mktemp, grep, python) run with
 * recline's preloaded heap. */
#ifndef RECLINE_LAUNCH_H
#define RECLINE_LAUNCH_H

#include <glib.h>
#include <stdbool.h>

/* Returns the path of a program. An absolute path stays as it is. A bare name is looked for in the
 * folders of RECLINE_PROGRAMS (separated by colons), then among recline's own programs. Returns
 * NULL if there is no such program. The caller frees it. */
char *launch_find(const char *name);

/* Returns NULL if `program` is linked with the library that recline-cc links into programs.
 * Otherwise returns why it cannot be run ("was not built with recline-cc"), a static text. */
const char *launch_refuses(const char *program);

struct launch {
  const char *program;     /* absolute path */
  const char *const *args; /* ends with NULL */
  const char *input;       /* file for its standard input, or NULL for an empty one */
  const char *platform;    /* SimGrid platform file */
  int processes;           /* number of processes: the program's ranks and the dispatcher */
  const char *scenario;    /* for the layer: path of scenario.yaml with all its values */
  const char *directory; /* absolute path of a private folder for `hosts` (a host for each process),
                            trace.txt and the simulator's temporary files */
  int folder;            /* descriptor that holds the folder's lock; the simulation inherits it */
  const char *result;    /* for the layer: path of result.json */
  const char *out, *err; /* files for the program's output */
  bool trace;            /* true if trace.txt is written */
  const char *restart;   /* folder of the run to continue, or NULL if there is none */
  const char *record;    /* folder in which to record the program, or NULL if it is not recorded */
  const char *replay;    /* folder of the recording to replay, or NULL if there is none */
  /* for a recording: the factor by which the program's clocks run faster than the simulated time */
  double skew;
  /* seconds of wall time after which the simulation is stopped, or 0 for never */
  double timeout;
  /* bytes of memory above which the simulation is stopped, or 0 for no limit */
  double memory;
  bool tells; /* true if lines on standard error tell that a long simulation goes on */
};

/* Values of `interrupted` if a limit stopped the simulation. */
enum { LAUNCH_TIMEOUT = -1, LAUNCH_MEMORY = -2 };

/* Runs the simulation to its end, and writes its output to `out` and `err`. Sets `status` to its
 * wait status. If a limit, or a signal to this process, stops the simulation, sets `interrupted` to
 * the limit or the signal; then the child and its descendants are gone. The caller must have called
 * launch_block(). Returns false with `error` if the simulation could not be started, or its output
 * could not be written. */
bool launch(const struct launch *, int *status, int *interrupted, GError **error);

/* Blocks the signals for which launch() waits, and SIGPIPE. They stay pending until launch() or
 * launch_unblock(), so that the caller can clean up; launch_unblock() delivers them. */
void launch_block(void);
void launch_unblock(void);

#endif
