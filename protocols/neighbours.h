/* Who exchanges messages with whom, as text: the communication topology that a program declares.
 *
 *     ring             rank r and rank r + 1, the last one and rank 0
 *     line             the same without the last pair
 *     grid-4x4         MPI's Cartesian neighbours, row by row, in any number of dimensions
 *     torus-4x4        the same, periodic in each dimension
 *     hypercube        ranks whose numbers differ in one bit
 *     0-1              these two ranks
 *
 * Several words, with spaces between, name the pairs of them all. A pair may exchange messages in
 * both directions: C3 counts each direction apart (ICS 2003, section 3.4), and a program that sends
 * one way only sends no more than is declared; Chandy and Lamport (TOCS 1985) need a way from the
 * initiator to each rank, which a graph without directions has when it is connected.
 */
#ifndef RECLINE_NEIGHBOURS_H
#define RECLINE_NEIGHBOURS_H

#include "protocols/protocol.h"

enum { NEIGHBOURS_PROBLEM = 128 }; /* bytes of what is wrong with a text, with its end */

/* Words of 32 bits in the row of a rank (rcl_config.neighbours). */
static inline size_t neighbours_row(int ranks)
{
  return ((size_t)ranks + 31) / 32;
}

/* Returns the rows of all ranks, one after the other, for the caller to free. NULL: `problem` (of
 * NEIGHBOURS_PROBLEM bytes) says "what, expected what". */
uint32_t *neighbours_read(const char *text, int ranks, char *problem);

/* Returns the first rank that cannot be reached from rank 0; -1: there is none. */
int neighbours_unreached(const uint32_t *rows, int ranks);

#endif
