/* The world: which actions answer which events. */
#include "verify/world/world_step.h"

/* A payload from a slot, or the one that has just arrived. */
static bool may_deliver(const struct step_context *t, bool slot)
{
  enum rcl_event_kind event = t->event.kind;
  if (event == RCL_EVENT_ARRIVED)
    return true;
  if (read_program(t->w, t->rank)->call.state != CALL_NONE)
    return slot || event != RCL_EVENT_COLLECTIVE;
  return slot && (event == RCL_EVENT_RECEIVE || below_matching(t->w));
}

bool world_is_answer(const struct step_context *t, const struct rcl_action *action)
{
  switch (action->kind) {
  case RCL_ACTION_TRANSMIT:
    return t->event.kind == RCL_EVENT_SEND && !t->answered;
  case RCL_ACTION_SUPPRESS:
    return (t->event.kind == RCL_EVENT_SEND || t->event.kind == RCL_EVENT_COLLECTIVE) &&
           !t->answered;
  case RCL_ACTION_JOIN:
    return t->event.kind == RCL_EVENT_COLLECTIVE && !t->answered;
  case RCL_ACTION_MATCH:
    return t->event.kind == RCL_EVENT_RECEIVE && !t->answered;
  case RCL_ACTION_KEEP:
    return t->event.kind == RCL_EVENT_ARRIVED || t->event.kind == RCL_EVENT_COLLECTED ||
           t->event.kind == RCL_EVENT_SEND;
  case RCL_ACTION_DISCARD:
    return t->event.kind == RCL_EVENT_ARRIVED;
  case RCL_ACTION_FORCE:
    return t->event.kind == RCL_EVENT_CHOICE;
  case RCL_ACTION_DELIVER:
    return may_deliver(t, action->slot != RCL_NO_SLOT);
  default:
    return true;
  }
}

const char *world_rule_of_answer(enum rcl_action_kind kind)
{
  switch (kind) {
  case RCL_ACTION_TRANSMIT:
    return "expected at send, once";
  case RCL_ACTION_SUPPRESS:
    return "expected at send or collective, once";
  case RCL_ACTION_JOIN:
    return "expected at collective, once";
  case RCL_ACTION_MATCH:
    return "expected at receive, once";
  case RCL_ACTION_KEEP:
    return "expected at arrived, collected or send";
  case RCL_ACTION_DISCARD:
    return "expected at arrived";
  case RCL_ACTION_FORCE:
    return "expected at choice";
  default:
    return "expected at arrived or collected; with a slot at receive or collective, and below the "
           "matching at any event";
  }
}

const char *world_answers_to(enum rcl_event_kind kind)
{
  switch (kind) {
  case RCL_EVENT_SEND:
    return "transmit or suppress";
  case RCL_EVENT_RECEIVE:
    return "match, or deliver with a slot";
  case RCL_EVENT_ARRIVED:
    return "deliver or discard, or keep where no receive asked for it";
  case RCL_EVENT_COLLECTIVE:
    return "join, suppress, or deliver with a slot";
  default:
    return "deliver, or capture in a barrier";
  }
}

bool world_needs_answer(enum rcl_event_kind kind)
{
  return kind == RCL_EVENT_SEND || kind == RCL_EVENT_RECEIVE || kind == RCL_EVENT_ARRIVED ||
         kind == RCL_EVENT_COLLECTIVE || kind == RCL_EVENT_COLLECTED;
}

bool world_ends_answer(const struct step_context *t, enum rcl_action_kind action)
{
  return action == RCL_ACTION_TRANSMIT || action == RCL_ACTION_SUPPRESS ||
         action == RCL_ACTION_MATCH || action == RCL_ACTION_DELIVER ||
         action == RCL_ACTION_DISCARD || action == RCL_ACTION_JOIN ||
         (action == RCL_ACTION_KEEP && t->event.kind == RCL_EVENT_ARRIVED) ||
         (action == RCL_ACTION_CAPTURE && t->event.kind == RCL_EVENT_COLLECTED) ||
         action == RCL_ACTION_GIVE_UP;
}
