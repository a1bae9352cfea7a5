/* Reads and judges temporal properties: formulas of linear temporal logic without the next step,
 * over named facts of a state of the world. A run that ends stays in its last state for ever.
 *
 * The notation is SPIN's (G. J. Holzmann, The SPIN Model Checker, 2003, chapter 6): `[]` always,
 * `<>` eventually, `U` until, `W` weak until, `R` release, `!`, `&&`, `||`, `->`, `<->`, `true`,
 * `false`. Without the next step, steps that change no fact make no difference.
 *
 * docs/check.md has the table of facts. No fact reads the contents of storage, because the explorer
 * may leave those out of its states (world_settles()). */
#ifndef RECLINE_TEMPORAL_H
#define RECLINE_TEMPORAL_H

#include <stdbool.h>
#include <stdint.h>

#include "world/rules/world.h"

enum temporal_kind {
  TEMPORAL_TRUE,
  TEMPORAL_FALSE,
  TEMPORAL_FACT,
  TEMPORAL_NOT,
  TEMPORAL_AND,
  TEMPORAL_OR,
  TEMPORAL_IMPLIES,
  TEMPORAL_EQUALS,
  TEMPORAL_ALWAYS,
  TEMPORAL_EVENTUALLY,
  TEMPORAL_UNTIL,
  TEMPORAL_WEAK, /* `a W b`: a holds until b, or for ever */
  TEMPORAL_RELEASE
};

/* Describes a subformula. Its operands come before it in temporal.node. */
struct temporal_node {
  uint8_t kind; /* enum temporal_kind */
  /* numbers of the nodes of its operands; operators with one operand have only `left` */
  uint8_t left, right;
  uint8_t fact; /* TEMPORAL_FACT: number of the fact in temporal.fact */
};

/* Names a fact and its operands; an operand that is not given is -1. */
struct temporal_fact {
  uint8_t name; /* place of the fact in the table of facts */
  int16_t a, b;
};

enum { TEMPORAL_NODES = 64, TEMPORAL_FACTS = 16, TEMPORAL_TEXT = 121, TEMPORAL_PROBLEM = 240 };

struct temporal {
  struct temporal_node node[TEMPORAL_NODES];
  struct temporal_fact fact[TEMPORAL_FACTS];
  unsigned nodes, facts;
  unsigned root;            /* number of the node of the whole formula */
  char text[TEMPORAL_TEXT]; /* the formula as it was written */
};

/* Reads a formula about a world of `ranks` ranks. Returns false, with `problem` (TEMPORAL_PROBLEM
 * bytes) set to "what, expected what", if the formula is wrong or too long. */
bool temporal_parse(struct temporal *, const char *text, int ranks, char *problem);

/* Returns the name of a fact that the formula uses and worlds of this protocol do not have, or NULL
 * if there is none. */
const char *temporal_lacks(const struct temporal *, const struct rcl_protocol *);

/* Returns the facts of the formula that are true in the present state: bit N for fact N. */
uint32_t temporal_facts(const struct temporal *, const struct world *);

/* Writes a fact as formulas have it, in quotation marks: "'crashed 1'". */
void temporal_fact_text(const struct temporal *, unsigned fact, char *text, size_t size);

/* Returns whether the formula holds at the beginning of a run with `count` states, whose facts are
 * `facts`. The state after the last one is number `again`, at most count - 1. */
bool temporal_holds(const struct temporal *, const uint32_t *facts, uint32_t count, uint32_t again);

/* Sets `verdict` to the violation of property `ltl` by a run that repeats for ever (`round`) or
 * that ends. */
void temporal_violate(const char *formula, bool round, struct verdict *verdict);

/* Copies the formula out of a violation's text, "FORMULA is violated ...". Returns false if the
 * text has no formula, or a formula that is too long. */
bool temporal_of_text(const char *text, char formula[TEMPORAL_TEXT]);

#endif
