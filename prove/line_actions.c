/* Takes the actions of a step. Follows only their effects on the things that clauses name (compare
 * world/rules/world_actions.c). */
#include <stddef.h>

#include "prove/line_moves.h"

/* Holds a step whose actions take effect. */
struct taking {
  struct whole *h;
  struct line_move *m;
  struct path *p;
  uint32_t at; /* index of the action in the list */
  const char *unknown;
};

static struct value field(const struct taking *t, size_t offset, uint32_t bytes)
{
  return path_peek(&t->h->w.x, t->p, t->h->w.items, t->at + (uint32_t)offset, bytes);
}

#define FIELD(t, member)                                                                           \
  field((t), offsetof(struct rcl_action, member), sizeof(((struct rcl_action *)0)->member))

static Z3_ast term(const struct taking *t, struct value v)
{
  return value_ast(t->h->w.x.z3, &v);
}

/* Returns the value of a field. If the value is not known, or is not below `most`, sets t->unknown
 * and returns 0. */
static uint32_t known(struct taking *t, struct value v, uint32_t most)
{
  if (v.kind != VALUE_BITS || v.bits >= most)
    t->unknown = "an action names a rank or a kind that depends on the state";
  return t->unknown ? 0 : (uint32_t)v.bits;
}

static Z3_ast *word(const struct taking *t, enum rank_word which)
{
  return &t->m->now[word_of_rank(t->h, t->m->rank, which)];
}

/* Returns the event's checkpoint as a term over the words before the move, because the words after
 * the move no longer contain it. */
static Z3_ast event_checkpoint(const struct taking *t)
{
  return term(
      t, path_peek(&t->h->w.x, t->p, t->h->w.event, offsetof(struct rcl_event, checkpoint), 4));
}

static void raise_word(struct taking *t, uint32_t word)
{
  t->m->now[word] = plus(t->h, t->m->now[word], number(t->h, 1));
}

/* Counts a message that goes under way, by the message's colour. */
static void put_colour(struct taking *t, uint32_t peer)
{
  struct whole *h = t->h;
  Z3_ast sent = term(t, field(t, offsetof(struct rcl_action, words), 4));
  if (t->m->colour == ANY_COLOUR)
    t->unknown = "a message with words is sent without a send of the program";
  if (t->unknown)
    return;
  Z3_ast *count = &t->m->now[word_of_colour(h, t->m->rank, (int)peer, t->m->colour, COLOUR_COUNT)],
         *word = &t->m->now[word_of_colour(h, t->m->rank, (int)peer, t->m->colour, COLOUR_WORD)];
  path_add(&h->w.x, t->p, is_coloured(h, sent, t->m->colour), NULL);
  line_move_duty(t->m, "colour", "messages under way of one colour share their first word",
                 either(h, is_number(h, *count, 0), same(h, *word, sent)));
  *count = plus(h, *count, number(h, 1));
  *word = sent;
}

static void put_message(struct taking *t, uint32_t peer)
{
  raise_word(t, word_of_channel(t->h, t->m->rank, (int)peer, CHANNEL_MESSAGES));
  if (t->h->coloured)
    put_colour(t, peer);
}

/* Counts a message that the program has sent, transmitted or not. */
static void count_sent(struct taking *t, uint32_t peer)
{
  if (t->m->kind == RCL_EVENT_SEND)
    raise_word(t, word_of_count(t->h, t->m->rank, (int)peer, OF_STATE, COUNT_SENT));
}

/* Counts a message that the program is given: the message that has arrived, or a message that was
 * kept. */
static void count_given(struct taking *t, uint32_t peer)
{
  struct whole *h = t->h;
  struct value slot = FIELD(t, slot);
  bool arrives = slot.kind == VALUE_BITS && slot.bits == RCL_NO_SLOT;
  if (h->merges && slot.kind != VALUE_BITS && t->m->kind != RCL_EVENT_RECEIVE)
    t->unknown = "whether a message is given from a slot depends on the state";
  if (arrives && t->m->kind == RCL_EVENT_ARRIVED)
    raise_word(t, word_of_count(h, (int)peer, t->m->rank, OF_STATE, COUNT_GIVEN));
  if (arrives || t->m->kind == RCL_EVENT_COLLECTIVE)
    return;
  Z3_ast from = term(t, FIELD(t, peer));
  for (int j = 0; j < h->ranks; j++) {
    Z3_ast *given = &t->m->now[word_of_count(h, j, t->m->rank, OF_STATE, COUNT_GIVEN)],
           is_from = same(h, from,
                          Z3_mk_unsigned_int(h->w.x.z3, (unsigned)j, Z3_get_sort(h->w.x.z3, from)));
    *given = chosen(h, is_from, plus(h, *given, number(h, 1)), *given);
  }
}

/* Joins a barrier of all ranks. From then on, all other ranks have yet to take this rank's
 * contribution. */
static void join_barrier(struct taking *t)
{
  struct whole *h = t->h;
  Z3_ast *now = t->m->now;
  *word(t, WORD_JOINED) = number(h, 1);
  for (unsigned k = 0; k < RCL_WORDS; k++)
    *word(t, WORD_OWN + k) =
        term(t, field(t, offsetof(struct rcl_action, words) + k * sizeof(uint32_t), 4));
  for (int to = 0; to < h->ranks; to++) {
    if (to == t->m->rank)
      continue;
    uint32_t shares = word_of_channel(h, t->m->rank, to, CHANNEL_SHARES),
             first = word_of_channel(h, t->m->rank, to, CHANNEL_SHARE);
    Z3_ast none = is_number(h, now[shares], 0);
    line_move_duty(t->m, "barrier", "no rank contributes to a third barrier before a peer's first",
                   Z3_mk_bvult(h->w.x.z3, now[shares], number(h, RCL_WHOLE_SHARES)));
    for (unsigned k = 0; k < RCL_WORDS; k++) {
      Z3_ast *one = &now[first + k], *two = &now[first + RCL_WORDS + k],
             own = *word(t, WORD_OWN + k);
      *two = chosen(h, none, *two, own);
      *one = chosen(h, none, own, *one);
    }
    raise_word(t, shares);
  }
}

/* Puts a control message into the channel to `to` if `is_sent` holds, or always if `is_sent` is
 * NULL. */
static void put_control_to(struct taking *t, int to, uint32_t kind, Z3_ast is_sent)
{
  struct whole *h = t->h;
  int from = t->m->rank;
  Z3_ast *now = t->m->now, *word = &now[word_of_control(h, from, to, kind, 0)],
         none = is_number(h, word[WORD_COUNT], 0), behind = number(h, 0);
  for (uint32_t k = 0; k < h->kinds; k++)
    behind = plus(h, behind, now[word_of_control(h, from, to, k, WORD_COUNT)]);
  const Z3_ast is[CONTROL_WORDS] = {
      [WORD_COUNT] = number(h, 1),
      [WORD_PLACE] = behind,
      [WORD_ABOUT] = term(t, FIELD(t, about)),
      [WORD_VALUE] = term(t, FIELD(t, value)),
      [WORD_AHEAD] = h->below && h->ordered ? now[word_of_channel(h, from, to, CHANNEL_MESSAGES)]
                                            : word[WORD_AHEAD]};
  line_move_duty(t->m, "channel", "no control message is sent while one of its kind is under way",
                 is_sent ? implied(h, is_sent, none) : none);
  for (unsigned k = 0; k < CONTROL_WORDS; k++)
    word[k] = is_sent ? chosen(h, is_sent, is[k], word[k]) : is[k];
}

/* Sends a control message to the rank that the action names. That rank may depend on the state. */
static void put_control(struct taking *t)
{
  struct whole *h = t->h;
  struct value peer = FIELD(t, peer);
  uint32_t kind = known(t, FIELD(t, control), h->kinds);
  if (peer.kind != VALUE_TERM) {
    int to = (int)known(t, peer, (uint32_t)h->ranks);
    put_control_to(t, to, kind, NULL);
    return;
  }
  Z3_ast name = term(t, peer), some = Z3_mk_false(h->w.x.z3);
  for (int to = 0; to < h->ranks; to++) {
    Z3_ast is_to =
        same(h, name, Z3_mk_unsigned_int(h->w.x.z3, (unsigned)to, Z3_get_sort(h->w.x.z3, name)));
    some = either(h, some, is_to);
    put_control_to(t, to, kind, is_to);
  }
  line_move_duty(t->m, "channel", "a control message is sent to a rank", some);
}

static void capture(struct taking *t)
{
  Z3_ast checkpoint = term(t, FIELD(t, checkpoint));
  bool place =
      t->h->below || t->m->kind == RCL_EVENT_SAFE_POINT || t->m->kind == RCL_EVENT_COLLECTED;
  line_move_duty(
      t->m, "capture",
      "an image is taken of the next checkpoint, below the matching or while its rank is held",
      both(t->h, same(t->h, checkpoint, next_checkpoint(t->h, t->m->now)),
           either(t->h, place ? Z3_mk_true(t->h->w.x.z3) : Z3_mk_false(t->h->w.x.z3),
                  is_number(t->h, *word(t, WORD_HELD), 1))));
  *word(t, WORD_CAPTURING) = checkpoint;
}

/* Adds the duty to show that nothing is stored in `storing` and `durable`, and that the checkpoint
 * is the next one.
 */
static void may_store(struct taking *t, enum rank_word storing, enum rank_word durable,
                      Z3_ast checkpoint, const char *text)
{
  struct whole *h = t->h;
  Z3_ast none = both(h, is_number(h, *word(t, storing), 0), is_number(h, *word(t, durable), 0));
  line_move_duty(t->m, "store", text,
                 both(h, none, same(h, checkpoint, next_checkpoint(h, t->m->now))));
}

/* Stores the state after the step, together with a part of the checkpoint. */
static void store_state(struct taking *t, enum memory_of memory)
{
  struct whole *h = t->h;
  for (uint32_t k = 0; k < h->words; k++)
    t->m->now[word_of_memory(h, t->m->rank, memory, k)] =
        t->m->now[word_of_memory(h, t->m->rank, OF_STATE, k)];
}

static void store_log(struct taking *t, Z3_ast checkpoint)
{
  if (!t->h->logs) {
    t->unknown = "a log is stored, of which the protocol's `place` says nothing";
    return;
  }
  may_store(t, WORD_STORING_LOG, WORD_DURABLE_LOG, checkpoint,
            "a log is stored once, of the next checkpoint");
  *word(t, WORD_STORING_LOG) = checkpoint;
  store_state(t, OF_LOG);
}

static void store(struct taking *t)
{
  struct whole *h = t->h;
  Z3_ast checkpoint = term(t, FIELD(t, checkpoint));
  if (known(t, FIELD(t, part), RCL_PARTS) == RCL_PART_LOG) {
    store_log(t, checkpoint);
    return;
  }
  if (t->m->kind != RCL_EVENT_CAPTURED)
    t->unknown = "an image is stored later than it is captured";
  if (t->unknown)
    return;
  line_move_duty(t->m, "store", "an image is stored of the checkpoint that was captured",
                 same(h, checkpoint, event_checkpoint(t)));
  may_store(t, WORD_STORING, WORD_DURABLE, checkpoint,
            "an image is stored once, of the next checkpoint");
  *word(t, WORD_STORING) = checkpoint;
  store_state(t, OF_NEWER);
  /* The image contains the program as it was before the step. */
  whole_copy_counts(h, t->m->rank, t->m->now, OF_NEWER, h->before, OF_STATE);
}

static void erase(struct taking *t)
{
  struct whole *h = t->h;
  Z3_ast checkpoint = term(t, FIELD(t, checkpoint)), committed = t->m->now[GLOBAL_COMMITTED],
         fresh = is_number(h, committed, RCL_FRESH), none = number(h, 0);
  Z3_ast *restorable = word(t, WORD_RESTORABLE), *older = word(t, WORD_OLDER),
         *logged = word(t, WORD_LOGGED),
         is_of_line = both(h, negated(h, fresh), same(h, checkpoint, committed));
  static const enum rank_word newer[] = {WORD_STORING, WORD_DURABLE, WORD_STORING_LOG,
                                         WORD_DURABLE_LOG};
  *restorable = chosen(h, is_of_line, none, *restorable);
  *logged = chosen(h, is_of_line, none, *logged);
  *older = chosen(h, same(h, plus(h, checkpoint, number(h, 1)), committed), none, *older);
  for (unsigned i = 0; i < G_N_ELEMENTS(newer); i++) {
    Z3_ast *is = word(t, newer[i]);
    *is = chosen(h, same(h, checkpoint, *is), none, *is);
  }
}

static void ask_commit(struct taking *t)
{
  Z3_ast *committing = &t->m->now[GLOBAL_COMMITTING];
  line_move_duty(t->m, "commit", "one checkpoint is committed at a time",
                 is_number(t->h, *committing, 0));
  *committing = term(t, FIELD(t, checkpoint));
}

/* Takes an action of any kind but STORE, which comes last. */
static void take(struct taking *t, enum rcl_action_kind kind, bool *gives_up)
{
  struct path none = {0};
  struct value peer =
      path_peek(&t->h->w.x, &none, t->h->w.event, offsetof(struct rcl_event, peer), 2);
  switch (kind) {
  case RCL_ACTION_TRANSMIT:
    put_message(t, (uint32_t)peer.bits);
    count_sent(t, (uint32_t)peer.bits);
    break;
  case RCL_ACTION_SUPPRESS:
    count_sent(t, (uint32_t)peer.bits);
    break;
  case RCL_ACTION_DELIVER:
    count_given(t, (uint32_t)peer.bits);
    break;
  case RCL_ACTION_JOIN:
    if (t->m->barrier)
      join_barrier(t);
    break;
  case RCL_ACTION_RESEND:
    put_message(t, known(t, FIELD(t, peer), (uint32_t)t->h->ranks));
    break;
  case RCL_ACTION_CONTROL:
    put_control(t);
    break;
  case RCL_ACTION_HOLD:
  case RCL_ACTION_RELEASE:
    *word(t, WORD_HELD) = number(t->h, kind == RCL_ACTION_HOLD);
    break;
  case RCL_ACTION_SET_TIMER:
    *word(t, WORD_TIMER) = number(t->h, 1);
    break;
  case RCL_ACTION_CAPTURE:
    capture(t);
    break;
  case RCL_ACTION_COMMIT:
    ask_commit(t);
    break;
  case RCL_ACTION_ERASE:
    erase(t);
    break;
  case RCL_ACTION_DRAIN:
    t->h->w.drains = true;
    break;
  case RCL_ACTION_GIVE_UP:
    *gives_up = true;
    break;
  case RCL_ACTION_REJOIN:
  case RCL_ACTION_ROLL_BACK:
    t->unknown = "a rank goes back by itself, or takes part in a collective for others";
    break;
  default: /* actions on payloads, outputs and connections, of which no clause speaks */
    break;
  }
}

const char *line_actions_take(struct whole *h, struct line_move *m, struct path *p, bool *gives_up)
{
  struct taking t = {h, m, p, 0, NULL};
  struct value count = path_peek(&h->w.x, p, h->w.list, offsetof(struct rcl_actions, count), 4);
  if (count.kind != VALUE_BITS)
    return "how many actions there are depends on the state";
  for (int last = 0; last < 2; last++)
    for (uint32_t i = 0; i < count.bits && !t.unknown; i++) {
      t.at = i * (uint32_t)sizeof(struct rcl_action);
      enum rcl_action_kind kind =
          (enum rcl_action_kind)known(&t, FIELD(&t, kind), RCL_ACTION_KINDS);
      if (!t.unknown && last && kind == RCL_ACTION_STORE)
        store(&t);
      else if (!t.unknown && !last && kind != RCL_ACTION_STORE)
        take(&t, kind, gives_up);
    }
  return t.unknown;
}
