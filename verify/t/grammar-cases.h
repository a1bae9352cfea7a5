/* Names steps that the grammar of a step refuses. grammar-test.c asks the table about them, and
 * grammar-plugin.c takes them in checks and in runs. */
#ifndef RECLINE_GRAMMAR_CASES_H
#define RECLINE_GRAMMAR_CASES_H

#include "protocols/protocol.h"

/* Numbers the protocols of grammar-plugin.c. */
enum grammar_protocol { ABOVE, BELOW, ALONE, CLOCKED, RANDOM, GRAMMAR_PROTOCOLS };

struct grammar_case {
  const char *name;
  enum grammar_protocol protocol;
  enum rcl_event_kind event;
  /* true if `list` replaces the answer of the protocol, false if it follows the answer */
  bool instead;
  const char *expected; /* the text of the violation, from the action on */
  uint32_t count;
  struct rcl_action list[3];
};

#define ONE(...)                                                                                   \
  1,                                                                                               \
  {                                                                                                \
    {                                                                                              \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }
#define TWICE(...)                                                                                 \
  2,                                                                                               \
  {                                                                                                \
    {__VA_ARGS__},                                                                                 \
    {                                                                                              \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }
#define A(name) .kind = RCL_ACTION_##name

/* clang-format off */
static const struct grammar_case grammar_cases[] = {
    {"two commits", ABOVE, RCL_EVENT_TIMER, true, "commit at timer: expected once in a step",
     TWICE(A(COMMIT), .checkpoint = 1)},
    {"two images", ABOVE, RCL_EVENT_CAPTURED, false, "store at captured: expected once in a step",
     ONE(A(STORE), .part = RCL_PART_IMAGE, .checkpoint = 1)},
    {"two logs", ABOVE, RCL_EVENT_CAPTURED, false, "store at captured: expected once in a step",
     TWICE(A(STORE), .part = RCL_PART_LOG, .checkpoint = 1)},
    {"a part that there is not", ABOVE, RCL_EVENT_CAPTURED, false,
     "store at captured: expected part image or log", ONE(A(STORE), .part = 2, .checkpoint = 1)},
    {"a log of no checkpoint", ABOVE, RCL_EVENT_START, false,
     "store at start: expected a number from 1 on as checkpoint", ONE(A(STORE), .part = RCL_PART_LOG)},
    {"two answers to a send", ABOVE, RCL_EVENT_SEND, false,
     "suppress at send: expected one of transmit or suppress", ONE(A(SUPPRESS))},
    {"the same one twice", ABOVE, RCL_EVENT_SEND, false, "transmit at send: expected once in a step",
     ONE(A(TRANSMIT))},
    {"no answer to a send", ABOVE, RCL_EVENT_SEND, true, "send: expected transmit or suppress", 0, {{0}}},
    {"no answer to a message", BELOW, RCL_EVENT_ARRIVED, true,
     "arrived: expected deliver, discard or keep", 0, {{0}}},
    {"no answer to a collective", ABOVE, RCL_EVENT_COLLECTIVE, true,
     "collective: expected suppress, deliver or join", 0, {{0}}},
    {"nothing for what came together", ABOVE, RCL_EVENT_COLLECTED, true,
     "collected: expected deliver or capture", 0, {{0}}},
    {"two answers to a receive", ABOVE, RCL_EVENT_RECEIVE, false,
     "deliver at receive: expected one of match or deliver",
     ONE(A(DELIVER), .slot = 1, .request = 1)},
    {"a match for another receive", ABOVE, RCL_EVENT_RECEIVE, true,
     "match at receive: expected the receive of the event", ONE(A(MATCH), .request = 7)},
    {"a match for no rank", ABOVE, RCL_EVENT_RECEIVE, true,
     "match at receive: expected as peer any, nobody, the rank itself, a neighbour or a rank that is "
     "no neighbour", ONE(A(MATCH), .request = 1, .peer = 2)},
    {"an answer to a send elsewhere", ABOVE, RCL_EVENT_START, false,
     "transmit at start: expected at send", ONE(A(TRANSMIT))},
    {"a message without a slot", ABOVE, RCL_EVENT_SEND, false,
     "deliver at send: expected at arrived, collected or captured", ONE(A(DELIVER))},
    {"the same below the matching", BELOW, RCL_EVENT_START, false,
     "deliver at start: expected at arrived, collected or captured", ONE(A(DELIVER))},
    {"a message from a slot at a control message", ABOVE, RCL_EVENT_CONTROL, false,
     "deliver at control: expected at receive or collective", ONE(A(DELIVER), .slot = 1, .request = 1)},
    {"a message for a receive below the matching", BELOW, RCL_EVENT_ARRIVED, true,
     "deliver at arrived: expected the receive of the event", ONE(A(DELIVER), .request = 1)},
    {"kept and dropped", ABOVE, RCL_EVENT_ARRIVED, true,
     "discard at arrived: expected no keep in the same step",
     2, {{A(KEEP), .slot = 1}, {A(DISCARD)}}},
    {"kept behind the answer", ABOVE, RCL_EVENT_SEND, false,
     "keep at send: expected before the answer", ONE(A(KEEP), .slot = 1)},
    {"kept in no slot", ABOVE, RCL_EVENT_ARRIVED, true,
     "keep at arrived: expected a number from 1 on as slot", ONE(A(KEEP))},
    {"kept at a receive", ABOVE, RCL_EVENT_RECEIVE, true,
     "keep at receive: expected at send, arrived or collected", ONE(A(KEEP), .slot = 1)},
    {"no slot emptied", ABOVE, RCL_EVENT_SEND, false,
     "forget at send: expected a number from 1 on as slot", ONE(A(FORGET))},
    {"two captures", ABOVE, RCL_EVENT_SAFE_POINT, true,
     "capture at safe-point: expected once in a step", TWICE(A(CAPTURE), .checkpoint = 1)},
    {"a capture of no checkpoint", ABOVE, RCL_EVENT_SAFE_POINT, true,
     "capture at safe-point: expected a number from 1 on as checkpoint", ONE(A(CAPTURE))},
    {"a capture between data", ABOVE, RCL_EVENT_COLLECTED, true,
     "capture at collected: expected at collected of a barrier", ONE(A(CAPTURE), .checkpoint = 1)},
    {"a forced outcome of a send", ABOVE, RCL_EVENT_SEND, false,
     "force at send: expected at choice", ONE(A(FORCE), .outcome = 1)},
    {"two forced outcomes", ABOVE, RCL_EVENT_CHOICE, false,
     "force at choice: expected once in a step", TWICE(A(FORCE))},
    {"part in a collective elsewhere", ABOVE, RCL_EVENT_SEND, false,
     "join at send: expected at collective", ONE(A(JOIN))},
    {"part in a call that has no number", ABOVE, RCL_EVENT_START, false,
     "rejoin at start: expected a number from 1 on as tag", ONE(A(REJOIN))},
    {"part in a call of a protocol that sees none", BELOW, RCL_EVENT_START, false,
     "rejoin at start: expected of a protocol with collectives", ONE(A(REJOIN), .call = 1)},
    {"two timers", ABOVE, RCL_EVENT_START, false, "set-timer at start: expected once in a step",
     TWICE(A(SET_TIMER))},
    {"a timer with a checkpoint", ABOVE, RCL_EVENT_START, true,
     "set-timer at start: expected no checkpoint", ONE(A(SET_TIMER), .checkpoint = 1)},
    {"an alarm without one", CLOCKED, RCL_EVENT_START, true,
     "set-timer at start: expected a number from 1 on as checkpoint", ONE(A(SET_TIMER))},
    {"held twice", ABOVE, RCL_EVENT_SEND, false, "hold at send: expected once in a step",
     TWICE(A(HOLD))},
    {"drained below the matching", BELOW, RCL_EVENT_START, false,
     "drain at start: expected of a protocol above the matching", ONE(A(DRAIN), .peer = RCL_ANY)},
    {"drained from no rank", ABOVE, RCL_EVENT_START, false,
     "drain at start: expected as peer any, the rank itself or a neighbour", ONE(A(DRAIN), .peer = 2)},
    {"a control message to itself", ABOVE, RCL_EVENT_START, false,
     "control at start: expected as peer a neighbour or a rank that is no neighbour",
     TWICE(A(CONTROL))},
    {"a control message that has no name", ABOVE, RCL_EVENT_START, false,
     "control at start: expected a control message of the protocol's list",
     2, {{A(HOLD)}, {A(CONTROL), .peer = 1, .control = 9}}},
    {"a message sent again to no rank", ABOVE, RCL_EVENT_START, false,
     "resend at start: expected as peer the rank itself or a neighbour",
     ONE(A(RESEND), .slot = 1, .peer = 2)},
    {"a commit of no checkpoint", ABOVE, RCL_EVENT_TIMER, true,
     "commit at timer: expected a number from 1 on as checkpoint", ONE(A(COMMIT))},
    {"a commit by another rank", ABOVE, RCL_EVENT_CONTROL, false,
     "commit at control: expected at the coordinator", ONE(A(COMMIT), .checkpoint = 1)},
    {"a commit of independent ranks", ALONE, RCL_EVENT_START, false,
     "commit at start: expected where recovery is global", ONE(A(COMMIT), .checkpoint = 1)},
    {"back without a crash", ABOVE, RCL_EVENT_SEND, false, "roll-back at send: expected at down",
     ONE(A(ROLL_BACK))},
    {"something behind going back", ALONE, RCL_EVENT_SEND, false,
     "hold at send: expected roll-back last", 2, {{A(ROLL_BACK)}, {A(HOLD)}}},
    {"captured and going back", ALONE, RCL_EVENT_SAFE_POINT, false,
     "roll-back at safe-point: expected no capture in the same step",
     2, {{A(CAPTURE), .checkpoint = 1}, {A(ROLL_BACK)}}},
    {"an output without a number", ABOVE, RCL_EVENT_OUTPUT, false,
     "output at output: expected a number from 1 on as request", ONE(A(OUTPUT))},
    {"an output with a commit of independent ranks", ALONE, RCL_EVENT_OUTPUT, false,
     "output at output: expected where recovery is global", ONE(A(OUTPUT), .output = 1, .checkpoint = 1)},
    {"connections that never close", ABOVE, RCL_EVENT_START, false,
     "open at start: expected of a protocol that reconnects", ONE(A(OPEN))},
    {"no reason to give up", ABOVE, RCL_EVENT_SEND, false,
     "give-up at send: expected a number from 1 on as reason", ONE(A(GIVE_UP))},
    {"a reason that there is not", ABOVE, RCL_EVENT_SEND, false,
     "give-up at send: expected a reason of enum rcl_reason", ONE(A(GIVE_UP), .reason = RCL_REASONS)},
    {"a list that is not full", ABOVE, RCL_EVENT_SEND, false,
     "give-up at send: expected a list of enum rcl_full, if one is full",
     ONE(A(GIVE_UP), .reason = RCL_REASON_PROTOCOL, .list = RCL_FULL_LOG)},
    {"a field that the kind does not name", ABOVE, RCL_EVENT_SEND, false,
     "hold at send: expected no peer", ONE(A(HOLD), .peer = 1)},
    {"words of an answer that has none", ABOVE, RCL_EVENT_SEND, true,
     "suppress at send: expected no words", ONE(A(SUPPRESS), .words = {0, 0, 1})},
    {"a bare image where all go back", ABOVE, RCL_EVENT_CAPTURED, false,
     "store at captured: expected where recovery is independent",
     ONE(A(STORE), .checkpoint = 1, .bare = 1)},
    {"a bare log", ALONE, RCL_EVENT_START, false, "store at start: expected no bare",
     ONE(A(STORE), .part = RCL_PART_LOG, .bare = 1)},
    {"an image barer than bare", ALONE, RCL_EVENT_START, false,
     "store at start: expected bare 0 or 1", ONE(A(STORE), .checkpoint = 1, .bare = 2)},
    {"padding", ABOVE, RCL_EVENT_SEND, false, "release at send: expected no padding",
     ONE(A(RELEASE), .pad2 = 1)},
    {"no action", ABOVE, RCL_EVENT_SEND, false,
     "none at send: expected an action of enum rcl_action_kind", ONE(A(NONE))},
    {"an action that there is not", ABOVE, RCL_EVENT_SEND, false,
     "unknown at send: expected an action of enum rcl_action_kind", ONE(.kind = RCL_ACTION_KINDS)},
};
/* clang-format on */

enum { GRAMMAR_CASES = sizeof grammar_cases / sizeof *grammar_cases };

#endif
