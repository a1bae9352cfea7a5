/* The grammar of a step: which lists of actions may answer which event.
 *
 * It is one table (grammar.c), which says what protocol.h says in words: at which events an action
 * may stand, for protocols of which kind, how often, in which order, which fields it names and
 * which peers. All hosts read it, so that all refuse the same lists: the world as property `legal`,
 * runs as a breach. The host for real MPI lacks some actions besides, and names them in words of
 * the same form (docs/mpi-host.md).
 *
 * Rules that depend on more than the event and the list are no grammar: whether a slot is empty, an
 * image exists, a commit is under way. The world judges them (world/rules/world_actions.c). */
#ifndef RECLINE_GRAMMAR_H
#define RECLINE_GRAMMAR_H

#include "protocols/text.h"

enum { GRAMMAR_EXPECTED = 160 }; /* bytes of what was expected, with its end */

struct grammar_refusal {
  const struct rcl_action *action; /* the action that is refused; NULL: the list lacks one */
  char expected[GRAMMAR_EXPECTED]; /* "expected once in a step" */
};

/* Returns whether the protocol, at the rank of `config`, may not answer `event` by `actions`, as
 * rcl_protocol_step() leaves them. `refusal` then has the first action that is wrong and what was
 * expected instead. */
bool grammar_refuses(const struct rcl_protocol *, const struct rcl_config *,
                     const struct rcl_event *, const struct rcl_actions *,
                     struct grammar_refusal *refusal);

/* Prints into `text` (TEXT_MAX bytes) and returns it: "commit at durable: expected once in a step".
 */
char *grammar_print(const struct rcl_event *, const struct grammar_refusal *, char *text);

/* Returns the first field of the event that its kind does not name and that is not zero, or NULL.
 * What a protocol sees of it in a run, no check has tried. */
const char *grammar_unnamed_field(const struct rcl_event *);

/* Returns whether a step at TIMER puts the checkpoint off: it only sets the timer again, and the
 * protocol's state is unchanged (`unmoved`). Any other TIMER requests a checkpoint. */
bool grammar_puts_off(const struct rcl_actions *, bool unmoved);

#endif
