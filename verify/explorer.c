#define _POSIX_C_SOURCE 200809L
#include "explorer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "save.h"
#include "search.h"

const char *const explorer_properties[] = {
    "no-loss",   "no-duplicate",  "restorable", "legal",   "quiet-channels", "c3-1.1",
    "c3-1.2",    "c3-1.3",        "deadlock",   "commits", "outcome",        "recovers",
    "agreement", "invariant",     "no-orphan",  "c3-2.2",  "c3-2.3",         "local-rollback",
    "no-domino", "own-iteration", "tokens",     NULL};

const char *const explorer_defaults[] = {"no-loss",   "no-duplicate", "restorable", "legal",
                                         "deadlock",  "commits",      "recovers",   "outcome",
                                         "agreement", "invariant",    "no-orphan",  NULL};

/* States for which the visited set has room at first. */
enum { STATES_FIRST = 1 << 15 };

static void breach(const char *what)
{
  fprintf(stderr, "breach: explorer: %s\n", what);
  abort();
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- components ---- */

static void make_components(struct explorer *e)
{
  const struct world *world = e->world;
  e->components = world_components(world);
  e->component = calloc(e->components, sizeof *e->component);
  e->first = intern_grow(NULL, e->components * sizeof *e->first);
  e->component_of = intern_grow(NULL, e->memo.count * sizeof *e->component_of);
  if (!e->component)
    breach("out of memory");
  for (uint32_t part = 0; part < e->memo.count; part++) {
    struct component *c = &e->component[world_component(world, part)];
    e->component_of[part] = (uint32_t)(c - e->component);
    c->parts = intern_grow(c->parts, (c->count + 1) * sizeof *c->parts);
    c->parts[c->count++] = part;
  }
}

void explorer_load(struct explorer *e, const struct worker *w)
{
  if (e->loaded == w && e->loaded_serial == w->serial)
    return;
  e->loaded = w;
  e->loaded_serial = w->serial;
  for (uint32_t i = 0; i < e->components; i++) {
    const struct component *c = &e->component[i];
    const uint32_t *values = c->values.item[w->numbers[i] + 1].bytes;
    for (uint32_t j = 0; j < c->count; j++)
      e->memo.values[c->parts[j]] = values[j];
  }
}

/* ---- layout ---- */

static uint8_t bits_for(uint32_t values)
{
  uint8_t bits = 0;
  while (bits < 32 && (values - 1) >> bits)
    bits++;
  return bits;
}

/* A layout that holds all values that there are; with one bit to spare where that is new, as more
 * are likely to come. */
void explorer_make_layout(struct explorer *e)
{
  uint8_t bits[e->components];
  for (uint32_t i = 0; i < e->components; i++) {
    struct component *c = &e->component[i];
    uint8_t need = bits_for(c->values.count);
    if (need > c->bits)
      c->bits = (uint8_t)(need + (need < 32));
    bits[i] = c->bits;
  }
  e->layout = layout_new(bits, e->components);
  if (!e->layout)
    breach("a state does not fit into the largest layout");
  e->layouts = intern_grow(e->layouts, (e->layouts_count + 1) * sizeof *e->layouts);
  e->layouts[e->layouts_count++] = e->layout;
}

static bool outgrown(const struct explorer *e)
{
  for (uint32_t i = 0; i < e->components; i++)
    if (bits_for(e->component[i].values.count) > e->component[i].bits)
      return true;
  return false;
}

/* ---- memory ---- */

static uint64_t memory_of_queue(const struct explorer *e)
{
  uint64_t bytes = e->now.bytes;
  for (unsigned i = 0; i < e->workers; i++)
    bytes += e->worker[i].later.bytes;
  return bytes;
}

static uint64_t memory_taken(const struct explorer *e)
{
  uint64_t bytes = visited_bytes(&e->visited) + memo_bytes(&e->memo) + memory_of_queue(e);
  for (uint32_t i = 0; i < e->components; i++)
    bytes += intern_bytes(&e->component[i].values);
  for (unsigned i = 0; i < e->workers; i++)
    bytes += shortcuts_bytes(&e->worker[i].shortcuts);
  return bytes;
}

size_t explorer_memory(const struct explorer *e)
{
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  if (e->options->max_bytes)
    return e->options->max_bytes;
  return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX / 4;
}

/* ---- housekeeping, while nobody works ---- */

/* From now on, states to be expanded are on disk; there must be a file for them. */
static bool spill(struct explorer *e)
{
  if (e->spilling || !spill_init(&e->spill[0]) || !spill_init(&e->spill[1]))
    return false;
  e->spilling = e->out->spilled = true;
  frontier_spill(&e->now, &e->spill[e->out->depth % 2]);
  for (unsigned i = 0; i < e->workers; i++)
    frontier_spill(&e->worker[i].later, &e->spill[(e->out->depth + 1) % 2]);
  return true;
}

/* A larger table, by as much as there is memory for; half as large again where there is plenty. */
static void grow(struct explorer *e)
{
  uint64_t places = e->visited.places, most = e->options->max_bytes;
  for (unsigned percent = 50; percent >= 6; percent /= 2) {
    uint64_t more = places / 100 * percent, bytes = more * e->layout->words * sizeof(uint32_t);
    if ((!most || memory_taken(e) + bytes <= most) &&
        visited_rebuild(&e->visited, places + more, e->layout))
      return;
  }
  if (spill(e))
    grow(e);
  else
    e->full = "memory";
}

/* A wider layout, when there are more values than the present one can name. */
static void widen(struct explorer *e)
{
  if (!outgrown(e))
    return;
  struct layout *old = e->layout;
  explorer_make_layout(e);
  if (visited_rebuild(&e->visited, e->visited.places, e->layout))
    return;
  e->layout = old;
  e->full = "memory";
}

/* States that found no place, or did not fit, come in now. */
static void place_unplaced(struct explorer *e, struct worker *w)
{
  uint32_t state[LAYOUT_WORDS];
  for (uint32_t n = 0; n < w->unplaced.count && !e->full; n++) {
    const uint32_t *numbers = w->unplaced.numbers + (size_t)n * e->components;
    enum visited_answer answer;
    layout_pack(e->layout, numbers, state);
    state[0] |= w->tag;
    while ((answer = visited_add(&e->visited, state, layout_hash(e->layout, numbers))) ==
               VISITED_FULL &&
           !e->full)
      grow(e);
    if (answer == VISITED_NEW)
      worker_append(w, state);
  }
  w->unplaced.count = 0;
}

static void keep_house(struct explorer *e)
{
  e->halt = false;
  widen(e);
  if (visited_crowded(&e->visited) && !e->full)
    grow(e);
  for (unsigned i = 0; i < e->workers; i++)
    place_unplaced(e, &e->worker[i]);
  for (unsigned i = 0; i < e->workers; i++)
    worker_account(&e->worker[i]);
  if (e->options->max_states && e->visited.count > e->options->max_states)
    e->full = "max-states";
  e->bytes = memory_taken(e);
}

/* ---- level by level ---- */

/* Whether the search goes no deeper, and the verdict why. */
static bool ended(struct explorer *e)
{
  for (unsigned i = 0; i < e->workers; i++)
    if (e->worker[i].violating.count)
      e->out->verdict = EXPLORER_VIOLATED;
  if (e->out->verdict == EXPLORER_VIOLATED)
    return true;
  e->out->bound = e->full;
  if (e->full)
    e->out->verdict = EXPLORER_INCONCLUSIVE;
  return e->full;
}

static void save(struct explorer *e)
{
  const char *file = e->options->save;
  if (!file || now() - e->saved < e->options->save_seconds)
    return;
  double from = now();
  const char *wrong = save_write(e, file);
  if (wrong)
    fprintf(stderr, "recline check: %s %s: %s; nothing is saved\n", file, wrong, strerror(errno));
  e->saved = now();
  e->saved += 9 * (e->saved - from); /* a tenth of the time at most */
}

/* All states of a level have been expanded: those found meanwhile are the next one. */
static void finish_level(struct explorer *e)
{
  struct exploration *out = e->out;
  if ((e->over = ended(e)))
    return;
  spill_reset(&e->spill[out->depth % 2]);
  for (unsigned i = 0; i < e->workers; i++) {
    struct worker *w = &e->worker[i];
    frontier_move(&e->now, &w->later);
    w->tag = tag_of(out->depth + 2);
  }
  out->states = e->visited.count;
  e->over = !e->now.states;
  if (e->over)
    return;
  out->depth++;
  e->before = e->level;
  e->level = e->now.states;
  e->bytes = memory_taken(e);
  if (e->options->max_queue && memory_of_queue(e) > e->options->max_queue)
    spill(e);
  if (e->options->max_bytes && e->bytes > e->options->max_bytes && !spill(e))
    e->full = "memory";
  save(e);
}

/* After a chunk: what has come together, and whether all must stop to make room. */
static void account(struct explorer *e, struct worker *w)
{
  worker_account(w);
  e->halt |= w->unplaced.count || visited_crowded(&e->visited) ||
             (e->options->max_states && e->visited.count > e->options->max_states);
  e->halt &= !e->full;
  if (e->options->progress)
    e->options->progress(e->options->progress_data,
                         &(struct explorer_progress){.states = e->visited.count,
                                                     .transitions = e->out->transitions,
                                                     .bytes = e->bytes,
                                                     .depth = e->out->depth,
                                                     .level = e->level,
                                                     .before = e->before,
                                                     .left = e->now.states});
}

/* One worker. Whoever finds nobody at work and no work left does what comes next: makes room, or
 * begins the next level. */
static void *work(void *data)
{
  struct worker *w = data;
  struct explorer *e = w->e;
  pthread_mutex_lock(&e->lock);
  while (!e->over) {
    struct chunk *chunk = e->halt ? NULL : frontier_take(&e->now);
    if (chunk) {
      e->busy++;
      pthread_mutex_unlock(&e->lock);
      worker_expand_chunk(w, chunk);
      pthread_mutex_lock(&e->lock);
      e->busy--;
      account(e, w);
    } else if (e->busy) {
      pthread_cond_wait(&e->changed, &e->lock);
    } else {
      if (e->halt)
        keep_house(e);
      else
        finish_level(e);
      pthread_cond_broadcast(&e->changed);
    }
  }
  pthread_mutex_unlock(&e->lock);
  return NULL;
}

static void search(struct explorer *e)
{
  for (unsigned i = 1; i < e->workers; i++)
    if (pthread_create(&e->worker[i].thread, NULL, work, &e->worker[i]) != 0)
      breach("no thread for a worker");
  work(&e->worker[0]);
  for (unsigned i = 1; i < e->workers; i++)
    pthread_join(e->worker[i].thread, NULL);
}

/* ---- beginning and end ---- */

/* The state that world_begin() has made is the first. */
static void make_first(struct explorer *e)
{
  struct worker *w = &e->worker[0];
  uint32_t *numbers = e->first, state[LAYOUT_WORDS];
  for (uint32_t i = 0; i < e->components; i++) {
    struct component *c = &e->component[i];
    uint32_t values[c->count];
    for (uint32_t j = 0; j < c->count; j++)
      values[j] = e->memo.values[c->parts[j]];
    numbers[i] = intern(&c->values, values, c->count * (uint32_t)sizeof *values) - 1;
  }
  explorer_make_layout(e);
  visited_init(&e->visited, e->layout, STATES_FIRST, explorer_memory(e), 0);
  layout_pack(e->layout, numbers, state);
  state[0] |= tag_of(0);
  visited_add(&e->visited, state, layout_hash(e->layout, numbers));
  worker_append(w, state);
  worker_account(w);
  frontier_move(&e->now, &w->later);
  e->out->states = e->visited.count;
}

/* From the first state, or from a save. */
static bool begin(struct explorer *e)
{
  bool exists = false;
  make_first(e);
  if (e->options->save)
    e->out->refused = save_read(e, e->options->save, &exists);
  for (unsigned i = 0; i < e->workers; i++)
    e->worker[i].tag = tag_of(e->out->depth + 1);
  e->level = e->now.states;
  e->saved = now();
  return !e->out->refused;
}

static void init(struct explorer *e, unsigned crashes, unsigned timers)
{
  e->judges_end = explorer_checks(e, "agreement") || explorer_checks(e, "no-duplicate") ||
                  explorer_checks(e, "no-orphan");
  memo_init(&e->memo, e->world, crashes, timers);
  make_components(e);
  e->workers = e->options->workers ? e->options->workers : 1;
  e->worker = calloc(e->workers, sizeof *e->worker);
  if (!e->worker)
    breach("out of memory");
  for (unsigned i = 0; i < e->workers; i++)
    worker_init(&e->worker[i], e);
  pthread_mutex_init(&e->rules, NULL);
  pthread_mutex_init(&e->lock, NULL);
  pthread_cond_init(&e->changed, NULL);
}

static void clear(struct explorer *e)
{
  for (unsigned i = 0; i < e->workers; i++)
    worker_clear(&e->worker[i]);
  for (uint32_t i = 0; i < e->components; i++) {
    free(e->component[i].parts);
    intern_clear(&e->component[i].values);
  }
  for (uint32_t i = 0; i < e->layouts_count; i++)
    free(e->layouts[i]);
  free(e->worker);
  free(e->component);
  free(e->component_of);
  free(e->first);
  free(e->layouts);
  frontier_clear(&e->now);
  spill_clear(&e->spill[0]);
  spill_clear(&e->spill[1]);
  visited_clear(&e->visited);
  memo_clear(&e->memo);
  pthread_mutex_destroy(&e->rules);
  pthread_mutex_destroy(&e->lock);
  pthread_cond_destroy(&e->changed);
}

static void conclude(struct explorer *e)
{
  e->out->bytes = memory_taken(e);
  e->out->steps = e->memo.steps;
  if (e->out->verdict == EXPLORER_VIOLATED)
    write_run(e);
  if (e->options->save && e->out->verdict != EXPLORER_INCONCLUSIVE)
    remove(e->options->save);
}

void explore(struct world *world, unsigned crashes, unsigned timers,
             const struct explorer_options *options, struct exploration *out)
{
  double from = now();
  *out = (struct exploration){.verdict = EXPLORER_HOLDS};
  /* a property that is not asked for must not hide, in the same step, one that is */
  world->properties = options->properties ? options->properties : explorer_defaults;
  struct explorer e = {.world = world, .options = options, .out = out};
  init(&e, crashes, timers);
  if (begin(&e)) {
    search(&e);
    conclude(&e);
  }
  clear(&e);
  out->seconds = now() - from;
}

void exploration_clear(struct exploration *out)
{
  free(out->moves);
  *out = (struct exploration){0};
}
