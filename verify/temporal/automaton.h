/* Makes Büchi automata (never claims in SPIN). Such an automaton accepts the runs for which a
 * temporal formula is true, or the runs for which it is false.
 *
 * Source: R. Gerth, D. Peled, M. Y. Vardi, P. Wolper, Simple on-the-fly automatic verification of
 * linear temporal logic, PSTV 1995. The automaton is generalised: a run is accepted if it visits
 * each of several sets of states again and again.
 */
#ifndef RECLINE_AUTOMATON_H
#define RECLINE_AUTOMATON_H

#include "world/temporal/temporal.h"

enum { AUTOMATON_STATES = 1024 };

/* A state stands for the facts of one state of a run. */
struct automaton_state {
  uint32_t must, must_not; /* facts that are true, and facts that are false, in the run's state */
  uint64_t sets;           /* bit N is set if the state is in acceptance set N */
  uint16_t *next;          /* the states that may follow */
  uint32_t next_count, next_room;
};

struct automaton {
  struct automaton_state *state;
  uint32_t states, room;
  uint64_t sets;                 /* the existing acceptance sets, one bit for each */
  struct automaton_state before; /* the state before the run, whose `next` are the initial states */
};

/* Makes the automaton that accepts the runs for which the formula is true or, with `negated`,
 * false. Returns false if it has more than AUTOMATON_STATES states. The caller ends with
 * automaton_clear(). */
bool automaton_make(struct automaton *, const struct temporal *, bool negated);
void automaton_clear(struct automaton *);

static inline bool automaton_allows(const struct automaton_state *state, uint32_t facts)
{
  return (facts & state->must) == state->must && !(facts & state->must_not);
}

#endif
