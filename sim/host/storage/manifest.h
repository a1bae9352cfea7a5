/* What a run leaves for another one: DIR/checkpoint, beside the trace of all that led there.
 *
 *     DIR/trace.txt                    the whole history (docs/trace.md)
 *     DIR/checkpoint/rank-R.image      of each rank, as it lies on storage (portable.h)
 *     DIR/checkpoint/rank-R.payloads   what its protocol holds of messages, one behind the other
 *     DIR/checkpoint/manifest          what is needed besides, and what the files are:
 *
 *     recline-checkpoint 1
 *     needs KEY VALUE                  of the scenario, which must say the same
 *     checkpoint N
 *     time SECONDS                     of simulated time, of all the runs so far
 *     byte_order little                of payloads; images say their own
 *     payload RANK PART SLOT SOURCE TAG COMM SENT BYTES
 *     communicator KEY                 what has made number 2, 3, ... (communicators.h)
 *     call COMM NUMBER                 the last on it that the checkpoint may hold
 *     file BYTES SHA256 NAME           below DIR
 *     end SHA256                       of all lines before
 */
#ifndef RECLINE_MANIFEST_H
#define RECLINE_MANIFEST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "world/scenario/scenario.h"

/* A payload of a rank, in the order of keeping. */
struct manifest_payload {
  int rank, part; /* enum rcl_part: with what it was stored */
  uint32_t slot;
  int source, tag, comm, sent;
  uint64_t bytes;
};

struct manifest_file {
  char *name; /* below DIR */
  uint64_t bytes;
  char *sum; /* SHA-256 */
};

struct manifest {
  uint32_t checkpoint;
  double time;
  GPtrArray *needs;         /* "KEY VALUE" */
  GArray *payloads;         /* struct manifest_payload */
  GPtrArray *communicators; /* keys, from number 2 */
  GArray *calls;            /* int, by communicator: the last call; 0: none */
  GArray *files;            /* struct manifest_file */
};

#define MANIFEST_FOLDER "checkpoint"

/* Nothing is in it but what the scenario needs; the caller's. */
struct manifest *manifest_new(const struct scenario *);
void manifest_free(struct manifest *);

/* Names below DIR, the caller's. */
char *manifest_image(int rank);
char *manifest_payloads(int rank);

/* Notes the file `name` of `folder`, as it is. False: it cannot be read. */
bool manifest_note(struct manifest *, const char *folder, const char *name, GError **error);

/* Writes DIR/checkpoint/manifest; the folder is there. */
bool manifest_write(const struct manifest *, const char *folder, GError **error);

/* Reads it, and the files that it names, whether they are as noted. NULL, with one line
 * `file: what, expected what`: they are not, or it is no manifest. */
struct manifest *manifest_read(const char *folder, GError **error);

/* Returns whether the scenario says what the manifest of `folder` needs; one line of the scenario
 * where it does not. */
bool manifest_fits(const struct manifest *, const char *folder, const struct scenario *,
                   GError **error);

#endif
