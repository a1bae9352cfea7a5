/* A run that goes on from the checkpoint of a run with another number of ranks.
 *
 * Its world begins at the beginning, as neither the state of a protocol nor a message can pass to
 * other ranks. So no message and no collective may cross the checkpoint, and all ranks must have
 * been captured at the same place. Each rank reads from the images of all ranks what it protects:
 * parts of distributed arrays from the images that have them, other memory only if all images have
 * the same. */
#ifndef RECLINE_REDISTRIBUTION_H
#define RECLINE_REDISTRIBUTION_H

#include "sim/host/storage/manifest.h"
#include "sim/host/storage/portable.h"

/* Reads the images of `ranks` ranks that the manifest of `folder` names. Ends the run if they
 * cannot be read by other ranks. */
void redistribution_begin(const char *folder, const struct manifest *, int ranks);

/* Returns the place that all images have, and their regions but those in which ranks differ;
 * distributed arrays are whole there, without memory. NULL: this run redistributes nothing. */
const struct saved *redistribution_image(void);

uint32_t redistribution_checkpoint(void);

/* Fills the regions, which are all that the rank protects. Returns the bytes that it has read from
 * images. Ends the run if images lack one of these regions, or the rank one of theirs. */
double redistribution_fill(int rank, const struct region *, int regions);

#endif
