/* Looks for runs that go round for ever and violate `progress`, under weak fairness.
 *
 * A run goes on for ever only in a strongly connected component of the graph of states. Weak
 * fairness says that a move that can happen at every moment from some time on does happen. Crashes
 * and injected faults need not happen. If some move is possible in all states of a component and
 * never leads back into it, a fair run must leave the component. In any other component a fair run
 * can stay, and visit all of its states. If one of these must not recur for ever
 * (world_for_ever()), property `progress` is violated. If a fair run can stay in some states of a
 * component, a fair run can also visit all of them, so it is exact to look at whole components. A
 * component of a single state is a state at rest, or every run leaves it; the search has already
 * judged it.
 *
 * Most protocols have no component of several states, and their steps alone show that
 * (recurrence.h), without looking at any state. Otherwise all workers look for components among
 * states that the steps cannot tell apart, each in its own share. The workers take moves once more,
 * from the local caches. This search needs 4 bytes for each place of the visited set, and the
 * memory that components.h names.
 */
#include <stdlib.h>

#include "base/breach.h"
#include "base/components.h"
#include "verify/explore/cycles.h"

enum { TIME_EXPANSIONS = 4096 }; /* number of states between two looks at the clock */

/* Holds the share of one worker; `number` is the number of the worker. */
struct share {
  struct cycles cycles;
  struct components search;
  unsigned number;
};

static bool is_fair(const struct cycles *c, size_t count)
{
  for (size_t i = 0; i < c->touched.count; i++) {
    const struct chance *chance = &c->chances[c->touched.place[i]];
    if (chance->possible == count && !chance->taken)
      return false;
  }
  return true;
}

static void judge_component(void *share, const uint64_t *state, size_t count)
{
  struct cycles *c = &((struct share *)share)->cycles;
  uint32_t component = c->number[state[0]];
  bool bad = cycles_survey(c, state, count, component);
  if (bad && is_fair(c, count))
    places_add(&c->bad, component);
  for (size_t i = 0; i < c->touched.count; i++)
    c->chances[c->touched.place[i]] = (struct chance){0};
  c->touched.count = 0;
  c->components++;
  c->states += count;
}

/* ---- all components ---- */

/* Lists the transitions of `place`, unless they are still listed. */
static void look_at(struct share *s, uint64_t place)
{
  struct cycles *c = &s->cycles;
  if (c->expansions && c->expanded == place)
    return;
  cycles_expand(c, place);
  if (c->expansions % TIME_EXPANSIONS == 0)
    s->search.stopped |= search_is_late(c->e);
}

/* Returns the first transition, from number `n` on, that leads to another state that may lie on a
 * cycle with the expanded state.
 */
static uint32_t next_transition(struct cycles *c, uint32_t n)
{
  const struct transition *transition = c->transitions.item;
  while (n < c->transitions.count &&
         (transition[n].to == TRANSITION_STAYS || !cycles_are_alike(c, transition[n].to)))
    n++;
  return n < c->transitions.count ? n : EDGE_NONE;
}

static bool next_edge(void *share, uint64_t place, uint32_t *edge, uint64_t *to)
{
  struct share *s = share;
  look_at(s, place);
  uint32_t n = next_transition(&s->cycles, *edge);
  if (n == EDGE_NONE)
    return false;
  *to = s->cycles.transitions.item[n].to;
  *edge = next_transition(&s->cycles, n + 1);
  return true;
}

/* Returns whether the state may lie on a cycle and is in this worker's share. */
static bool is_own(const struct share *s, const uint32_t *state)
{
  const struct cycles *c = &s->cycles;
  uint32_t numbers[c->e->model.components];
  if (!c->recurrence)
    return !s->number;
  packing_unpack(c->e->model.packing, state, numbers);
  return recurrence_may_return(c->recurrence, numbers) &&
         recurrence_digest(c->recurrence, numbers) % c->e->workers == s->number;
}

static void search_share(void *share)
{
  struct share *s = share;
  const struct visited *visited = &s->cycles.e->visited;
  for (uint64_t n = 0; n < visited_end(visited) && !s->search.stopped; n++)
    if (*visited_at(visited, n) && is_own(s, visited_at(visited, n)))
      components_from(&s->search, n);
  components_clear(&s->search);
}

static void begin_share(struct share *s, struct explorer *e, unsigned number)
{
  *s = (struct share){.number = number};
  s->cycles = (struct cycles){.e = e, .w = &e->worker[number]};
  s->cycles.w->outgoing = &s->cycles.transitions;
}

static void end_share(struct share *s)
{
  struct cycles *c = &s->cycles;
  void *all[] = {c->transitions.item, c->chances, c->touched.place, c->bad.place};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
  c->w->outgoing = NULL;
}

/* ---- what was found ---- */

static int downwards(const void *a, const void *b)
{
  uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
  return (one < two) - (one > two);
}

/* Adds the findings of all shares to the first. Returns whether all workers finished. */
static bool add_up(struct share *shares, unsigned count)
{
  struct cycles *all = &shares[0].cycles;
  bool complete = !shares[0].search.stopped;
  for (unsigned i = 1; i < count; i++) {
    const struct cycles *c = &shares[i].cycles;
    for (size_t n = 0; n < c->bad.count; n++)
      places_add(&all->bad, c->bad.place[n]);
    all->components += c->components;
    all->states += c->states;
    complete &= !shares[i].search.stopped;
  }
  if (all->bad.count)
    qsort(all->bad.place, all->bad.count, sizeof *all->bad.place, downwards);
  return complete;
}

static void write_lasso(struct cycles *c)
{
  const struct model *m = &c->e->model;
  uint32_t first[PACKING_WORDS];
  packing_pack(m->packing, m->first, first);
  lasso_write(c, visited_place(&c->e->visited, first, packing_hash(m->packing, m->first)));
  c->e->out->verdict = EXPLORER_VIOLATED;
}

/* Holds the findings of an examination. */
struct outcome {
  uint64_t components, states, bad;
};

/* Looks for components among states that are alike. If `tells`, notes the findings. */
static struct outcome search_states(struct explorer *e, const struct recurrence *recurrence,
                                    bool tells)
{
  struct share shares[e->workers];
  uint64_t most = e->model.options->max_bytes, bytes = explorer_bytes(e);
  size_t places = (size_t)visited_end(&e->visited), left = SIZE_MAX;
  uint32_t last = COMPONENT_ALONE, *number = calloc(places, sizeof *number);
  if (most)
    left = bytes + places * sizeof *number < most ? most - bytes - places * sizeof *number : 0;
  for (unsigned i = 0; i < e->workers; i++) {
    begin_share(&shares[i], e, i);
    shares[i].cycles.recurrence = recurrence;
    shares[i].cycles.number = number;
    shares[i].search = (struct components){.number = number,
                                           .last = &last,
                                           .left = &left,
                                           .ctx = &shares[i],
                                           .edge = next_edge,
                                           .found = judge_component,
                                           .stopped = !number || !left};
  }
  platform_parallel(search_share, shares, sizeof *shares, e->workers);
  bool complete = add_up(shares, e->workers);
  struct cycles *c = &shares[0].cycles;
  struct outcome outcome = {c->components, c->states, c->bad.count};
  for (unsigned i = 1; i < e->workers; i++)
    end_share(&shares[i]);
  if (!complete)
    explorer_stop(e, search_is_late(e) ? "timeout" : "memory");
  else if (outcome.bad && tells)
    write_lasso(c);
  end_share(&shares[0]);
  free(number);
  return outcome;
}

/* ---- the whole ---- */

/* Also looks for components among all states. The findings must be equal. */
static void audit_recurrence(struct explorer *e, const struct outcome *found)
{
  const struct outcome all = search_states(e, NULL, false);
  if (e->out->verdict != EXPLORER_INCONCLUSIVE &&
      (all.components != found->components || all.states != found->states || all.bad != found->bad))
    breach("the steps show fewer cycles than there are");
}

/* Returns whether steps are left in any process. Also returns false if the time is up, which the
 * verdict then says. */
static bool are_steps_left(struct explorer *e, struct recurrence *recurrence)
{
  bool late = e->out->verdict == EXPLORER_INCONCLUSIVE;
  if (e->exchange && transport_sum(exchange_transport(e->exchange), late))
    explorer_stop(e, "timeout");
  if (e->out->verdict == EXPLORER_INCONCLUSIVE)
    return false;
  return e->exchange ? distributed_recurs(e, recurrence) : recurrence_solve(recurrence);
}

/* Looks for components among states, if all states are in this process. */
static void judge_states(struct explorer *e, struct recurrence *recurrence, struct outcome *found)
{
  if (e->exchange || e->archiving) {
    explorer_stop(e, e->exchange ? "memory of one process" : "memory");
    return;
  }
  recurrence_compare(recurrence, &e->model);
  *found = search_states(e, recurrence, true);
}

/* Returns whether all states were seen, and the visited set keeps whole states. */
static bool has_states(const struct explorer *e)
{
  return !e->fingerprint && !e->crash && !e->stubborn && !e->symmetry;
}

/* Returns whether no run goes round because no rank returns to a node of its abstraction. Returns
 * false in worlds with crashes, because the abstraction ends at the first crash. */
static bool never_returns(const struct explorer *e)
{
  return e->abstraction && !e->crash;
}

bool liveness_judge(struct explorer *e)
{
  uint64_t most = e->model.options->max_cycles;
  bool named = !most, few = has_states(e) && (named || e->out->states <= most), judges = true;
  struct outcome found = {0};
  if (never_returns(e))
    return true;
  struct recurrence *recurrence = recurrence_new(&e->model);
  if (e->steps)
    recurrence_join(recurrence, e->steps);
  if (are_steps_left(e, recurrence)) {
    judges = named || (few && !e->archiving && !e->exchange);
    if (judges)
      judge_states(e, recurrence, &found);
    else
      e->out->recurs = true;
  }
  if (e->model.options->audit && few && !e->archiving && e->out->verdict != EXPLORER_INCONCLUSIVE)
    audit_recurrence(e, &found);
  recurrence_free(recurrence);
  return judges;
}
