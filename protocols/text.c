#include "protocols/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const event_names[RCL_EVENT_KINDS] = {[RCL_EVENT_NONE] = "none",
                                                         [RCL_EVENT_START] = "start",
                                                         [RCL_EVENT_DOWN] = "down",
                                                         [RCL_EVENT_TIMER] = "timer",
                                                         [RCL_EVENT_SEND] = "send",
                                                         [RCL_EVENT_RECEIVE] = "receive",
                                                         [RCL_EVENT_CHOICE] = "choice",
                                                         [RCL_EVENT_SAFE_POINT] = "safe-point",
                                                         [RCL_EVENT_ARRIVED] = "arrived",
                                                         [RCL_EVENT_CONTROL] = "control",
                                                         [RCL_EVENT_CAPTURED] = "captured",
                                                         [RCL_EVENT_DURABLE] = "durable",
                                                         [RCL_EVENT_COMMITTED] = "committed",
                                                         [RCL_EVENT_MEMBER] = "member",
                                                         [RCL_EVENT_COLLECTIVE] = "collective",
                                                         [RCL_EVENT_COLLECTED] = "collected",
                                                         [RCL_EVENT_OUTPUT] = "output"};

static const char *const action_names[RCL_ACTION_KINDS] = {
    [RCL_ACTION_NONE] = "none",           [RCL_ACTION_TRANSMIT] = "transmit",
    [RCL_ACTION_SUPPRESS] = "suppress",   [RCL_ACTION_MATCH] = "match",
    [RCL_ACTION_DELIVER] = "deliver",     [RCL_ACTION_DISCARD] = "discard",
    [RCL_ACTION_KEEP] = "keep",           [RCL_ACTION_FORGET] = "forget",
    [RCL_ACTION_JOIN] = "join",           [RCL_ACTION_REJOIN] = "rejoin",
    [RCL_ACTION_FORCE] = "force",         [RCL_ACTION_CONTROL] = "control",
    [RCL_ACTION_HOLD] = "hold",           [RCL_ACTION_RELEASE] = "release",
    [RCL_ACTION_DRAIN] = "drain",         [RCL_ACTION_CAPTURE] = "capture",
    [RCL_ACTION_STORE] = "store",         [RCL_ACTION_COMMIT] = "commit",
    [RCL_ACTION_ERASE] = "erase",         [RCL_ACTION_ROLL_BACK] = "roll-back",
    [RCL_ACTION_SET_TIMER] = "set-timer", [RCL_ACTION_STOPPED_LOGGING] = "stopped-logging",
    [RCL_ACTION_OPEN] = "open",           [RCL_ACTION_RESEND] = "resend",
    [RCL_ACTION_GIVE_UP] = "give-up",     [RCL_ACTION_OUTPUT] = "output"};

static const char *const part_names[RCL_PARTS] = {
    [RCL_PART_IMAGE] = "image", [RCL_PART_LOG] = "log"};

static const char *const flow_names[RCL_FLOWS] = {[RCL_FLOW_NONE] = "none",
                                                  [RCL_FLOW_FROM_ROOT] = "from-root",
                                                  [RCL_FLOW_TO_ROOT] = "to-root",
                                                  [RCL_FLOW_ALL] = "all",
                                                  [RCL_FLOW_BARRIER] = "barrier"};

static const char *const reason_names[RCL_REASONS] = {[RCL_REASON_NONE] = "none",
                                                      [RCL_REASON_NO_CHECKPOINT] = "no-checkpoint",
                                                      [RCL_REASON_FULL] = "full",
                                                      [RCL_REASON_PROTOCOL] = "protocol"};

static const char *const full_names[RCL_FULLS] = {[RCL_FULL_UNNAMED] = "unnamed",
                                                  [RCL_FULL_KEPT] = "kept-messages",
                                                  [RCL_FULL_SENT] = "sent-messages",
                                                  [RCL_FULL_AHEAD] = "messages-ahead",
                                                  [RCL_FULL_LOG] = "log",
                                                  [RCL_FULL_EVENTS] = "event-log",
                                                  [RCL_FULL_EARLY] = "early-messages",
                                                  [RCL_FULL_SUPPRESS] = "messages-to-suppress",
                                                  [RCL_FULL_ENVELOPES] = "envelopes",
                                                  [RCL_FULL_CALLS] = "collective-calls",
                                                  [RCL_FULL_CHECKPOINTS] = "checkpoints",
                                                  [RCL_FULL_LIMIT] = "limit-of-the-protocol"};

static int find(const char *const *names, int count, const char *name, size_t length)
{
  for (int i = 0; i < count; i++)
    if (names[i] && strlen(names[i]) == length && !memcmp(names[i], name, length))
      return i;
  return -1;
}

const char *event_name(enum rcl_event_kind kind)
{
  return (unsigned)kind < RCL_EVENT_KINDS ? event_names[kind] : NULL;
}

const char *action_name(enum rcl_action_kind kind)
{
  return (unsigned)kind < RCL_ACTION_KINDS ? action_names[kind] : NULL;
}

enum rcl_event_kind event_named(const char *name)
{
  int kind = find(event_names, RCL_EVENT_KINDS, name, strlen(name));
  return kind < 0 ? RCL_EVENT_NONE : (enum rcl_event_kind)kind;
}

enum rcl_action_kind action_named(const char *name)
{
  int kind = find(action_names, RCL_ACTION_KINDS, name, strlen(name));
  return kind < 0 ? RCL_ACTION_NONE : (enum rcl_action_kind)kind;
}

const char *full_name(uint32_t list)
{
  return list < RCL_FULLS ? full_names[list] : "unknown";
}

/* Prints that a list is full or nearly full, and which capacity to try. Larger lists cost nothing
 * in a run, but in the explorer each entry costs memory. */
static char *print_list(const char *what, uint32_t list, uint32_t capacity, char *text)
{
  uint32_t more = capacity < 1024 ? 2 * capacity : 16 * capacity;
  if (list == RCL_FULL_LIMIT || capacity >= RCL_CAPACITY_MAX)
    snprintf(text, TEXT_MAX, "%s (%s), whatever protocol.capacity is", what, full_name(list));
  else
    snprintf(text, TEXT_MAX, "%s (%s): protocol.capacity is %u, try %u", what, full_name(list),
             capacity, more < RCL_CAPACITY_MAX ? more : RCL_CAPACITY_MAX);
  return text;
}

char *nearly_full_print(uint32_t list, uint32_t capacity, char *text)
{
  return print_list("three quarters of one of its lists are in use", list, capacity, text);
}

char *give_up_print(const struct rcl_action *a, uint32_t capacity, char *text)
{
  static const char *const reasons[RCL_REASONS] = {
      [RCL_REASON_NONE] = "no reason",
      [RCL_REASON_NO_CHECKPOINT] = "it takes no checkpoints",
      [RCL_REASON_PROTOCOL] = "an event that its assumptions exclude"};
  if (a->reason == RCL_REASON_FULL)
    return print_list("one of its lists is full", a->list, capacity, text);
  snprintf(text, TEXT_MAX, "%s", a->reason < RCL_REASONS ? reasons[a->reason] : "unknown reason");
  return text;
}

const char *reason_name(enum rcl_reason reason)
{
  return (unsigned)reason < RCL_REASONS ? reason_names[reason] : "unknown";
}

/* ---- printing ---- */

struct out {
  char *text;
  size_t used;
};

/* Appends a text. Numbers are printed by hand, because with printf() for each word the lines of a
 * trace would take a sixth of a run's time. */
static void put_part(struct out *out, const char *text, size_t length)
{
  size_t room = TEXT_MAX - 1 - out->used;
  length = length < room ? length : room;
  memcpy(out->text + out->used, text, length);
  out->used += length;
  out->text[out->used] = '\0';
}

static void put_text(struct out *out, const char *text)
{
  put_part(out, text, strlen(text));
}

size_t number_print(int64_t value, char *text)
{
  char digits[NUMBER_MAX];
  size_t count = 0, length = 0;
  uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do
    digits[count++] = (char)('0' + left % 10);
  while ((left /= 10));
  if (value < 0)
    text[length++] = '-';
  while (count)
    text[length++] = digits[--count];
  text[length] = '\0';
  return length;
}

static void put_number(struct out *out, const char *before, int64_t value)
{
  char number[NUMBER_MAX];
  number_print(value, number);
  put_text(out, before);
  put_text(out, number);
}

static void put_name(struct out *out, const char *key, const char *name)
{
  put_text(out, " ");
  put_text(out, key);
  put_text(out, name);
}

static void put(struct out *out, const char *key, int64_t value)
{
  put_name(out, key, "=");
  put_number(out, "", value);
}

static void put_some(struct out *out, const char *key, int64_t value)
{
  if (value)
    put(out, key, value);
}

static void put_peer(struct out *out, const char *key, int64_t value)
{
  if (value == RCL_ANY)
    put_name(out, key, "=any");
  else if (value == RCL_NOBODY)
    put_name(out, key, "=nobody");
  else
    put(out, key, value);
}

static void put_words(struct out *out, const uint32_t *words)
{
  put(out, "words", words[0]);
  put_number(out, ",", words[1]);
  put_number(out, ",", words[2]);
}

static void put_bounds(struct out *out, const int8_t *after)
{
  put(out, "after", after[RCL_BOUND_DEVIATION]);
  put_number(out, ",", after[RCL_BOUND_LONGEST]);
  put_number(out, ",", after[RCL_BOUND_SHORTEST]);
}

static void put_control(struct out *out, const struct rcl_protocol *protocol, int peer,
                        const uint32_t *words)
{
  put(out, "peer", peer);
  for (uint32_t i = 0; protocol && protocol->controls && protocol->controls[i]; i++)
    if (i == words[0]) {
      put_text(out, " ");
      put_part(out, protocol->controls[i], strcspn(protocol->controls[i], ":"));
    }
  put_words(out, words);
}

char *event_print(const struct rcl_protocol *protocol, const struct rcl_event *e, char *text)
{
  struct out out = {.text = text};
  put_text(&out, event_name(e->kind));
  switch ((enum rcl_event_kind)e->kind) {
  case RCL_EVENT_SEND:
  case RCL_EVENT_RECEIVE:
  case RCL_EVENT_ARRIVED:
    put_some(&out, "request", e->request);
    put_peer(&out, "peer", e->peer);
    put_peer(&out, "tag", e->tag);
    put(&out, "comm", e->comm);
    put_some(&out, "bytes", e->bytes);
    if (e->wildcard)
      put_name(&out, "", "wildcard");
    if (e->kind == RCL_EVENT_ARRIVED)
      put_words(&out, e->words);
    break;
  case RCL_EVENT_CONTROL:
    put_control(&out, protocol, e->peer, e->words);
    break;
  case RCL_EVENT_DOWN:
    put(&out, "peer", e->peer);
    put_some(&out, "checkpoint", e->checkpoint);
    put_some(&out, "incarnation", e->incarnation);
    break;
  case RCL_EVENT_SAFE_POINT:
    put_some(&out, "iteration", e->iteration);
    break;
  case RCL_EVENT_CHOICE:
    put_some(&out, "request", e->request);
    put(&out, "outcome", e->outcome);
    break;
  case RCL_EVENT_MEMBER:
    put(&out, "comm", e->comm);
    break;
  case RCL_EVENT_OUTPUT:
    put(&out, "output", e->output);
    put_some(&out, "bytes", e->bytes);
    break;
  case RCL_EVENT_COLLECTIVE:
  case RCL_EVENT_COLLECTED:
    put_name(&out, "flow=", flow_names[e->flow]);
    put(&out, "root", e->root);
    put(&out, "call", e->call);
    put(&out, "comm", e->comm);
    put_some(&out, "bytes", e->bytes);
    if (e->kind == RCL_EVENT_COLLECTED) {
      put(&out, "contributions", e->contributions);
      put_words(&out, e->words);
    }
    if (e->makes)
      put_name(&out, "", "makes");
    break;
  case RCL_EVENT_DURABLE: /* an event log can be stored before the first checkpoint */
    put_name(&out, "part=", part_names[e->part]);
    put(&out, "checkpoint", e->checkpoint);
    break;
  default:
    put_some(&out, "checkpoint", e->checkpoint);
    put_some(&out, "incarnation", e->incarnation);
    put_some(&out, "output", e->output);
    if (e->closed)
      put_name(&out, "", "closed");
  }
  return text;
}

char *action_print(const struct rcl_protocol *protocol, const struct rcl_action *a, char *text)
{
  struct out out = {.text = text};
  put_text(&out, action_name(a->kind));
  switch ((enum rcl_action_kind)a->kind) {
  case RCL_ACTION_TRANSMIT:
  case RCL_ACTION_JOIN:
    put_words(&out, a->words);
    break;
  case RCL_ACTION_RESEND:
    put(&out, "peer", a->peer);
    put(&out, "slot", a->slot);
    put_words(&out, a->words);
    break;
  case RCL_ACTION_REJOIN:
    put(&out, "root", a->root);
    put(&out, "call", a->call);
    put(&out, "comm", a->comm);
    break;
  case RCL_ACTION_CONTROL:
    put_control(&out, protocol, a->peer, a->words);
    break;
  case RCL_ACTION_MATCH:
    put(&out, "request", a->request);
    put_peer(&out, "peer", a->peer);
    put_peer(&out, "tag", a->tag);
    break;
  case RCL_ACTION_DELIVER:
    put(&out, "request", a->request);
    if (a->slot) {
      put(&out, "peer", a->peer);
      put(&out, "tag", a->tag);
      put(&out, "slot", a->slot);
    }
    break;
  case RCL_ACTION_FORCE:
    put(&out, "outcome", a->outcome);
    break;
  case RCL_ACTION_SET_TIMER:
    put_some(&out, "checkpoint", a->checkpoint);
    if (a->checkpoint)
      put_bounds(&out, a->after);
    break;
  case RCL_ACTION_OUTPUT:
    put(&out, "output", a->output);
    put_some(&out, "checkpoint", a->checkpoint);
    break;
  case RCL_ACTION_DRAIN:
    put_peer(&out, "peer", a->peer);
    break;
  case RCL_ACTION_STOPPED_LOGGING:
    put_some(&out, "checkpoint", a->checkpoint);
    put_some(&out, "surplus", a->surplus);
    break;
  case RCL_ACTION_STORE:
    put_name(&out, "part=", part_names[a->part]);
    put_some(&out, "checkpoint", a->checkpoint);
    put_some(&out, "bare", a->bare);
    break;
  case RCL_ACTION_GIVE_UP:
    put_name(&out, "reason=", reason_name(a->reason));
    if (a->list)
      put_name(&out, "list=", full_name(a->list));
    break;
  default:
    put_some(&out, "slot", a->slot);
    put_some(&out, "checkpoint", a->checkpoint);
  }
  return text;
}

/* ---- invariants and phases ---- */

int invariant_length(const char *invariant)
{
  const char *harm = strstr(invariant, ": otherwise ");
  return (int)(harm ? (size_t)(harm - invariant) : strlen(invariant));
}

static bool has_word(const char *text, const char *beginning, size_t length)
{
  for (; text; text = strchr(text, ' '))
    if (!strncmp(++text, beginning, length))
      return true;
  return false;
}

bool text_is_moment(const char *text, const char *moment)
{
  size_t length = strcspn(moment, " ");
  if (strncmp(text, moment, length) != 0 || (text[length] && text[length] != ' '))
    return false;
  for (const char *field = moment + length; *field; field += length) {
    length = strcspn(++field, " ");
    if (!has_word(strchr(text, ' '), field, length))
      return false;
  }
  return true;
}

/* ---- parsing ---- */

/* Holds one `key=value`, or a bare word, of a line. */
struct field {
  const char *start;
  size_t key;        /* length of the key, or of the bare word */
  const char *value; /* NULL for a bare word */
  size_t length;     /* length of the value */
};

static const char *next_field(const char *at, struct field *field)
{
  while (*at == ' ')
    at++;
  size_t length = strcspn(at, " ");
  const char *equals = memchr(at, '=', length);
  *field = (struct field){.start = at,
                          .key = equals ? (size_t)(equals - at) : length,
                          .value = equals ? equals + 1 : NULL,
                          .length = equals ? length - (size_t)(equals - at) - 1 : 0};
  return at + length;
}

static bool is(const struct field *field, const char *key)
{
  return strlen(key) == field->key && !memcmp(field->start, key, field->key);
}

static bool number(const struct field *field, int64_t *value)
{
  bool any = field->length == 3 && !memcmp(field->value, "any", 3);
  if (any || (field->length == 6 && !memcmp(field->value, "nobody", 6))) {
    *value = any ? RCL_ANY : RCL_NOBODY;
    return true;
  }
  char *end;
  *value = strtoll(field->value, &end, 10);
  return field->length > 0 && end == field->value + field->length;
}

/* Reads three numbers, separated by commas. */
static bool numbers(const struct field *field, int64_t *out)
{
  const char *at = field->value;
  for (int i = 0; i < 3; i++) {
    char *end;
    out[i] = strtoll(at, &end, 10);
    if (end == at || (i < 2 && *end != ','))
      return false;
    at = end + 1;
  }
  return at - 1 == field->value + field->length;
}

static bool words(const struct field *field, uint32_t *out)
{
  _Static_assert(RCL_WORDS == 3, "numbers() reads three");
  int64_t value[RCL_WORDS];
  if (!numbers(field, value))
    return false;
  for (int i = 0; i < RCL_WORDS; i++)
    out[i] = (uint32_t)value[i];
  return true;
}

static bool bounds(const struct field *field, int8_t *out)
{
  _Static_assert(RCL_BOUNDS == 3, "numbers() reads three");
  int64_t value[RCL_BOUNDS];
  if (!numbers(field, value))
    return false;
  for (int i = 0; i < RCL_BOUNDS; i++)
    out[i] = (int8_t)value[i];
  return true;
}

static bool event_field(const struct field *field, struct rcl_event *e)
{
  if (is(field, "words"))
    return words(field, e->words);
  if (is(field, "part")) {
    int part = find(part_names, RCL_PARTS, field->value, field->length);
    e->part = (uint8_t)part;
    return part >= 0;
  }
  if (is(field, "flow")) {
    int flow = find(flow_names, RCL_FLOWS, field->value, field->length);
    e->flow = (uint8_t)flow;
    return flow >= 0;
  }
  int64_t value;
  if (!number(field, &value))
    return false;
  if (is(field, "peer") || is(field, "root"))
    e->peer = (int16_t)value;
  else if (is(field, "tag") || is(field, "call"))
    e->tag = (int32_t)value;
  else if (is(field, "comm"))
    e->comm = (int16_t)value;
  else if (is(field, "request") || is(field, "output"))
    e->request = (uint32_t)value;
  else if (is(field, "bytes"))
    e->bytes = (uint32_t)value;
  else if (is(field, "checkpoint"))
    e->checkpoint = (uint32_t)value;
  else if (is(field, "outcome") || is(field, "iteration") || is(field, "contributions") ||
           is(field, "incarnation"))
    e->outcome = (uint32_t)value;
  else
    return false;
  return true;
}

static bool action_field(const struct field *field, struct rcl_action *a)
{
  if (is(field, "words"))
    return words(field, a->words);
  if (is(field, "after"))
    return bounds(field, a->after);
  if (is(field, "part") || is(field, "reason")) {
    bool part = is(field, "part");
    int i = find(part ? part_names : reason_names, part ? RCL_PARTS : RCL_REASONS, field->value,
                 field->length);
    *(part ? &a->part : &a->reason) = (uint8_t)i;
    return i >= 0;
  }
  if (is(field, "list")) {
    int i = find(full_names, RCL_FULLS, field->value, field->length);
    a->list = (uint32_t)i;
    return i >= 0;
  }
  int64_t value;
  if (!number(field, &value))
    return false;
  if (is(field, "peer") || is(field, "root"))
    a->peer = (int16_t)value;
  else if (is(field, "tag") || is(field, "call"))
    a->tag = (int32_t)value;
  else if (is(field, "comm"))
    a->comm = (int16_t)value;
  else if (is(field, "request") || is(field, "output"))
    a->request = (uint32_t)value;
  else if (is(field, "slot"))
    a->slot = (uint32_t)value;
  else if (is(field, "bare"))
    a->bare = (uint8_t)value;
  else if (is(field, "checkpoint"))
    a->checkpoint = (uint32_t)value;
  else if (is(field, "outcome") || is(field, "surplus"))
    a->outcome = (uint32_t)value;
  else
    return false;
  return true;
}

/* Reads a word without a value: a flag, or the name of a control message. */
static bool event_word(const struct field *field, struct rcl_event *e)
{
  switch ((enum rcl_event_kind)e->kind) {
  case RCL_EVENT_CONTROL:
    return true;
  case RCL_EVENT_ARRIVED:
    e->wildcard = is(field, "wildcard");
    return e->wildcard;
  case RCL_EVENT_COLLECTIVE:
  case RCL_EVENT_COLLECTED:
    e->makes = is(field, "makes");
    return e->makes;
  case RCL_EVENT_START:
  case RCL_EVENT_CAPTURED:
    e->closed = is(field, "closed");
    return e->closed;
  default:
    return false;
  }
}

const char *event_parse(const char *text, struct rcl_event *e)
{
  struct field field;
  const char *at = next_field(text, &field);
  int kind = find(event_names, RCL_EVENT_KINDS, field.start, field.key);
  if (kind <= RCL_EVENT_NONE || field.value)
    return field.start;
  *e = (struct rcl_event){.kind = (uint8_t)kind};
  for (at = next_field(at, &field); field.key; at = next_field(at, &field))
    if (!(field.value ? event_field(&field, e) : event_word(&field, e)))
      return field.start;
  return NULL;
}

const char *action_parse(const char *text, struct rcl_action *a)
{
  struct field field;
  const char *at = next_field(text, &field);
  int kind = find(action_names, RCL_ACTION_KINDS, field.start, field.key);
  if (kind <= RCL_ACTION_NONE || field.value)
    return field.start;
  *a = (struct rcl_action){.kind = (uint8_t)kind};
  for (at = next_field(at, &field); field.key; at = next_field(at, &field))
    if (field.value ? !action_field(&field, a) : kind != RCL_ACTION_CONTROL)
      return field.start;
  return NULL;
}
