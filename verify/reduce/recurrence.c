#include "verify/reduce/recurrence.h"

#include <stdlib.h>

#include "base/components.h"
#include "base/hash.h"
#include "base/memory.h"

/* Holds a value of a part, as the number of the value or as a digest. */
struct value {
  uint64_t part, is;
};

/* Holds a change of a part from one value to another, which are named by their numbers. */
struct hop {
  uint32_t from, to;
};

struct recurrence {
  struct intern values; /* struct value */
  struct intern hops;   /* struct hop */
  /* each is a list of the numbers of hops, as uint32_t; steps that make the same changes are one */
  struct intern steps;
  uint8_t *left; /* for each step, whether it may be on a cycle */
  uint32_t steps_left;
  uint32_t *cycle; /* for each value, its component in the graph of the values of the part */
  /* For each component of the world, the class of each of its numbers. Two numbers have the same
   * class if all values of the one are like those of the other. The class is 0 if the number is
   * like no other number. */
  uint32_t **alike;
  uint32_t components;
};

/* ---- steps ---- */

static uint32_t value_of(struct recurrence *r, uint64_t part, uint64_t is)
{
  const struct value value = {part, is};
  return intern(&r->values, &value, sizeof value);
}

void recurrence_add(struct recurrence *r, const struct recurrence_change *changes, uint32_t count)
{
  if (!count)
    return;
  uint32_t hops[count];
  for (uint32_t i = 0; i < count; i++) {
    const struct hop hop = {value_of(r, changes[i].part, changes[i].from),
                            value_of(r, changes[i].part, changes[i].to)};
    hops[i] = intern(&r->hops, &hop, sizeof hop);
  }
  intern(&r->steps, hops, count * (uint32_t)sizeof *hops);
}

static void add_steps(struct recurrence *r, const struct transition_cache *cache)
{
  struct recurrence_change changes[cache->count];
  for (uint32_t n = 0; n < cache->effects_count; n++) {
    const struct effect *effect = &cache->effects[n];
    for (uint32_t i = 0; i < effect->count; i++) {
      const struct change *change = &cache->changes[effect->first + i];
      changes[i] = (struct recurrence_change){change->part, change->old, change->value};
    }
    recurrence_add(r, changes, effect->count);
  }
}

static const uint32_t *hops_of(const struct recurrence *r, uint32_t step, uint32_t *count)
{
  *count = r->steps.item[step].size / (uint32_t)sizeof(uint32_t);
  return r->steps.item[step].bytes;
}

static const struct hop *hop_at(const struct recurrence *r, uint32_t number)
{
  return r->hops.item[number].bytes;
}

static const struct value *value_at(const struct recurrence *r, uint32_t number)
{
  return r->values.item[number].bytes;
}

void recurrence_each(const struct recurrence *r, struct model *m,
                     void step(void *ctx, const struct recurrence_change *, uint32_t count),
                     void *ctx)
{
  uint64_t *name = memory_table(r->values.count + 1, sizeof *name);
  for (uint32_t i = 1; i <= r->values.count; i++) {
    const struct value *value = value_at(r, i);
    name[i] = m ? model_digest_value(m, (uint32_t)value->part, (uint32_t)value->is) : value->is;
  }
  for (uint32_t n = 1; n <= r->steps.count; n++) {
    uint32_t count;
    const uint32_t *hops = hops_of(r, n, &count);
    struct recurrence_change changes[count];
    for (uint32_t i = 0; i < count; i++) {
      const struct hop *hop = hop_at(r, hops[i]);
      changes[i] =
          (struct recurrence_change){value_at(r, hop->from)->part, name[hop->from], name[hop->to]};
    }
    step(ctx, changes, count);
  }
  free(name);
}

static void take_step(void *recurrence, const struct recurrence_change *changes, uint32_t count)
{
  recurrence_add(recurrence, changes, count);
}

void recurrence_join(struct recurrence *r, const struct recurrence *from)
{
  recurrence_each(from, NULL, take_step, r);
}

/* ---- cycles of values ---- */

/* Holds the changes that the remaining steps make. */
struct changes {
  /* for each value, the index in `to` at which the changes of the value begin; one more index
   * follows */
  uint32_t *first;
  uint32_t *to;
};

/* Returns a list that tells for each hop whether a remaining step makes the hop. The caller frees
 * the list. */
static uint8_t *find_made(const struct recurrence *r)
{
  uint8_t *made = memory_table(r->hops.count + 1, 1);
  uint32_t count;
  for (uint32_t step = 1; step <= r->steps.count; step++) {
    const uint32_t *hops = hops_of(r, step, &count);
    for (uint32_t i = 0; r->left[step] && i < count; i++)
      made[hops[i]] = true;
  }
  return made;
}

static void list_changes(const struct recurrence *r, struct changes *c)
{
  uint8_t *made = find_made(r);
  c->first = memory_table(r->values.count + 3, sizeof *c->first);
  c->to = memory_table(r->hops.count + 1, sizeof *c->to);
  for (uint32_t hop = 1; hop <= r->hops.count; hop++)
    c->first[hop_at(r, hop)->from + 2] += made[hop];
  for (uint32_t value = 1; value <= r->values.count + 2; value++)
    c->first[value] += c->first[value - 1];
  /* first[v + 1] moves from the beginning of v's changes to their end */
  for (uint32_t hop = 1; hop <= r->hops.count; hop++)
    if (made[hop])
      c->to[c->first[hop_at(r, hop)->from + 1]++] = hop_at(r, hop)->to;
  free(made);
}

static bool next_change(void *ctx, uint64_t value, uint32_t *edge, uint64_t *to)
{
  const struct changes *c = ctx;
  uint32_t at = c->first[value] + *edge;
  if (at == c->first[value + 1])
    return false;
  *to = c->to[at];
  ++*edge;
  return true;
}

static void ignore(void *ctx, const uint64_t *nodes, size_t count)
{
  (void)ctx, (void)nodes, (void)count;
}

static void find_cycles(struct recurrence *r)
{
  struct changes changes;
  uint32_t last = COMPONENT_ALONE;
  list_changes(r, &changes);
  free(r->cycle);
  r->cycle = memory_table(r->values.count + 1, sizeof *r->cycle);
  struct components search = {
      .number = r->cycle, .last = &last, .ctx = &changes, .edge = next_change, .found = ignore};
  for (uint32_t value = 1; value <= r->values.count; value++)
    components_from(&search, value);
  components_clear(&search);
  free(changes.first);
  free(changes.to);
}

/* Returns whether two different values lie on one cycle. */
static bool on_one_cycle(const struct recurrence *r, uint32_t one, uint32_t other)
{
  return r->cycle[one] == r->cycle[other] && r->cycle[one] != COMPONENT_ALONE;
}

/* Drops each step that makes a change which is on no cycle. Returns whether it dropped any step. */
static bool leave_out_steps(struct recurrence *r)
{
  uint32_t before = r->steps_left, count;
  for (uint32_t step = 1; step <= r->steps.count; step++) {
    const uint32_t *hops = hops_of(r, step, &count);
    bool left = r->left[step];
    for (uint32_t i = 0; left && i < count; i++)
      left = on_one_cycle(r, hop_at(r, hops[i])->from, hop_at(r, hops[i])->to);
    r->steps_left -= r->left[step] && !left;
    r->left[step] = left;
  }
  return r->steps_left < before;
}

/* ---- components of the world ---- */

/* Numbers the classes of numbers that are alike. A class is a tuple with an entry for each part: a
 * cycle, or a value that is on no cycle. */
static void compare_component(struct recurrence *r, const struct component *c, uint32_t *alike)
{
  struct intern tuples = {0};
  uint32_t tuple[c->count], kind[2];
  for (uint32_t number = 0; number < c->values.count; number++) {
    const uint32_t *values = c->values.item[number + 1].bytes;
    bool returns = false;
    for (uint32_t i = 0; i < c->count; i++) {
      const struct value key = {c->parts[i], values[i]};
      uint32_t value = intern_find(&r->values, &key, sizeof key);
      bool on_cycle = value && r->cycle[value] != COMPONENT_ALONE;
      kind[0] = on_cycle;
      kind[1] = on_cycle ? r->cycle[value] : values[i];
      tuple[i] = intern(&tuples, kind, sizeof kind);
      returns |= on_cycle;
    }
    alike[number] = returns ? intern(&tuples, tuple, (uint32_t)sizeof tuple) : 0;
  }
  intern_clear(&tuples);
}

/* ---- the whole ---- */

struct recurrence *recurrence_new(const struct model *m)
{
  struct recurrence *r = memory_table(1, sizeof *r);
  if (m)
    add_steps(r, &m->rules_cache);
  return r;
}

bool recurrence_solve(struct recurrence *r)
{
  free(r->left);
  r->left = memory_table(r->steps.count + 1, 1);
  for (uint32_t step = 1; step <= r->steps.count; step++)
    r->left[step] = true;
  r->steps_left = r->steps.count;
  do
    find_cycles(r);
  while (leave_out_steps(r));
  return r->steps_left;
}

void recurrence_compare(struct recurrence *r, const struct model *m)
{
  r->components = m->components;
  r->alike = memory_table(m->components, sizeof *r->alike);
  for (uint32_t i = 0; i < m->components; i++) {
    r->alike[i] = memory_table(m->component[i].values.count, sizeof **r->alike);
    compare_component(r, &m->component[i], r->alike[i]);
  }
}

void recurrence_free(struct recurrence *r)
{
  if (!r)
    return;
  for (uint32_t i = 0; i < r->components; i++)
    free(r->alike[i]);
  free(r->alike);
  free(r->cycle);
  free(r->left);
  intern_clear(&r->values);
  intern_clear(&r->hops);
  intern_clear(&r->steps);
  free(r);
}

bool recurrence_may_return(const struct recurrence *r, const uint32_t *numbers)
{
  for (uint32_t i = 0; i < r->components; i++)
    if (r->alike[i][numbers[i]])
      return true;
  return false;
}

bool recurrence_are_alike(const struct recurrence *r, const uint32_t *one, const uint32_t *other)
{
  for (uint32_t i = 0; i < r->components; i++)
    if (one[i] != other[i] &&
        (!r->alike[i][one[i]] || r->alike[i][one[i]] != r->alike[i][other[i]]))
      return false;
  return true;
}

uint64_t recurrence_digest(const struct recurrence *r, const uint32_t *numbers)
{
  uint64_t digest = 0;
  for (uint32_t i = 0; i < r->components; i++) {
    uint32_t alike = r->alike[i][numbers[i]];
    digest = hash_mix(digest ^ (alike ? (uint64_t)alike << 32 : numbers[i]));
  }
  return digest;
}
