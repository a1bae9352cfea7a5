/* Scales a job down to fewer ranks, so that its runs take less time. Two values stay the same,
 * because they decide how often to take checkpoints: the time to write a checkpoint of all ranks,
 * and the time between failures of the machine. */
#ifndef RECLINE_SCALE_H
#define RECLINE_SCALE_H

#include <glib.h>
#include <stdbool.h>

/* Adds to the settings `set` of scenario `file` (NULL if there are none), from the options of a
 * command, what makes it a job of `ranks` ranks: as many ranks on a node, as many spares, the
 * bandwidth of the shared file system divided as the ranks are, the MTBF of a node divided as the
 * nodes are. Local disks, links and images stay, as each node has its own. Writes to standard error
 * what stays, unless it is `silent`. With 0 `ranks` it adds nothing, and writes a hint if the
 * scenario has so many ranks that its runs take long. Returns an exit code after reporting an
 * error: a machine that is not described by its amounts, or one of the `sweeps` (NULL if there are
 * none) gives values to a key that is scaled: they would hold for the job before it is scaled. */
int scale_options(char ***set, char *const *sweeps, const char *file, int ranks, bool silent);

#endif
