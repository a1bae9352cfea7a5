/* Takes and restores checkpoints at the application level (Bronevetsky et al., ICS 2003, section 1;
 * Stodghill's slides): an image holds the data that the program protects, and the layer's state
 * that belongs to the program. A restart begins main again.
 *
 *     MPI_Init     main              restore                         place
 *        |----------|-------------------|-------------------------------|------>
 *     image of the  makes communicators, data are put back, START:      goes on
 *     beginning     protects memory      from here on the protocol's    from here
 *                                        replay is in force
 *
 * The protocol knows nothing of this level: it sees START when the data have been put back. Until
 * then the program may make calls that need no other rank. Calls that made communicators are
 * answered from the image (application_again); all other communication is refused.
 *
 * A program can be captured only at its *places*: where it allows a checkpoint, in a barrier (for
 * protocols that capture in barriers), and in MPI_Finalize. No request may be pending at a place.
 *
 * The list of protected data lies in the arena, so a restart empties it. Images lie in libc memory,
 * as the bytes that are on storage (portable.h). */
#ifndef RECLINE_APPLICATION_H
#define RECLINE_APPLICATION_H

#include "sim/host/rank/rank.h"
#include "sim/host/storage/portable.h"

/* Lists the places of recline.h. */
enum place { PLACE_NONE, PLACE_CHECKPOINT, PLACE_BARRIER, PLACE_END };

/* Returns whether checkpoints of this run are at this level. */
bool application_level(void);

/* Returns whether the rank's program has begun again and its data have not been put back yet. */
static inline bool application_restarts(const struct rank *r)
{
  return r->restart.on;
}

/* ---- what is protected, by the calls of recline.h ---- */

void application_protect(struct rank *, int id, void *address, size_t count, enum item);
void application_protect_part(struct rank *, int id, void *address, enum item item,
                              const struct shape *);
void application_unprotect(struct rank *, int id);
size_t application_recorded(const struct rank *, int id);
/* the place of the image, or PLACE_NONE if there is no restart */
enum place application_place(const struct rank *);
void application_push(struct rank *, int position);
void application_pop(struct rank *);
int application_resume(struct rank *);

/* ---- communicators ---- */

/* Notes that a call has made `comm`, with `key` as this rank's key. */
void application_made(struct rank *, struct comm *, int key);

/* At a restart, returns the communicator that a call on `parent` with that colour and key had made.
 * Ends the run if the image has no such communicator. */
struct comm *application_again(struct rank *, const struct comm *parent, int colour, int key);

/* ---- images ---- */

/* Returns an image of the rank at its place, which the caller frees. The image has the byte order
 * of the rank's node (property byte_order, "little" or "big"; without it the order of this
 * process). Ends the run if the rank cannot be captured. */
struct saved *application_save(struct rank *);
void application_free(struct saved *); /* NULL is allowed */

/* Makes an image from the bytes that another run has left on storage, and takes ownership of the
 * bytes. The program's files stay as they are. If the bytes are no image of that rank, frees them
 * and returns NULL, with the reason in `why` (static). */
struct saved *application_adopt(struct rank *, GByteArray *bytes, const char **why);

/* application_bytes() returns the size in bytes of an image on storage. application_next_bytes()
 * returns the size of an image that would be captured now. */
double application_bytes(const struct saved *);
double application_next_bytes(const struct rank *);

const struct heap_files *application_files(const struct saved *);

/* Ends the run if the image has bytes without a type and the rank's node has another byte order, or
 * if the image cannot be restored at `place` (on `comm` for a barrier). With PLACE_NONE the program
 * restores its data by itself, wherever it is. */
void application_check(struct rank *, const struct saved *, enum place place,
                       const struct comm *comm);

/* Puts back the data and the layer's state. `at_place` says that the program is at the image's
 * place. */
void application_put_back(struct rank *, const struct saved *, bool at_place);

/* Returns whether the rank has still to read its data from the images of another number of ranks
 * (redistribution.h). Its program may communicate before that. */
bool application_redistributes(const struct rank *);

/* Fills what the rank protects from the images of the other number of ranks, and returns the number
 * of bytes read. The caller spends the time, and then sets `redistributed` in the rank's MPI state.
 * The places are as in application_check(). */
double application_put_parts_back(struct rank *, enum place, const struct comm *);

/* ---- after the restore ---- */

/* Must be called when the program comes to `place`, or calls MPI for something else (PLACE_NONE).
 * Returns whether this is the place of the image, from which the program goes on. Ends the run if
 * the program should have come to another place. */
bool application_comes_to(struct rank *, enum place);

/* Returns whether the protocol is not told of clocks and random choices of the program. */
bool application_is_apart(const struct rank *);

/* Ends the run if the program communicates before its data have been put back. */
_Noreturn void application_refuse(const struct rank *);

#endif
