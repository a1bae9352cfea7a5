/* Keeps the numbers of communicators and their members, for all ranks of the simulator.
 *
 * Protocols exchange these numbers, so a number names one communicator in the whole program, even
 * if disjoint groups make communicators at the same time. A rank that is rolled back and makes the
 * same communicator again finds the same number. Numbers of freed communicators are used again
 * (wrap_comm.c). */
#ifndef RECLINE_COMMUNICATORS_H
#define RECLINE_COMMUNICATORS_H

#include "sim/host/rank/rank.h"

struct members {
  int size;
  int *member;     /* ranks of the program, by rank in the communicator */
  bool *is_member; /* by rank of the program */
};

/* The calls that make duplicates, shrunk communicators, and communicators of groups are not counted
 * with collective calls. They have negative numbers, and calls of two kinds may have the same
 * number. So shrunk communicators and communicators of groups, which their members alone identify,
 * have negative colours of their own. The colours of programs and of duplicates are not
 * negative. */
enum { COLOUR_GROUP = -1, COLOUR_SHRUNK = -2 };

/* Returns the number of the communicator that call number `call` on `parent` has made for
 * `colour`. */
int communicator_number(const struct comm *parent, int call, int colour, const struct comm *made);

/* Returns the members of the communicator with that number, or NULL if there is no such
 * communicator or if it has only one member. */
const struct members *communicator_members(int number);

/* Notes that collective call number `call` on that communicator begins at some member. */
void communicator_call(int number, int call);

/* Returns whether some members may be past that call, or have its result in their log, in the
 * checkpoint to which all ranks went back last. The answer is true if the call had begun when that
 * checkpoint was committed. All members get the same answer. */
bool communicator_passed(int number, int call);

/* Notes that the checkpoint commits. Its images and logs hold no call that begins after this
 * moment. */
void communicators_commit(uint32_t checkpoint);
void communicators_forget(uint32_t checkpoint); /* no rank will go back to that checkpoint */

/* For another run, adds to `keys` the keys of the numbers from 2 on, and to `calls` the calls that
 * this checkpoint holds. */
void communicators_leave(uint32_t checkpoint, GPtrArray *keys, GArray *calls);

/* Sets the keys and the calls in the run that goes on from the checkpoint, before any number is
 * asked for. Returns false if they do not fit the number of ranks. */
bool communicators_adopt(uint32_t checkpoint, const GPtrArray *keys, const GArray *calls);

/* Notes that all ranks, the calling one among them, go back to that checkpoint. */
void communicators_return(uint32_t checkpoint);

/* Returns whether `rank` is a member of that communicator; struct world gets this function. */
bool communicator_has(const void *ctx, int number, int rank);

#endif
