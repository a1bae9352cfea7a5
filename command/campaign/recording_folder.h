/* Recordings of a program, a folder each. The file `program` describes the program and exists once
 * the recording is whole; there is a file for each rank (sim/mpi/layer/recording.h). */
#ifndef RECLINE_RECORDING_FOLDER_H
#define RECLINE_RECORDING_FOLDER_H

#include <glib.h>
#include <stdbool.h>

#include "world/scenario/scenario.h"

/* Returns the text that identifies a recording: recline's version, the program, its arguments, its
 * ranks and their nodes. To be freed. */
char *recording_text(const struct scenario *);

/* Makes the folder, which is no recording until recording_close(). Returns false with `error` set.
 */
bool recording_open(const char *folder, GError **error);
bool recording_close(const char *folder, const struct scenario *, GError **error);

/* Removes what a run has recorded that did not come to its end, and the folder if nothing else is
 * in it. */
void recording_drop(const char *folder, int ranks);

/* Returns whether the folder is a recording of this program; false with `error` set: it is another
 * one, or none. */
bool recording_fits(const char *folder, const struct scenario *, GError **error);

/* Returns whether the recordings of two runs are equal; otherwise sets `error`, which names the
 * rank.
 */
bool recording_same(const char *folder, const char *other, int ranks, GError **error);

#endif
