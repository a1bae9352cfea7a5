/* Numbers of communicators, and their members, known to all ranks of the simulator.
 *
 * A number names one communicator in the whole program, also where disjoint groups make theirs at
 * the same time: protocols tell each other of communicators by number. A rank that is rolled back
 * and makes the same communicator again finds the same number. Those that are freed are used again
 * (wrap_comm.c). */
#ifndef RECLINE_COMMUNICATORS_H
#define RECLINE_COMMUNICATORS_H

#include "sim/host/rank/rank.h"

struct members {
  int size;
  int *member;     /* ranks of the program, by rank in the communicator */
  bool *is_member; /* by rank of the program */
};

/* The number of the communicator that call number `call` on `parent` has made for `colour`; -1: no
 * call, but its members themselves. */
int communicator_number(const struct comm *parent, int call, int colour, const struct comm *made);

/* NULL: there is no communicator with that number, or it has only one member. */
const struct members *communicator_members(int number);

/* Call number `call` on that communicator begins at some member. */
void communicator_call(int number, int call);

/* Returns whether some members may be past that call in the checkpoint to which all went back last,
 * or have its result in their log: it was made when that committed. The same for all members. */
bool communicator_passed(int number, int call);

/* The checkpoint commits: no call that begins from here on is in its images and logs. */
void communicators_commit(uint32_t checkpoint);
void communicators_forget(uint32_t checkpoint); /* nothing goes back to it any more */

/* For another run: keys of the numbers from 2 on, and the calls that this checkpoint holds. */
void communicators_leave(uint32_t checkpoint, GPtrArray *keys, GArray *calls);

/* In that one, before any number is asked for. False: they are not of so many ranks. */
bool communicators_adopt(uint32_t checkpoint, const GPtrArray *keys, const GArray *calls);

/* With all others the calling rank goes back to that checkpoint. */
void communicators_return(uint32_t checkpoint);

/* For struct world. */
bool communicator_has(const void *ctx, int number, int rank);

#endif
