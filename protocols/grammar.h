/* Has the grammar of a step: which lists of actions may answer an event.
 *
 * One table (grammar.c) has the rules that protocol.h explains: at which events an action may
 * stand, for which protocols, how often, in which order, with which fields and which peers. All
 * hosts read the table, so all refuse the same lists: the world as a violation of property `legal`,
 * runs as a breach. The host for real MPI also refuses some actions, in the same form of words
 * (docs/mpi-host.md).
 *
 * Rules that depend on more than the event and the list are not part of the grammar: whether a slot
 * is empty, an image exists, a commit is under way. The world judges them
 * (world/rules/world_actions.c). */
#ifndef RECLINE_GRAMMAR_H
#define RECLINE_GRAMMAR_H

#include "protocols/text.h"

/* size of the text of what was expected, in bytes, with the null at its end */
enum { GRAMMAR_EXPECTED = 160 };

struct grammar_refusal {
  const struct rcl_action *action; /* the action that is refused, or NULL if the list lacks one */
  char expected[GRAMMAR_EXPECTED]; /* "expected once in a step" */
};

/* Returns whether the grammar refuses `actions` as the answer of the protocol to `event`, at the
 * rank of `config`. rcl_protocol_step() has filled in the actions. If they are refused, sets
 * `refusal` to the first wrong action and to what was expected instead. */
bool grammar_refuses(const struct rcl_protocol *, const struct rcl_config *,
                     const struct rcl_event *, const struct rcl_actions *,
                     struct grammar_refusal *refusal);

/* Prints "commit at durable: expected once in a step" into `text` (TEXT_MAX bytes) and returns
 * it. */
char *grammar_print(const struct rcl_event *, const struct grammar_refusal *, char *text);

/* Returns the first field of the event that is not zero although events of that kind do not have
 * it, or NULL if there is none. No check has tried what a protocol does with such a field. */
const char *grammar_unnamed_field(const struct rcl_event *);

/* Returns whether a step at TIMER puts the checkpoint off: it only sets the timer again and leaves
 * the protocol's state as it was (`unmoved`). Any other step at TIMER requests a checkpoint. */
bool grammar_puts_off(const struct rcl_actions *, bool unmoved);

#endif
