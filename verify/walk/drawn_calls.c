/* Draws the operations that several ranks do together: collectives, communicators, windows and
 * iterations. */
#include <string.h>

#include "verify/walk/program_parts.h"

static void add_to_all(struct maker *m, uint32_t unit, struct operation op)
{
  for (int rank = 0; rank < m->draft->ranks; rank++)
    program_add(m, unit, rank, op);
}

/* ---- collectives ---- */

/* Returns a member of the communicator. */
static int any_member(struct maker *m, int comm)
{
  int rank;
  do
    rank = (int)dice_below(m->dice, (unsigned)m->draft->ranks);
  while (comm && !m->member[comm][rank]);
  return rank;
}

static bool is_made(const struct maker *m, int comm)
{
  for (int rank = 0; rank < m->draft->ranks; rank++)
    if (m->member[comm][rank])
      return true;
  return false;
}

static void collective(struct maker *m)
{
  static const enum rcl_flow flows[] = {RCL_FLOW_BARRIER, RCL_FLOW_FROM_ROOT, RCL_FLOW_TO_ROOT,
                                        RCL_FLOW_ALL};
  bool barriers = m->assumed & RCL_ASSUMES_BARRIERS;
  int comm = (int)dice_below(m->dice, PROGRAM_COMMS);
  comm = is_made(m, comm) ? comm : 0;
  struct operation op = {.kind = SCRIPT_COLLECTIVE, .comm = comm};
  op.flow = (int)flows[dice_below(m->dice, barriers && !comm ? 2 : G_N_ELEMENTS(flows))];
  bool rooted = op.flow == RCL_FLOW_FROM_ROOT || op.flow == RCL_FLOW_TO_ROOT;
  op.peer = rooted ? any_member(m, comm) : 0;
  if (op.flow != RCL_FLOW_BARRIER)
    program_size(m, &op);
  if (op.flow == RCL_FLOW_BARRIER && (barriers || dice_once_in(m->dice, 2)))
    program_settle(m);
  uint32_t unit = program_unit(m);
  for (int rank = 0; rank < m->draft->ranks; rank++)
    if (!comm || m->member[comm][rank])
      program_add(m, unit, rank, op);
}

static void communicator(struct maker *m)
{
  int comm = 1 + (int)dice_below(m->dice, PROGRAM_COMMS - 1);
  if (is_made(m, comm))
    return;
  uint32_t unit = program_unit(m);
  unsigned members = 0;
  for (int rank = 0; rank < m->draft->ranks; rank++) {
    bool joins = dice_below(m->dice, 4) || m->draft->ranks - rank + (int)members <= 2;
    m->member[comm][rank] = joins;
    members += joins;
    program_add(m, unit, rank, (struct operation){.kind = SCRIPT_COLLECTIVE, .flow = RCL_FLOW_ALL});
    if (joins)
      program_add(m, unit, rank, (struct operation){.kind = SCRIPT_MEMBER, .comm = comm});
  }
}

/* ---- windows ---- */

static struct operation access_to(struct maker *m, int peer)
{
  return (struct operation){.kind = SCRIPT_ACCESS,
                            .flow = (int)dice_below(m->dice, ACCESS_FETCH + 1),
                            .peer = peer,
                            .cell = dice_below(m->dice, SCRIPT_CELLS),
                            .value = 1 + dice_below(m->dice, 3)};
}

static void fence(struct maker *m)
{
  add_to_all(m, program_unit(m), (struct operation){.kind = SCRIPT_FENCE});
  memset(m->pending, 0, sizeof m->pending);
}

/* Draws an epoch of two ranks. */
static void group_epoch(struct maker *m, int origin, int target)
{
  uint32_t unit = program_unit(m);
  program_add(m, unit, target, (struct operation){.kind = SCRIPT_POST, .peer = origin});
  program_add(m, unit, origin, (struct operation){.kind = SCRIPT_START, .peer = target});
  for (unsigned i = 1 + dice_below(m->dice, 2); i > 0; i--)
    program_add(m, unit, origin, access_to(m, target));
  program_add(m, unit, origin, (struct operation){.kind = SCRIPT_COMPLETE});
  program_add(m, unit, target, (struct operation){.kind = SCRIPT_WAIT_WINDOW});
}

static void one_sided(struct maker *m)
{
  int origin = any_member(m, 0), target = any_member(m, 0);
  unsigned what = dice_below(m->dice, 5);
  if (what == 0) {
    fence(m);
  } else if (what == 1 && origin != target && !m->pending[origin]) {
    group_epoch(m, origin, target);
  } else if (what == 2) {
    program_add(m, program_unit(m), origin,
                (struct operation){.kind = SCRIPT_LOAD, .cell = dice_below(m->dice, SCRIPT_CELLS)});
  } else if (m->pending[origin] < SCRIPT_PENDING) {
    m->pending[origin]++;
    program_add(m, program_unit(m), origin, access_to(m, target));
  }
}

/* Draws accesses under a lock. A rank holds at most one lock at a time, and waits for nothing else
 * while it holds a lock. */
static void locked(struct maker *m)
{
  int origin = any_member(m, 0), target = any_member(m, 0);
  uint32_t unit = program_unit(m);
  program_add(
      m, unit, origin,
      (struct operation){.kind = SCRIPT_LOCK, .peer = target, .count = dice_once_in(m->dice, 3)});
  for (unsigned i = dice_below(m->dice, 3); i > 0; i--)
    program_add(m, unit, origin, access_to(m, target));
  if (dice_once_in(m->dice, 3)) {
    program_add(m, unit, origin, (struct operation){.kind = SCRIPT_FLUSH, .peer = target});
    program_add(m, unit, origin, access_to(m, target));
  }
  program_add(m, unit, origin, (struct operation){.kind = SCRIPT_UNLOCK, .peer = target});
}

/* ---- the whole ---- */

/* Draws the beginning of an iteration on all ranks. No message crosses that beginning. */
static void iteration(struct maker *m)
{
  program_settle(m);
  add_to_all(m, program_unit(m), (struct operation){.kind = SCRIPT_CHECKPOINT, .count = 1});
}

void program_call(struct maker *m)
{
  static const uint32_t families[] = {FAMILY_COLLECTIVES, FAMILY_COMMUNICATORS, FAMILY_WINDOWS,
                                      FAMILY_LOCKS, FAMILY_ITERATIONS};
  static void (*const calls[])(struct maker *) = {collective, communicator, one_sided, locked,
                                                  iteration};
  unsigned at = dice_below(m->dice, G_N_ELEMENTS(families));
  for (unsigned i = 0; i < G_N_ELEMENTS(families); i++, at = (at + 1) % G_N_ELEMENTS(families))
    if (program_has(m, families[at])) {
      calls[at](m);
      return;
    }
}

void program_begin(struct maker *m)
{
  if (program_has(m, FAMILY_WINDOWS | FAMILY_LOCKS))
    add_to_all(m, program_unit(m), (struct operation){.kind = SCRIPT_WINDOW});
  if (program_has(m, FAMILY_ITERATIONS))
    iteration(m);
}

void program_end(struct maker *m)
{
  program_settle(m);
  if (program_has(m, FAMILY_WINDOWS))
    fence(m);
  if (program_has(m, FAMILY_ITERATIONS) || dice_once_in(m->dice, 2))
    add_to_all(
        m, program_unit(m),
        (struct operation){.kind = SCRIPT_CHECKPOINT, .count = program_has(m, FAMILY_ITERATIONS)});
}
