#include "verify/walk/program.h"

#include <string.h>

#include "protocols/neighbours.h"
#include "verify/walk/program_parts.h"

/* ---- what a rank does by itself ---- */

static void decide(struct maker *m)
{
  int rank = program_any_rank(m);
  uint32_t unit = program_unit(m);
  if (!program_decides(m, rank))
    return;
  program_add(m, unit, rank,
              (struct operation){.kind = SCRIPT_CHOOSE, .count = 2 + dice_below(m->dice, 2)});
  if (!program_has(m, FAMILY_BRANCHES))
    return;
  bool output = program_has(m, FAMILY_OUTPUTS) && dice_once_in(m->dice, 2);
  program_add(m, unit, rank, (struct operation){.kind = SCRIPT_IF, .skip = 1});
  program_add(m, unit, rank,
              (struct operation){.kind = output ? SCRIPT_OUTPUT : SCRIPT_CHECKPOINT});
}

static void add_alone(struct maker *m, enum script_kind kind)
{
  program_add(m, program_unit(m), program_any_rank(m), (struct operation){.kind = kind});
}

/* ---- the whole ---- */

static void step(struct maker *m)
{
  unsigned what = dice_below(m->dice, 16);
  if (what < 5)
    program_send(m);
  else if (what < 9)
    program_receive(m);
  else if (what < 11)
    program_complete(m);
  else if (what == 11 && program_has(m, FAMILY_CHOICES))
    decide(m);
  else if (what == 12 && program_has(m, FAMILY_OUTPUTS))
    add_alone(m, SCRIPT_OUTPUT);
  else if (what == 13)
    add_alone(m, SCRIPT_CHECKPOINT);
  else if (what > 13)
    program_call(m);
}

static void draw_naming(struct maker *m)
{
  bool same = m->assumed & RCL_ASSUMES_SAME_AGAIN;
  for (int rank = 0; rank < m->draft->ranks; rank++) {
    m->sink[rank] = same && rank && dice_once_in(m->dice, 3) &&
                    !program_has(m, FAMILY_COLLECTIVES | FAMILY_COMMUNICATORS | FAMILY_WINDOWS);
    m->naming[rank] = NAMES_BOTH;
    if (program_has(m, FAMILY_WILDCARDS) && dice_below(m->dice, 3) && !same)
      m->naming[rank] = (enum naming)dice_below(m->dice, 4);
    else if (program_has(m, FAMILY_WILDCARDS) && m->sink[rank])
      m->naming[rank] = NAMES_TAG;
    if (m->draft->fifo &&
        m->naming[rank] ==
            NAMES_TAG) /* the first message in the channel may have a different tag */
      m->naming[rank] = NAMES_NEITHER;
  }
}

static void draw_free(struct maker *m, unsigned steps)
{
  for (int rank = 0; rank < m->draft->ranks; rank++)
    program_add(m, program_unit(m), rank, (struct operation){.kind = SCRIPT_FREE});
  while (steps--)
    add_alone(m, SCRIPT_FREE);
}

void program_draw(struct draft *draft, struct dice *dice, unsigned steps)
{
  char problem[NEIGHBOURS_PROBLEM];
  struct maker m = {.draft = draft,
                    .dice = dice,
                    .assumed = families_assumed(draft->protocol),
                    .letters = g_array_new(FALSE, FALSE, sizeof(struct letter)),
                    .posted = g_array_new(FALSE, FALSE, sizeof(struct posted))};
  if (*draft->topology)
    m.near = neighbours_read(draft->topology, draft->ranks, problem);
  draw_naming(&m);
  if (program_has(&m, FAMILY_FREE)) {
    draw_free(&m, steps);
  } else {
    program_begin(&m);
    while (steps--)
      step(&m);
    program_end(&m);
  }
  g_array_unref(m.letters);
  g_array_unref(m.posted);
  free(m.near);
}
