/* Keeps views, the parts of components that moves read.
 *
 * A component has many values, but a move reads only some of its parts, which have few values. A
 * view is a set of parts of one component. The number of a view in a state stands for the values of
 * these parts. Two values of the component that differ only in other parts have the same number.
 * For each value of a component, a row holds its numbers in all views. Each whole component is a
 * view, too. At first whole components and the heads of ranks are the only views, because as long
 * as there are few values, one look at all parts is fastest.
 *
 * Each worker has its own views. A worker holds the model's lock when it makes rows or views.
 */
#ifndef RECLINE_VIEWS_H
#define RECLINE_VIEWS_H

#include "verify/state/model.h"

enum {
  VIEWS_MOST = 16,
  VIEWS_ALL = 256
  /* the largest numbers of views of a component, and of all components together; whole components
   * are not counted */
};

/* In a set of parts of a component, bit 0 is the component's first part, bit 1 the second, and so
 * on. The last bit is the head of the component's rank. */
#define VIEW_HEAD (UINT64_C(1) << 63)

struct view {
  uint64_t parts;
  /* place of the view's number in views.numbers; views are counted over all components */
  uint32_t place;
  struct intern tuples; /* numbers of tuples of values of several parts */
};

struct component_views {
  struct view view[VIEWS_MOST];
  uint32_t count;
  uint32_t *rows; /* for each value `count` numbers, which are 0 if not known */
  uint32_t room;  /* number of numbers for which there is room */
};

struct views {
  struct model *model;
  bool are_fine;              /* true if there are views of single parts */
  struct component_views *of; /* by component */
  /* components from this number on have no views but the whole component */
  uint32_t components;
  uint32_t count;      /* number of all views; the first ones are the whole components, in order */
  uint32_t *component; /* component of each view */
  uint32_t *numbers;   /* number of each view in the worker's state */
};

/* Returns the highest number of views, whole components included. */
uint32_t views_most(const struct model *);

/* Prepares views. `numbers` is the caller's array, with room for views_most() numbers. */
void views_init(struct views *, struct model *, uint32_t *numbers);
void views_clear(struct views *);
size_t views_bytes(const struct views *); /* memory taken */

/* Holds a set of views. If there are more views than bits, some views share a bit. */
struct view_set {
  uint64_t first; /* component_bit() of whole components; the first bit belongs to no component */
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

/* Enters a state in which the whole components `changed` differ from the state before. Finds the
 * numbers of the other views of these components, and adds the views that differ to `changed`.
 * Takes the model's lock if necessary. */
void views_enter(struct views *, struct view_set *changed);

/* Returns a view of that component that has those parts, and perhaps more parts. The view may be
 * new. `number` is the component's value in the worker's state. The caller holds the model's
 * lock. */
uint32_t views_of(struct views *, uint32_t component, uint64_t parts, uint32_t number);

/* Returns the parts of a view. */
uint64_t views_parts(const struct views *, uint32_t view);

#endif
