/* Keeps the memory that ranks of one node share, outside of their arenas, and takes it back with
 * them.
 *
 * A load or a store is no message, so no protocol sees it, and a recovery line could lie between a
 * store and the load that has read it. So ranks that share memory stand still together:
 *
 *     capture  A rank that was captured does not go on before all ranks that share memory with it
 *              are captured, too. The line's content of the memory is what it holds then: every
 *              access of a sharing rank before its capture has been made, and none after it.
 *     restart  A rank that has started again does not go on before all ranks that share memory with
 *              it have, too. With the last start the content of the line is put back. Ranks that
 *              have not heard of a failure write until then, and what they write is lost.
 *
 * This needs a protocol that takes all ranks back to one line, and that captures a rank wherever
 * the rank waits. Under protocols that handle collectives, a rank within a collective call cannot
 * be captured, and it may need the captured ranks there. So these ranks go on when all others are
 * captured or within such a call. A rank that is captured later, as it leaves the call, stores
 * nothing before that but what messages and the call bring it; this is added to the content. No
 * rank begins such a call before it is captured. */
#ifndef RECLINE_NODE_MEMORY_H
#define RECLINE_NODE_MEMORY_H

#include "sim/host/rank/rank.h"

/* Describes memory that a rank shares, or is about to share. It lies in the rank's arena, so it
 * goes back with the rank. */
struct node_memory;
struct sharing {
  struct node_memory *memory; /* NULL: not made yet */
  /* number of the communicator that these ranks have made for it, or 0 if it is not yet */
  int comm;
  int size, *member; /* these ranks, as ranks of the program */
  struct sharing *next;
};

/* Returns whether two ranks are on one node, and began there. A failure moves all ranks of a node
 * to the same place, so until ranks are sent elsewhere by `restart_on` the answer is the same at
 * any time. */
bool node_is_shared(int rank, int other);

/* Call sharing_begin() ahead of the messages by which the ranks of `members` agree on their memory,
 * and set its `comm` as soon as it is known. Call sharing_make() when all of them have done so and
 * sharing_all_have_started(), with the bytes of each one's part and of all memory. Returns the
 * memory, which the first caller makes, filled with zeros. The program may use it when
 * sharing_is_level(). */
struct sharing *sharing_begin(struct rank *, const struct comm *members);
char *sharing_make(struct sharing *, const size_t *part, size_t bytes);
bool sharing_all_have_started(const struct rank *, const void *sharing);
/* Call it when all have called MPI_Win_free. */
void sharing_end(struct rank *, struct sharing *);

/* Returns whether the rank stands still until ranks that share memory with it are captured, or have
 * started again. */
bool sharing_stops(const struct rank *);
/* Returns whether no rank that shares memory with this rank was captured after this rank's last
 * capture. If one was, this rank is captured before it goes on. */
bool sharing_is_level(const struct rank *, const void *nothing);
/* Returns whether all ranks that share memory with this rank have started again. Until then it is
 * not captured. */
bool sharing_lets_capture(const struct rank *);

/* Wakes the ranks that share memory with this one, to look again at the answers above. */
void sharing_wake(const struct rank *);

/* Call sharing_captured() when an image was captured, ahead of its CAPTURED, and sharing_forget()
 * when it is dropped. Call sharing_started() after START. */
void sharing_captured(const struct rank *, struct capture *);
void sharing_forget(struct capture *);
void sharing_started(const struct rank *);

/* Call it when the layer has stored `bytes` bytes of data of that type for the rank, which have
 * come in a message or are the result of a collective call. */
void sharing_stored(const struct rank *, void *at, MPI_Datatype, size_t bytes);

/* Returns the bytes of the rank's own parts, which count in its image. */
double sharing_bytes(const struct rank *);

#endif
