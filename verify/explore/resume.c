#include "verify/explore/resume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/file_bytes.h"
#include "base/memory.h"
#include "base/output.h"
#include "verify/explore/search.h"
#include "verify/reduce/recurrence.h"

/* MAGIC marks the format, and changes when the format changes. */
static const uint64_t MAGIC = UINT64_C(0x35657661736c6372), END = UINT64_C(0x646e65);

struct head {
  uint64_t magic, world; /* MAGIC, and options->world_digest */
  uint64_t states, transitions, rests, depth;
  uint64_t parts, components, frontier;
  uint64_t archived; /* true if the states are in files of their own */
  struct archive_saved archive[ARCHIVE_FILES];
  struct reached reached;
};

/* ---- writing ---- */

/* Writes values as bytes, in order. Every explorer numbers values in the order of first appearance,
 * so the bytes are enough. */
static void put_values(FILE *file, const struct intern *values)
{
  file_put(file, &values->count, sizeof values->count);
  for (uint32_t i = 1; i <= values->count; i++) {
    file_put(file, &values->item[i].size, sizeof values->item[i].size);
    file_put(file, values->item[i].bytes, values->item[i].size);
  }
}

static void put_visited(FILE *file, const struct visited *visited)
{
  size_t size = visited->packing->words * sizeof(uint32_t);
  for (uint64_t i = 0; i < visited_end(visited); i++)
    if (*visited_at(visited, i))
      file_put(file, visited_at(visited, i), size);
}

void resume_put_frontier(FILE *file, const struct explorer *e, const struct frontier *frontier)
{
  uint32_t numbers[e->model.components], state[PACKING_WORDS];
  for (const struct chunk *chunk = frontier->first; chunk; chunk = chunk->next) {
    struct chunk *copy = chunk_copy(chunk);
    for (uint32_t i = 0; i < copy->count; i++) {
      packing_unpack(copy->packing, copy->states + i * copy->packing->words, numbers);
      packing_pack(e->model.packing, numbers, state);
      file_put(file, state, e->model.packing->words * sizeof *state);
    }
    free(copy);
  }
}

static void put_step(void *file, const struct recurrence_change *changes, uint32_t count)
{
  file_put(file, &count, sizeof count);
  file_put(file, changes, count * sizeof *changes);
}

/* Writes all steps so far, also the steps before an earlier save. A step with 0 changes marks their
 * end. */
static void put_steps(FILE *file, const struct explorer *e)
{
  static const uint32_t none;
  struct recurrence *steps = recurrence_new(&e->model);
  if (e->steps)
    recurrence_join(steps, e->steps);
  recurrence_each(steps, NULL, put_step, file);
  recurrence_free(steps);
  file_put(file, &none, sizeof none);
}

void resume_put(FILE *file, const struct explorer *e)
{
  struct head head = {.magic = MAGIC,
                      .world = e->model.options->world_digest,
                      .states = e->visited.count,
                      .transitions = e->out->transitions,
                      .rests = e->out->rests,
                      .depth = e->out->depth,
                      .parts = e->model.rules_cache.count,
                      .components = e->model.components,
                      .frontier = e->now.states,
                      .reached = e->out->reached};
  REQUIRE(!model_outgrown(&e->model), "what is saved fits the packing in which it is saved");
  if (e->archive)
    head.archived = archive_save(e->archive, head.archive);
  file_put(file, &head, sizeof head);
  put_values(file, &e->model.rules_cache.parts);
  for (uint32_t i = 0; i < e->model.components; i++) {
    file_put(file, &e->model.component[i].bits, sizeof e->model.component[i].bits);
    put_values(file, &e->model.component[i].values);
  }
  put_visited(file, &e->visited);
  resume_put_frontier(file, e, &e->now);
  put_steps(file, e);
  file_put(file, &END, sizeof END);
}

const char *resume_write(const struct explorer *e, const char *name)
{
  struct output *output = output_open(name);
  if (!output)
    return "cannot be made";
  resume_put(output_stream(output), e);
  return output_close(output, true) ? NULL : "cannot be written";
}

/* ---- reading ---- */

/* Reads values. Values that are already known come first in the file, too. */
static bool get_values(FILE *file, struct intern *values)
{
  uint32_t count, size, room = 0;
  void *bytes = NULL;
  bool fine = file_get(file, &count, sizeof count);
  for (uint32_t i = 1; fine && i <= count; i++) {
    fine = file_get(file, &size, sizeof size);
    if (fine && size > room)
      bytes = memory_grow(bytes, room = size);
    fine = fine && file_get(file, bytes, size) && intern(values, bytes, size) == i;
  }
  free(bytes);
  return fine;
}

static bool get_visited(FILE *file, struct explorer *e, uint64_t states)
{
  uint32_t state[PACKING_WORDS], numbers[e->model.components];
  size_t size = e->model.packing->words * sizeof *state;
  visited_clear(&e->visited);
  visited_init(&e->visited, e->model.packing, states * 3 / 4, explorer_memory(e), 0);
  for (e->visited.count = 0; e->visited.count < states; e->visited.count++) {
    if (!file_get(file, state, size))
      return false;
    packing_unpack(e->model.packing, state, numbers);
    if (visited_add(&e->visited, state, packing_hash(e->model.packing, numbers)) != VISITED_NEW)
      return false;
  }
  return true;
}

bool resume_get_frontier(FILE *file, const struct explorer *e, struct frontier *frontier,
                         uint64_t states)
{
  uint32_t state[PACKING_WORDS];
  frontier_clear(frontier);
  for (uint64_t i = 0; i < states; i++) {
    if (!file_get(file, state, e->model.packing->words * sizeof *state))
      return false;
    frontier_append(frontier, e->model.packing, state);
  }
  return true;
}

static bool get_steps(FILE *file, struct explorer *e)
{
  uint32_t count, parts = e->model.rules_cache.count;
  struct recurrence_change changes[parts];
  bool fine = file_get(file, &count, sizeof count);
  e->steps = recurrence_new(NULL);
  while (fine && count) {
    fine = count <= parts && file_get(file, changes, count * sizeof *changes);
    if (fine)
      recurrence_add(e->steps, changes, count);
    fine = fine && file_get(file, &count, sizeof count);
  }
  return fine;
}

static const char *get_head(FILE *file, const struct explorer *e, struct head *head)
{
  if (!file_get(file, head, sizeof *head) || head->magic != MAGIC)
    return "is no save of this version";
  if (head->archived && !e->archive)
    return "has states on disk, and there is no --disk";
  if (head->world != e->model.options->world_digest || head->parts != e->model.rules_cache.count ||
      head->components != e->model.components)
    return "is a save of another claim, or by another program";
  return NULL;
}

const char *resume_get(FILE *file, struct explorer *e)
{
  static const char *const damaged = "is damaged";
  struct head head;
  uint64_t end;
  const char *wrong = get_head(file, e, &head);
  if (wrong)
    return wrong;
  if (!get_values(file, &e->model.rules_cache.parts))
    return damaged;
  for (uint32_t i = 0; i < e->model.components; i++)
    if (!file_get(file, &e->model.component[i].bits, 1) ||
        !get_values(file, &e->model.component[i].values))
      return damaged;
  model_make_packing(&e->model);
  if (e->archive)
    e->archive->packing = e->model.packing;
  if (head.archived && !archive_open(e->archive, head.archive, (uint32_t)head.archived))
    return damaged;
  e->archiving = head.archived;
  if (!get_visited(file, e, head.states) || !resume_get_frontier(file, e, &e->now, head.frontier) ||
      !get_steps(file, e) || !file_get(file, &end, sizeof end) || end != END)
    return damaged;
  e->out->states = e->out->resumed = explorer_states(e);
  e->out->transitions = head.transitions;
  e->out->rests = head.rests;
  e->out->depth = (unsigned)head.depth;
  e->out->reached = head.reached;
  return NULL;
}

const char *resume_depth(const struct explorer *e, const char *name, uint64_t *depth, bool *exists)
{
  struct head head = {0};
  FILE *file = fopen(name, "rb");
  *exists = file || errno != ENOENT;
  if (!file)
    return *exists ? "cannot be read" : NULL;
  const char *wrong = get_head(file, e, &head);
  fclose(file);
  *depth = head.depth;
  return wrong;
}

const char *resume_read(struct explorer *e, const char *name, bool *exists)
{
  FILE *file = fopen(name, "rb");
  *exists = file || errno != ENOENT;
  if (!file)
    return *exists ? "cannot be read" : NULL;
  const char *wrong = resume_get(file, e);
  fclose(file);
  return wrong;
}
