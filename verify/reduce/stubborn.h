/* Finds stubborn sets: which of a state's enabled moves are sufficient.
 *
 * A stubborn set is a set of actions. Actions outside of it, however many are taken, neither enable
 * a disabled member nor disable or change an enabled member. So any run from the state can be
 * reordered, by the rules of dependence.h, to begin with an enabled member, and moves outside of
 * the set need not be taken in this state. All states at rest remain reachable, and a run to each
 * violation remains. No action is postponed for ever, because no rank returns to a node of its
 * abstraction.
 *
 *     an enabled member     adds the actions that do not commute with it
 *     a disabled member     adds the actions that can enable it. If it takes in a message, these
 *                           are the actions that take in the messages ahead in the channel, or the
 *                           actions that can send the message
 */
#ifndef RECLINE_STUBBORN_H
#define RECLINE_STUBBORN_H

#include <stdbool.h>
#include <stdint.h>

struct abstraction;
struct model;
struct position;
struct stubborn;

/* Returns NULL and sets *refused if stubborn sets do not apply to the explorer's world and
 * properties. */
struct stubborn *stubborn_new(struct model *, const struct abstraction *, const char **refused);
void stubborn_free(struct stubborn *);

/* Returns the number, among the rank's actions, of move number `move` in the loaded state, or
 * UINT32_MAX if the abstraction has no such action because it comes after a crash. */
uint32_t stubborn_action(const struct stubborn *, struct model *, uint32_t move);

/* Holds a worker's tables by values of ranks. */
struct stubborn_worker;
struct stubborn_worker *stubborn_worker_new(const struct stubborn *, const struct position *at);
void stubborn_worker_free(struct stubborn_worker *);

/* Reduces `moves`, which has a set of actions of the worker's state for each rank, to a stubborn
 * set. Returns true if no crash can see the set (visible.h), so that no crash need be taken.
 * Returns false if the set is stubborn only together with crashes. */
bool stubborn_worker_choose(struct stubborn_worker *, uint64_t *moves);

#endif
