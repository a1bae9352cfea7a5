/* Begins and ends collective calls of the program.
 *
 * Under a protocol that knows only messages, a collective is a set of messages (wrap_collectives.c)
 * on the hidden half of its communicator. A protocol may instead handle collectives by the
 * direction in which data flow. Such a protocol is asked once for each call, and the same messages
 * *bypass* it: no event tells the protocol of them.
 *
 *     call_begin   COLLECTIVE: take part, leave the call out, or give a kept result
 *                  the protocol's words go the way of the data: ahead, in a collective of their
 *                  own, or packed with the data here (protocol.control)
 *                  barrier: COLLECTED here, for the checkpoint that it may force
 *     ...          the data collective
 *     call_end     words are unpacked; COLLECTED, if data have come here */
#ifndef RECLINE_COLLECTIVES_H
#define RECLINE_COLLECTIVES_H

#include "sim/host/rank/rank.h"
#include "sim/host/step/piggyback_collectives.h"

/* Begins a call; calls are numbered whether the protocol handles them or not. Returns whether the
 * rank takes part now. Whether it does or not, call_end() must follow; its result is the result of
 * the call. A failure may end the call at any point (faults.h); from that point on none of its
 * messages is sent or awaited. If the program repairs itself, the protocol does not hear of
 * collectives. */
bool call_begin(struct rank *, struct call_site);
int call_end(struct rank *);

/* Returns the tag of a message of the rank's present call; `kind` is one of
 * piggyback_collectives.h.
 */
int call_tag(const struct rank *, int kind);

/* Returns whether the call that has begun runs by the algorithm that the platform or --cfg selects.
 * Other calls use recline's own algorithms. These other calls are calls whose operation does not
 * allow the order in which SMPI would combine, calls that some members may already have completed,
 * and calls whose words travel with data that some members do not have. */
bool call_is_selected(const struct rank *);

/* Measures, for protocol.control `auto`, the cost of separate words between two nodes of the
 * platform. All ranks and the dispatcher call it at the beginning of the run. */
void call_measure(int index);

/* Does what MPI_Allgather does, without the communicator's error handler. */
int collective_allgather(struct rank *, const void *out, int out_count, MPI_Datatype out_type,
                         void *in, int in_count, MPI_Datatype in_type, struct comm *);

/* Does what MPI_Bcast does, also without the error handler. */
int collective_broadcast(struct rank *, void *buffer, int count, MPI_Datatype, int root,
                         struct comm *);

/* Does what MPI_Alltoall does for equal blocks, also without the error handler. */
int collective_alltoall(struct rank *, struct blocks out, struct blocks in, struct comm *);

#endif
