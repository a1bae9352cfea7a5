/* Keeps recordings of programs, each in a folder. The file `program` describes the program, and
 * exists once the recording is whole. Each rank has a file of its own
 * (sim/mpi/layer/recording.h). */
#ifndef RECLINE_RECORDING_FOLDER_H
#define RECLINE_RECORDING_FOLDER_H

#include <glib.h>
#include <stdbool.h>

#include "world/scenario/scenario.h"

/* Returns the text that identifies a recording: recline's version, the program, its arguments, its
 * ranks and their nodes. The caller frees it. */
char *recording_text(const struct scenario *);

/* Makes the folder. The folder counts as a recording only after recording_close(). Returns false
 * with `error`. */
bool recording_open(const char *folder, GError **error);
bool recording_close(const char *folder, const struct scenario *, GError **error);

/* Removes the recording of a run that did not come to its end, and removes the folder if it is
 * empty then. */
void recording_drop(const char *folder, int ranks);

/* Returns whether the folder is a recording of this program. Returns false with `error` if it is
 * the recording of another program, or no recording. */
bool recording_fits(const char *folder, const struct scenario *, GError **error);

/* Returns whether the recordings of two runs are equal. Otherwise sets `error`, which names a rank
 * whose recordings differ. */
bool recording_same(const char *folder, const char *other, int ranks, GError **error);

#endif
