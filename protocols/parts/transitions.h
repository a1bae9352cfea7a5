/* Makes the step function of a protocol from its transitions, which are functions in a constant
 * table, one for each event.
 *
 * A protocol defines `struct state` (and `struct variant`, if it has several forms), then
 *
 *     static const rcl_transition on[RCL_EVENT_KINDS] = {[RCL_EVENT_SEND] = send, ...};
 *     static void step(const struct rank *r)           takes a transition, and ends the step
 *     static int first_broken(const struct rank *r)    the number of a broken invariant, or 0
 *     RCL_ONLY_FORM, or RCL_FORM(ID) for each `static const struct variant ID`
 *
 * The last line makes ID_step and ID_broken (only_step, only_broken) for struct rcl_protocol; a
 * protocol without invariants writes RCL_STEP. An event without an entry in the table changes
 * nothing.
 */
#ifndef RECLINE_TRANSITIONS_H
#define RECLINE_TRANSITIONS_H

#include "protocols/parts/act.h"
#include "protocols/parts/lists.h"

struct state;
struct variant;

/* Describes one rank in one step. For invariants, event and actions are NULL. */
struct rank {
  const struct rcl_config *config;
  const struct variant *variant; /* the form of the protocol, or NULL if it has only one */
  struct state *state;
  const struct rcl_event *event;
  struct rcl_actions *actions;
};

typedef void (*rcl_transition)(const struct rank *);

static inline void rcl_take(const rcl_transition on[RCL_EVENT_KINDS], const struct rank *r)
{
  if (on[r->event->kind])
    on[r->event->kind](r);
}

/* Is the transition of RECEIVE: the receive matches as the program has asked. */
RCL_MAYBE static void rcl_match_receive(const struct rank *r)
{
  rcl_match(r->actions, r->event);
}

/* Is the transition of DOWN with global recovery: the rank goes back to the checkpoint in the
 * event. */
RCL_MAYBE static void rcl_roll_back(const struct rank *r)
{
  rcl_act(r->actions, RCL_ACTION_ROLL_BACK)->checkpoint = r->event->checkpoint;
}

#define RCL_STEP(ID, VARIANT)                                                                      \
  static void ID##_step(const struct rcl_config *config, void *state,                              \
                        const struct rcl_event *event, struct rcl_actions *actions)                \
  {                                                                                                \
    step(&(struct rank){config, VARIANT, state, event, actions});                                  \
  }
#define RCL_FORM_OF(ID, VARIANT)                                                                   \
  RCL_STEP(ID, VARIANT)                                                                            \
  static int ID##_broken(const struct rcl_config *config, const void *state)                       \
  {                                                                                                \
    return first_broken(&(struct rank){config, VARIANT, rcl_at(state, 0), NULL, NULL});            \
  }
#define RCL_FORM(ID) RCL_FORM_OF(ID, &ID)
#define RCL_ONLY_FORM RCL_FORM_OF(only, NULL)

#endif
