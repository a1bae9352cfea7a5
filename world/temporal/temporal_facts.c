/* Has the facts of which temporal formulas speak, each a function of the state of the world. */
#include "world/temporal/temporal_facts.h"

#include <stdio.h>
#include <string.h>

#include "world/rules/world_parts.h"

/* ---- of one rank ---- */

static bool is_crashed(const struct world *w, int rank)
{
  uint8_t phase = read_rank(w, rank)->phase;
  return phase == RANK_DEAD || phase == RANK_RESTARTING;
}

static bool is_restoring(const struct world *w, int rank)
{
  return read_rank(w, rank)->phase == RANK_RESTORING;
}

static bool is_capturing(const struct world *w, int rank)
{
  return read_rank(w, rank)->phase == RANK_CAPTURING;
}

static bool is_held(const struct world *w, int rank)
{
  return read_rank(w, rank)->held;
}

static bool has_ended(const struct world *w, int rank)
{
  return world_standing(w, rank).finished;
}

static bool is_receiving(const struct world *w, int rank)
{
  uint32_t size;
  world_read(w, WORLD_POSTED, rank, 0, &size);
  return size > 0;
}

/* ---- of one channel ---- */

static bool has_message(const struct world *w, int from, int to)
{
  uint32_t count;
  const struct world_message *list =
      READ_LIST(struct world_message, w, WORLD_CHANNEL, from, to, &count);
  for (uint32_t i = 0; i < count; i++)
    if (!is_control(&list[i]))
      return true;
  return false;
}

static bool has_control(const struct world *w, int from, int to)
{
  uint32_t count;
  const struct world_message *list =
      READ_LIST(struct world_message, w, control_part(w), from, to, &count);
  for (uint32_t i = 0; i < count; i++)
    if (is_control(&list[i]))
      return true;
  return false;
}

/* ---- of all ranks ---- */

static bool is_requested(const struct world *w, int number)
{
  (void)number;
  return read_global(w)->requested;
}

static bool is_committing(const struct world *w, int number)
{
  (void)number;
  return read_global(w)->committing;
}

static bool is_committed(const struct world *w, int number)
{
  return read_global(w)->committed >= (uint32_t)(number < 0 ? 1 : number);
}

static bool has_failed(const struct world *w, int number)
{
  return read_global(w)->incarnation >= (number < 0 ? 1 : number);
}

/* ---- the table ---- */

/* One of the functions is set in each entry. A fact without operands is true if `rank` is true of
 * some rank (or of every rank, with `each`), or if `pair` is true of some channel. */
static const struct {
  const char *name;
  bool (*rank)(const struct world *, int rank);
  bool (*pair)(const struct world *, int from, int to);
  bool (*all)(const struct world *, int number);
  bool each, counts, global;
} facts[] = {{"crashed", .rank = is_crashed},
             {"restoring", .rank = is_restoring},
             {"capturing", .rank = is_capturing},
             {"held", .rank = is_held},
             {"receiving", .rank = is_receiving},
             {"finished", .rank = has_ended, .each = true},
             {"message", .pair = has_message},
             {"control", .pair = has_control},
             {"requested", .all = is_requested, .global = true},
             {"committing", .all = is_committing, .global = true},
             {"committed", .all = is_committed, .counts = true, .global = true},
             {"detected", .all = has_failed, .counts = true}};

enum { FACTS = sizeof facts / sizeof *facts };

int temporal_fact_named(const char *name, size_t length)
{
  for (int i = 0; i < FACTS; i++)
    if (strlen(facts[i].name) == length && !strncmp(facts[i].name, name, length))
      return i;
  return -1;
}

const char *temporal_fact_name(int name)
{
  return facts[name].name;
}

void temporal_fact_names(char *text, size_t size)
{
  size_t used = 0;
  for (int i = 0; i < FACTS && used < size; i++)
    used +=
        (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "a fact (", facts[i].name);
  if (used < size)
    snprintf(text + used, size - used, ")");
}

const char *temporal_fact_refuses(const struct temporal_fact *fact, int ranks)
{
  bool inside = fact->a < ranks && fact->b < ranks;
  if (facts[fact->name].rank && (!inside || fact->b >= 0))
    return "the number of a rank, or none";
  if (facts[fact->name].pair && (!inside || (fact->a >= 0) != (fact->b >= 0)))
    return "the numbers of a sender and a receiver, or none";
  if (facts[fact->name].counts && (fact->a == 0 || fact->b >= 0))
    return "a number from 1, or none";
  if (facts[fact->name].all && !facts[fact->name].counts && fact->a >= 0)
    return "no number";
  return NULL;
}

bool temporal_fact_is_global(int name)
{
  return facts[name].global;
}

bool temporal_fact_is_true(const struct temporal_fact *fact, const struct world *w)
{
  bool each = facts[fact->name].each, all = true, any = false;
  if (facts[fact->name].all)
    return facts[fact->name].all(w, fact->a);
  for (int rank = 0; rank < w->ranks; rank++) {
    if (fact->a >= 0 && rank != fact->a)
      continue;
    for (int to = 0; facts[fact->name].pair && to < w->ranks; to++)
      any |= (fact->b < 0 || to == fact->b) && facts[fact->name].pair(w, rank, to);
    bool is = facts[fact->name].rank && facts[fact->name].rank(w, rank);
    any |= is;
    all &= is;
  }
  return each ? all : any;
}
