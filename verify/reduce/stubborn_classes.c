#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/platform.h"
#include "verify/reduce/stubborn_parts.h"
#include "verify/reduce/visible.h"

enum { CHOICES = 1 << 16 }; /* number of choices that a worker remembers */

static const enum part_kind kinds[STUBBORN_KINDS] = {WORLD_CHANNEL, WORLD_CONTROL, WORLD_SHARE};

/* ---- beginning and end ---- */

struct stubborn_worker *stubborn_worker_new(const struct stubborn *r, const struct position *at)
{
  uint32_t ranks = r->abstraction->ranks, components = r->model->components;
  struct stubborn_worker *d = memory_table(1, sizeof *d);
  d->stubborn = r;
  d->model = r->model;
  d->at = at;
  d->ranks = ranks;
  d->numbers = memory_table(components, sizeof *d->numbers);
  d->classes = memory_table(components, sizeof *d->classes);
  d->factors = memory_table(components + ranks, sizeof *d->factors);
  d->tables = memory_table(components, sizeof *d->tables);
  for (uint32_t i = 0; i < components + ranks; i++)
    d->factors[i] = hash_mix(i + 1) | 1;
  d->chosen_bytes = offsetof(struct known_choice, moves) + 2 * ranks * sizeof(uint64_t) +
                    (components * sizeof(uint32_t) + 7) / 8 * 8;
  return d;
}

void stubborn_worker_free(struct stubborn_worker *d)
{
  if (!d)
    return;
  for (uint32_t i = 0; i < d->model->components; i++)
    free(d->tables[i].of);
  intern_clear(&d->queues);
  void *all[] = {d->numbers, d->classes, d->factors, d->tables, d->globals, d->chosen, d};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
}

/* ---- learning ---- */

/* Returns the entry of a value of GLOBAL in the abstraction, or 0 if there is none. After a crash,
 * returns the entry of the value that GLOBAL had before the crash. That entry need not exist if the
 * coordinator has crashed. The caller holds `rules`. */
static uint32_t entry_of(const struct stubborn *r, uint32_t value)
{
  const struct intern *parts = &r->model->rules_cache.parts;
  struct world_global global = *(const struct world_global *)parts->item[value].bytes;
  uint32_t entry = abstraction_global(r->abstraction, value);
  if (entry)
    return entry;
  global.crashes++;
  return abstraction_global(r->abstraction, intern_find(parts, &global, sizeof global));
}

static const struct known_global *global_of(struct stubborn_worker *d)
{
  struct model *model = d->model;
  uint32_t component = model->components - 1, number = d->at->numbers[component];
  d->globals = memory_zeroed_room(d->globals, number, &d->globals_room, sizeof *d->globals);
  struct known_global *known = &d->globals[number];
  if (known->committed)
    return known;
  platform_lock(model->rules);
  const uint32_t *tuple = model->component[component].values.item[number + 1].bytes;
  const struct world_global *global = model->rules_cache.parts.item[tuple[0]].bytes;
  uint64_t last = visible_checkpoint(global->committed);
  known->committed = last | (last - 1);
  known->entry = entry_of(d->stubborn, tuple[0]);
  platform_unlock(model->rules);
  return known;
}

static uint32_t learn_row(const struct stubborn_worker *d, uint32_t rank, uint32_t global)
{
  const struct stubborn *r = d->stubborn;
  uint32_t values[WORLD_RANK_PARTS];
  platform_lock(d->model->rules);
  const uint32_t *tuple = d->model->component[rank].values.item[d->at->numbers[rank] + 1].bytes;
  const struct world_rank *me = d->model->rules_cache.parts.item[tuple[WORLD_RANK]].bytes;
  bool dead = me->phase == RANK_DEAD;
  abstraction_cut(r->abstraction, rank, tuple, values);
  uint32_t value = intern_find(&r->abstraction->rank[rank].values, values, (uint32_t)sizeof values);
  platform_unlock(d->model->rules);
  if (!dead && (!value || (rank == RCL_COORDINATOR_RANK && !global)))
    breach("a rank comes to a value that the abstraction does not know");
  return dead ? dependence_row_of_dead(r->dependence, rank)
              : dependence_row_of(r->dependence, rank, value, global);
}

uint32_t stubborn_action_of_message(const struct stubborn *r, uint32_t peer, uint32_t rank,
                                    enum part_kind kind, const struct interned *list,
                                    uint32_t index)
{
  uint32_t size = (uint32_t)sizeof(struct world_message);
  const char *message = (const char *)list->bytes + (size_t)index * size;
  struct abstraction_action action = {.peer = (int16_t)peer,
                                      .kind = (uint16_t)kind,
                                      .what =
                                          intern_find(&r->model->rules_cache.parts, message, size)};
  return abstraction_find(r->abstraction, rank, &action);
}

/* Returns the actions of `rank` that gather several messages, of which message `index` of a list is
 * one. */
static uint64_t gathering(const struct stubborn *r, uint32_t rank, uint32_t part,
                          const struct interned *list, uint32_t index)
{
  const struct abstraction *c = r->abstraction;
  const struct world_message *message = (const struct world_message *)list->bytes + index;
  const struct abstraction_send share = {
      part, intern_find(&r->model->rules_cache.parts, message, sizeof *message)};
  uint64_t actions = 0;
  for (uint32_t i = 0; i < abstraction_actions(c, rank); i++)
    if (abstraction_takes_it(c, rank, abstraction_action(c, rank, i), &share))
      actions |= UINT64_C(1) << i;
  return actions;
}

/* Reads the messages in transit between two ranks. The caller holds `rules`. */
static void read_queue(const struct stubborn_worker *d, uint32_t from, uint32_t to,
                       struct queue *queue)
{
  const struct model *model = d->model;
  uint32_t component = d->ranks + from * d->ranks + to;
  const uint32_t *values =
      model->component[component].values.item[d->at->numbers[component] + 1].bytes;
  for (unsigned kind = 0; kind < STUBBORN_KINDS; kind++) {
    uint32_t part = world_part(model->world, kinds[kind], (int)from, (int)to), place = 0;
    while (model->component[component].parts[place] != part)
      place++;
    const struct interned *list = &model->rules_cache.parts.item[values[place]];
    for (uint32_t i = list->size / (uint32_t)sizeof(struct world_message); i-- > 0;) {
      if (kinds[kind] == WORLD_SHARE) {
        queue->holds[kind] |= gathering(d->stubborn, to, part, list, i);
        continue;
      }
      uint32_t action = stubborn_action_of_message(d->stubborn, from, to, kinds[kind], list, i);
      if (action == UINT32_MAX)
        breach("a message is in transit that the abstraction does not have");
      queue->holds[kind] |= UINT64_C(1) << action;
      queue->head[kind] = (uint8_t)(action + 1);
    }
  }
}

static uint32_t learn_queue(struct stubborn_worker *d, uint32_t from, uint32_t to)
{
  struct queue queue;
  /* clears the gaps between fields, too, because the bytes of the struct are compared */
  memset(&queue, 0, sizeof queue);
  platform_lock(d->model->rules);
  read_queue(d, from, to, &queue);
  platform_unlock(d->model->rules);
  return intern(&d->queues, &queue, (uint32_t)sizeof queue);
}

/* ---- classes ---- */

static uint32_t class_of(struct stubborn_worker *d, uint32_t component, uint32_t global)
{
  struct class_table *table = &d->tables[component];
  uint32_t number = d->at->numbers[component], pair = component - d->ranks;
  if (component == RCL_COORDINATOR_RANK)
    number = number * (d->stubborn->abstraction->shared[SHARED_GLOBAL].count + 1) + global;
  table->of = memory_zeroed_room(table->of, number, &table->room, sizeof *table->of);
  uint32_t *class = &table->of[number];
  if (!*class)
    *class = component < d->ranks ? learn_row(d, component, global)
                                  : learn_queue(d, pair / d->ranks, pair % d->ranks);
  return *class;
}

static void set_class(struct stubborn_worker *d, uint32_t component, uint32_t class)
{
  d->hash += ((uint64_t) class - d->classes[component]) * d->factors[component];
  d->classes[component] = class;
}

/* Returns whether all classes belong to the present state, and none to an earlier one. */
static bool classes_are_fresh(struct stubborn_worker *d, const struct known_global *global)
{
  uint32_t last = d->model->components - 1;
  for (uint32_t i = 0; i < last; i++)
    if (d->classes[i] != class_of(d, i, global->entry))
      return false;
  return d->classes[last] == (uint32_t)__builtin_popcountll(global->committed);
}

void stubborn_classify(struct stubborn_worker *d)
{
  uint32_t last = d->model->components - 1;
  const uint32_t *numbers = d->at->numbers;
  bool begins = !d->classes[last], globally = begins || numbers[last] != d->numbers[last];
  const struct known_global *global = global_of(d);
  for (uint32_t i = 0; i < last; i++)
    if (begins || numbers[i] != d->numbers[i] || (globally && i == RCL_COORDINATOR_RANK))
      set_class(d, i, class_of(d, i, global->entry));
  if (globally)
    set_class(d, last, (uint32_t)__builtin_popcountll(global->committed));
  memcpy(d->numbers, numbers, d->model->components * sizeof *numbers);
  REQUIRE(!(RECLINE_CHECKS || d->model->options->audit) || classes_are_fresh(d, global),
          "what a stubborn set depends on is read anew where a component has changed");
}

struct row stubborn_row(const struct stubborn_worker *d, uint32_t rank)
{
  return dependence_row(d->stubborn->dependence, rank, d->classes[rank]);
}

const struct queue *stubborn_queue(const struct stubborn_worker *d, uint32_t from, uint32_t to)
{
  return d->queues.item[d->classes[d->ranks + from * d->ranks + to]].bytes;
}

uint64_t stubborn_committed(const struct stubborn_worker *d)
{
  return UINT64_MAX >> (64 - d->classes[d->model->components - 1]);
}

/* ---- choices ---- */

struct known_choice *stubborn_known_choice(struct stubborn_worker *d, const uint64_t *moves)
{
  uint64_t hash = d->hash;
  size_t size = d->ranks * sizeof *moves, classes = d->model->components * sizeof *d->classes;
  if (!d->chosen)
    d->chosen = memory_table(CHOICES, d->chosen_bytes);
  for (uint32_t rank = 0; rank < d->ranks; rank++)
    hash += moves[rank] * d->factors[d->model->components + rank];
  struct known_choice *choice =
      (struct known_choice *)(d->chosen + hash_home(hash, CHOICES) * d->chosen_bytes);
  uint64_t *behind = choice->moves + 2 * (size_t)d->ranks;
  choice->known =
      choice->known && !memcmp(choice->moves, moves, size) && !memcmp(behind, d->classes, classes);
  if (!choice->known) {
    memcpy(choice->moves, moves, size);
    memcpy(behind, d->classes, classes);
  }
  return choice;
}
