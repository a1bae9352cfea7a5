/* Reads the text by which a program declares its communication topology, that is, which ranks
 * exchange messages.
 *
 *     ring             rank r and rank r + 1, the last one and rank 0
 *     line             the same without the last pair
 *     grid-4x4         MPI's Cartesian neighbours, row by row, in any number of dimensions
 *     torus-4x4        the same, periodic in each dimension
 *     hypercube        ranks whose numbers differ in one bit
 *     0-1              these two ranks
 *
 * Several words with spaces between them declare the pairs of all these words. A pair may exchange
 * messages in both directions: C3 counts each direction by itself (ICS 2003, section 3.4), and a
 * program may use only one. Chandy and Lamport (TOCS 1985) need a way from the initiator to each
 * rank; a graph without directions has one if it is connected. */
#ifndef RECLINE_NEIGHBOURS_H
#define RECLINE_NEIGHBOURS_H

#include "protocols/protocol.h"

/* size of a text that says what is wrong, in bytes, with the null at its end */
enum { NEIGHBOURS_PROBLEM = 128 };

/* Returns the number of 32-bit words in a rank's row (rcl_config.neighbours). */
static inline size_t neighbours_row(int ranks)
{
  return ((size_t)ranks + 31) / 32;
}

/* Returns the rows of all ranks, one after the other; the caller frees them. Returns NULL with
 * "what, expected what" in `problem` (of NEIGHBOURS_PROBLEM bytes). */
uint32_t *neighbours_read(const char *text, int ranks, char *problem);

/* Returns the first rank that cannot be reached from rank 0, or -1 if all can. */
int neighbours_unreached(const uint32_t *rows, int ranks);

#endif
