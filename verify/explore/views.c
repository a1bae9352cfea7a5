#include "verify/explore/views.h"

#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "base/platform.h"

/* ---- rows ---- */

/* Returns the number in the view of value number `number` of the component. */
static uint32_t number_in(struct model *m, uint32_t component, uint32_t number, struct view *view)
{
  const struct component *c = &m->component[component];
  const uint32_t *values = c->values.item[number + 1].bytes;
  uint32_t tuple[c->count + 1], size = 0;
  for (uint32_t i = 0; i < c->count; i++)
    if (view->parts >> i & 1)
      tuple[size++] = values[i];
  if (view->parts & VIEW_HEAD)
    tuple[size++] = transition_cache_head(
        &m->rules_cache, values[m->place_of[world_part(m->world, WORLD_RANK, (int)component, 0)]]);
  return size == 1 ? tuple[0] : intern(&view->tuples, tuple, size * (uint32_t)sizeof *tuple);
}

static bool has_row(const struct component_views *of, uint32_t number)
{
  return (number + 1) * of->count <= of->room && of->rows[number * of->count];
}

static void learn_row(struct views *v, uint32_t component, uint32_t number)
{
  struct component_views *of = &v->of[component];
  REQUIRE(number < UINT32_MAX / 4 / VIEWS_MOST, "rows have room for each value of a component");
  of->rows =
      memory_zeroed_room(of->rows, (number + 1) * of->count - 1, &of->room, sizeof *of->rows);
  for (uint32_t i = 0; i < of->count; i++)
    of->rows[number * of->count + i] = number_in(v->model, component, number, &of->view[i]);
}

/* Returns the row of a value. */
static const uint32_t *row_of(struct views *v, uint32_t component, uint32_t number)
{
  const struct component_views *of = &v->of[component];
  if (!has_row(of, number)) {
    platform_lock(v->model->rules);
    learn_row(v, component, number);
    platform_unlock(v->model->rules);
  }
  return of->rows + number * of->count;
}

void views_enter(struct views *v, struct view_set *changed)
{
  for (uint32_t c = 0; c < v->components; c++) {
    const struct component_views *of = &v->of[c];
    if (!(changed->first & component_bit(c)) || !of->count)
      continue;
    const uint32_t *row = row_of(v, c, v->numbers[c]);
    for (uint32_t i = 0; i < of->count; i++) {
      uint32_t view = of->view[i].place;
      if (v->numbers[view] != row[i])
        view_set_add(changed, v, view);
      v->numbers[view] = row[i];
    }
  }
}

/* ---- views ---- */

/* Adds a view, which is one more number in each row. */
static struct view *add_view(struct views *v, uint32_t component, uint64_t parts)
{
  struct component_views *of = &v->of[component];
  struct view *view = &of->view[of->count++];
  *view = (struct view){.parts = parts, .place = v->count};
  v->component[v->count++] = component;
  v->components = component < v->components ? v->components : component + 1;
  free(of->rows);
  of->rows = NULL;
  of->room = 0;
  return view;
}

uint32_t views_of(struct views *v, uint32_t component, uint64_t parts, uint32_t number)
{
  struct component_views *of = &v->of[component];
  if (!v->are_fine && parts != VIEW_HEAD)
    return component;
  for (uint32_t i = 0; i < of->count; i++)
    if (of->view[i].parts == parts)
      return of->view[i].place;
  if (of->count == VIEWS_MOST || v->count == views_most(v->model))
    return component;
  struct view *view = add_view(v, component, parts);
  v->numbers[view->place] = number_in(v->model, component, number, view);
  return view->place;
}

uint64_t views_parts(const struct views *v, uint32_t place)
{
  const struct component_views *of = &v->of[v->component[place]];
  if (place < v->model->components)
    return UINT64_MAX;
  for (uint32_t i = 0; i < of->count; i++)
    if (of->view[i].place == place)
      return of->view[i].parts;
  breach("there is no such view");
}

/* ---- beginning and end ---- */

uint32_t views_most(const struct model *m)
{
  return m->components + VIEWS_ALL;
}

void views_init(struct views *v, struct model *model, uint32_t *numbers)
{
  *v = (struct views){.model = model,
                      .count = model->components,
                      .of = memory_table(model->components, sizeof *v->of),
                      .component = memory_table(views_most(model), sizeof *v->component),
                      .numbers = numbers};
  for (uint32_t c = 0; c < model->components; c++) {
    REQUIRE(model->component[c].count < 63, "the parts of a component are bits of a set");
    v->component[c] = c;
  }
}

void views_clear(struct views *v)
{
  for (uint32_t c = 0; c < v->model->components; c++) {
    free(v->of[c].rows);
    for (uint32_t i = 0; i < v->of[c].count; i++)
      intern_clear(&v->of[c].view[i].tuples);
  }
  free(v->of);
  free(v->component);
  *v = (struct views){0};
}

size_t views_bytes(const struct views *v)
{
  size_t bytes = 0;
  for (uint32_t c = 0; c < v->model->components; c++) {
    bytes += v->of[c].room * sizeof *v->of[c].rows;
    for (uint32_t i = 0; i < v->of[c].count; i++)
      bytes += intern_bytes(&v->of[c].view[i].tuples);
  }
  return bytes;
}
