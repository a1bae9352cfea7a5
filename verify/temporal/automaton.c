#include "verify/temporal/automaton.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- normal form ---- */

/* Names the kinds of formulas in negation normal form. Equal formulas have equal numbers. A
 * constant is never a part of another formula. */
enum form_kind { FORM_TRUE, FORM_FALSE, FORM_FACT, FORM_AND, FORM_OR, FORM_UNTIL, FORM_RELEASE };

struct form {
  uint8_t kind, left, right;
  bool negated; /* the fact must be false */
};

enum { FORMS = 64 }; /* a set of formulas is a word of 64 bits */

struct forms {
  struct form item[FORMS];
  unsigned count;
  bool full;
};

static unsigned add_form(struct forms *f, struct form form)
{
  for (unsigned i = 0; i < f->count; i++)
    if (!memcmp(&f->item[i], &form, sizeof form))
      return i;
  f->full |= f->count == FORMS;
  if (f->full)
    return FORM_TRUE;
  f->item[f->count] = form;
  return f->count++;
}

/* Returns the number of the formula `left kind right`, simplified so that it contains no
 * constants. */
static unsigned join(struct forms *f, enum form_kind kind, unsigned left, unsigned right)
{
  bool any = kind == FORM_OR || kind == FORM_UNTIL, both = kind == FORM_OR || kind == FORM_AND;
  unsigned decides = any ? FORM_TRUE : FORM_FALSE, other = any ? FORM_FALSE : FORM_TRUE;
  if (right == decides || (both && left == decides))
    return decides;
  if (left == other || left == right)
    return right;
  if (right == other)
    return both ? left : other;
  return add_form(
      f, (struct form){.kind = (uint8_t)kind, .left = (uint8_t)left, .right = (uint8_t)right});
}

static unsigned normal(struct forms *f, const struct temporal *t, unsigned number, bool negated)
{
  const struct temporal_node *node = &t->node[number];
  enum form_kind both = negated ? FORM_OR : FORM_AND, either = negated ? FORM_AND : FORM_OR;
  enum form_kind until = negated ? FORM_RELEASE : FORM_UNTIL;
  enum form_kind release = negated ? FORM_UNTIL : FORM_RELEASE;
  unsigned left, right;
  switch ((enum temporal_kind)node->kind) {
  case TEMPORAL_TRUE:
    return negated ? FORM_FALSE : FORM_TRUE;
  case TEMPORAL_FALSE:
    return negated ? FORM_TRUE : FORM_FALSE;
  case TEMPORAL_FACT:
    return add_form(f, (struct form){FORM_FACT, node->fact, 0, negated});
  case TEMPORAL_NOT:
    return normal(f, t, node->left, !negated);
  case TEMPORAL_IMPLIES:
    left = normal(f, t, node->left, !negated);
    return join(f, either, left, normal(f, t, node->right, negated));
  case TEMPORAL_EQUALS: /* (a && b) || (!a && !b); its negation: (a && !b) || (!a && b) */
    left = normal(f, t, node->left, false);
    left = join(f, FORM_AND, left, normal(f, t, node->right, negated));
    right = normal(f, t, node->left, true);
    return join(f, FORM_OR, left, join(f, FORM_AND, right, normal(f, t, node->right, !negated)));
  case TEMPORAL_ALWAYS:
    return join(f, release, negated ? FORM_TRUE : FORM_FALSE, normal(f, t, node->left, negated));
  case TEMPORAL_EVENTUALLY:
    return join(f, until, negated ? FORM_FALSE : FORM_TRUE, normal(f, t, node->left, negated));
  case TEMPORAL_WEAK: /* b R (a || b) */
    left = normal(f, t, node->left, negated);
    right = normal(f, t, node->right, negated);
    return join(f, release, right, join(f, either, left, right));
  case TEMPORAL_AND:
  case TEMPORAL_OR:
  case TEMPORAL_UNTIL:
  case TEMPORAL_RELEASE:
    break;
  }
  left = normal(f, t, node->left, negated);
  right = normal(f, t, node->right, negated);
  return join(f,
              node->kind == TEMPORAL_AND     ? both
              : node->kind == TEMPORAL_OR    ? either
              : node->kind == TEMPORAL_UNTIL ? until
                                             : release,
              left, right);
}

/* ---- the tableau ---- */

/* Describes a state of the tableau by the formulas that hold now, and the formulas that hold from
 * the next state on.
 */
struct sets {
  uint64_t now, next;
};

struct tableau {
  struct forms forms;
  struct automaton *a;
  struct sets *sets; /* by state */
  uint32_t room;
  bool full;
};

static uint64_t bit(unsigned number)
{
  return UINT64_C(1) << number;
}

static void add_next(struct automaton_state *from, uint32_t to)
{
  for (uint32_t i = 0; i < from->next_count; i++)
    if (from->next[i] == to)
      return;
  from->next = memory_room(from->next, from->next_count, &from->next_room, sizeof *from->next);
  from->next[from->next_count++] = (uint16_t)to;
}

/* Returns the facts that must be true for the formulas of `now` or, with `negated`, the facts that
 * must be false. */
static uint32_t facts_of(const struct tableau *t, uint64_t now, bool negated)
{
  uint32_t facts = 0;
  for (unsigned i = 0; i < t->forms.count; i++)
    if (now & bit(i) && t->forms.item[i].kind == FORM_FACT && t->forms.item[i].negated == negated)
      facts |= UINT32_C(1) << t->forms.item[i].left;
  return facts;
}

/* Makes the state with these formulas a successor of state `from`, or an initial state if `from` is
 * UINT32_MAX. Leaves out states with facts that exclude each other. */
static void add_state(struct tableau *t, uint32_t from, struct sets sets)
{
  struct automaton *a = t->a;
  uint32_t n = 0;
  while (n < a->states && (t->sets[n].now != sets.now || t->sets[n].next != sets.next))
    n++;
  if (n == a->states) {
    uint32_t must = facts_of(t, sets.now, false), must_not = facts_of(t, sets.now, true);
    t->full |= n == AUTOMATON_STATES;
    if (t->full || must & must_not)
      return;
    a->state = memory_room(a->state, n, &a->room, sizeof *a->state);
    t->sets = memory_room(t->sets, n, &t->room, sizeof *t->sets);
    a->state[n] = (struct automaton_state){.must = must, .must_not = must_not};
    t->sets[n] = sets;
    a->states++;
  }
  add_next(from == UINT32_MAX ? &a->before : &a->state[from], n);
}

/* Adds all states in which the formulas of `todo` hold, besides those in `sets`. */
static void expand(struct tableau *t, uint32_t from, uint64_t todo, struct sets sets)
{
  while (todo && !t->full) {
    unsigned number = (unsigned)__builtin_ctzll(todo);
    const struct form *form = &t->forms.item[number];
    todo &= ~bit(number);
    if (number == FORM_FALSE)
      return;
    if (sets.now & bit(number) || number == FORM_TRUE)
      continue;
    sets.now |= bit(number);
    struct sets later = {sets.now, sets.next | bit(number)};
    if (form->kind == FORM_AND) {
      todo |= bit(form->left) | bit(form->right);
    } else if (form->kind == FORM_OR) {
      expand(t, from, todo | bit(form->left), sets);
      todo |= bit(form->right);
    } else if (form->kind == FORM_UNTIL) {
      expand(t, from, todo | bit(form->left), later);
      todo |= bit(form->right);
    } else if (form->kind == FORM_RELEASE) {
      expand(t, from, todo | bit(form->right), later);
      todo |= bit(form->left) | bit(form->right);
    }
  }
  if (!t->full)
    add_state(t, from, sets);
}

/* Makes an acceptance set for each `until`. The set has the states in which the `until` is not due,
 * and the states in which it comes true. */
static void accept(struct tableau *t)
{
  struct automaton *a = t->a;
  for (unsigned i = 0; i < t->forms.count; i++) {
    if (t->forms.item[i].kind != FORM_UNTIL)
      continue;
    a->sets |= bit(i);
    for (uint32_t n = 0; n < a->states; n++)
      if (!(t->sets[n].now & bit(i)) || t->sets[n].now & bit(t->forms.item[i].right))
        a->state[n].sets |= bit(i);
  }
}

bool automaton_make(struct automaton *a, const struct temporal *formula, bool negated)
{
  struct tableau t = {.a = a};
  *a = (struct automaton){0};
  add_form(&t.forms, (struct form){.kind = FORM_TRUE});
  add_form(&t.forms, (struct form){.kind = FORM_FALSE});
  unsigned root = normal(&t.forms, formula, formula->root, negated);
  t.full = t.forms.full;
  expand(&t, UINT32_MAX, bit(root), (struct sets){0});
  for (uint32_t n = 0; n < a->states && !t.full; n++)
    expand(&t, n, t.sets[n].next, (struct sets){0});
  accept(&t);
  free(t.sets);
  return !t.full;
}

void automaton_clear(struct automaton *a)
{
  for (uint32_t n = 0; n < a->states; n++)
    free(a->state[n].next);
  free(a->state);
  free(a->before.next);
  *a = (struct automaton){0};
}
