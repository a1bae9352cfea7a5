/* Reads temporal formulas, and judges them in a known run by the meaning of each operator. The
 * explorer searches with an automaton. So when its counterexample is replayed, another method
 * checks its result. */
#include "world/temporal/temporal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "world/temporal/temporal_facts.h"

/* ---- reading ---- */

struct reader {
  struct temporal *t;
  const char *at;
  int ranks;
  char *problem; /* the first problem, or "" if there is none so far */
};

static void complain(struct reader *r, const char *found, const char *expected)
{
  if (!*r->problem)
    snprintf(r->problem, TEMPORAL_PROBLEM, "%.60s, expected %.160s", found, expected);
}

static void complain_here(struct reader *r, const char *expected)
{
  char found[64];
  snprintf(found, sizeof found, *r->at ? "found '%.30s'" : "the formula ends%s", r->at);
  complain(r, found, expected);
}

static unsigned add_node(struct reader *r, enum temporal_kind kind, unsigned left, unsigned right)
{
  if (r->t->nodes == TEMPORAL_NODES) {
    complain(r, "more than 64 operators and facts", "a shorter formula");
    return 0;
  }
  r->t->node[r->t->nodes] =
      (struct temporal_node){.kind = (uint8_t)kind, .left = (uint8_t)left, .right = (uint8_t)right};
  return r->t->nodes++;
}

static void skip_blanks(struct reader *r)
{
  r->at += strspn(r->at, " \t\n");
}

/* Passes the word or sign if it is the next one. */
static bool passes(struct reader *r, const char *word)
{
  size_t length = strlen(word);
  skip_blanks(r);
  bool letters = isalpha((unsigned char)*word);
  if (strncmp(r->at, word, length) != 0 ||
      (letters && (isalnum((unsigned char)r->at[length]) || r->at[length] == '-')))
    return false;
  r->at += length;
  return true;
}

static int16_t read_operand(struct reader *r)
{
  skip_blanks(r);
  if (!isdigit((unsigned char)*r->at))
    return -1;
  char *end;
  unsigned long number = strtoul(r->at, &end, 10);
  if (number > INT16_MAX)
    complain_here(r, "a number up to 32767");
  r->at = end;
  return (int16_t)(number > INT16_MAX ? 0 : number);
}

/* Returns the number of the fact in the formula; equal facts have the same number. */
static unsigned add_fact(struct reader *r, struct temporal_fact fact)
{
  struct temporal *t = r->t;
  for (unsigned i = 0; i < t->facts; i++)
    if (t->fact[i].name == fact.name && t->fact[i].a == fact.a && t->fact[i].b == fact.b)
      return i;
  if (t->facts == TEMPORAL_FACTS) {
    complain(r, "more than 16 facts", "a shorter formula");
    return 0;
  }
  t->fact[t->facts] = fact;
  return t->facts++;
}

static unsigned read_fact(struct reader *r)
{
  size_t length = strspn(r->at, "abcdefghijklmnopqrstuvwxyz-");
  int name = temporal_fact_named(r->at, length);
  if (name < 0) {
    char all[160];
    temporal_fact_names(all, sizeof all);
    complain_here(r, all);
    return 0;
  }
  r->at += length;
  struct temporal_fact fact = {.name = (uint8_t)name, .a = read_operand(r)};
  fact.b = (int16_t)(fact.a < 0 ? -1 : read_operand(r));
  const char *expected = temporal_fact_refuses(&fact, r->ranks);
  if (expected) {
    char found[64];
    snprintf(found, sizeof found, "fact %.20s with these numbers", temporal_fact_name(name));
    complain(r, found, expected);
  }
  unsigned number = add_fact(r, fact), node = add_node(r, TEMPORAL_FACT, 0, 0);
  r->t->node[node].fact = (uint8_t)number;
  return node;
}

static unsigned read_equals(struct reader *r, unsigned depth);

enum { DEEPEST = 32 };

/* Reads what binds most: a fact, a constant or a formula in parentheses, with the operators before
 * it.
 */
static unsigned read_unary(struct reader *r, unsigned depth)
{
  static const struct {
    const char *sign;
    enum temporal_kind kind;
  } signs[] = {{"[]", TEMPORAL_ALWAYS}, {"<>", TEMPORAL_EVENTUALLY}, {"!", TEMPORAL_NOT}};
  if (depth > DEEPEST)
    complain(r, "more than 32 nested operators", "a simpler formula");
  if (*r->problem)
    return 0;
  skip_blanks(r);
  if (!strncmp(r->at, "<->", 3)) {
    complain_here(r, "a fact or a formula before it");
    return 0;
  }
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (passes(r, signs[i].sign))
      return add_node(r, signs[i].kind, read_unary(r, depth + 1), 0);
  if (passes(r, "(")) {
    unsigned node = read_equals(r, depth + 1);
    if (!*r->problem && !passes(r, ")"))
      complain_here(r, "an operator or )");
    return node;
  }
  if (passes(r, "true"))
    return add_node(r, TEMPORAL_TRUE, 0, 0);
  if (passes(r, "false"))
    return add_node(r, TEMPORAL_FALSE, 0, 0);
  if (passes(r, "X")) {
    complain(r, "X, the next step",
             "no X, as the next step is another one where steps are cut finer");
    return 0;
  }
  return read_fact(r);
}

/* Lists the operators with two operands, the tightest binding first; all associate to the right. */
static const struct {
  const char *sign;
  enum temporal_kind kind;
  unsigned level;
} binaries[] = {{"U", TEMPORAL_UNTIL, 0},   {"W", TEMPORAL_WEAK, 0}, {"R", TEMPORAL_RELEASE, 0},
                {"&&", TEMPORAL_AND, 1},    {"||", TEMPORAL_OR, 2},  {"->", TEMPORAL_IMPLIES, 3},
                {"<->", TEMPORAL_EQUALS, 4}};

static unsigned read_level(struct reader *r, unsigned level, unsigned depth)
{
  unsigned left = level ? read_level(r, level - 1, depth) : read_unary(r, depth);
  for (size_t i = 0; i < sizeof binaries / sizeof *binaries && !*r->problem; i++)
    if (binaries[i].level == level && passes(r, binaries[i].sign)) {
      if (depth > DEEPEST)
        complain(r, "more than 32 nested operators", "a simpler formula");
      unsigned right = *r->problem ? 0 : read_level(r, level, depth + 1);
      return add_node(r, binaries[i].kind, left, right);
    }
  return left;
}

static unsigned read_equals(struct reader *r, unsigned depth)
{
  return read_level(r, 4, depth);
}

bool temporal_parse(struct temporal *t, const char *text, int ranks, char *problem)
{
  struct reader r = {.t = t, .at = text, .ranks = ranks, .problem = problem};
  *t = (struct temporal){0};
  *problem = '\0';
  if (strlen(text) >= TEMPORAL_TEXT || strchr(text, '\n')) {
    complain(&r, "a formula of more than 120 characters or of several lines", "a shorter one");
    return false;
  }
  strcpy(t->text, text);
  t->root = read_equals(&r, 0);
  skip_blanks(&r);
  if (!*problem && *r.at)
    complain_here(&r, "an operator (U, W, R, &&, ||, ->, <->) or the end");
  return !*problem;
}

const char *temporal_lacks(const struct temporal *t, const struct rcl_protocol *protocol)
{
  for (unsigned i = 0; i < t->facts; i++)
    if (temporal_fact_is_global(t->fact[i].name) && protocol->independent)
      return temporal_fact_name(t->fact[i].name);
  return NULL;
}

uint32_t temporal_facts(const struct temporal *t, const struct world *w)
{
  uint32_t facts = 0;
  for (unsigned i = 0; i < t->facts; i++)
    facts |= (uint32_t)temporal_fact_is_true(&t->fact[i], w) << i;
  return facts;
}

void temporal_fact_text(const struct temporal *t, unsigned fact, char *text, size_t size)
{
  const struct temporal_fact *f = &t->fact[fact];
  int used = snprintf(text, size, "'%s", temporal_fact_name(f->name));
  const int16_t operands[] = {f->a, f->b};
  for (int i = 0; i < 2 && operands[i] >= 0; i++)
    used += snprintf(text + used, size - (size_t)used, " %d", operands[i]);
  snprintf(text + used, size - (size_t)used, "'");
}

/* ---- judging ---- */

/* Returns whether an operator holds in a state, given the values of its operands in that state and
 * its own value in the next state. */
static bool holds_here(enum temporal_kind kind, bool left, bool right, bool next)
{
  switch (kind) {
  case TEMPORAL_TRUE:
    return true;
  case TEMPORAL_NOT:
    return !left;
  case TEMPORAL_AND:
    return left && right;
  case TEMPORAL_OR:
    return left || right;
  case TEMPORAL_IMPLIES:
    return !left || right;
  case TEMPORAL_EQUALS:
    return left == right;
  case TEMPORAL_ALWAYS:
    return left && next;
  case TEMPORAL_EVENTUALLY:
    return left || next;
  case TEMPORAL_UNTIL:
  case TEMPORAL_WEAK:
    return right || (left && next);
  case TEMPORAL_RELEASE:
    return right && (left || next);
  case TEMPORAL_FALSE:
  case TEMPORAL_FACT:
    break;
  }
  return false;
}

bool temporal_holds(const struct temporal *t, const uint32_t *facts, uint32_t count, uint32_t again)
{
  bool *holds[TEMPORAL_NODES] = {0};
  for (unsigned n = 0; n < t->nodes; n++) {
    const struct temporal_node *node = &t->node[n];
    bool least = node->kind == TEMPORAL_UNTIL || node->kind == TEMPORAL_EVENTUALLY;
    bool *here = holds[n] = memory_grow(NULL, count * sizeof *here);
    memset(here, !least, count * sizeof *here);
    for (unsigned pass = 0; pass < 2;
         pass++) /* the second pass knows what follows the last state */
      for (uint32_t i = count; i-- > 0;)
        here[i] = node->kind == TEMPORAL_FACT
                      ? facts[i] >> node->fact & 1
                      : holds_here(node->kind, holds[node->left][i], holds[node->right][i],
                                   here[i + 1 < count ? i + 1 : again]);
  }
  bool fine = holds[t->root][0];
  for (unsigned n = 0; n < t->nodes; n++)
    free(holds[n]);
  return fine;
}

/* ---- violations ---- */

static const char *const violated[] = {
    " is violated by a run that ends",
    " is violated by a run that repeats its last steps for ever"};

void temporal_violate(const char *formula, bool round, struct verdict *verdict)
{
  *verdict = (struct verdict){.kind = VERDICT_VIOLATION, .property = "ltl"};
  snprintf(verdict->text, sizeof verdict->text, "%s%s", formula, violated[round]);
}

bool temporal_of_text(const char *text, char formula[TEMPORAL_TEXT])
{
  const char *end = strstr(text, " is violated by a run that ");
  if (!end || end - text >= TEMPORAL_TEXT)
    return false;
  memcpy(formula, text, (size_t)(end - text));
  formula[end - text] = '\0';
  return true;
}
