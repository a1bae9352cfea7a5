#include "verify/explore/resume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/base/memory.h"
#include "verify/explore/search.h"

/* Changes with the format. */
static const uint64_t MAGIC = UINT64_C(0x31657661736c6372), END = UINT64_C(0x646e65);

struct head {
  uint64_t magic, world; /* options->world_digest */
  uint64_t states, transitions, rests, depth;
  uint64_t parts, components, frontier;
};

/* Every explorer numbers in the order of first appearance, so that bytes in that order are enough.
 */
static void put(FILE *file, const void *bytes, size_t size)
{
  if (size)
    fwrite(bytes, size, 1, file); /* ferror() is asked in the end */
}

static bool get(FILE *file, void *bytes, size_t size)
{
  return !size || fread(bytes, size, 1, file) == 1;
}

/* ---- writing ---- */

static void put_values(FILE *file, const struct intern *values)
{
  put(file, &values->count, sizeof values->count);
  for (uint32_t i = 1; i <= values->count; i++) {
    put(file, &values->item[i].size, sizeof values->item[i].size);
    put(file, values->item[i].bytes, values->item[i].size);
  }
}

static void put_visited(FILE *file, const struct visited *visited)
{
  size_t size = visited->layout->words * sizeof(uint32_t);
  for (uint64_t i = 0; i < visited_end(visited); i++)
    if (*visited_at(visited, i))
      put(file, visited_at(visited, i), size);
}

static void put_frontier(FILE *file, const struct explorer *e)
{
  uint32_t numbers[e->model.components], state[LAYOUT_WORDS];
  for (const struct chunk *chunk = e->now.first; chunk; chunk = chunk->next) {
    struct chunk *copy = chunk_copy(chunk);
    for (uint32_t i = 0; i < copy->count; i++) {
      layout_unpack(copy->layout, copy->states + i * copy->layout->words, numbers);
      layout_pack(e->model.layout, numbers, state);
      put(file, state, e->model.layout->words * sizeof *state);
    }
    free(copy);
  }
}

static void put_all(FILE *file, const struct explorer *e)
{
  const struct head head = {.magic = MAGIC,
                            .world = e->model.options->world_digest,
                            .states = e->visited.count,
                            .transitions = e->out->transitions,
                            .rests = e->out->rests,
                            .depth = e->out->depth,
                            .parts = e->model.memo.count,
                            .components = e->model.components,
                            .frontier = e->now.states};
  put(file, &head, sizeof head);
  put_values(file, &e->model.memo.parts);
  for (uint32_t i = 0; i < e->model.components; i++) {
    put(file, &e->model.component[i].bits, sizeof e->model.component[i].bits);
    put_values(file, &e->model.component[i].values);
  }
  put_visited(file, &e->visited);
  put_frontier(file, e);
  put(file, &END, sizeof END);
}

const char *save_write(const struct explorer *e, const char *name)
{
  size_t length = strlen(name) + sizeof ".tmp";
  char temporary[length];
  snprintf(temporary, length, "%s.tmp", name);
  FILE *file = fopen(temporary, "wb");
  if (!file)
    return "cannot be made";
  put_all(file, e);
  bool fine = platform_file_sync(file);
  fine &= !fclose(file);
  if (fine && !rename(temporary, name))
    return NULL;
  int reason = errno;
  remove(temporary);
  errno = reason;
  return "cannot be written";
}

/* ---- reading ---- */

/* Values that are there already come first in the file, too. */
static bool get_values(FILE *file, struct intern *values)
{
  uint32_t count, size, room = 0;
  void *bytes = NULL;
  bool fine = get(file, &count, sizeof count);
  for (uint32_t i = 1; fine && i <= count; i++) {
    fine = get(file, &size, sizeof size);
    if (fine && size > room)
      bytes = memory_grow(bytes, room = size);
    fine = fine && get(file, bytes, size) && intern(values, bytes, size) == i;
  }
  free(bytes);
  return fine;
}

static bool get_visited(FILE *file, struct explorer *e, uint64_t states)
{
  uint32_t state[LAYOUT_WORDS], numbers[e->model.components];
  size_t size = e->model.layout->words * sizeof *state;
  visited_clear(&e->visited);
  visited_init(&e->visited, e->model.layout, states * 3 / 4, explorer_memory(e), 0);
  for (e->visited.count = 0; e->visited.count < states; e->visited.count++) {
    if (!get(file, state, size))
      return false;
    layout_unpack(e->model.layout, state, numbers);
    if (visited_add(&e->visited, state, layout_hash(e->model.layout, numbers)) != VISITED_NEW)
      return false;
  }
  return true;
}

static bool get_frontier(FILE *file, struct explorer *e, uint64_t states)
{
  uint32_t state[LAYOUT_WORDS];
  frontier_clear(&e->now);
  for (uint64_t i = 0; i < states; i++) {
    if (!get(file, state, e->model.layout->words * sizeof *state))
      return false;
    frontier_append(&e->now, e->model.layout, state);
  }
  return true;
}

static const char *get_all(FILE *file, struct explorer *e)
{
  static const char *const damaged = "is damaged";
  struct head head;
  uint64_t end;
  if (!get(file, &head, sizeof head) || head.magic != MAGIC)
    return "is no save of this version";
  if (head.world != e->model.options->world_digest || head.parts != e->model.memo.count ||
      head.components != e->model.components)
    return "is a save of another claim, or by another program";
  if (!get_values(file, &e->model.memo.parts))
    return damaged;
  for (uint32_t i = 0; i < e->model.components; i++)
    if (!get(file, &e->model.component[i].bits, 1) ||
        !get_values(file, &e->model.component[i].values))
      return damaged;
  model_make_layout(&e->model);
  if (!get_visited(file, e, head.states) || !get_frontier(file, e, head.frontier) ||
      !get(file, &end, sizeof end) || end != END)
    return damaged;
  e->out->states = e->out->resumed = head.states;
  e->out->transitions = head.transitions;
  e->out->rests = head.rests;
  e->out->depth = (unsigned)head.depth;
  return NULL;
}

const char *save_read(struct explorer *e, const char *name, bool *exists)
{
  FILE *file = fopen(name, "rb");
  *exists = file || errno != ENOENT;
  if (!file)
    return *exists ? "cannot be read" : NULL;
  const char *wrong = get_all(file, e);
  fclose(file);
  return wrong;
}
