/* Leaves out crashes and recoveries if another crash or recovery stands for them. This is for
 * protocols with global recovery.
 *
 * A rank that rolls back loses its state, and all ranks roll back. A crash leaves only durable and
 * committed checkpoints, timers that will still go off, and ranks that had not started. Hence:
 *
 *     crash    among all states that a crash reduces to the same remains, crashes are taken in one
 *              state only, on the first level that has such a state
 *     dead     only the detection, or another crash, is taken, because moves of other ranks before
 *              the detection can be taken before the crash instead
 *     behind   the first rank that has yet to be told rolls back, because its earlier moves are
 *              lost or can be taken before the crash
 *     back     the first rank that has to start starts
 *
 * docs/explorer.md has the argument. Most of it follows from the rules of the world (fenced
 * storage, incarnations). Two assumptions are about the protocol and are tested during the search.
 * First, DOWN has the same effect on a rank, whatever the rank's state was, and no effect on other
 * ranks. Second, START after a crash changes nothing that a crash leaves.
 *
 *     crash.c           which moves are sufficient
 *     crash_remains.c   what a crash leaves, and in which state it is taken
 *     crash_trial.c     the test of the assumptions
 */
#ifndef RECLINE_CRASH_H
#define RECLINE_CRASH_H

#include "verify/state/model.h"

/* The two structures hold the state of the reduction: crash_reduction what all workers share,
 * crash_worker what each worker has for itself. */
struct crash_reduction;
struct crash_worker;

/* Returns NULL and sets *refused if the reduction does not apply to the explorer's world and
 * properties. `crashes` may still happen in the world. */
struct crash_reduction *crash_new(struct model *, unsigned crashes, const char **refused);
void crash_free(struct crash_reduction *);

/* Returns why the search so far is invalid, or NULL if it is valid. The caller holds the model's
 * lock `rules`, or no worker runs. */
const char *crash_failed(const struct crash_reduction *);

/* Returns the part of GLOBAL that a crash leaves: no commit or recovery is under way, and no
 * checkpoint is requested. */
struct world_global crash_leaves_global(const struct world_global *);

/* Makes the state of a worker, for the states that `at` will hold while level `level` of the search
 * is expanded. */
struct crash_worker *crash_worker_new(struct crash_reduction *, const struct position *at,
                                      const unsigned *level);
void crash_worker_free(struct crash_worker *);

/* Names the class of a move for this reduction. */
enum crash_move {
  CRASH_MOVE_OTHER,
  CRASH_MOVE_CRASH,
  CRASH_MOVE_DETECT,
  CRASH_MOVE_DOWN,
  CRASH_MOVE_START
};
enum crash_move crash_move_of(const struct move *);

/* Returns whether the remains of a crash matter in such a state: the first crash may happen, or it
 * has happened and other ranks go on. */
bool crash_sees(const struct crash_worker *, const struct world_standing *);

/* Keeps, in place and in order, the enabled moves that must be taken, out of `count` moves. The
 * standings tell what each rank does. Returns the number of moves kept. */
uint32_t crash_worker_choose(struct crash_worker *, const struct world_standing *,
                             struct enabled_move *, uint32_t count);

/* Returns, after a level has been expanded, the states in which crashes must be taken. Each state
 * has `components` numbers, which are valid until crash_forget_chosen(). No worker may run. */
const uint32_t *crash_chosen(const struct crash_reduction *, uint32_t *count);
void crash_forget_chosen(struct crash_reduction *);

/* Tests the assumptions about the protocol in a state in which a crash may happen, whether or not
 * the crash is taken. With --audit, also takes each crash among the `count` moves. */
void crash_worker_learn(struct crash_worker *, struct enabled_move *, uint32_t count);

#endif
