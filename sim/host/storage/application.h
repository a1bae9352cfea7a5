/* Checkpoints at the application level (Bronevetsky et al., ICS 2003, section 1; Stodghill's
 * slides): an image holds what the program protects and what the layer keeps for it, and a restart
 * begins main again.
 *
 *     MPI_Init     main              restore                         place
 *        |----------|-------------------|-------------------------------|------>
 *     image of the  makes communicators, data are put back, START:      goes on
 *     beginning     protects memory      from here on the protocol's    from here
 *                                        replay is in force
 *
 * The protocol knows nothing of it: it sees START when the data have been put back. Until then its
 * program may do what needs no other rank; the communicators that it had made are answered from the
 * image (application_again), everything else that communicates is refused.
 *
 * A program can be captured at its *places* only: where it allows a checkpoint, in a barrier (for
 * protocols that capture there), in MPI_Finalize. No request may be pending there.
 *
 * What a program has protected lies in the arena and so goes back with it to the beginning. Images
 * lie in libc memory, as the bytes that are on storage (portable.h). */
#ifndef RECLINE_APPLICATION_H
#define RECLINE_APPLICATION_H

#include "sim/host/rank/rank.h"
#include "sim/host/storage/portable.h"

/* As recline.h has them. */
enum place { PLACE_NONE, PLACE_CHECKPOINT, PLACE_BARRIER, PLACE_END };

/* Returns whether checkpoints of this run are at this level. */
bool application_level(void);

/* Returns whether the rank's program runs again and its data have not been put back. */
static inline bool application_restarts(const struct rank *r)
{
  return r->restart.on;
}

/* ---- what is protected: as the calls of recline.h ---- */

void application_protect(struct rank *, int id, void *address, size_t count, enum item);
void application_unprotect(struct rank *, int id);
size_t application_recorded(const struct rank *, int id);
enum place application_place(const struct rank *); /* of the image; NONE: no restart */
void application_push(struct rank *, int position);
void application_pop(struct rank *);
int application_resume(struct rank *);

/* ---- communicators ---- */

/* A call has made `comm` with that key. */
void application_made(struct rank *, struct comm *, int key);

/* At a restart: the communicator that such a call on `parent` had made. Ends the run when the image
 * has none. */
struct comm *application_again(struct rank *, const struct comm *parent, int colour, int key);

/* ---- images ---- */

/* Returns an image of the rank at its place, which the caller frees, in the byte order of its node
 * (property byte_order, "little" or "big"; without it that of this process). Ends the run where the
 * rank cannot be captured. */
struct saved *application_save(struct rank *);
void application_free(struct saved *); /* NULL is allowed */

/* Makes an image from the bytes that another run left on storage, and takes them over; files are as
 * they are now. Returns NULL, with the reason in `why` (static) and the bytes freed, where they are
 * no image of that rank. */
struct saved *application_adopt(struct rank *, GByteArray *bytes, const char **why);

/* Bytes on storage; of an image that would be captured now. */
double application_bytes(const struct saved *);
double application_next_bytes(const struct rank *);

const struct heap_files *application_files(const struct saved *);

/* Ends the run if the image has bytes of no type, and the rank's node has another byte order; and
 * unless the program has come to where the image can be put back: `place`, on `comm` where that is
 * a barrier. NONE: it restores by itself, wherever it is. */
void application_check(struct rank *, const struct saved *, enum place place,
                       const struct comm *comm);

/* Puts the data back, and what the layer keeps; `at_place`: the program is at the image's place. */
void application_put_back(struct rank *, const struct saved *, bool at_place);

/* ---- behind the restore ---- */

/* The program comes to that place, or calls MPI for something else (NONE). Returns whether it is
 * the place of the image, where it goes on. Ends the run where it must have come to another one. */
bool application_comes_to(struct rank *, enum place);

/* Returns whether what the program asks of a clock or of chance is not for the protocol. */
bool application_is_apart(const struct rank *);

/* The program communicates, and its data have not been put back: ends the run. */
_Noreturn void application_refuse(const struct rank *);

#endif
