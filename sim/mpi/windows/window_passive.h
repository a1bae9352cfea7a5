/* Serves windows whose target takes no part: locks, flushes, and accesses with a request.
 *
 * An origin sends its accesses to a target in one message, which also requests or releases a lock,
 * and waits for the reply. The target *serves*: when the target waits in a call of MPI, or polls in
 * vain, it takes these messages in, carries out their accesses as soon as the lock is free, and
 * replies. The choice of the next message, or that there is none, is a decision of which the
 * protocol hears, like a decision of MPI_Waitany. The message is then received from its source. So
 * to every protocol the target is a program that polls: a rank that repeats its events serves the
 * same messages between the same two events.
 *
 * Within a collective, no other event may be raised. So a rank that comes to a collective call
 * first meets the other members of each window, by messages, and serves until all members have
 * come. Afterwards no member waits for this rank's service.
 *
 * Ranks give receipts of synchronous sends (receipt.h) at the same places, by decisions of the same
 * kind.
 *
 * Serving costs events and messages, so it is done only if the program calls MPI_Win_lock or
 * MPI_Win_lock_all anywhere, for windows without the hint "no_locks". */
#ifndef RECLINE_WINDOW_PASSIVE_H
#define RECLINE_WINDOW_PASSIVE_H

#include "sim/mpi/windows/window.h"

enum { WINDOW_ALL = -1 }; /* stands for every target */

/* must be called when the window is made */
void window_passive_begin(struct rank *, struct window *);
/* must be called when the window is freed */
void window_passive_end(struct rank *, struct window *);

/* The target calls these functions. window_serve_until() serves until `done` returns true or no
 * message is chosen; afterwards the caller waits for `done`. window_serve() serves until no message
 * is left. `what` points into the arena or the stack. */
void window_serve_until(struct rank *, bool (*done)(const struct rank *, const void *),
                        const void *what);
void window_serve(struct rank *);

/* Serves until no message is left if receipts of synchronous sends are given (receipt.h). It is for
 * the end of a call that may have taken messages without waiting. */
void window_serve_receipts(struct rank *);

/* window_serve_until_done() serves until the request is complete; window_finish() does the same,
 * and then p2p_finish(). */
void window_serve_until_done(struct rank *, const struct request *);
int window_finish(struct rank *, struct request *, MPI_Status *);

/* Meets the other members of each window. It must be called before a collective call. */
void window_meet(struct rank *, const struct comm *);

/* The origin calls these functions, which are like MPI's calls and return MPI errors. WINDOW_ALL
 * stands for MPI's calls with _all. `assertions` are those of MPI's call. */
int window_lock(struct rank *, struct window *, int kind, int target, int assertions);
int window_flush(struct rank *, struct window *, int target);
int window_unlock(struct rank *, struct window *, int target);

/* Returns whether the rank has locked that target; MPI_PROC_NULL always counts as locked. */
bool window_has_epoch(const struct window *, int target);

/* Sends the accesses to that target. Returns a request that is complete when the answer has come.
 */
struct request *window_send(struct rank *, struct window *, int target);

#endif
