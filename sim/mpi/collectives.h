/* Collective calls of the program.
 *
 * Under a protocol that knows only messages, a collective is the messages that it consists of
 * (wrap_collectives.c), on the hidden half of its communicator. Under one that handles collectives
 * by the direction in which data flow, the protocol is asked once, and the same messages *bypass*
 * it they go past it.
 *
 *     call_begin   COLLECTIVE: take part, leave it out, or give a kept result
 *                  the protocol's words go the way of the data, one collective ahead of it, or
 *                  with it (protocol.control)
 *                  barrier: COLLECTED here, for the checkpoint that it may force
 *     ...          the data collective
 *     call_end     COLLECTED, where data have come
 */
#ifndef RECLINE_COLLECTIVES_H
#define RECLINE_COLLECTIVES_H

#include "sim/host/rank.h"
#include "sim/host/words.h"

/* Calls are numbered whether the protocol handles them or not. True: take part now, and then say
 * call_end(). */
bool call_begin(struct rank *, struct call_site);
int call_end(struct rank *);

/* The tag of a message of the call that the rank is in; `kind` is one of words.h. */
int call_tag(const struct rank *, int kind);

/* Whether it runs by the algorithm that the platform or --cfg selects. Others are our own: where
 * words travel with the data, and where some members may pass the call while others take part. */
bool call_is_selected(const struct rank *, const struct comm *);

/* Under `auto`, at the beginning of the run, by all ranks and the dispatcher: measures what words
 * of their own cost here. */
void call_measure(int index);

/* The rank is about to send these data in its call: the time to make them one with the words, when
 * those travel with them. */
void call_pack(struct rank *, const void *data, int count, MPI_Datatype);

int collective_allgather(struct rank *, const void *out, int out_count, MPI_Datatype out_type,
                         void *in, int in_count, MPI_Datatype in_type, struct comm *);

#endif
