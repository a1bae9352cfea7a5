#include "prove/events.h"

#include <stddef.h>

/* Names the fields of an event that may differ from zero, as protocol.h describes them. */
enum field {
  PART = 1 << 0,
  WILDCARD = 1 << 1,
  FLOW = 1 << 2,
  CLOSED = 1 << 3, /* only for protocols that reconnect */
  MAKES = 1 << 4,
  COMM = 1 << 5,
  TAG = 1 << 6,
  CALL = 1 << 7,
  REQUEST = 1 << 8, /* any number, or with SOME, one from 1 on */
  BYTES = 1 << 9,
  CHECKPOINT = 1 << 10, /* any number, or with SOME, one from 1 on */
  OUTCOME = 1 << 11,
  INCARNATION = 1 << 12,   /* only with independent recovery */
  CONTRIBUTIONS = 1 << 13, /* at most as many as there are ranks */
  WORDS = 1 << 14,
  CONTROL = 1 << 15,
  SOME = 1 << 16,
  DRAINED = 1 << 17 /* ARRIVED without a receive, below the matching or because the rank drains */
};

enum peers { NO_PEER, EACH_RANK, EACH_OTHER, EACH_OR_ANY };

/* clang-format off */
static const struct shape {
  enum rcl_event_kind kind;
  enum peers peers;
  uint32_t fields;
} shapes[] = {
  {RCL_EVENT_START, NO_PEER, REQUEST | CLOSED | CHECKPOINT | SOME | INCARNATION},
  {RCL_EVENT_DOWN, EACH_OTHER, CHECKPOINT | INCARNATION},
  {RCL_EVENT_TIMER, NO_PEER, 0},
  {RCL_EVENT_SEND, EACH_RANK, COMM | TAG | BYTES},
  {RCL_EVENT_RECEIVE, EACH_OR_ANY, COMM | TAG | REQUEST | SOME},
  {RCL_EVENT_CHOICE, NO_PEER, REQUEST | OUTCOME},
  {RCL_EVENT_SAFE_POINT, NO_PEER, OUTCOME},
  {RCL_EVENT_MEMBER, NO_PEER, COMM},
  {RCL_EVENT_COLLECTIVE, EACH_RANK, FLOW | MAKES | COMM | CALL},
  {RCL_EVENT_OUTPUT, NO_PEER, REQUEST | BYTES | SOME},
  {RCL_EVENT_ARRIVED, EACH_RANK, WILDCARD | COMM | TAG | REQUEST | SOME | BYTES | WORDS},
  {RCL_EVENT_CONTROL, EACH_OTHER, CONTROL},
  {RCL_EVENT_COLLECTED, EACH_RANK, FLOW | MAKES | COMM | CALL | CONTRIBUTIONS | WORDS},
  {RCL_EVENT_CAPTURED, NO_PEER, REQUEST | CLOSED | CHECKPOINT | SOME},
  {RCL_EVENT_DURABLE, NO_PEER, PART | CHECKPOINT | SOME},
  {RCL_EVENT_COMMITTED, NO_PEER, CHECKPOINT | SOME},
  {RCL_EVENT_ARRIVED, EACH_RANK, COMM | TAG | REQUEST | BYTES | WORDS | DRAINED},
};
/* clang-format on */

static bool is_raised(const struct rank_world *w, const struct shape *shape)
{
  const struct rcl_protocol *t = &w->traits;
  bool below = t->level == RCL_LEVEL_CHANNEL;
  switch (shape->kind) {
  case RCL_EVENT_ARRIVED:
    return shape->fields & DRAINED ? below || (w->drains && !w->either) : !below;
  case RCL_EVENT_RECEIVE:
  case RCL_EVENT_SAFE_POINT:
    return !below;
  case RCL_EVENT_COLLECTIVE:
  case RCL_EVENT_COLLECTED:
  case RCL_EVENT_MEMBER:
    return t->collectives;
  case RCL_EVENT_COMMITTED:
    return !t->independent && w->self == RCL_COORDINATOR_RANK;
  case RCL_EVENT_CONTROL:
    return w->controls[0] != NULL;
  default:
    return true;
  }
}

/* ---- one event ---- */

struct making {
  struct rank_world *w;
  GPtrArray *conditions;
};

static void set(struct making *m, size_t at, uint64_t bits, uint32_t bytes)
{
  const struct value v = value_bits(8 * bytes, bits);
  rank_write(m->w, NULL, m->w->event, (uint32_t)at, &v, bytes);
}

/* Makes the value of a field unknown; it lies between `least` and `most`. */
static void any(struct making *m, const char *name, size_t at, uint32_t bytes, uint64_t least,
                uint64_t most)
{
  Z3_context z = m->w->x.z3;
  struct value v = value_unknown(z, 8 * bytes, name);
  rank_write(m->w, NULL, m->w->event, (uint32_t)at, &v, bytes);
  const struct value low = value_bits(8 * bytes, least), high = value_bits(8 * bytes, most);
  struct value above = value_compare(z, LLVMIntUGE, &v, &low),
               below = value_compare(z, LLVMIntULE, &v, &high);
  g_ptr_array_add(m->conditions, value_ast(z, &above));
  g_ptr_array_add(m->conditions, value_ast(z, &below));
}

#define FIELD(m, member, least, most)                                                              \
  any((m), #member, offsetof(struct rcl_event, member),                                            \
      (uint32_t)sizeof(((struct rcl_event *)0)->member), (least), (most))

static void make_words(struct making *m)
{
  any(m, "word0", offsetof(struct rcl_event, words), 4, 0, UINT32_MAX);
  any(m, "word1", offsetof(struct rcl_event, words) + 4, 4, 0, UINT32_MAX);
  any(m, "word2", offsetof(struct rcl_event, words) + 8, 4, 0, UINT32_MAX);
}

static void make_control(struct making *m)
{
  uint64_t kinds = 0;
  while (m->w->controls[kinds])
    kinds++;
  FIELD(m, control, 0, kinds - 1);
  FIELD(m, about, 0, UINT32_MAX);
  FIELD(m, value, 0, UINT32_MAX);
}

static void make_fields(struct making *m, uint32_t fields)
{
  const struct rcl_protocol *t = &m->w->traits;
  uint64_t from = fields & SOME ? 1 : 0;
  if (fields & PART)
    FIELD(m, part, 0, RCL_PARTS - 1);
  if (fields & WILDCARD)
    FIELD(m, wildcard, 0, t->level == RCL_LEVEL_APPLICATION);
  if (fields & FLOW)
    FIELD(m, flow, 1, RCL_FLOWS - 1);
  if (fields & CLOSED)
    FIELD(m, closed, 0, t->reconnects);
  if (fields & MAKES)
    FIELD(m, makes, 0, 1);
  if (fields & COMM)
    FIELD(m, comm, 0, INT16_MAX);
  if (fields & TAG)
    FIELD(m, tag, 0, UINT32_MAX);
  if (fields & CALL)
    FIELD(m, call, 1, INT32_MAX);
  if (fields & REQUEST)
    FIELD(m, request, fields & CHECKPOINT ? 0 : from, fields & DRAINED ? 0 : UINT32_MAX);
  if (fields & BYTES)
    FIELD(m, bytes, 0, UINT32_MAX);
  if (fields & CHECKPOINT)
    FIELD(m, checkpoint, t->independent && fields & PART ? 0 : from, UINT32_MAX);
  if (fields & OUTCOME)
    FIELD(m, outcome, 0, UINT32_MAX);
  if (fields & INCARNATION)
    FIELD(m, incarnation, 0, t->independent ? UINT16_MAX : 0);
  if (fields & CONTRIBUTIONS)
    FIELD(m, contributions, 0, (uint64_t)m->w->ranks);
  if (fields & WORDS)
    make_words(m);
  if (fields & CONTROL)
    make_control(m);
}

static void begin(struct making *m, enum rcl_event_kind kind, int peer)
{
  for (size_t i = 0; i < sizeof(struct rcl_event); i++)
    set(m, i, 0, 1);
  set(m, offsetof(struct rcl_event, kind), kind, 1);
  set(m, offsetof(struct rcl_event, peer), (uint16_t)peer, 2);
  g_ptr_array_set_size(m->conditions, 0);
}

static bool names(const struct rank_world *w, enum peers peers, int peer)
{
  switch (peers) {
  case NO_PEER:
    return peer == 0;
  case EACH_RANK:
    return peer >= 0;
  case EACH_OTHER:
    return peer >= 0 && peer != w->self;
  default:
    return true;
  }
}

static uint32_t fields_of(const struct rank_world *w, const struct shape *shape)
{
  if (shape->kind == RCL_EVENT_TIMER && w->traits.clocks)
    return shape->fields | CHECKPOINT | SOME;
  if (shape->kind == RCL_EVENT_ARRIVED && w->either)
    return shape->fields & ~(uint32_t)SOME;
  return shape->fields;
}

void events_each(struct rank_world *w,
                 bool (*each)(void *ctx, struct rank_world *, const GPtrArray *conditions,
                              enum rcl_event_kind, bool fresh),
                 void *ctx)
{
  struct making m = {w, g_ptr_array_new()};
  bool more = true;
  begin(&m, RCL_EVENT_START, 0);
  more = each(ctx, w, m.conditions, RCL_EVENT_START, true);
  for (size_t i = 0; i < G_N_ELEMENTS(shapes) && more; i++) {
    if (!is_raised(w, &shapes[i]))
      continue;
    for (int peer = RCL_ANY; peer < w->ranks && more; peer++) {
      if (!names(w, shapes[i].peers, peer))
        continue;
      begin(&m, shapes[i].kind, peer);
      make_fields(&m, fields_of(w, &shapes[i]));
      more = each(ctx, w, m.conditions, shapes[i].kind, false);
    }
  }
  g_ptr_array_free(m.conditions, TRUE);
}
