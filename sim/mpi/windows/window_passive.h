/* Windows whose target takes no part: locks, flushes, and accesses with a request.
 *
 * An origin sends what it has for a target in one message, with the lock that it asks for and
 * whether it gives it back, and waits for the reply. The target *serves*: when it waits in a call
 * of MPI, or polls in vain, it takes these messages in, carries out their accesses as soon as their
 * lock is free, and replies. Which message it takes next, or that there is none, is a decision that
 * the protocol hears of, as that of MPI_Waitany, and the message is then received from its source.
 * So to every protocol this is a program that polls: what is served lies between the same two
 * events again when a rank repeats them.
 *
 * Within a collective a protocol may hear of nothing else. So whoever comes to a collective call
 * meets the other members of each window first, by messages, and serves until all have come: then
 * none of them waits for it.
 *
 * That costs events and messages, so it is done only where the program calls MPI_Win_lock or
 * MPI_Win_lock_all anywhere, for windows without the hint "no_locks". */
#ifndef RECLINE_WINDOW_PASSIVE_H
#define RECLINE_WINDOW_PASSIVE_H

#include "sim/mpi/windows/window.h"

enum { WINDOW_ALL = -1 }; /* every target */

void window_passive_begin(struct rank *, struct window *); /* it is made */
void window_passive_end(struct rank *, struct window *);   /* and freed */

/* At the target. Serves until `done` says so; the caller then waits for that. Until nothing is to
 * be served. `what` points into the arena or the stack. */
void window_serve_until(struct rank *, bool (*done)(const struct rank *, const void *),
                        const void *what);
void window_serve(struct rank *);

/* The same until the request is complete; then p2p_finish(). */
void window_serve_until_done(struct rank *, const struct request *);
int window_finish(struct rank *, struct request *, MPI_Status *);

/* Before a collective call. */
void window_meet(struct rank *, const struct comm *);

/* At the origin, as MPI has them: MPI errors. WINDOW_ALL for _all; `assertions` are MPI's. */
int window_lock(struct rank *, struct window *, int kind, int target, int assertions);
int window_flush(struct rank *, struct window *, int target);
int window_unlock(struct rank *, struct window *, int target);

/* Returns whether it has locked that target; MPI_PROC_NULL always is. */
bool window_has_epoch(const struct window *, int target);

/* Sends what there is for that target: a request that is complete when it has been answered. */
struct request *window_send(struct rank *, struct window *, int target);

#endif
