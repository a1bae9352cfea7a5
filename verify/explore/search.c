/* Searches level by level. Shares the work among workers, and stops all workers to make room. */
#include "verify/explore/search.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/breach.h"
#include "base/platform.h"
#include "verify/explore/resume.h"

/* From this number of places on, a visited set is large. */
static const uint64_t PLACES_MANY = 1 << 22;

/* About this number of states is explored in the time that a large abstraction takes. */
static const uint64_t ABSTRACTION_WAIT_STATES = 1 << 22;

/* ---- housekeeping, while all workers are idle ---- */

/* Sends the states to be expanded to disk from now on. Returns false if they go there already, or
 * if the files cannot be made. */
static bool spill_queue(struct explorer *e)
{
  if (e->spilling || !spill_init(&e->spill[0]) || !spill_init(&e->spill[1]))
    return false;
  e->spilling = e->out->spilled = true;
  frontier_spill(&e->now, &e->spill[e->out->depth % 2]);
  for (unsigned i = 0; i < e->workers; i++) {
    frontier_spill(&e->worker[i].share, &e->spill[e->out->depth % 2]);
    frontier_spill(&e->worker[i].later, &e->spill[(e->out->depth + 1) % 2]);
  }
  platform_give_back();
  return true;
}

/* Estimates the states that further levels will add, if the factor from level to level goes on
 * changing as it did last. Returns infinity if the factor does not fall. */
static double states_to_come(const struct explorer *e)
{
  double level = (double)e->level, before = (double)e->before, sum = 0;
  double factor = level / before, change = factor * (double)e->earlier / before;
  if (!e->before || !e->earlier || change >= 1)
    return INFINITY;
  /* otherwise both numbers overflow, and never fall again */
  while (level >= 1 && sum < (double)UINT64_MAX) {
    factor *= change;
    level *= factor;
    sum += level;
  }
  return sum;
}

/* Returns the percentage by which the table should grow. A small table doubles. A large one grows
 * by the expected states, so that states are seldom moved, and few places are empty at the end. */
static unsigned growth_percent(const struct explorer *e)
{
  enum { MOST = 100, LEAST = 6 };
  double percent = 100 * states_to_come(e) / (double)e->visited.count;
  if (e->visited.places < PLACES_MANY || percent > MOST)
    return MOST;
  return percent < LEAST ? LEAST : (unsigned)percent;
}

static void add_fresh(void *data, const uint32_t *state)
{
  enum { IN_MEMORY = 64 << 20 };
  struct explorer *e = data;
  frontier_append(&e->fresh, e->model.packing, state);
  if (e->spilling && e->fresh.bytes > IN_MEMORY)
    frontier_spill(&e->fresh, &e->spill[(e->out->depth + 1) % 2]);
}

static void ignore(void *data, const uint32_t *state)
{
  (void)data, (void)state;
}

/* Shrinks an empty visited set that has room for many more states than `states`. The reasons are
 * that the end of each level visits all places, and that filters need the memory. */
static void make_smaller(struct explorer *e, uint64_t states)
{
  enum { SPARSE = 8 /* places for a state */, LEAST = 1 << 13 };
  if (e->visited.places / SPARSE < states + LEAST)
    return;
  visited_clear(&e->visited);
  visited_init(&e->visited, e->model.packing, states, explorer_memory(e), 0);
}

/* Sends all states found so far to disk. All states found so far were different. From now on,
 * states of the next level are known to be new only when they go to disk. */
static void archive_states(struct explorer *e)
{
  bool first = !e->archiving;
  uint64_t states = first ? e->level : e->visited.count;
  if (first)
    spill_queue(e);
  e->archiving = true;
  if (!archive_take(e->archive, &e->visited, e->workers, first ? ignore : add_fresh, e))
    e->full = BOUND_DISK;
  else
    make_smaller(e, states);
}

/* Makes a larger table, with a smaller step if memory is short. */
static void grow_visited(struct explorer *e)
{
  uint64_t places = e->visited.places, most = explorer_most_bytes(e);
  for (unsigned percent = growth_percent(e); percent >= 6; percent /= 2) {
    const struct packing *packing = e->visited.packing;
    uint64_t more = places / 100 * percent, bytes = more * packing->words * sizeof(uint32_t);
    if ((!most || explorer_bytes(e) + bytes <= most) &&
        visited_rebuild(&e->visited, places + more, packing, e->workers))
      return;
  }
  if (e->archive)
    archive_states(e);
  else if (spill_queue(e))
    grow_visited(e);
  else
    e->full = BOUND_MEMORY;
}

/* Places the states that found no place or did not fit the packing. */
static void place_unplaced(struct explorer *e, struct worker *w)
{
  uint32_t state[PACKING_WORDS];
  for (uint32_t n = 0; n < w->unplaced.count && !e->full; n++) {
    const uint32_t *numbers = w->unplaced.numbers + (size_t)n * e->model.components;
    packing_pack(e->model.packing, numbers, state);
    if (e->exchange && worker_send_away(w, state))
      continue;
    while (worker_add(w, state, packing_hash(e->model.packing, numbers)) == VISITED_FULL &&
           !e->full)
      grow_visited(e);
  }
  w->unplaced.count = 0;
}

/* Returns the bound that the number of states exceeds. */
static enum bound bound_of_states(const struct explorer *e)
{
  uint64_t most = e->model.options->max_states;
  if (most && explorer_states(e) > most)
    return BOUND_STATES;
  return e->abstraction_wait && e->visited.count > ABSTRACTION_WAIT_STATES ? BOUND_ABSTRACTION_WAIT
                                                                           : BOUND_NONE;
}

static void make_room(struct explorer *e)
{
  e->halt = false;
  explorer_widen_packing(e);
  if (visited_crowded(&e->visited) && !e->full)
    grow_visited(e);
  for (unsigned i = 0; i < e->workers; i++)
    place_unplaced(e, &e->worker[i]);
  for (unsigned i = 0; i < e->workers; i++)
    worker_account(&e->worker[i]);
  if (!e->full)
    e->full = bound_of_states(e);
  e->bytes = explorer_bytes(e);
  REQUIRE(e->visited.count <= visited_end(&e->visited),
          "the visited set counts no more states than it has places");
}

/* ---- level by level ---- */

static bool is_save_due(const struct explorer *e)
{
  return e->model.options->save && !e->model.options->protocol &&
         platform_now() - e->saved >= e->model.options->save_seconds;
}

/* Finishes writing at the end of the search, because the run to a violation and liveness read the
 * files. */
static void settle_files(struct explorer *e, struct level *level)
{
  bool ends = level->violating || level->full || !level->next;
  if (!e->archive || !ends || archive_settle(e->archive))
    return;
  level->full = BOUND_DISK;
  level->violating = 0; /* otherwise a run to a violation would be looked for in vain */
}

static struct level sum_up_level(struct explorer *e)
{
  struct level level = {.states = explorer_states(e),
                        .next = e->fresh.states,
                        .full = e->full,
                        .save = is_save_due(e)};
  for (unsigned i = 0; i < e->workers; i++) {
    level.next += e->worker[i].later.states;
    level.violating += e->worker[i].violating.count;
  }
  if (e->exchange)
    distributed_sum(e, &level);
  if (e->model.options->max_states && level.states > e->model.options->max_states)
    level.full = BOUND_STATES;
  settle_files(e, &level);
  return level;
}

/* Returns whether the search goes no deeper, and sets the verdict. */
static bool has_ended(struct explorer *e, const struct level *level)
{
  static const char *const names[] = {NULL,      "memory",           "max-states",
                                      "timeout", "abstraction_wait", "disk"};
  const char *failed = crash_failed(e->crash);
  if (level->violating) {
    e->out->verdict = EXPLORER_VIOLATED;
    return true;
  }
  const char *bound = level->full ? names[level->full] : failed;
  if (bound)
    explorer_stop(e, bound);
  return bound;
}

static void save(struct explorer *e)
{
  const char *file = e->model.options->save;
  double from = platform_now();
  if (e->archive && !archive_settle(e->archive)) {
    e->full = BOUND_DISK;
    return;
  }
  const char *wrong = e->exchange ? distributed_save(e) : resume_write(e, file);
  if (!wrong && e->archive)
    archive_was_saved(e->archive);
  if (wrong)
    fprintf(stderr, "recline check: %s %s: %s; nothing is saved\n", file, wrong, strerror(errno));
  e->saved = platform_now();
  if (e->model.options->save_seconds > 0)
    e->saved += 9 * (e->saved - from); /* so that saves take at most a tenth of the time */
}

/* Takes the crashes that were put off until their states were known. */
static void take_crashes(struct explorer *e)
{
  uint32_t count;
  const uint32_t *numbers = crash_chosen(e->crash, &count);
  for (uint32_t i = 0; i < count && !e->full; i++) {
    worker_take_crashes(&e->worker[0], numbers + (size_t)i * e->model.components);
    if (e->worker[0].unplaced.count || visited_crowded(&e->visited))
      make_room(e);
  }
  crash_forget_chosen(e->crash);
  if (count)
    make_room(e);
}

static bool has_violation(const struct explorer *e)
{
  unsigned i = 0;
  while (i < e->workers && !e->worker[i].violating.count)
    i++;
  return i < e->workers;
}

/* Ends a level whose states were all expanded. The states that were found are the next level. */
static void finish_level(struct explorer *e)
{
  struct exploration *out = e->out;
  if (e->crash)
    take_crashes(e);
  if (e->archiving && !e->full && !has_violation(e))
    archive_states(e);
  const struct level level = sum_up_level(e);
  if ((e->over = has_ended(e, &level)))
    return;
  spill_reset(&e->spill[out->depth % 2]);
  for (unsigned i = 0; i < e->workers; i++) {
    struct worker *w = &e->worker[i];
    frontier_move(&e->now, &w->later);
    w->tag = tag_of(out->depth + 2);
  }
  frontier_move(&e->now, &e->fresh);
  out->states = level.states;
  e->over = !level.next;
  if (e->over)
    return;
  out->depth++;
  e->earlier = e->before;
  e->before = e->level;
  e->level = e->now.states;
  e->bytes = explorer_bytes(e);
  if (e->model.options->max_queue && explorer_queue_bytes(e) > e->model.options->max_queue)
    spill_queue(e);
  uint64_t most = explorer_most_bytes(e);
  if (e->archive && e->bytes > most && !e->archiving)
    archive_states(e);
  else if (!e->archive && most && e->bytes > most && !spill_queue(e))
    e->full = BOUND_MEMORY;
  if (level.save)
    save(e);
}

/* Returns the number of states of this level that no worker has taken yet. */
static uint64_t states_left(const struct explorer *e)
{
  uint64_t states = e->now.states;
  for (unsigned i = 0; i < e->workers; i++)
    states += e->worker[i].share.states;
  return states;
}

bool search_is_late(const struct explorer *e)
{
  double most = e->model.options->max_seconds;
  return most > 0 && platform_now() - e->began >= most;
}

static void stop_in_time(struct explorer *e)
{
  if (!search_is_late(e))
    return;
  e->full = BOUND_TIME;
  frontier_clear(&e->now);
  for (unsigned i = 0; i < e->workers; i++)
    frontier_clear(&e->worker[i].share);
}

/* Ends a chunk. Adds the worker's counts to the totals, and decides whether all workers must stop
 * to make room. */
static void account_chunk(struct explorer *e, struct worker *w)
{
  worker_account(w);
  stop_in_time(e);
  e->halt |= w->unplaced.count || visited_crowded(&e->visited) || bound_of_states(e);
  e->halt &= !e->full;
  /* all processes have about the same number of states */
  uint64_t all = e->exchange ? exchange_transport(e->exchange)->size : 1;
  if (e->model.options->progress)
    e->model.options->progress(e->model.options->progress_data,
                               &(struct explorer_progress){.states = all * explorer_states(e),
                                                           .transitions = e->out->transitions,
                                                           .bytes = all * e->bytes,
                                                           .depth = e->out->depth,
                                                           .level = all * e->level,
                                                           .before = all * e->before,
                                                           .left = all * states_left(e)});
}

/* Returns the next states to expand, or NULL if there are none or all workers must stop. States
 * that are next to each other in a level share successors, so workers take contiguous shares, which
 * shrink toward the end of the level. */
static struct chunk *take_chunk(struct explorer *e, struct worker *w)
{
  if (e->halt)
    return NULL;
  if (!w->share.states)
    frontier_share(&e->now, &w->share, e->now.states / (2 * e->workers) + 1);
  return frontier_take(&w->share);
}

/* Runs one worker. The last idle worker grows the tables or starts the next level. */
static void run_worker(void *data)
{
  struct worker *w = data;
  struct explorer *e = w->e;
  platform_lock(e->lock);
  while (!e->over) {
    if (e->exchange &&
        !e->summing) /* while the counts are combined, checkpoints are allowed anyway */
      exchange_transport(e->exchange)->safe_point();
    struct chunk *chunk = take_chunk(e, w);
    if (chunk) {
      e->busy++;
      platform_unlock(e->lock);
      worker_expand_chunk(w, chunk);
      if (e->exchange)
        distributed_receive(e);
      platform_lock(e->lock);
      e->busy--;
      account_chunk(e, w);
    } else if (e->busy || (!e->halt && states_left(e))) {
      platform_wait(e->lock);
    } else {
      if (e->halt)
        make_room(e);
      else if (!e->exchange || distributed_is_level_over(e))
        finish_level(e);
      else
        account_chunk(e, w);
      platform_wake(e->lock);
    }
  }
  platform_unlock(e->lock);
}

void explorer_search(struct explorer *e)
{
  platform_parallel(run_worker, e->worker, sizeof *e->worker, e->workers);
}
