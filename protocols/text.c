#include "protocols/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const event_names[EVENT_KINDS] = {[EVENT_NONE] = "none",
                                                     [EVENT_START] = "start",
                                                     [EVENT_DOWN] = "down",
                                                     [EVENT_TIMER] = "timer",
                                                     [EVENT_OFFER] = "offer",
                                                     [EVENT_RECEIVE] = "receive",
                                                     [EVENT_CHOOSE] = "choose",
                                                     [EVENT_PLACE] = "place",
                                                     [EVENT_ARRIVED] = "arrived",
                                                     [EVENT_CONTROL] = "control",
                                                     [EVENT_CAPTURED] = "captured",
                                                     [EVENT_DURABLE] = "durable",
                                                     [EVENT_COMMITTED] = "committed",
                                                     [EVENT_MEMBER] = "member",
                                                     [EVENT_COLLECTIVE] = "collective",
                                                     [EVENT_COLLECTED] = "collected"};

static const char *const action_names[ACTION_KINDS] = {
    [ACTION_NONE] = "none",           [ACTION_TRANSMIT] = "transmit",
    [ACTION_SUPPRESS] = "suppress",   [ACTION_MATCH] = "match",
    [ACTION_DELIVER] = "deliver",     [ACTION_DISCARD] = "discard",
    [ACTION_KEEP] = "keep",           [ACTION_FORGET] = "forget",
    [ACTION_JOIN] = "join",           [ACTION_REJOIN] = "rejoin",
    [ACTION_FORCE] = "force",         [ACTION_CONTROL] = "control",
    [ACTION_HOLD] = "hold",           [ACTION_RELEASE] = "release",
    [ACTION_DRAIN] = "drain",         [ACTION_CAPTURE] = "capture",
    [ACTION_STORE] = "store",         [ACTION_COMMIT] = "commit",
    [ACTION_ERASE] = "erase",         [ACTION_ROLL_BACK] = "roll-back",
    [ACTION_SET_TIMER] = "set-timer", [ACTION_STOPPED_LOGGING] = "stopped-logging",
    [ACTION_OPEN] = "open",           [ACTION_RESEND] = "resend",
    [ACTION_GIVE_UP] = "give-up"};

static const char *const part_names[PARTS] = {[PART_IMAGE] = "image", [PART_LOG] = "log"};

static const char *const flow_names[FLOWS] = {[FLOW_NONE] = "none",
                                              [FLOW_FROM_ROOT] = "from-root",
                                              [FLOW_TO_ROOT] = "to-root",
                                              [FLOW_ALL] = "all",
                                              [FLOW_BARRIER] = "barrier"};

static const char *const reason_names[REASONS] = {[REASON_NONE] = "none",
                                                  [REASON_NO_CHECKPOINT] = "no-checkpoint",
                                                  [REASON_FULL] = "full",
                                                  [REASON_PROTOCOL] = "protocol"};

static int find(const char *const *names, int count, const char *name, size_t length)
{
  for (int i = 0; i < count; i++)
    if (names[i] && strlen(names[i]) == length && !memcmp(names[i], name, length))
      return i;
  return -1;
}

const char *event_name(enum event_kind kind)
{
  return (unsigned)kind < EVENT_KINDS ? event_names[kind] : NULL;
}

const char *action_name(enum action_kind kind)
{
  return (unsigned)kind < ACTION_KINDS ? action_names[kind] : NULL;
}

enum event_kind event_named(const char *name)
{
  int kind = find(event_names, EVENT_KINDS, name, strlen(name));
  return kind < 0 ? EVENT_NONE : (enum event_kind)kind;
}

enum action_kind action_named(const char *name)
{
  int kind = find(action_names, ACTION_KINDS, name, strlen(name));
  return kind < 0 ? ACTION_NONE : (enum action_kind)kind;
}

const char *reason_name(enum reason reason)
{
  return (unsigned)reason < REASONS ? reason_names[reason] : "unknown";
}

/* ---- printing ---- */

struct out {
  char *text;
  size_t used;
};

static void put(struct out *out, const char *key, int64_t value)
{
  int n = snprintf(out->text + out->used, TEXT_MAX - out->used, " %s=%" PRId64, key, value);
  out->used += (size_t)n;
}

static void put_some(struct out *out, const char *key, int64_t value)
{
  if (value)
    put(out, key, value);
}

static void put_name(struct out *out, const char *key, const char *name)
{
  int n = snprintf(out->text + out->used, TEXT_MAX - out->used, " %s%s", key, name);
  out->used += (size_t)n;
}

static void put_peer(struct out *out, const char *key, int64_t value)
{
  if (value == ANY)
    put_name(out, key, "=any");
  else if (value == NOBODY)
    put_name(out, key, "=nobody");
  else
    put(out, key, value);
}

static void put_words(struct out *out, const uint32_t *words)
{
  int n = snprintf(out->text + out->used, TEXT_MAX - out->used,
                   " words=%" PRIu32 ",%" PRIu32 ",%" PRIu32, words[0], words[1], words[2]);
  out->used += (size_t)n;
}

static void put_bounds(struct out *out, const int8_t *after)
{
  int n = snprintf(out->text + out->used, TEXT_MAX - out->used, " after=%d,%d,%d",
                   after[BOUND_DEVIATION], after[BOUND_LONGEST], after[BOUND_SHORTEST]);
  out->used += (size_t)n;
}

static void put_control(struct out *out, const struct protocol *protocol, int peer,
                        const uint32_t *words)
{
  put(out, "peer", peer);
  if (protocol && protocol->controls)
    for (uint32_t i = 0; protocol->controls[i]; i++)
      if (i == words[0])
        put_name(out, "", protocol->controls[i]);
  put_words(out, words);
}

char *event_print(const struct protocol *protocol, const struct event *e, char *text)
{
  struct out out = {text, (size_t)snprintf(text, TEXT_MAX, "%s", event_name(e->kind))};
  switch ((enum event_kind)e->kind) {
  case EVENT_OFFER:
  case EVENT_RECEIVE:
  case EVENT_ARRIVED:
    put_some(&out, "request", e->request);
    put_peer(&out, "peer", e->peer);
    put_peer(&out, "tag", e->tag);
    put(&out, "comm", e->comm);
    put_some(&out, "bytes", e->bytes);
    if (e->wildcard)
      put_name(&out, "", "wildcard");
    if (e->kind == EVENT_ARRIVED)
      put_words(&out, e->words);
    break;
  case EVENT_CONTROL:
    put_control(&out, protocol, e->peer, e->words);
    break;
  case EVENT_DOWN:
    put(&out, "peer", e->peer);
    put_some(&out, "checkpoint", e->checkpoint);
    put_some(&out, "outcome", e->outcome);
    break;
  case EVENT_CHOOSE:
    put_some(&out, "request", e->request);
    put(&out, "outcome", e->outcome);
    break;
  case EVENT_MEMBER:
    put(&out, "comm", e->comm);
    break;
  case EVENT_COLLECTIVE:
  case EVENT_COLLECTED:
    put_name(&out, "flow=", flow_names[e->flow]);
    put(&out, "peer", e->peer);
    put(&out, "tag", e->tag);
    put(&out, "comm", e->comm);
    put_some(&out, "bytes", e->bytes);
    if (e->kind == EVENT_COLLECTED) {
      put(&out, "outcome", e->outcome);
      put_words(&out, e->words);
    }
    break;
  case EVENT_DURABLE: /* an event log can be from before the first checkpoint */
    put_name(&out, "part=", part_names[e->part]);
    put(&out, "checkpoint", e->checkpoint);
    break;
  default:
    put_some(&out, "checkpoint", e->checkpoint);
    put_some(&out, "outcome", e->outcome);
    if (e->closed)
      put_name(&out, "", "closed");
  }
  return text;
}

char *action_print(const struct protocol *protocol, const struct action *a, char *text)
{
  struct out out = {text, (size_t)snprintf(text, TEXT_MAX, "%s", action_name(a->kind))};
  switch ((enum action_kind)a->kind) {
  case ACTION_TRANSMIT:
  case ACTION_JOIN:
    put_words(&out, a->words);
    break;
  case ACTION_RESEND:
    put(&out, "peer", a->peer);
    put(&out, "slot", a->slot);
    put_words(&out, a->words);
    break;
  case ACTION_REJOIN:
    put(&out, "peer", a->peer);
    put(&out, "tag", a->tag);
    put(&out, "comm", a->comm);
    break;
  case ACTION_CONTROL:
    put_control(&out, protocol, a->peer, a->words);
    break;
  case ACTION_MATCH:
    put(&out, "request", a->request);
    put_peer(&out, "peer", a->peer);
    put_peer(&out, "tag", a->tag);
    break;
  case ACTION_DELIVER:
    put(&out, "request", a->request);
    if (a->slot) {
      put(&out, "peer", a->peer);
      put(&out, "tag", a->tag);
      put(&out, "slot", a->slot);
    }
    break;
  case ACTION_FORCE:
    put(&out, "outcome", a->outcome);
    break;
  case ACTION_SET_TIMER:
    put_some(&out, "checkpoint", a->checkpoint);
    if (a->checkpoint)
      put_bounds(&out, a->after);
    break;
  case ACTION_DRAIN:
    put_peer(&out, "peer", a->peer);
    break;
  case ACTION_STOPPED_LOGGING:
    put_some(&out, "checkpoint", a->checkpoint);
    put_some(&out, "outcome", a->outcome);
    break;
  case ACTION_STORE:
    put_name(&out, "part=", part_names[a->part]);
    put_some(&out, "checkpoint", a->checkpoint);
    break;
  case ACTION_GIVE_UP:
    put_name(&out, "reason=", reason_name(a->reason));
    break;
  default:
    put_some(&out, "slot", a->slot);
    put_some(&out, "checkpoint", a->checkpoint);
  }
  return text;
}

/* ---- parsing ---- */

/* One `key=value` or bare word of a line. */
struct field {
  const char *start;
  size_t key;        /* length of the key, or of the bare word */
  const char *value; /* NULL for a bare word */
  size_t length;     /* of the value */
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
    *value = any ? ANY : NOBODY;
    return true;
  }
  char *end;
  *value = strtoll(field->value, &end, 10);
  return field->length > 0 && end == field->value + field->length;
}

/* Three numbers, separated by commas. */
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
  _Static_assert(WORDS == 3, "numbers() reads three");
  int64_t value[WORDS];
  if (!numbers(field, value))
    return false;
  for (int i = 0; i < WORDS; i++)
    out[i] = (uint32_t)value[i];
  return true;
}

static bool bounds(const struct field *field, int8_t *out)
{
  _Static_assert(BOUNDS == 3, "numbers() reads three");
  int64_t value[BOUNDS];
  if (!numbers(field, value))
    return false;
  for (int i = 0; i < BOUNDS; i++)
    out[i] = (int8_t)value[i];
  return true;
}

static bool event_field(const struct field *field, struct event *e)
{
  if (is(field, "words"))
    return words(field, e->words);
  if (is(field, "part")) {
    int part = find(part_names, PARTS, field->value, field->length);
    e->part = (uint8_t)part;
    return part >= 0;
  }
  if (is(field, "flow")) {
    int flow = find(flow_names, FLOWS, field->value, field->length);
    e->flow = (uint8_t)flow;
    return flow >= 0;
  }
  int64_t value;
  if (!number(field, &value))
    return false;
  if (is(field, "peer"))
    e->peer = (int16_t)value;
  else if (is(field, "tag"))
    e->tag = (int32_t)value;
  else if (is(field, "comm"))
    e->comm = (int16_t)value;
  else if (is(field, "request"))
    e->request = (uint32_t)value;
  else if (is(field, "bytes"))
    e->bytes = (uint32_t)value;
  else if (is(field, "checkpoint"))
    e->checkpoint = (uint32_t)value;
  else if (is(field, "outcome"))
    e->outcome = (uint32_t)value;
  else
    return false;
  return true;
}

static bool action_field(const struct field *field, struct action *a)
{
  if (is(field, "words"))
    return words(field, a->words);
  if (is(field, "after"))
    return bounds(field, a->after);
  if (is(field, "part") || is(field, "reason")) {
    bool part = is(field, "part");
    int i =
        find(part ? part_names : reason_names, part ? PARTS : REASONS, field->value, field->length);
    *(part ? &a->part : &a->reason) = (uint8_t)i;
    return i >= 0;
  }
  int64_t value;
  if (!number(field, &value))
    return false;
  if (is(field, "peer"))
    a->peer = (int16_t)value;
  else if (is(field, "tag"))
    a->tag = (int32_t)value;
  else if (is(field, "comm"))
    a->comm = (int16_t)value;
  else if (is(field, "request"))
    a->request = (uint32_t)value;
  else if (is(field, "slot"))
    a->slot = (uint32_t)value;
  else if (is(field, "checkpoint"))
    a->checkpoint = (uint32_t)value;
  else if (is(field, "outcome"))
    a->outcome = (uint32_t)value;
  else
    return false;
  return true;
}

/* A word without a value: a flag, or what the paper calls a control message. */
static bool event_word(const struct field *field, struct event *e)
{
  switch ((enum event_kind)e->kind) {
  case EVENT_CONTROL:
    return true;
  case EVENT_ARRIVED:
    e->wildcard = is(field, "wildcard");
    return e->wildcard;
  case EVENT_START:
  case EVENT_CAPTURED:
    e->closed = is(field, "closed");
    return e->closed;
  default:
    return false;
  }
}

const char *event_parse(const char *text, struct event *e)
{
  struct field field;
  const char *at = next_field(text, &field);
  int kind = find(event_names, EVENT_KINDS, field.start, field.key);
  if (kind <= EVENT_NONE || field.value)
    return field.start;
  *e = (struct event){.kind = (uint8_t)kind};
  for (at = next_field(at, &field); field.key; at = next_field(at, &field))
    if (!(field.value ? event_field(&field, e) : event_word(&field, e)))
      return field.start;
  return NULL;
}

const char *action_parse(const char *text, struct action *a)
{
  struct field field;
  const char *at = next_field(text, &field);
  int kind = find(action_names, ACTION_KINDS, field.start, field.key);
  if (kind <= ACTION_NONE || field.value)
    return field.start;
  *a = (struct action){.kind = (uint8_t)kind};
  for (at = next_field(at, &field); field.key; at = next_field(at, &field))
    if (field.value ? !action_field(&field, a) : kind != ACTION_CONTROL)
      return field.start;
  return NULL;
}
