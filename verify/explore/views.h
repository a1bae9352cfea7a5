/* Views: the parts of components that moves look at.
 *
 * A component has many values, but a move reads only some of its parts, which have few. A view is a
 * set of parts of one component. Its number in a state stands for their values there: two values of
 * the component that differ in other parts have the same one. For each value of a component a row
 * holds its numbers in its views. The whole of each component is a view, too. At first there are
 * only these and heads of ranks: while there are few values, one look at all parts is fastest.
 *
 * Each worker has its own. Where rows or views are made the lock of the model is held.
 */
#ifndef RECLINE_VIEWS_H
#define RECLINE_VIEWS_H

#include "verify/state/model.h"

enum {
  VIEWS_MOST = 16,
  VIEWS_ALL = 256
}; /* the most views of a component, and of all, without whole components */

/* Parts are a set of bits: of the component's first part, and so on; the last bit is the head of
 * its rank. */
#define VIEW_HEAD (UINT64_C(1) << 63)

struct view {
  uint64_t parts;
  uint32_t place; /* place of its number in views.numbers: views are counted over all components */
  struct intern tuples; /* numbers of tuples of values of several parts */
};

struct component_views {
  struct view view[VIEWS_MOST];
  uint32_t count;
  uint32_t *rows; /* of each value: `count` numbers; 0: not known */
  uint32_t room;  /* in numbers */
};

struct views {
  struct model *model;
  bool are_fine;              /* there are views of single parts */
  struct component_views *of; /* each component */
  uint32_t components;        /* components with other views than the whole are below this one */
  uint32_t count;      /* number of all views; the first ones are the whole components, in order */
  uint32_t *component; /* of each */
  uint32_t *numbers;   /* number of each in the worker's state */
};

/* Returns the highest number of views, whole components included. */
uint32_t views_most(const struct model *);

/* `numbers` is the caller's array, with room for views_most() numbers. */
void views_init(struct views *, struct model *, uint32_t *numbers);
void views_clear(struct views *);
size_t views_bytes(const struct views *); /* memory taken */

/* Views as a set; where there are more than it has bits, some share one. */
struct view_set {
  uint64_t first; /* component_bit() of whole components; the first bit belongs to none */
  uint64_t rest;
};

static inline void view_set_add(struct view_set *set, const struct views *v, uint32_t view)
{
  uint32_t component = v->model->components;
  if (view < 62 || view < component)
    set->first |= component_bit(view);
  else
    set->rest |= UINT64_C(1) << view % 64;
}

/* In a state in which the whole components `changed` differ from the state before: finds the
 * numbers of their other views, and adds the views that differ to `changed`. Takes the lock where
 * it must. */
void views_enter(struct views *, struct view_set *changed);

/* Returns a view of that component with those parts, and perhaps more; it may be new. The
 * component's value in the worker's state is `number`. Under the lock. */
uint32_t views_of(struct views *, uint32_t component, uint64_t parts, uint32_t number);

/* Returns the parts of a view. */
uint64_t views_parts(const struct views *, uint32_t view);

#endif
