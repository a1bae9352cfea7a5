/* Draws the features of a world, and then its program. */
#include "verify/walk/drawing.h"

#include <string.h>

#include "verify/walk/program.h"
#include "world/rules/world.h"

/* The families that concern the program, except free programs. */
enum { OF_PROGRAM = FAMILY_FREE - 1 };

/* Returns the families that a world cannot have together with `families`. Of two families that
 * exclude each other, the one with the earlier flag stays. */
static uint32_t excluded(const struct rcl_protocol *protocol, uint32_t families, int ranks)
{
  uint32_t calls = FAMILY_COLLECTIVES | FAMILY_COMMUNICATORS, out = 0;
  if (ranks > SCRIPT_WINDOW_RANKS)
    out |= FAMILY_WINDOWS | FAMILY_LOCKS;
  if (families & FAMILY_FREE)
    out |= OF_PROGRAM | FAMILY_SIZES | FAMILY_TOPOLOGIES | FAMILY_NO_ORDER;
  else if (families & FAMILY_LOCKS)
    out |= FAMILY_WINDOWS | FAMILY_COMMUNICATORS;
  if (families & (FAMILY_WINDOWS | FAMILY_LOCKS))
    out |= FAMILY_NONBLOCKING | FAMILY_SYNCHRONOUS | FAMILY_FIFO | FAMILY_TOPOLOGIES;
  if (families &
      FAMILY_COMMUNICATORS) /* the first message in a channel may be of another communicator */
    out |= FAMILY_FIFO;
  if (families & calls &&
      !protocol->collectives) /* collectives are messages between rank 0 and all others */
    out |= FAMILY_FIFO | FAMILY_TOPOLOGIES;
  if (families &
      FAMILY_LEVELS) /* an output leaves at a commit, and a later crash may take away that commit */
    out |= FAMILY_OUTPUTS;
  /* A rank that repeats an iteration repeats its outputs, too. So an iteration contains no choices
   * of ranks. */
  if (families & FAMILY_OUTPUTS && families_assumed(protocol) & RCL_ASSUMES_ITERATIONS)
    out |= FAMILY_CHOICES;
  if (families & FAMILY_NO_ORDER)
    out |= FAMILY_FIFO | FAMILY_WINDOWS | FAMILY_LOCKS | (protocol->collectives ? 0 : calls);
  if (families &
      FAMILY_NONBLOCKING) /* a wait may come before the message that is first in the channel */
    out |= FAMILY_FIFO;
  return out;
}

static uint32_t draw_families(const struct rcl_protocol *protocol, int ranks, struct dice *dice)
{
  uint32_t assumed = families_assumed(protocol), taken = families_taken(protocol), families = 0;
  unsigned seldom = 2 + dice_below(dice, 5);
  for (unsigned i = 0; i < FAMILIES; i++)
    if (dice_once_in(dice, seldom))
      families |= 1u << i;
  if (dice_below(dice, 4)) /* no other family is drawn together with a free program */
    families &= ~(uint32_t)FAMILY_FREE;
  families &= taken;
  if (assumed & RCL_ASSUMES_ITERATIONS)
    families |= FAMILY_ITERATIONS;
  if (assumed & RCL_ASSUMES_BARRIERS)
    families |= FAMILY_COLLECTIVES;
  return families & ~excluded(protocol, families & ~excluded(protocol, families, ranks), ranks) &
         ~excluded(protocol, families, ranks);
}

static void draw_topology(struct draft *draft, struct dice *dice)
{
  int ranks = draft->ranks, side = 2;
  while (side * side < ranks)
    side++;
  if (ranks > 3 && side * side == ranks && dice_once_in(dice, 2))
    g_snprintf(draft->topology, sizeof draft->topology, "%s-%dx%d",
               dice_once_in(dice, 2) ? "grid" : "torus", side, side);
  else
    g_strlcpy(draft->topology, dice_once_in(dice, 2) ? "ring" : "line", sizeof draft->topology);
}

static void draw_hazards(struct draft *draft, struct dice *dice)
{
  bool torn = !(families_assumed(draft->protocol) & RCL_ASSUMES_WHOLE_WRITES);
  if (draft->families & FAMILY_CUT_STEPS)
    draft->hazards |= HAZARD_CUT_STEPS;
  if (draft->families & FAMILY_WRITES)
    draft->hazards |= torn && dice_once_in(dice, 2) ? HAZARD_TORN_WRITES : HAZARD_WHOLE_WRITES;
  if (draft->families & FAMILY_FALSE_DETECTION)
    draft->hazards |= HAZARD_FALSE_DETECTION;
  if (draft->families & FAMILY_CONTROL_ORDER)
    draft->hazards |= HAZARD_CONTROL_OVERTAKES;
}

static void draw_machine(struct draft *draft, struct dice *dice)
{
  uint32_t families = draft->families;
  draft->checkpoints = dice_small(dice, 1, 5);
  draft->crashes = families & FAMILY_CRASHES ? dice_from(dice, 2, 4) : !dice_once_in(dice, 8);
  draft->per_node = families & FAMILY_NODES ? dice_from(dice, 2, MIN(draft->ranks, 4)) : 1;
  draft->anywhere = !(families & FAMILY_PLACES);
  draft->closes = families & FAMILY_CONNECTIONS;
  draft->fifo = families & FAMILY_FIFO;
  draft->no_order = families & FAMILY_NO_ORDER;
  if (families & FAMILY_LEVELS)
    draft->levels = dice_from(dice, 1, draft->per_node > 1 ? 2 : DRAFT_HIERARCHIES);
  if (families & FAMILY_TOPOLOGIES)
    draw_topology(draft, dice);
  draw_hazards(draft, dice);
}

/* Draws the parameters of the protocol, if it has any. */
static void draw_parameters(struct draft *draft, struct dice *dice)
{
  uint32_t assumed = families_assumed(draft->protocol);
  if (assumed & RCL_ASSUMES_ITERATIONS) {
    draft->interval = (uint32_t)dice_from(dice, 1, 4);
    draft->log = (uint32_t)dice_from(dice, 0, (int)draft->interval);
    draft->log_stored = dice_from(dice, 0, 1) != 0;
  }
  if (assumed & RCL_ASSUMES_FAILURES)
    draft->failures = (uint32_t)MIN(MAX(1, draft->crashes * draft->per_node), draft->ranks);
}

/* Returns a capacity that is usually large enough. It keeps the state of a rank small, because a
 * step takes more time in a large state. */
static uint32_t room_for(const struct draft *draft)
{
  enum { STATE_MAX = 1 << 17, LEAST = 16 };
  struct rcl_config config = {.ranks = (int16_t)draft->ranks, .capacity = 4 * draft->ops->len + 64};
  while (config.capacity > LEAST && draft->protocol->state_size(&config) > STATE_MAX)
    config.capacity /= 2;
  return config.capacity;
}

struct draft drawing_draw(const struct drawing *drawing, struct dice *dice)
{
  struct draft draft = {.protocol = drawing->protocol, .file = drawing->file};
  draft.ranks = dice_small(dice, drawing->least_ranks, drawing->most_ranks);
  draft.families = draw_families(draft.protocol, draft.ranks, dice);
  draft.ops = g_array_new(FALSE, TRUE, sizeof(struct drawn));
  draw_machine(&draft, dice);
  draw_parameters(&draft, dice);
  bool free = draft.families & FAMILY_FREE;
  bool brief = dice_once_in(dice, 3); /* in a long program, more crashes come after a commit */
  int most = 16 + (free ? 2 : 16) * draft.ranks;
  unsigned steps = (unsigned)(brief ? dice_small(dice, 3, most) : dice_from(dice, 10, most));
  program_draw(&draft, dice, steps);
  bool tight = draft.families & FAMILY_TIGHT;
  draft.capacity = tight ? (uint32_t)dice_from(dice, 4, 12) : room_for(&draft);
  return draft;
}
