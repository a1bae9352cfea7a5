/* Lets a run go on from the checkpoint of a run with another number of ranks.
 *
 * The protocols and the world of the new run begin anew, because neither the state of a protocol
 * nor a message can be given to other ranks. So no message and no collective may cross the
 * checkpoint, and all ranks must have been captured at the same place. Each rank reads what it
 * protects from the images of the old ranks: it reads parts of distributed arrays from the images
 * that have them, and other memory only if all images have the same content. */
#ifndef RECLINE_REDISTRIBUTION_H
#define RECLINE_REDISTRIBUTION_H

#include "sim/host/storage/manifest.h"
#include "sim/host/storage/portable.h"

/* Reads the images of `ranks` ranks that the manifest of `folder` names. Ends the run if other
 * ranks cannot read these images. */
void redistribution_begin(const char *folder, const struct manifest *, int ranks);

/* Returns an image with the place that all images have, and with all their regions except for
 * memory in which ranks differ. It has distributed arrays as a whole, without memory. Returns NULL
 * if this run redistributes nothing. */
const struct saved *redistribution_image(void);

uint32_t redistribution_checkpoint(void);

/* Fills `regions`, which are all that the rank protects. Returns the number of bytes that were read
 * from images. Ends the run if the images lack a region of the rank, or if the rank lacks a region
 * of the images. */
double redistribution_fill(int rank, const struct region *, int regions);

#endif
