/* Crashes and what comes after them, in fewer states: for protocols whose ranks all go back.
 *
 * A rank that goes back forgets all, and so does everybody else. What a crash leaves is little:
 * checkpoints that are durable and committed, timers that are still to go off, ranks that had not
 * started. Hence, when at most one more crash may happen:
 *
 *     crash    of all states that leave the same, one is enough for the crashes to happen in
 *     dead     nothing but that the crash is noticed: what the others could do before that, they
 *              can do before the crash
 *     behind   the first rank that has yet to notice it goes back. What it could do before that is
 *              lost, or can be done before the crash
 *     back     the first rank that is to start does
 *
 * docs/explorer.md says why that is enough. Most of it follows from the rules of the world: the
 * fence of storage, incarnations, what is wiped. What hangs on the protocol is tried out: that DOWN
 * does the same to a rank, whatever it was before, and nothing to others.
 *
 *     crash.c         which moves are enough
 *     crash_trial.c   what is tried out
 */
#ifndef RECLINE_CRASH_H
#define RECLINE_CRASH_H

#include "verify/state/model.h"

/* What all workers share, and what each has for itself. */
struct crash_reduction;
struct crash_worker;

/* NULL and *refused where it does not apply to the explorer's world and properties; the world has
 * `crashes` to come. */
struct crash_reduction *crash_new(struct model *, unsigned crashes, const char **refused);
void crash_free(struct crash_reduction *);

/* Why what was searched so far is worth nothing; NULL: it is. Under `rules`, or while nobody works.
 */
const char *crash_failed(const struct crash_reduction *);

/* For the states that `at` comes to hold. */
struct crash_worker *crash_worker_new(struct crash_reduction *, const struct position *at);
void crash_worker_free(struct crash_worker *);

/* What a move is to this reduction. */
enum crash_move {
  CRASH_MOVE_OTHER,
  CRASH_MOVE_CRASH,
  CRASH_MOVE_DETECT,
  CRASH_MOVE_DOWN,
  CRASH_MOVE_START
};
enum crash_move crash_move_of(const struct move *);

/* Keeps, in place and in order, those of the `count` enabled moves of the state that have to be
 * taken, given what each rank is doing. Returns how many. */
uint32_t crash_worker_choose(struct crash_worker *, const struct world_standing *,
                             struct enabled_move *, uint32_t count);

#endif
