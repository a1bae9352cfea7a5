/* Keeps checkpoints of an exploration by several processes, in the middle of a level.
 *
 * A checkpoint has the contents of a save between levels (resume.c) and the state of the present
 * level: states of the next level, states that wait for room, violations, and the knowledge of
 * other processes. The protocol saves messages.
 */
#include <stdlib.h>

#include "base/file_bytes.h"
#include "base/memory.h"
#include "verify/explore/resume.h"
#include "verify/explore/search.h"

/* Holds what follows the save in the file. */
struct middle {
  uint64_t known_transitions, known_rests, states;
  uint64_t level, before, earlier;
  uint64_t later; /* number of states of the next level */
  uint32_t unplaced, violating;
  uint32_t sent, summing, full;
  uint32_t pad;
};

static size_t bytes_of(const struct explorer *e, uint32_t states)
{
  return (size_t)states * e->model.components * sizeof(uint32_t);
}

static bool get_states(FILE *file, const struct explorer *e, struct states *states, uint32_t count)
{
  states->numbers = memory_grow(states->numbers, bytes_of(e, count) + 1);
  states->count = states->room = count;
  return file_get(file, states->numbers, bytes_of(e, count));
}

/* Writes a checkpoint, between two chunks. Places all pending states first. */
static bool save(void *explorer, FILE *file)
{
  struct explorer *e = explorer;
  struct worker *w = &e->worker[0];
  struct frontier all = {0};
  worker_place_pending(w);
  worker_account(w);
  explorer_widen_packing(e);
  if (model_outgrown(&e->model))
    return false;
  frontier_move(&all, &w->share);
  frontier_move(&all, &e->now);
  e->now = all;
  const struct middle middle = {.known_transitions = e->known.transitions,
                                .known_rests = e->known.rests,
                                .states = e->out->states,
                                .level = e->level,
                                .before = e->before,
                                .earlier = e->earlier,
                                .later = w->later.states,
                                .unplaced = w->unplaced.count,
                                .violating = w->violating.count,
                                .sent = e->sent,
                                .summing = e->summing,
                                .full = e->full};
  resume_put(file, e);
  file_put(file, &middle, sizeof middle);
  resume_put_frontier(file, e, &w->later);
  file_put(file, w->unplaced.numbers, bytes_of(e, w->unplaced.count));
  file_put(file, w->violating.numbers, bytes_of(e, w->violating.count));
  exchange_save(e->exchange, file);
  return true;
}

static bool restore(void *explorer, FILE *file)
{
  struct explorer *e = explorer;
  struct worker *w = &e->worker[0];
  struct middle middle;
  e->out->refused = resume_get(file, e);
  if (e->out->refused)
    return true; /* the caller reports the error of writing */
  bool fine = file_get(file, &middle, sizeof middle) &&
              resume_get_frontier(file, e, &w->later, middle.later) &&
              get_states(file, e, &w->unplaced, middle.unplaced) &&
              get_states(file, e, &w->violating, middle.violating) &&
              exchange_restore(e->exchange, file);
  if (!fine)
    return false;
  e->known.transitions = middle.known_transitions;
  e->known.rests = middle.known_rests;
  e->out->states = e->out->resumed = middle.states;
  e->level = middle.level;
  e->before = middle.before;
  e->earlier = middle.earlier;
  e->sent = middle.sent;
  e->summing = middle.summing;
  e->full = (enum bound)middle.full;
  e->halt = middle.unplaced;
  return true;
}

bool checkpoint_begin(struct explorer *e)
{
  const struct explorer_options *options = e->model.options;
  const struct transport_checkpoints checkpoints = {.protocol = options->protocol,
                                                    .folder = options->save,
                                                    .every = options->save_seconds,
                                                    .ctx = e,
                                                    .save = save,
                                                    .restore = restore};
  return exchange_transport(e->exchange)->checkpoint(&checkpoints);
}
