#include "verify/reduce/symmetry.h"

#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/platform.h"
#include "verify/reduce/abstraction.h"
#include "world/rules/world_parts.h"

enum { RENAMINGS_MOST = 120 };

struct symmetry {
  struct model *model;
  uint32_t ranks, components;
  uint32_t count; /* number of renamings; the identity is the first */
  int16_t *to;    /* by renaming and rank: the rank's new name */
  /* by renaming and component c: the component whose values become those of c when they are
   * renamed */
  uint32_t *source;
};

/* Holds the image of a component's value under a renaming. */
struct renamed {
  uint64_t digest;
  /* 1 + the number of the renamed value in its component, or 0 if it was not looked up yet */
  uint32_t number;
};

struct symmetry_worker {
  const struct symmetry *symmetry;
  struct renamed **of; /* by renaming, component and number */
  uint32_t *room;
};

/* ---- renaming values ---- */

/* Returns the value of a part after a renaming, or 0 if it cannot be renamed. The caller holds the
 * lock `rules` of the model, or no worker runs. */
static uint32_t rename_value(const struct symmetry *s, const int16_t *to, uint32_t part,
                             uint32_t value)
{
  struct intern *parts = &s->model->rules_cache.parts;
  uint32_t size = parts->item[value].size;
  uint64_t bytes[size / sizeof(uint64_t) + 1];
  if (size)
    memcpy(bytes, parts->item[value].bytes, size);
  return world_rename(s->model->world, part, to, bytes, size) ? intern(parts, bytes, size) : 0;
}

/* Returns the image of value `number` of a component under renaming `r`. The caller holds the
 * model's lock `rules`. */
static struct renamed rename_component(const struct symmetry *s, uint32_t r, uint32_t component,
                                       uint32_t number)
{
  struct model *model = s->model;
  const struct component *from = &model->component[component];
  const uint32_t *values = from->values.item[number + 1].bytes;
  const int16_t *to = s->to + (size_t)r * s->ranks;
  struct component *target =
      &model->component[model->component_of[world_renamed(model->world, from->parts[0], to)]];
  uint32_t tuple[target->count];
  struct renamed result = {0};
  for (uint32_t i = 0; i < from->count; i++) {
    uint32_t value = rename_value(s, to, from->parts[i], values[i]), place = 0;
    if (!value)
      breach("a value cannot be renamed that the abstraction does not have");
    while (target->parts[place] != world_renamed(model->world, from->parts[i], to))
      place++;
    tuple[place] = value;
  }
  for (uint32_t i = 0; i < target->count; i++) {
    const struct interned *part = &model->rules_cache.parts.item[tuple[i]];
    result.digest = world_digest_bytes(result.digest, part->bytes, part->size);
  }
  result.number = intern(&target->values, tuple, target->count * (uint32_t)sizeof *tuple);
  return result;
}

static const struct renamed *look_up(struct symmetry_worker *d, uint32_t r, uint32_t component,
                                     uint32_t number)
{
  uint32_t at = r * d->symmetry->components + component;
  d->of[at] = memory_zeroed_room(d->of[at], number, &d->room[at], sizeof **d->of);
  struct renamed *known = &d->of[at][number];
  if (!known->number) {
    platform_lock(d->symmetry->model->rules);
    *known = rename_component(d->symmetry, r, component, number);
    platform_unlock(d->symmetry->model->rules);
  }
  return known;
}

/* Returns the value that `component` has after a renaming of the state. */
static const struct renamed *renamed_from(struct symmetry_worker *d, const uint32_t *numbers,
                                          uint32_t r, uint32_t component)
{
  const struct symmetry *s = d->symmetry;
  uint32_t source = s->source[r * s->components + component];
  return look_up(d, r, source, numbers[source]);
}

void symmetry_represent(struct symmetry_worker *d, uint32_t *numbers)
{
  const struct symmetry *s = d->symmetry;
  uint32_t best = 0, result[s->components];
  for (uint32_t r = 1; r < s->count; r++)
    for (uint32_t c = 0; c < s->components; c++) {
      uint64_t now = renamed_from(d, numbers, best, c)->digest,
               then = renamed_from(d, numbers, r, c)->digest;
      if (now == then)
        continue;
      if (then < now)
        best = r;
      break;
    }
  if (!best)
    return;
  for (uint32_t c = 0; c < s->components; c++)
    result[c] = renamed_from(d, numbers, best, c)->number - 1;
  memcpy(numbers, result, sizeof result);
}

uint64_t symmetry_digest(struct symmetry_worker *d, const uint32_t *numbers)
{
  const struct symmetry *s = d->symmetry;
  uint64_t least = UINT64_MAX;
  for (uint32_t r = 0; r < s->count; r++) {
    uint64_t digest = 0;
    for (uint32_t c = 0; c < s->components; c++)
      digest = hash_mix(digest ^ renamed_from(d, numbers, r, c)->digest);
    least = digest < least ? digest : least;
  }
  return least;
}

/* ---- first renamed, or first stepped ---- */

static int by_digest(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* Returns a copy of the moves of the state `numbers`, which the caller frees. Is called under
 * `rules`. */
static uint32_t *list_moves(struct model *model, const uint32_t *numbers, uint32_t *count)
{
  uint32_t *moves = NULL;
  *count = 0;
  for (uint32_t origin = 0; origin < world_origins(model->world); origin++) {
    model_load_numbers(model, numbers);
    const struct enabled_list *turn = transition_cache_list(&model->rules_cache, origin);
    moves = memory_grow(moves, (*count + turn->count + 1) * sizeof *moves);
    memcpy(moves + *count, model->rules_cache.list_moves + turn->first,
           turn->count * sizeof *moves);
    *count += turn->count;
  }
  return moves;
}

/* Returns the orbit of the state to which a move of the state leads. */
static uint64_t orbit_after(struct symmetry_worker *d, const uint32_t *numbers, uint32_t move)
{
  struct model *model = d->symmetry->model;
  uint32_t after[model->components];
  platform_lock(model->rules);
  model_load_numbers(model, numbers);
  const struct effect effect = *transition_cache_step(&model->rules_cache, move);
  transition_cache_apply(&model->rules_cache, &effect);
  model_store_numbers(model, after);
  struct verdict verdict = {.kind = VERDICT_FINE};
  if (effect.verdict)
    verdict = model->rules_cache.verdicts[effect.verdict];
  platform_unlock(model->rules);
  return symmetry_digest(d, after) + (uint64_t)verdict.kind;
}

static uint64_t *orbits_after(struct symmetry_worker *d, const uint32_t *numbers, uint32_t *count)
{
  platform_lock(d->symmetry->model->rules);
  uint32_t *moves = list_moves(d->symmetry->model, numbers, count);
  platform_unlock(d->symmetry->model->rules);
  uint64_t *digests = memory_grow(NULL, (*count + 1) * sizeof *digests);
  for (uint32_t i = 0; i < *count; i++)
    digests[i] = orbit_after(d, numbers, moves[i]);
  qsort(digests, *count, sizeof *digests, by_digest);
  free(moves);
  return digests;
}

void symmetry_audit(struct symmetry_worker *d, const uint32_t *state)
{
  const struct symmetry *s = d->symmetry;
  uint32_t count, others, numbers[s->components];
  uint64_t *expected = orbits_after(d, state, &count);
  for (uint32_t r = 1; r < s->count; r++) {
    for (uint32_t c = 0; c < s->components; c++)
      numbers[c] = renamed_from(d, state, r, c)->number - 1;
    uint64_t *found = orbits_after(d, numbers, &others);
    if (count != others || memcmp(expected, found, count * sizeof *found) != 0)
      breach("ranks under other names do something else");
    free(found);
  }
  free(expected);
}

/* ---- which renamings there are ---- */

static uint32_t operations(const struct script *script, uint32_t rank)
{
  uint32_t count = 0;
  while (script->ops[rank][count].kind != SCRIPT_END)
    count++;
  return count;
}

/* Makes the next permutation in lexicographic order. Returns false after the last permutation. */
static bool next_permutation(int16_t *to, uint32_t count)
{
  uint32_t i = count - 1, j = count - 1;
  while (i > 0 && to[i - 1] >= to[i])
    i--;
  if (i == 0)
    return false;
  while (to[j] <= to[i - 1])
    j--;
  int16_t swapped = to[i - 1];
  to[i - 1] = to[j];
  to[j] = swapped;
  for (j = count - 1; i < j; i++, j--) {
    swapped = to[i];
    to[i] = to[j];
    to[j] = swapped;
  }
  return true;
}

static bool keeps_programs(const struct symmetry *s, const int16_t *to)
{
  for (uint32_t rank = 0; rank < s->ranks; rank++)
    if (operations(s->model->world->script, rank) !=
        operations(s->model->world->script, (uint32_t)to[rank]))
      return false;
  return true;
}

/* Finds the renamings of ranks. The coordinator keeps its name. */
static void find_renamings(struct symmetry *s)
{
  int16_t to[s->ranks];
  for (uint32_t rank = 0; rank < s->ranks; rank++)
    to[rank] = (int16_t)rank;
  do {
    if (!keeps_programs(s, to))
      continue;
    s->to = memory_grow(s->to, (s->count + 1) * sizeof to);
    memcpy(s->to + (size_t)s->count++ * s->ranks, to, sizeof to);
  } while (s->count <= RENAMINGS_MOST && next_permutation(to + 1, s->ranks - 1));
}

static void find_sources(struct symmetry *s)
{
  const struct model *model = s->model;
  s->source = memory_grow(NULL, (size_t)s->count * s->components * sizeof *s->source);
  for (uint32_t r = 0; r < s->count; r++)
    for (uint32_t c = 0; c < s->components; c++) {
      uint32_t part =
          world_renamed(model->world, model->component[c].parts[0], s->to + r * s->ranks);
      s->source[r * s->components + model->component_of[part]] = c;
    }
}

/* Holds a renaming under which steps are collected. */
struct renaming {
  const struct symmetry *symmetry;
  /* the new name of each rank, or NULL if steps are collected as they are */
  const int16_t *to;
  const uint32_t *numbers; /* numbers of the rank's values after the renaming */
};

static void rename_message(const struct renaming *renaming, struct abstraction_send *message)
{
  const struct symmetry *s = renaming->symmetry;
  if (!renaming->to)
    return;
  message->value = rename_value(s, renaming->to, message->part, message->value);
  message->part = world_renamed(s->model->world, message->part, renaming->to);
  if (!message->value)
    breach("a message is renamed to one that there is not");
}

static int by_part(const void *a, const void *b)
{
  const struct abstraction_send *x = a, *y = b;
  return x->part != y->part ? (x->part < y->part ? -1 : 1)
                            : (x->value > y->value) - (x->value < y->value);
}

/* Collects one step: the values before it and after it, what the rank takes in, and what the rank
 * sends. */
static void collect_step(const struct abstraction *c, uint32_t rank, uint32_t node,
                         const struct abstraction_edge *edge, const struct renaming *renaming,
                         struct intern *steps)
{
  const struct abstraction_rank *r = &c->rank[rank];
  const struct interned *list = edge->sends ? &c->sends.item[edge->sends] : NULL;
  uint32_t sends = list ? list->size / (uint32_t)sizeof(struct abstraction_send) : 0;
  struct {
    uint32_t before, after, takes, pad;
    struct abstraction_send message[];
  } * step;
  size_t size = sizeof *step + (c->ranks + sends) * sizeof *step->message;
  step = memory_table(1, size);
  step->before = abstraction_value(r, node);
  step->after = edge->target == VIOLATES ? 0 : abstraction_value(r, edge->target);
  if (renaming->to) {
    step->before = renaming->numbers[step->before];
    step->after = renaming->numbers[step->after]; /* 0 stays 0 */
  }
  step->takes =
      abstraction_takes(c, rank, abstraction_action(c, rank, edge->action), step->message);
  if (list)
    memcpy(step->message + step->takes, list->bytes, list->size);
  for (uint32_t i = 0; i < step->takes + sends; i++)
    rename_message(renaming, &step->message[i]);
  qsort(step->message, step->takes, sizeof *step->message, by_part);
  qsort(step->message + step->takes, sends, sizeof *step->message, by_part);
  intern(steps, step, (uint32_t)(sizeof *step + (step->takes + sends) * sizeof *step->message));
  free(step);
}

static void collect_steps(const struct abstraction *c, uint32_t rank,
                          const struct renaming *renaming, struct intern *steps)
{
  const struct abstraction_rank *r = &c->rank[rank];
  for (uint32_t node = 1; node <= r->nodes.count; node++)
    for (uint32_t i = r->first[node]; i < r->first[node + 1]; i++)
      collect_step(c, rank, node, &r->edges[i], renaming, steps);
}

/* Checks that stepping and then renaming gives the same steps as renaming and then stepping. */
static void try_steps(const struct symmetry *s, const struct abstraction *c, uint32_t rank,
                      const int16_t *to, const uint32_t *numbers)
{
  struct intern mine = {0}, theirs = {0};
  const struct renaming none = {.symmetry = s},
                        renaming = {.symmetry = s, .to = to, .numbers = numbers};
  collect_steps(c, rank, &renaming, &mine);
  collect_steps(c, (uint32_t)to[rank], &none, &theirs);
  bool same = mine.count == theirs.count;
  for (uint32_t i = 1; i <= theirs.count && same; i++)
    same = intern_find(&mine, theirs.item[i].bytes, theirs.item[i].size) != 0;
  if (!same)
    breach("a rank under another name does something else");
  intern_clear(&mine);
  intern_clear(&theirs);
}

/* Renames all values of a rank in the abstraction. Sets numbers[n] to the number that value n gets
 * among the values of to[rank]. Returns NULL if all values can be renamed; otherwise returns the
 * reason why one cannot. */
static const char *try_values(const struct symmetry *s, const struct abstraction *c, uint32_t rank,
                              const int16_t *to, uint32_t *numbers)
{
  const struct intern *values = &c->rank[rank].values;
  uint32_t renamed[WORLD_RANK_PARTS];
  for (uint32_t n = 1; n <= values->count; n++) {
    const uint32_t *value = values->item[n].bytes;
    for (uint32_t i = 0; i < WORLD_RANK_PARTS; i++)
      if (!(renamed[i] = rename_value(s, to, rank * WORLD_RANK_PARTS + i, value[i])))
        return "what ranks have received, or stored, cannot be renamed";
    numbers[n] = intern_find(&c->rank[to[rank]].values, renamed, (uint32_t)sizeof renamed);
    if (!numbers[n])
      breach("the protocol renames a state to one that there is not");
  }
  return NULL;
}

static const char *try_messages(const struct symmetry *s, const struct abstraction *c,
                                uint32_t rank, const int16_t *to)
{
  for (uint32_t i = 0; i < abstraction_actions(c, rank); i++) {
    struct abstraction_action action = *abstraction_action(c, rank, i);
    if (action.peer == OWN)
      continue;
    if (action.peer == GATHER)
      return "collectives cannot be renamed";
    uint32_t part = world_part(s->model->world, action.kind, action.peer, (int)rank);
    action.what = rename_value(s, to, part, action.what);
    action.peer = to[action.peer];
    if (!action.what)
      return "messages cannot be renamed";
    if (abstraction_find(c, (uint32_t)to[rank], &action) == UINT32_MAX)
      breach("a message is renamed to one that there is not");
  }
  return NULL;
}

/* Returns NULL if the abstraction of a rank can be renamed; otherwise returns the reason why it
 * cannot. If the renamed abstraction is not the abstraction of rank to[rank], that is a breach. */
static const char *try_rank(const struct symmetry *s, const struct abstraction *c, uint32_t rank,
                            const int16_t *to)
{
  uint32_t *numbers = memory_table(c->rank[rank].values.count + 1, sizeof *numbers);
  const char *refused = try_values(s, c, rank, to, numbers);
  if (!refused)
    refused = try_messages(s, c, rank, to);
  if (!refused)
    try_steps(s, c, rank, to, numbers);
  free(numbers);
  return refused;
}

static const char *try_all(const struct symmetry *s, const struct abstraction *c)
{
  const char *refused = NULL;
  for (uint32_t r = 1; r < s->count; r++)
    for (uint32_t rank = 0; rank < s->ranks && !refused; rank++)
      refused = try_rank(s, c, rank, s->to + r * s->ranks);
  return refused;
}

struct symmetry *symmetry_new(struct model *model, const struct abstraction *abstraction,
                              const char **refused)
{
  const struct world *world = model->world;
  struct symmetry *s = memory_table(1, sizeof *s);
  *s = (struct symmetry){
      .model = model, .ranks = (uint32_t)world->ranks, .components = model->components, .count = 0};
  if (s->ranks < 3) {
    *refused = "no two ranks are alike";
  } else if (!world->protocol->permute_ranks || !are_free(world) || world->topology) {
    *refused = "programs or protocol name ranks";
  } else {
    find_renamings(s);
    find_sources(s);
    *refused = s->count < 2                ? "no two ranks are alike"
               : s->count > RENAMINGS_MOST ? "there are too many ranks to rename"
                                           : try_all(s, abstraction);
  }
  if (!*refused)
    return s;
  symmetry_free(s);
  return NULL;
}

void symmetry_free(struct symmetry *s)
{
  if (!s)
    return;
  free(s->to);
  free(s->source);
  free(s);
}

struct symmetry_worker *symmetry_worker_new(const struct symmetry *s)
{
  struct symmetry_worker *d = memory_table(1, sizeof *d);
  d->symmetry = s;
  d->of = memory_table((size_t)s->count * s->components, sizeof *d->of);
  d->room = memory_table((size_t)s->count * s->components, sizeof *d->room);
  return d;
}

void symmetry_worker_free(struct symmetry_worker *d)
{
  if (!d)
    return;
  for (uint32_t i = 0; i < d->symmetry->count * d->symmetry->components; i++)
    free(d->of[i]);
  free(d->of);
  free(d->room);
  free(d);
}
