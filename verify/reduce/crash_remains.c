/* Tells what a crash leaves, which is called its remains, and chooses the state in which the crash
 * is taken. Among the states of the first level that have the same remains, the state with the
 * smallest digest is chosen. So the choice does not depend on which worker is faster. */
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/platform.h"
#include "verify/reduce/crash_parts.h"

/* ---- remains ---- */

uint32_t crash_kept(struct crash_reduction *r, uint32_t rank, uint32_t out)
{
  const struct world *w = r->model->world;
  uint32_t count, kept = 0;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, (int)rank, 0, &count);
  struct world_record left[count + 1];
  uint32_t committed = read_global(w)->committed;
  for (uint32_t i = 0; i < count; i++)
    if (stored[i].durable && stored[i].checkpoint == committed)
      left[kept++] = stored[i];
  left[kept] = (struct world_record){.checkpoint = out};
  return intern(&r->remains, left, (kept + 1) * (uint32_t)sizeof *left);
}

/* Returns the number of a rank's remains, that is, of what a crash leaves of the rank. Ranks have
 * the same number only if a recovery takes back something of both or of neither, and if the outside
 * has seen the same of both. */
static uint32_t remains_of_rank(struct crash_reduction *r, uint32_t rank)
{
  enum rank_phase phase = read_rank_head(r->model->world, (int)rank).phase;
  bool out = phase == RANK_NEW || phase == RANK_DEAD || phase == RANK_RESTARTING;
  struct {
    uint32_t kept, left;
  } both = {crash_kept(r, rank, out ? (uint32_t)phase + 1 : 0),
            r->model->rules_cache.values[world_part(r->model->world, WORLD_LEFT, (int)rank, 0)]};
  return intern(&r->outsides, &both, sizeof both);
}

struct world_global crash_leaves_global(const struct world_global *global)
{
  struct world_global left = *global;
  left.committing = 0;
  left.requested = 0;
  left.target = RCL_FRESH; /* this value stays until the next crash is detected */
  left.down = -1;
  return left;
}

uint32_t crash_kept_global(struct crash_reduction *r)
{
  struct world_global left = crash_leaves_global(read_global(r->model->world));
  return intern(&r->globals, &left, sizeof left);
}

/* Returns a pointer to the class of a component's value. `number` is the number of the value. */
static uint32_t *class_of(struct classes *classes, uint32_t number)
{
  classes->of = memory_zeroed_room(classes->of, number, &classes->room, sizeof *classes->of);
  return &classes->of[number];
}

/* Learns the class of rank `which`, or of GLOBAL if there is no such rank. */
static uint32_t learn_class(struct crash_worker *d, uint32_t which)
{
  struct crash_reduction *r = d->reduction;
  platform_lock(d->model->rules);
  model_load(d->model, d->at);
  uint32_t class = which < d->ranks ? remains_of_rank(r, which) : crash_kept_global(r);
  transition_cache_forget_reads(&d->model->rules_cache);
  platform_unlock(d->model->rules);
  return class;
}

/* Returns for each rank a list of its classes. The lists differ with the remains of GLOBAL, whose
 * number is `global`. */
static struct classes *classes_with(struct crash_worker *d, uint32_t global)
{
  while (d->lists_count <= global) {
    d->ranks_classes =
        memory_room(d->ranks_classes, d->lists_count, &d->lists_room, sizeof *d->ranks_classes);
    d->ranks_classes[d->lists_count++] = memory_table(d->ranks, sizeof **d->ranks_classes);
  }
  return d->ranks_classes[global];
}

void crash_remains(struct crash_worker *d, uint32_t *key)
{
  uint32_t *global = class_of(&d->globals, d->at->numbers[d->model->components - 1]);
  if (!*global)
    *global = learn_class(d, d->ranks);
  key[d->ranks] = *global;
  struct classes *classes = classes_with(d, *global);
  for (uint32_t rank = 0; rank < d->ranks; rank++) {
    uint32_t *class = class_of(&classes[rank], d->at->numbers[rank]);
    if (!*class)
      *class = learn_class(d, rank);
    key[rank] = *class;
  }
}

/* ---- where a crash is taken ---- */

static uint64_t learn_digest(struct crash_worker *d, uint32_t component, uint32_t number)
{
  platform_lock(d->model->rules);
  uint64_t digest = model_digest(d->model, component, number);
  platform_unlock(d->model->rules);
  return d->digests[component].of[number] = digest ? digest : 1;
}

static uint64_t digest_of_state(struct crash_worker *d)
{
  uint64_t digest = 0;
  if (!d->digests)
    d->digests = memory_table(d->model->components, sizeof *d->digests);
  for (uint32_t c = 0; c < d->model->components; c++) {
    struct digests *of = &d->digests[c];
    uint32_t number = d->at->numbers[c];
    of->of = memory_zeroed_room(of->of, number, &of->room, sizeof *of->of);
    digest += of->of[number] ? of->of[number] : learn_digest(d, c, number);
  }
  return hash_mix(digest);
}

/* Chooses the worker's state as the one in which the crash with the remains `key` is taken. Keeps
 * the present choice if that was found at an earlier level, or has a smaller digest. The caller
 * holds `rules`. */
static struct crash_place propose(struct crash_worker *d, const uint32_t *key, uint64_t digest)
{
  struct crash_reduction *r = d->reduction;
  uint32_t components = d->model->components, size = components * (uint32_t)sizeof(uint32_t);
  uint32_t number = intern(&r->crashed, key, (d->ranks + 1) * (uint32_t)sizeof *key);
  r->places = memory_zeroed_room(r->places, number, &r->places_room, sizeof *r->places);
  struct crash_place *place = &r->places[number];
  bool is_new = !place->since;
  if (is_new) {
    *place = (struct crash_place){.since = *d->level + 1, .chosen = r->chosen_count++};
    r->chosen = memory_room(r->chosen, place->chosen, &r->chosen_room, size);
  }
  if (is_new || (place->since == *d->level + 1 && digest < place->digest)) {
    place->digest = digest;
    memcpy(r->chosen + (size_t)place->chosen * components, d->at->numbers, size);
  }
  return *place;
}

void crash_propose(struct crash_worker *d)
{
  uint32_t key[d->ranks + 1];
  crash_remains(d, key);
  uint32_t number = intern(&d->crashed, key, (d->ranks + 1) * (uint32_t)sizeof *key);
  d->places = memory_zeroed_room(d->places, number, &d->places_room, sizeof *d->places);
  struct crash_place *known = &d->places[number];
  if (known->since && known->since <= *d->level)
    return;
  uint64_t digest = digest_of_state(d);
  if (known->since && known->digest <= digest)
    return;
  platform_lock(d->model->rules);
  *known = propose(d, key, digest);
  platform_unlock(d->model->rules);
}

const uint32_t *crash_chosen(const struct crash_reduction *r, uint32_t *count)
{
  *count = r->chosen_count;
  return r->chosen;
}

void crash_forget_chosen(struct crash_reduction *r)
{
  r->chosen_count = 0;
}
