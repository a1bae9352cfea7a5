/* Writes and reads the files that a run leaves for another run, in DIR/checkpoint and beside the
 * trace of the run.
 *
 *     DIR/trace.txt                    the whole history (docs/trace.md)
 *     DIR/checkpoint/rank-R.image      the image of each rank, as it lies on storage (portable.h)
 *     DIR/checkpoint/rank-R.payloads   the payloads that the rank's protocol holds, one after the
 *                                      other
 *     DIR/checkpoint/manifest          other data, and the list of files:
 *
 *     recline-checkpoint 2
 *     needs KEY VALUE                  a key of the scenario, which must have the same value
 *     checkpoint N
 *     time SECONDS                     of simulated time, over all runs so far
 *     byte_order little                byte order of payloads; each image tells its own
 *     crossed LATE EARLY               messages that cross the checkpoint
 *     payload RANK PART SLOT SOURCE TAG COMM SENT BYTES SYNCHRONOUS
 *     communicator KEY                 key of number 2, 3, ... (communicators.h)
 *     call COMM NUMBER                 the last call on the communicator that the checkpoint may
 *                                      hold
 *     file BYTES SHA256 NAME           below DIR
 *     end SHA256                       of all lines before
 */
#ifndef RECLINE_MANIFEST_H
#define RECLINE_MANIFEST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "world/scenario/scenario.h"

/* Describes a payload of a rank. A list of payloads is in the order in which they were kept. */
struct manifest_payload {
  int rank, part; /* `part` is the part with which the payload was stored (enum rcl_part) */
  uint32_t slot;
  int source, tag, comm, sent;
  uint64_t bytes;
  uint32_t synchronous; /* the payload's field of the same name */
};

struct manifest_file {
  char *name; /* below DIR */
  uint64_t bytes;
  char *sum; /* SHA-256 */
};

struct manifest {
  uint32_t checkpoint;
  double time;
  /* numbers of messages that cross the checkpoint, or -1 if they are not known */
  int64_t late, early;
  GPtrArray *needs;         /* "KEY VALUE" */
  GArray *payloads;         /* struct manifest_payload */
  GPtrArray *communicators; /* keys of communicators, from number 2 on */
  /* int, by communicator: number of the last call, or 0 if there was none */
  GArray *calls;
  GArray *files; /* struct manifest_file */
};

#define MANIFEST_FOLDER "checkpoint"

/* Returns a manifest that has only what the scenario must have (`needs`). The caller frees it by
 * manifest_free().
 */
struct manifest *manifest_new(const struct scenario *);
void manifest_free(struct manifest *);

/* Both functions return a file name below DIR. The caller frees it. */
char *manifest_image(int rank);
char *manifest_payloads(int rank);

/* Notes the present contents of file `name` of `folder`. Returns false and sets `error` if the file
 * cannot be read. */
bool manifest_note(struct manifest *, const char *folder, const char *name, GError **error);

/* Writes DIR/checkpoint/manifest, whose folder must exist. Returns false and sets `error` if that
 * fails. */
bool manifest_write(const struct manifest *, const char *folder, GError **error);

/* Reads the manifest and checks the files that it names. Returns NULL, with an error of one line
 * `file: what, expected what`, if a file differs or there is no valid manifest. */
struct manifest *manifest_read(const char *folder, GError **error);

/* Returns the number of ranks that have left the checkpoint, or 0 if the manifest does not say. */
int manifest_ranks(const struct manifest *);

/* Returns whether the scenario has all that the manifest of `folder` needs; otherwise sets an error
 * that names the line of the scenario. Another number of ranks fits if no message crosses the
 * checkpoint (redistribution.h); then only the keys of images must be the same. */
bool manifest_fits(const struct manifest *, const char *folder, const struct scenario *,
                   GError **error);

#endif
