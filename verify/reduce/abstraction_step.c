/* Tries one action at a node, in all combinations of the values of other things at which the action
 * looks. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "verify/reduce/abstraction_parts.h"

enum { COMBINATIONS = 1 << 16 };

const char abstraction_unfinished[] = "ranks can come to too many values";

static const enum part_kind shared_kinds[SHARED_PARTS] = {WORLD_GLOBAL, WORLD_TOKENS};

/* ---- what has been found so far ---- */

uint32_t abstraction_add_action(struct abstraction *c, uint32_t rank,
                                const struct abstraction_action *action)
{
  struct abstraction_rank *r = &c->rank[rank];
  uint32_t count = r->actions.count, number = intern(&r->actions, action, sizeof *action);
  if (number <= count)
    return number - 1;
  c->grown = true;
  if (number > ABSTRACTION_ACTIONS)
    refuse(c, "a rank has too many moves");
  r->most = memory_zeroed_room(r->most, number - 1, &r->most_room, sizeof *r->most);
  return number - 1;
}

uint32_t abstraction_add_value(struct abstraction *c, uint32_t rank, const uint32_t *values)
{
  struct abstraction_rank *r = &c->rank[rank];
  struct transition_cache *m = &c->model->rules_cache;
  uint32_t before = r->values.count;
  uint32_t number = intern(&r->values, values, WORLD_RANK_PARTS * (uint32_t)sizeof *values);
  if (number <= before)
    return number;
  if (values[WORLD_REJOINED] != c->first[part_of(c, WORLD_REJOINED, rank, 0)])
    refuse(c, "a rank takes calls again"); /* senders look at the calls that a rank takes again */
  uint32_t head = transition_cache_head(m, values[WORLD_RANK]);
  for (uint32_t i = 0; i < r->heads_count; i++)
    if (transition_cache_head(m, r->heads[i]) == head)
      return number;
  c->grown = true;
  r->heads = memory_grow(r->heads, (r->heads_count + 1) * sizeof *r->heads);
  r->heads[r->heads_count++] = values[WORLD_RANK];
  return number;
}

uint32_t abstraction_add_shared(struct abstraction *c, unsigned shared, uint32_t value,
                                const uint32_t *counts, uint32_t by)
{
  uint32_t key[1 + c->ranks], before = c->shared[shared].count;
  memset(key, 0, sizeof key);
  key[0] = value;
  if (counts && shared != SHARED_GLOBAL) {
    memcpy(key + 1, counts, c->ranks * sizeof *counts);
    key[1 + by]++;
  }
  uint32_t number = intern(&c->shared[shared], key, (uint32_t)sizeof key);
  c->grown |= number > before;
  return number;
}

static const uint32_t *shared_entry(const struct abstraction *c, unsigned shared, uint32_t number)
{
  return c->shared[shared].item[number].bytes;
}

/* ---- one step ---- */

/* Finds the entries of a shared part in which the node can be. */
static void find_fits(struct abstraction *c, struct attempt *a, unsigned shared)
{
  uint32_t count = 0;
  a->fits[shared] = memory_grow(a->fits[shared], (c->shared[shared].count + 1) * sizeof(uint32_t));
  for (uint32_t i = 1; i <= c->shared[shared].count; i++)
    if (shared != SHARED_GLOBAL
            ? shared_entry(c, shared, i)[1 + a->rank] == a->key[KEY_CHANGES + shared]
            : a->rank != RCL_COORDINATOR_RANK || i == a->key[KEY_CHANGES + shared])
      a->fits[shared][count++] = i;
  a->fits[shared][count] = 0;
  if (!count)
    refuse(c, "no value of a shared part fits the node of a rank");
}

static void vary(struct abstraction *c, struct attempt *a, uint32_t varied)
{
  for (unsigned shared = 0; shared < SHARED_PARTS; shared++)
    if (varied & ~a->varied & 1u << (c->ranks + shared))
      find_fits(c, a, shared);
  a->varied |= varied;
  memset(a->choice, 0, sizeof a->choice);
}

static enum part_kind kind_of(const struct abstraction *c, uint32_t queue)
{
  return WORLD_CHANNEL + queue / c->ranks;
}

/* Returns the n-th contribution of a peer, or 0 if there are fewer. */
static uint32_t contributed(const struct abstraction *c, const struct attempt *a, uint32_t peer,
                            uint32_t n)
{
  const struct intern *shares = &c->rank[a->rank].shares;
  for (uint32_t i = 1; i <= shares->count; i++) {
    const struct abstraction_send *share = shares->item[i].bytes;
    if (abstraction_sender(c, share->part) == peer && n-- == 0)
      return share->value;
  }
  return 0;
}

/* Returns the n-th value that a queue can have, or 0 if it can have fewer values. A queue holds
 * nothing or one message here, because the rules look at messages one by one. */
static uint32_t waiting(const struct abstraction *c, const struct attempt *a, uint32_t queue,
                        uint32_t n)
{
  if (n-- == 0)
    return 1;
  if (kind_of(c, queue) == WORLD_SHARE)
    return contributed(c, a, queue % c->ranks, n);
  for (uint32_t i = 0; i < abstraction_actions(c, a->rank); i++) {
    const struct abstraction_action *action = abstraction_action(c, a->rank, i);
    if (action->peer == (int16_t)(queue % c->ranks) && action->kind == kind_of(c, queue) &&
        n-- == 0)
      return action->what;
  }
  return 0;
}

/* Loads the node and the chosen values of the varied things. All other parts are as they are at the
 * beginning of a run, and nothing else is under way. */
static void load(struct abstraction *c, const struct attempt *a)
{
  uint32_t *values = c->model->rules_cache.values;
  memcpy(values, c->first, c->model->rules_cache.count * sizeof *values);
  for (uint32_t rank = 0; rank < c->ranks; rank++)
    if (a->varied & 1u << rank)
      values[part_of(c, WORLD_RANK, rank, 0)] = c->rank[rank].heads[a->choice[rank]];
  for (unsigned shared = 0; shared < SHARED_PARTS; shared++)
    if (a->varied & 1u << (c->ranks + shared))
      values[part_of(c, shared_kinds[shared], 0, 0)] =
          shared_entry(c, shared, a->fits[shared][a->choice[c->ranks + shared]])[0];
  if (a->rank == RCL_COORDINATOR_RANK)
    values[part_of(c, WORLD_GLOBAL, 0, 0)] =
        shared_entry(c, SHARED_GLOBAL, a->key[KEY_CHANGES + SHARED_GLOBAL])[0];
  memcpy(values + part_of(c, WORLD_RANK, a->rank, 0),
         c->rank[a->rank].values.item[a->key[KEY_VALUE]].bytes, WORLD_RANK_PARTS * sizeof *values);
  for (uint32_t queue = 0; queue < PAIR_KINDS * c->ranks; queue++)
    if (a->varied & 1u << (c->ranks + SHARED_PARTS + queue))
      values[part_of(c, kind_of(c, queue), queue % c->ranks, a->rank)] =
          waiting(c, a, queue, a->choice[c->ranks + SHARED_PARTS + queue]);
  struct abstraction_send takes[c->ranks];
  uint32_t count = abstraction_takes(c, a->rank, &a->action, takes);
  for (uint32_t i = 0; i < count; i++)
    values[takes[i].part] = takes[i].value;
}

/* Returns whether the action takes a message out of that part. */
static bool is_taken(const struct abstraction *c, const struct attempt *a, uint32_t part)
{
  struct abstraction_send takes[c->ranks];
  uint32_t count = abstraction_takes(c, a->rank, &a->action, takes), i = 0;
  while (i < count && takes[i].part != part)
    i++;
  return i < count;
}

/* Returns whether the part holds calls that a rank takes again. The part belongs to the rank, but
 * senders look at the part. In an abstraction the part is empty. */
static bool is_rejoined(const struct abstraction *c, uint32_t part)
{
  return part < c->ranks * WORLD_RANK_PARTS && part % WORLD_RANK_PARTS == WORLD_REJOINED;
}

/* Returns the things at which the last look-up has looked and which must be varied. They are heads
 * of other ranks, shared parts, and messages to the rank that the action does not take in. Refuses
 * the abstraction if the look-up has looked at anything else that does not belong to the rank. */
static uint32_t looked_at(struct abstraction *c, const struct attempt *a)
{
  const struct transition_cache *m = &c->model->rules_cache;
  uint32_t varied = 0;
  for (uint32_t i = 0; i < m->looked_count; i++) {
    uint32_t part = m->looked[i], of_pairs = c->ranks * WORLD_RANK_PARTS;
    if (part >= m->count) {
      uint32_t rank = (part - m->count) / WORLD_RANK_PARTS;
      varied |= rank == a->rank ? 0 : 1u << rank;
      continue;
    }
    for (unsigned shared = 0; shared < SHARED_PARTS; shared++)
      if (part == part_of(c, shared_kinds[shared], 0, 0))
        varied |= 1u << (c->ranks + shared);
    if (part >= part_of(c, WORLD_GLOBAL, 0, 0))
      continue;
    uint32_t pairs = c->ranks * c->ranks, pair = (part - of_pairs) % pairs;
    bool own = part < of_pairs ? part / WORLD_RANK_PARTS == a->rank
                               : pair / c->ranks == a->rank || pair % c->ranks == a->rank;
    if (!own && !is_rejoined(c, part))
      refuse(c, "a step looks at what belongs to others");
    if (part >= of_pairs && part < of_pairs + PAIR_KINDS * pairs && pair % c->ranks == a->rank &&
        pair / c->ranks != a->rank && !is_taken(c, a, part))
      varied |=
          1u << (c->ranks + SHARED_PARTS + (part - of_pairs) / pairs * c->ranks + pair / c->ranks);
  }
  return varied;
}

/* Goes on to the next combination of varied things. Returns false after the last one. */
static bool next_choice(const struct abstraction *c, struct attempt *a)
{
  uint32_t queues = c->ranks + SHARED_PARTS;
  for (uint32_t i = 0; i < queues + PAIR_KINDS * c->ranks; i++) {
    if (!(a->varied & 1u << i))
      continue;
    a->choice[i]++;
    if (i < c->ranks ? a->choice[i] < c->rank[i].heads_count
        : i < queues ? a->fits[i - c->ranks][a->choice[i]] != 0
                     : waiting(c, a, i - queues, a->choice[i]) != 0)
      return true;
    a->choice[i] = 0;
  }
  return false;
}

/* Adds a sent message to the messages that the receiver can take in. */
static void add_message(struct abstraction *c, enum part_kind kind, uint32_t from, uint32_t to,
                        uint32_t what)
{
  const struct abstraction_send share = {part_of(c, kind, from, to), what};
  uint32_t count = c->rank[to].shares.count;
  if (kind == WORLD_SHARE)
    c->grown |= intern(&c->rank[to].shares, &share, sizeof share) > count;
  else
    abstraction_add_action(
        c, to,
        &(struct abstraction_action){.peer = (int16_t)from, .kind = (uint16_t)kind, .what = what});
}

/* Adds the messages that were sent into a part. */
static void moves_of(struct abstraction *c, uint32_t part, uint32_t value)
{
  uint32_t pairs = c->ranks * c->ranks, first = part_of(c, WORLD_CHANNEL, 0, 0);
  uint32_t pair = (part - first) % pairs;
  enum part_kind kind = WORLD_CHANNEL + (part - first) / pairs;
  struct intern *parts = &c->model->rules_cache.parts;
  uint32_t size = (uint32_t)sizeof(struct world_message);
  if (pair / c->ranks == pair % c->ranks) {
    refuse(c, "messages of a rank to itself");
    return;
  }
  for (uint32_t i = 0; i < parts->item[value].size / size; i++) {
    const char *message = (const char *)parts->item[value].bytes + (size_t)i * size;
    add_message(c, kind, pair / c->ranks, pair % c->ranks, intern(parts, message, size));
  }
}

static int by_part(const void *a, const void *b)
{
  const struct abstraction_send *x = a, *y = b;
  return x->part < y->part ? -1 : x->part > y->part;
}

/* Notes the effect of a step: the new values of the rank, the messages that it sends, what it
 * stores, and the new value of a shared part. */
static void sort_changes(struct abstraction *c, const struct attempt *a,
                         const struct effect *effect, struct outcome *o, uint32_t *after)
{
  const struct transition_cache *m = &c->model->rules_cache;
  uint32_t own[WORLD_RANK_PARTS], cut[WORLD_RANK_PARTS];
  struct abstraction_send sent[effect->count + 1];
  uint32_t count = 0;
  memcpy(own, c->rank[a->rank].values.item[a->key[KEY_VALUE]].bytes, sizeof own);
  for (uint32_t i = 0; i < effect->count; i++) {
    struct change change = m->changes[effect->first + i];
    if (change.part / WORLD_RANK_PARTS == a->rank) {
      own[change.part - part_of(c, WORLD_RANK, a->rank, 0)] = change.value;
    } else if (is_taken(c, a, change.part)) {
      if (change.value != 1)
        refuse(c, "a message that is taken in stays in its channel");
    } else if (change.part >= part_of(c, WORLD_GLOBAL, 0, 0)) {
      for (unsigned shared = 0; shared < SHARED_PARTS; shared++)
        if (change.part == part_of(c, shared_kinds[shared], 0, 0))
          after[shared] = change.value;
    } else if (change.part < part_of(c, WORLD_CHANNEL, 0, 0) ||
               (change.part - part_of(c, WORLD_CHANNEL, 0, 0)) % (c->ranks * c->ranks) / c->ranks !=
                   a->rank) {
      refuse(c, "a step changes what belongs to others");
    } else {
      moves_of(c, change.part, change.value);
      sent[count++] = (struct abstraction_send){change.part, change.value};
    }
  }
  qsort(sent, count, sizeof *sent, by_part);
  abstraction_cut(c, a->rank, own, cut);
  o->value = c->refused ? 0 : abstraction_add_value(c, a->rank, cut);
  o->sends = count ? intern(&c->sends, sent, count * (uint32_t)sizeof *sent) : 0;
  o->writes = c->before_crash ? abstraction_contents(c, own, cut) : 0;
}

static bool violates(struct abstraction *c, uint16_t number)
{
  struct verdict verdict = c->model->rules_cache.verdicts[number];
  bool gave_up = verdict.kind == VERDICT_GAVE_UP;
  if (model_violates(c->model, &verdict))
    return true;
  if (gave_up)
    refuse(c, "a protocol gives up, which ends the run of all");
  return false;
}

/* Notes the effect of the step on the shared part at which the step looks. */
static void note_shared(struct abstraction *c, struct attempt *a, bool wrong, const uint32_t *after)
{
  uint32_t look = a->varied >> c->ranks & ((1u << SHARED_PARTS) - 1);
  if (look & (look - 1))
    refuse(c, "a step looks at two things that all share");
  for (unsigned shared = 0; shared < SHARED_PARTS; shared++) {
    if (!(look & 1u << shared))
      continue;
    uint32_t entry = a->fits[shared][a->choice[c->ranks + shared]];
    uint32_t value = after[shared] ? after[shared] : shared_entry(c, shared, entry)[0];
    a->outcome.shared = (uint8_t)shared;
    uint32_t at = 0;
    while (at < a->count && a->table[at] != entry)
      at += 2;
    if (at < a->count && a->table[at + 1] != (wrong ? VIOLATES : value))
      refuse(c, "a step depends on what others do");
    if (at < a->count)
      continue;
    a->table = memory_grow(a->table, (a->count + 2) * sizeof *a->table);
    a->table[a->count++] = entry;
    a->table[a->count++] = wrong ? VIOLATES : value;
  }
}

/* Takes the action in the chosen combination. Returns false if the action looks at more things than
 * are varied so far. */
static bool try(struct abstraction *c, struct attempt *a)
{
  uint32_t after[SHARED_PARTS] = {0};
  struct outcome *o = &a->outcome, now = {0};
  if (++c->tries > c->most)
    refuse(c, abstraction_unfinished);
  load(c, a);
  struct move move = *(const struct move *)c->model->rules_cache.moves.item[a->move].bytes;
  transition_cache_forget_reads(&c->model->rules_cache);
  if (a->varied >> c->ranks && world_refuses(c->model->world, &move)) {
    refuse(c, "which moves there are depends on what all share");
    return true;
  }
  const struct effect effect = *transition_cache_step(&c->model->rules_cache, a->move);
  uint32_t looked = looked_at(c, a);
  if (looked & ~a->varied) {
    vary(c, a, looked);
    return false;
  }
  bool wrong = effect.verdict && violates(c, effect.verdict);
  if (!wrong)
    sort_changes(c, a, &effect, &now, after);
  note_shared(c, a, wrong, after);
  o->violates |= wrong;
  if (wrong)
    return true;
  if (o->survives && (now.value != o->value || now.sends != o->sends || now.writes != o->writes))
    refuse(c, "a step depends on what others do");
  o->survives = true;
  o->value = now.value;
  o->sends = now.sends;
  o->writes = now.writes;
  return true;
}

/* Returns the number of the action's effect on a shared part. The number is 0 when the action
 * leaves the part alone and the part does not decide whether a property holds. */
static uint32_t sharing(struct abstraction *c, const struct attempt *a)
{
  unsigned shared = a->outcome.shared;
  uint32_t table[1 + a->count];
  bool any = a->outcome.violates && a->outcome.survives;
  if (any && !a->count)
    refuse(c, "whether a step violates a property depends on what others do");
  for (uint32_t i = 0; i < a->count; i += 2)
    any |=
        a->table[i + 1] != VIOLATES && a->table[i + 1] != shared_entry(c, shared, a->table[i])[0];
  if (!any)
    return 0;
  if (shared == SHARED_GLOBAL && a->rank != RCL_COORDINATOR_RANK)
    refuse(c, "ranks change the same thing");
  table[0] = shared;
  for (uint32_t i = 0; i < a->count; i += 2) {
    const uint32_t *counts = shared_entry(c, shared, a->table[i]) + 1;
    table[1 + i] = a->table[i];
    table[2 + i] = a->table[i + 1] == VIOLATES
                       ? VIOLATES
                       : abstraction_add_shared(c, shared, a->table[i + 1], counts, a->rank);
  }
  return intern(&c->shares, table, (uint32_t)sizeof table);
}

/* Tries the action in all combinations of the values of the things at which the action looks. */
static void try_all(struct abstraction *c, struct attempt *a)
{
  uint32_t combinations = 0;
  do {
    while (!try(c, a)) {
      a->count = combinations = 0;
      a->outcome = (struct outcome){0};
    }
    if (++combinations > COMBINATIONS)
      refuse(c, "a step looks at too much");
  } while (!c->refused && next_choice(c, a));
  if (!c->refused)
    a->outcome.shares = sharing(c, a);
  free(a->table);
  a->table = NULL;
}

/* ---- what is known of values ---- */

/* Returns the index of the answer for all nodes that have the same value and the same number of
 * changes. */
static uint32_t place(struct abstraction *c, const uint32_t *key, uint32_t what, bool *is_new)
{
  uint32_t asked[KEY_QUEUES + 1], before = c->asked.count;
  memcpy(asked, key, KEY_QUEUES * sizeof *asked);
  asked[KEY_QUEUES] = what;
  uint32_t number = intern(&c->asked, asked, (uint32_t)sizeof asked);
  *is_new = number > before;
  if (number >= c->answers_room) {
    c->answers_room = 2 * number;
    c->answers = memory_grow(c->answers, c->answers_room * sizeof *c->answers);
  }
  return number;
}

uint32_t abstraction_list(struct abstraction *c, struct attempt *a, uint32_t origin, uint32_t asked)
{
  bool is_new;
  uint32_t at = place(c, a->key, asked, &is_new), result = 0;
  if (!is_new)
    return c->answers[at].list;
  uint32_t queues = c->ranks + SHARED_PARTS, own_queues = 0;
  for (unsigned kind = 0; a->action.peer >= 0 && kind < KINDS; kind++)
    own_queues |= 1u << (queues + kind * c->ranks) << a->action.peer;
  /* only gathering depends on contributions */
  uint32_t shares = ((1u << c->ranks) - 1) << (queues + KINDS * c->ranks);
  vary(c, a, 1u << c->ranks); /* GLOBAL */
  do {
    load(c, a);
    const struct enabled_list *turn = transition_cache_list(&c->model->rules_cache, origin);
    if (looked_at(c, a) & ~a->varied & ~own_queues & ~shares)
      refuse(c, "which moves there are depends on other ranks");
    uint32_t number = intern(&c->lists, c->model->rules_cache.list_moves + turn->first,
                             turn->count * (uint32_t)sizeof(uint32_t));
    if (result && number != result)
      refuse(c, "which moves there are depends on what all share");
    result = number;
  } while (!c->refused && next_choice(c, a));
  return c->answers[at].list = result;
}

struct outcome abstraction_try(struct abstraction *c, struct attempt *a, uint32_t number)
{
  bool is_new;
  uint32_t at = place(c, a->key, number, &is_new);
  if (is_new) {
    try_all(c, a);
    c->answers[at].outcome = a->outcome;
  }
  return c->answers[at].outcome;
}

void abstraction_forget(struct attempt *a)
{
  for (unsigned shared = 0; shared < SHARED_PARTS; shared++)
    free(a->fits[shared]);
}
