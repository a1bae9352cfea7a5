/* Keeps the memory that ranks of one node share, outside of their arenas, and rolls it back when
 * they go back.
 *
 * A load or a store is no message, so no protocol sees it, and a recovery line could lie between a
 * store and the load that has read it. So ranks that share memory stand still together:
 *
 *     capture  A rank that was captured does not go on before all ranks that share memory with it
 *              are captured, too. What the memory holds at that moment is its content in the
 *              recovery line: all accesses that the sharing ranks make before their captures have
 *              been made, and none that they make afterwards.
 *     restart  A rank that has started again does not go on before all ranks that share memory with
 *              it have started again, too. At the last of these starts the content of the line is
 *              put back. Until then, ranks that have not heard of the failure go on writing; what
 *              they write is lost.
 *
 * This needs a protocol that takes all ranks back to one line, and that captures a rank wherever
 * the rank waits. Under protocols that handle collectives, a rank within a collective call cannot
 * be captured, and may need captured ranks in that call. So captured ranks go on when all others
 * are captured or within such a call. A rank within the call is captured when it leaves the call.
 * Until then it stores only what messages and the call bring; these bytes are added to the content.
 * No rank begins such a call before it is captured. */
#ifndef RECLINE_NODE_MEMORY_H
#define RECLINE_NODE_MEMORY_H

#include "sim/host/rank/rank.h"

/* Describes memory that a rank shares or is about to share. The description lies in the rank's
 * arena, so it goes back with the rank. */
struct node_memory;
struct sharing {
  struct node_memory *memory; /* the memory, or NULL if it is not made yet */
  /* number of the communicator that these ranks have made for the memory, or 0 if they have not
   * yet */
  int comm;
  int size, *member; /* the ranks that share the memory, as ranks of the program */
  struct sharing *next;
};

/* Returns whether two ranks are on one node, and began there. A failure moves all ranks of a node
 * to the same place, so until ranks are sent elsewhere by `restart_on` the answer is the same at
 * any time. */
bool node_is_shared(int rank, int other);

/* A rank calls sharing_begin() before the messages by which the ranks of `members` agree on their
 * memory, and sets `comm` of the result as soon as the number is known. It calls sharing_make()
 * when all these ranks have called sharing_begin() and sharing_all_have_started() is true. `part`
 * has the bytes of each rank's part, `bytes` is the size of all memory. sharing_make() returns the
 * memory, which the first caller makes, filled with zeros. The program may use the memory when
 * sharing_is_level() is true. */
struct sharing *sharing_begin(struct rank *, const struct comm *members);
char *sharing_make(struct sharing *, const size_t *part, size_t bytes);
bool sharing_all_have_started(const struct rank *, const void *sharing);
/* Ends the sharing. It must be called when all these ranks have called MPI_Win_free. */
void sharing_end(struct rank *, struct sharing *);

/* Returns whether the rank stands still until the ranks that share memory with it are captured or
 * have started again. */
bool sharing_stops(const struct rank *);
/* Returns whether no rank that shares memory with this rank was captured after this rank's last
 * capture. If such a rank was captured, this rank is captured before it goes on. */
bool sharing_is_level(const struct rank *, const void *nothing);
/* Returns whether all ranks that share memory with this rank have started again. Until then this
 * rank is not captured. */
bool sharing_lets_capture(const struct rank *);

/* Wakes the ranks that share memory with this one, to look again at the answers above. */
void sharing_wake(const struct rank *);

/* sharing_captured() must be called when an image was captured, before its CAPTURED;
 * sharing_forget() when the image is dropped; and sharing_started() after START. */
void sharing_captured(const struct rank *, struct capture *);
void sharing_forget(struct capture *);
void sharing_started(const struct rank *);

/* Notes that the layer has stored at `at`, for the rank, `bytes` bytes of data of that type, which
 * have come in a message or are the result of a collective call. */
void sharing_stored(const struct rank *, void *at, MPI_Datatype, size_t bytes);

/* Returns the number of bytes of the rank's own parts of shared memory, which count in its
 * image. */
double sharing_bytes(const struct rank *);

#endif
