#include "protocols/grammar.h"

#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

/* Names the fields of an action, as bits; fields of one union share a bit. A set of fields has the
 * bits of the fields that are not zero. */
enum field {
  PART = 1 << 0,
  REASON = 1 << 1,
  PEER = 1 << 2, /* also `root` */
  COMM = 1 << 3,
  TAG = 1 << 4,     /* also `call` */
  REQUEST = 1 << 5, /* also `output` */
  SLOT = 1 << 6,
  CHECKPOINT = 1 << 7,
  OUTCOME = 1 << 8, /* also `list` and `surplus` */
  WORDS = 1 << 9,   /* also `control`, `about` and `value` */
  AFTER = 1 << 10,
  BARE = 1 << 11,
  PADS = 1 << 12,
  ACTION_FIELDS = 13
};

static const char *const field_names[] = {"part",    "reason", "peer",       "comm",    "tag",
                                          "request", "slot",   "checkpoint", "outcome", "words",
                                          "after",   "bare",   "padding"};

/* Names the kinds of ranks that `peer` may name. */
enum peer { ANY = 1 << 0, NOBODY = 1 << 1, SELF = 1 << 2, NEIGHBOUR = 1 << 3, STRANGER = 1 << 4 };

enum {
  OTHERS = NEIGHBOUR | STRANGER,
  RANKS = SELF | OTHERS,
  REACHED = SELF | NEIGHBOUR /* ranks to which messages of the program may go */
};

static const char *const peer_names[] = {"any", "nobody", "the rank itself", "a neighbour",
                                         "a rank that is no neighbour"};

/* Names traits of a protocol or of a rank. */
enum trait {
  GLOBAL = 1 << 0,
  INDEPENDENT = 1 << 1,
  COLLECTIVES = 1 << 2,
  RECONNECTS = 1 << 3,
  APPLICATION = 1 << 4,
  COORDINATOR = 1 << 5,
  CLOCKS = 1 << 6
};

static const char *const trait_names[] = {
    "where recovery is global",         "where recovery is independent",
    "of a protocol with collectives",   "of a protocol that reconnects",
    "of a protocol above the matching", "at the coordinator"};

/* Turns an event into a bit of a set. */
#define AT(kind) (1u << RCL_EVENT_##kind)

enum { ALWAYS = (1 << RCL_EVENT_KINDS) - 2 };

/* Names the forms of actions: the kinds, and further forms of some kinds. */
enum form {
  DELIVER_SLOT = RCL_ACTION_KINDS, /* DELIVER from a slot, above the matching */
  PASS_SLOT,                       /* DELIVER from a slot, below the matching */
  STORE_BARE,                      /* STORE of an image without slots */
  /* STORE of a log; RCL_ACTION_STORE stands for STORE of an image */
  STORE_LOG,
  STORE_OWN_LOG,   /* where recovery is independent */
  SET_ALARM,       /* with clocks */
  ROLL_BACK_ALONE, /* where recovery is independent */
  OUTPUT_COVERED,  /* with the commit of a checkpoint */
  FORMS
};

enum often { REPEATED, ONCE };

struct rule {
  uint32_t at;      /* events at which the action may stand */
  uint32_t answers; /* events that the action answers; a step has one answer */
  enum often often; /* how often the action may stand in one step */
  uint32_t of;      /* enum trait: what the protocol or rank must have */
  /* enum field: `needs` has fields that must be set (not zero), `also` fields that may be set; all
   * other fields must be zero. */
  uint32_t needs, also;
  uint32_t peers; /* enum peer: ranks that the action may name as peer, or 0 if it names none */
};

/* clang-format off */
static const struct rule rules[FORMS] = {
  [RCL_ACTION_TRANSMIT]  = {AT(SEND), AT(SEND), ONCE, 0, 0, WORDS, 0},
  [RCL_ACTION_SUPPRESS]  = {AT(SEND) | AT(COLLECTIVE), AT(SEND) | AT(COLLECTIVE), ONCE, 0, 0, 0, 0},
  [RCL_ACTION_MATCH]     = {AT(RECEIVE), AT(RECEIVE), ONCE, 0, REQUEST, PEER | TAG,
                            ANY | NOBODY | RANKS},
  [RCL_ACTION_DELIVER]   = {AT(ARRIVED) | AT(COLLECTED) | AT(CAPTURED),
                            AT(ARRIVED) | AT(COLLECTED) | AT(CAPTURED), ONCE, 0, 0, REQUEST, 0},
  [DELIVER_SLOT]         = {AT(RECEIVE) | AT(COLLECTIVE), AT(RECEIVE) | AT(COLLECTIVE), ONCE, 0,
                            SLOT, REQUEST | PEER | TAG, RANKS},
  [PASS_SLOT]            = {ALWAYS, AT(COLLECTIVE), REPEATED, 0, SLOT, PEER | TAG, RANKS},
  [RCL_ACTION_DISCARD]   = {AT(ARRIVED), AT(ARRIVED), ONCE, 0, 0, 0, 0},
  [RCL_ACTION_KEEP]      = {AT(ARRIVED) | AT(COLLECTED) | AT(SEND), 0, ONCE, 0, SLOT, 0, 0},
  [RCL_ACTION_FORGET]    = {ALWAYS, 0, REPEATED, 0, SLOT, 0, 0},
  [RCL_ACTION_RESEND]    = {ALWAYS, 0, REPEATED, 0, SLOT, PEER | WORDS, REACHED},
  [RCL_ACTION_JOIN]      = {AT(COLLECTIVE), AT(COLLECTIVE), ONCE, 0, 0, WORDS, 0},
  [RCL_ACTION_REJOIN]    = {ALWAYS, 0, REPEATED, COLLECTIVES, TAG, PEER | COMM, RANKS},
  [RCL_ACTION_FORCE]     = {AT(CHOICE), AT(CHOICE), ONCE, 0, 0, OUTCOME, 0},
  [RCL_ACTION_CONTROL]   = {ALWAYS, 0, REPEATED, 0, 0, PEER | WORDS, OTHERS},
  [RCL_ACTION_HOLD]      = {ALWAYS, 0, ONCE, 0, 0, 0, 0},
  [RCL_ACTION_RELEASE]   = {ALWAYS, 0, ONCE, 0, 0, 0, 0},
  [RCL_ACTION_DRAIN]     = {ALWAYS, 0, ONCE, APPLICATION, 0, PEER, ANY | REACHED},
  [RCL_ACTION_CAPTURE]   = {ALWAYS, AT(COLLECTED), ONCE, 0, CHECKPOINT, 0, 0},
  [RCL_ACTION_STORE]     = {ALWAYS, 0, ONCE, 0, CHECKPOINT, 0, 0},
  [STORE_BARE]           = {ALWAYS, 0, ONCE, INDEPENDENT, CHECKPOINT | BARE, 0, 0},
  [STORE_LOG]            = {ALWAYS, 0, ONCE, 0, PART | CHECKPOINT, 0, 0},
  [STORE_OWN_LOG]        = {ALWAYS, 0, ONCE, 0, PART, CHECKPOINT, 0},
  [RCL_ACTION_COMMIT]    = {ALWAYS, 0, ONCE, GLOBAL | COORDINATOR, CHECKPOINT, 0, 0},
  [RCL_ACTION_ERASE]     = {ALWAYS, 0, REPEATED, 0, 0, CHECKPOINT, 0},
  [RCL_ACTION_ROLL_BACK] = {AT(DOWN), 0, ONCE, 0, 0, CHECKPOINT, 0},
  [ROLL_BACK_ALONE]      = {ALWAYS, 0, ONCE, 0, 0, CHECKPOINT, 0},
  [RCL_ACTION_OUTPUT]    = {ALWAYS, 0, REPEATED, 0, REQUEST, 0, 0},
  [OUTPUT_COVERED]       = {ALWAYS, 0, REPEATED, GLOBAL, REQUEST | CHECKPOINT, 0, 0},
  [RCL_ACTION_OPEN]      = {ALWAYS, 0, ONCE, RECONNECTS, 0, 0, 0},
  [RCL_ACTION_SET_TIMER] = {ALWAYS, 0, ONCE, 0, 0, 0, 0},
  [SET_ALARM]            = {ALWAYS, 0, ONCE, 0, CHECKPOINT, AFTER, 0},
  [RCL_ACTION_STOPPED_LOGGING] = {ALWAYS, 0, ONCE, 0, 0, CHECKPOINT | OUTCOME, 0},
  [RCL_ACTION_GIVE_UP]   = {ALWAYS, 0, ONCE, 0, REASON, OUTCOME, 0},
};
/* clang-format on */

/* Names the fields that events have and actions lack. */
enum {
  WILDCARD = 1 << ACTION_FIELDS,
  FLOW = WILDCARD << 1,
  CLOSED = WILDCARD << 2,
  MAKES = WILDCARD << 3,
  BYTES = WILDCARD << 4,
  EVENT_FIELDS = ACTION_FIELDS + 5,
  CALL = FLOW | PEER | COMM | TAG | MAKES
};

static const char *const event_field_names[EVENT_FIELDS - ACTION_FIELDS] = {
    "wildcard", "flow", "closed", "makes", "bytes"};

/* clang-format off */
static const uint32_t named[RCL_EVENT_KINDS] = { /* by kind of event: the fields that it has */
  [RCL_EVENT_START]      = CHECKPOINT | CLOSED | REQUEST | OUTCOME,
  [RCL_EVENT_DOWN]       = PEER | CHECKPOINT | OUTCOME,
  [RCL_EVENT_TIMER]      = CHECKPOINT,
  [RCL_EVENT_SEND]       = PEER | COMM | TAG | BYTES,
  [RCL_EVENT_RECEIVE]    = PEER | COMM | TAG | REQUEST,
  [RCL_EVENT_CHOICE]     = REQUEST | OUTCOME,
  [RCL_EVENT_SAFE_POINT] = OUTCOME,
  [RCL_EVENT_MEMBER]     = COMM,
  [RCL_EVENT_COLLECTIVE] = CALL | BYTES,
  [RCL_EVENT_OUTPUT]     = REQUEST | BYTES,
  [RCL_EVENT_ARRIVED]    = PEER | COMM | TAG | REQUEST | BYTES | WORDS | WILDCARD,
  [RCL_EVENT_CONTROL]    = PEER | WORDS,
  [RCL_EVENT_COLLECTED]  = CALL | OUTCOME | WORDS,
  [RCL_EVENT_CAPTURED]   = CHECKPOINT | CLOSED | REQUEST,
  [RCL_EVENT_DURABLE]    = PART | CHECKPOINT,
  [RCL_EVENT_COMMITTED]  = CHECKPOINT,
};
/* clang-format on */

/* Has the events that need an answer. KEEP alone also answers an arrived message. */
enum {
  ANSWERED = 1 << RCL_EVENT_SEND | 1 << RCL_EVENT_RECEIVE | 1 << RCL_EVENT_ARRIVED |
             1 << RCL_EVENT_COLLECTIVE | 1 << RCL_EVENT_COLLECTED
};

/* ---- reading the table ---- */

struct step {
  const struct rcl_protocol *protocol;
  const struct rcl_config *config;
  const struct rcl_event *event;
  uint32_t traits;
  uint64_t seen; /* forms of actions that the step has had so far */
  bool answered;
};

#define FORM(form) (UINT64_C(1) << (form))

static uint32_t traits_of(const struct rcl_protocol *protocol, const struct rcl_config *config)
{
  return (protocol->independent ? INDEPENDENT : GLOBAL) | (protocol->clocks ? CLOCKS : 0u) |
         (protocol->collectives ? COLLECTIVES : 0u) | (protocol->reconnects ? RECONNECTS : 0u) |
         (protocol->level == RCL_LEVEL_APPLICATION ? APPLICATION : 0u) |
         (config->self == RCL_COORDINATOR_RANK ? COORDINATOR : 0u);
}

static unsigned form_of(const struct step *s, const struct rcl_action *action)
{
  switch ((enum rcl_action_kind)action->kind) {
  case RCL_ACTION_DELIVER:
    return !action->slot ? RCL_ACTION_DELIVER : s->traits & APPLICATION ? DELIVER_SLOT : PASS_SLOT;
  case RCL_ACTION_STORE:
    if (!action->part)
      return action->bare ? STORE_BARE : RCL_ACTION_STORE;
    return s->traits & GLOBAL ? STORE_LOG : STORE_OWN_LOG;
  case RCL_ACTION_SET_TIMER:
    return s->traits & CLOCKS ? SET_ALARM : RCL_ACTION_SET_TIMER;
  case RCL_ACTION_ROLL_BACK:
    return s->traits & GLOBAL ? RCL_ACTION_ROLL_BACK : ROLL_BACK_ALONE;
  case RCL_ACTION_OUTPUT:
    return action->checkpoint ? OUTPUT_COVERED : RCL_ACTION_OUTPUT;
  default:
    return action->kind;
  }
}

static uint32_t fields_of(const struct rcl_action *a)
{
  const uint32_t words = a->words[0] | a->words[1] | a->words[2];
  const int after = a->after[0] | a->after[1] | a->after[2];
  return (a->part ? PART : 0u) | (a->reason ? REASON : 0u) | (a->peer ? PEER : 0u) |
         (a->comm ? COMM : 0u) | (a->tag ? TAG : 0u) | (a->request ? REQUEST : 0u) |
         (a->slot ? SLOT : 0u) | (a->checkpoint ? CHECKPOINT : 0u) | (a->outcome ? OUTCOME : 0u) |
         (words ? WORDS : 0u) | (after ? AFTER : 0u) | (a->bare ? BARE : 0u) |
         (a->pad2 ? PADS : 0u);
}

/* Returns the relation of the peer to the rank, or 0 if the number is no rank. */
static uint32_t peer_of(const struct rcl_config *config, int peer)
{
  if (peer < 0)
    return peer == RCL_ANY ? ANY : peer == RCL_NOBODY ? NOBODY : 0u;
  if (peer >= config->ranks)
    return 0;
  return peer == config->self ? SELF : rcl_is_neighbour(config, peer) ? NEIGHBOUR : STRANGER;
}

/* ---- what was expected ---- */

static bool expected(struct grammar_refusal *refusal, const struct rcl_action *action,
                     const char *what)
{
  refusal->action = action;
  snprintf(refusal->expected, sizeof refusal->expected, "expected %s", what);
  return true;
}

/* Appends the names of the bits of `set`: "a, b or c". */
static void list(char *text, size_t size, uint32_t set, const char *(*name)(unsigned bit))
{
  size_t used = strlen(text);
  for (unsigned bit = 0; bit < 32 && used < size; bit++) {
    if (!(set & 1u << bit))
      continue;
    bool first = !(set & ((1u << bit) - 1)), last = !(set >> 1 >> bit);
    snprintf(text + used, size - used, "%s%s", first ? "" : last ? " or " : ", ", name(bit));
    used += strlen(text + used);
  }
}

static const char *name_event(unsigned bit)
{
  return event_name((enum rcl_event_kind)bit);
}

static const char *name_action(unsigned bit)
{
  return action_name((enum rcl_action_kind)bit);
}

static const char *name_peer(unsigned bit)
{
  return peer_names[bit];
}

static const char *name_trait(unsigned bit)
{
  return trait_names[bit];
}

static const char *name_field(unsigned bit)
{
  return field_names[bit];
}

static bool expected_of(struct grammar_refusal *refusal, const struct rcl_action *action,
                        const char *before, uint32_t set, const char *(*name)(unsigned bit))
{
  char text[GRAMMAR_EXPECTED];
  snprintf(text, sizeof text, "%s", before);
  list(text, sizeof text, set, name);
  return expected(refusal, action, text);
}

static uint32_t lowest(uint32_t set)
{
  return set & (0u - set);
}

/* Says which actions answer the event: "one of transmit or suppress". */
static bool expected_answer(const struct step *s, struct grammar_refusal *refusal,
                            const struct rcl_action *action, const char *before)
{
  uint32_t kinds = 0;
  for (unsigned form = 0; form < FORMS; form++)
    if (rules[form].answers & 1u << s->event->kind)
      kinds |= 1u << (form < RCL_ACTION_KINDS ? form : RCL_ACTION_DELIVER);
  if (s->event->kind == RCL_EVENT_ARRIVED)
    kinds |= 1u << RCL_ACTION_KEEP;
  return expected_of(refusal, action, before, kinds, name_action);
}

char *grammar_print(const struct rcl_event *event, const struct grammar_refusal *refusal,
                    char *text)
{
  const char *action = refusal->action ? action_name(refusal->action->kind) : NULL;
  snprintf(text, TEXT_MAX, "%s%s%s: %s", refusal->action ? action ? action : "unknown" : "",
           refusal->action ? " at " : "", event_name(event->kind), refusal->expected);
  return text;
}

/* ---- one action ---- */

static bool has_control(const struct rcl_protocol *protocol, uint32_t control)
{
  uint32_t i = 0;
  while (protocol->controls && protocol->controls[i] && i < control)
    i++;
  return protocol->controls && protocol->controls[i];
}

/* Returns the receive that the event names; only that receive may be answered. */
static uint32_t request_of(const struct rcl_event *event)
{
  bool names = event->kind == RCL_EVENT_RECEIVE || event->kind == RCL_EVENT_ARRIVED;
  return names ? event->request : RCL_NO_REQUEST;
}

static const char *delivery_expected(const struct step *s, const struct rcl_action *action)
{
  uint32_t request = request_of(s->event);
  if (s->event->kind == RCL_EVENT_ARRIVED && s->traits & APPLICATION && !request)
    return "a receive that the message has arrived for";
  return action->request == request ? NULL : "the receive of the event";
}

static const char *end_expected(const struct rcl_action *action)
{
  bool full = action->reason == RCL_REASON_FULL;
  if (action->reason >= RCL_REASONS)
    return "a reason of enum rcl_reason";
  return action->list < (full ? RCL_FULLS : 1u) ? NULL : "a list of enum rcl_full, if one is full";
}

/* Returns what a field must be, because of the event and the protocol, or NULL if the field is
 * right. */
static const char *value_expected(const struct step *s, const struct rcl_action *action)
{
  switch ((enum rcl_action_kind)action->kind) {
  case RCL_ACTION_MATCH:
    return action->request == s->event->request ? NULL : "the receive of the event";
  case RCL_ACTION_DELIVER:
    return delivery_expected(s, action);
  case RCL_ACTION_CAPTURE:
    return s->event->kind != RCL_EVENT_COLLECTED || s->event->flow == RCL_FLOW_BARRIER
               ? NULL
               : "at collected of a barrier";
  case RCL_ACTION_FORCE:
    return s->event->request == RCL_NO_REQUEST || action->outcome <= 1
               ? NULL
               : "outcome 0 or 1, as a receive is cancelled or not";
  case RCL_ACTION_CONTROL:
    return has_control(s->protocol, action->control) ? NULL
                                                     : "a control message of the protocol's list";
  case RCL_ACTION_STORE:
    if (action->bare > 1)
      return "bare 0 or 1";
    return action->part < RCL_PARTS ? NULL : "part image or log";
  case RCL_ACTION_ROLL_BACK:
    return s->traits & INDEPENDENT || action->checkpoint == s->event->checkpoint
               ? NULL
               : "the checkpoint of the event";
  case RCL_ACTION_GIVE_UP:
    return end_expected(action);
  default:
    return NULL;
  }
}

static bool fields_refused(const struct step *s, const struct rule *rule,
                           const struct rcl_action *action, struct grammar_refusal *refusal)
{
  uint32_t set = fields_of(action), missing = rule->needs & ~set,
           unnamed = set & ~(rule->needs | rule->also);
  if (unnamed)
    return expected_of(refusal, action, "no ", lowest(unnamed), name_field);
  if (missing)
    return expected_of(refusal, action, "a number from 1 on as ", lowest(missing), name_field);
  if (rule->peers && !(rule->peers & peer_of(s->config, action->peer)))
    return expected_of(refusal, action, "as peer ", rule->peers, name_peer);
  const char *value = value_expected(s, action);
  return value && expected(refusal, action, value);
}

/* Returns whether the action may not follow the earlier actions of the step. */
static bool order_refused(const struct step *s, unsigned form, const struct rcl_action *action,
                          struct grammar_refusal *refusal)
{
  const struct rule *rule = &rules[form];
  bool back = form == RCL_ACTION_ROLL_BACK || form == ROLL_BACK_ALONE;
  if (s->seen & (FORM(RCL_ACTION_ROLL_BACK) | FORM(ROLL_BACK_ALONE)))
    return expected(refusal, action, "roll-back last");
  if (rule->often == ONCE && s->seen & FORM(form))
    return expected(refusal, action, "once in a step");
  if (rule->answers & 1u << s->event->kind && s->answered)
    return expected_answer(s, refusal, action, "one of ");
  if (form == RCL_ACTION_DISCARD && s->seen & FORM(RCL_ACTION_KEEP))
    return expected(refusal, action, "no keep in the same step");
  if (form == RCL_ACTION_KEEP && s->answered)
    return expected(refusal, action, "before the answer");
  if (back && s->seen & FORM(RCL_ACTION_CAPTURE))
    return expected(refusal, action, "no capture in the same step");
  if (form == RCL_ACTION_ROLL_BACK && s->seen & (FORM(RCL_ACTION_STORE) | FORM(STORE_LOG)))
    return expected(refusal, action, "no store in the same step");
  return false;
}

static bool action_refused(struct step *s, const struct rcl_action *action,
                           struct grammar_refusal *refusal)
{
  uint32_t event = 1u << s->event->kind;
  if (action->kind == RCL_ACTION_NONE || action->kind >= RCL_ACTION_KINDS)
    return expected(refusal, action, "an action of enum rcl_action_kind");
  unsigned form = form_of(s, action);
  const struct rule *rule = &rules[form];
  if (!(rule->at & event))
    return expected_of(refusal, action, "at ", rule->at, name_event);
  if (rule->of & ~s->traits)
    return expected_of(refusal, action, "", lowest(rule->of & ~s->traits), name_trait);
  if (order_refused(s, form, action, refusal) || fields_refused(s, rule, action, refusal))
    return true;
  s->seen |= FORM(form);
  s->answered |= (rule->answers & event) != 0;
  return false;
}

bool grammar_refuses(const struct rcl_protocol *protocol, const struct rcl_config *config,
                     const struct rcl_event *event, const struct rcl_actions *actions,
                     struct grammar_refusal *refusal)
{
  struct step s = {.protocol = protocol,
                   .config = config,
                   .event = event,
                   .traits = traits_of(protocol, config)};
  for (uint32_t i = 0; i < actions->count; i++)
    if (action_refused(&s, &actions->item[i], refusal))
      return true;
  bool kept = event->kind == RCL_EVENT_ARRIVED && s.seen & FORM(RCL_ACTION_KEEP);
  bool answered = s.answered || kept || s.seen & FORM(RCL_ACTION_GIVE_UP);
  return !answered && ANSWERED & 1u << event->kind && expected_answer(&s, refusal, NULL, "");
}

const char *grammar_unnamed_field(const struct rcl_event *e)
{
  const uint32_t words = e->words[0] | e->words[1] | e->words[2];
  const uint32_t set =
      (e->part ? PART : 0u) | (e->peer ? PEER : 0u) | (e->comm ? COMM : 0u) | (e->tag ? TAG : 0u) |
      (e->request ? REQUEST : 0u) | (e->checkpoint ? CHECKPOINT : 0u) |
      (e->outcome ? OUTCOME : 0u) | (words ? WORDS : 0u) | (e->pad[0] | e->pad[1] ? PADS : 0u) |
      (e->wildcard ? WILDCARD : 0u) | (e->flow ? FLOW : 0u) | (e->closed ? CLOSED : 0u) |
      (e->makes ? MAKES : 0u) | (e->bytes ? BYTES : 0u);
  const uint32_t unnamed = e->kind < RCL_EVENT_KINDS ? set & ~named[e->kind] : set;
  for (unsigned bit = 0; bit < EVENT_FIELDS; bit++)
    if (unnamed & 1u << bit)
      return bit < ACTION_FIELDS ? field_names[bit] : event_field_names[bit - ACTION_FIELDS];
  return NULL;
}

bool grammar_puts_off(const struct rcl_actions *actions, bool unmoved)
{
  return unmoved && actions->count == 1 && actions->item[0].kind == RCL_ACTION_SET_TIMER;
}
