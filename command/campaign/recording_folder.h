/* Recordings of a program, a folder each: the file `program` says of which, and is there when the
 * recording is whole; a file for each rank (sim/mpi/layer/recording.h). */
#ifndef RECLINE_RECORDING_FOLDER_H
#define RECLINE_RECORDING_FOLDER_H

#include <glib.h>
#include <stdbool.h>

#include "world/scenario/scenario.h"

/* Returns what a recording is of: recline's version, the program, its arguments, its ranks and
 * where they are. To be freed. */
char *recording_text(const struct scenario *);

/* Makes the folder. It is no recording until recording_close(). False with `error`. */
bool recording_open(const char *folder, GError **error);
bool recording_close(const char *folder, const struct scenario *, GError **error);

/* Returns whether it is a recording of this program. False with `error`: it is another one, or
 * none. */
bool recording_fits(const char *folder, const struct scenario *, GError **error);

/* Returns whether two runs have been recorded as the same. False with `error`: it names the rank.
 */
bool recording_same(const char *folder, const char *other, int ranks, GError **error);

#endif
