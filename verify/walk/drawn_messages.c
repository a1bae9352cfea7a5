/* Draws messages: their sends, and their receives, which complete at once or later. */
#include "protocols/neighbours.h"
#include "verify/walk/program_parts.h"

/* ---- adding operations ---- */

void program_add(struct maker *m, uint32_t unit, int rank, struct operation op)
{
  const struct drawn drawn = {.unit = unit, .rank = (int16_t)rank, .op = op};
  g_array_append_val(m->draft->ops, drawn);
}

uint32_t program_unit(struct maker *m)
{
  return m->draft->units++;
}

bool program_has(const struct maker *m, uint32_t family)
{
  return m->draft->families & family;
}

/* Returns whether a decision of the rank may differ when it is made again. */
bool program_decides(const struct maker *m, int rank)
{
  return !(m->assumed & RCL_ASSUMES_SAME_AGAIN) || m->sink[rank];
}

void program_size(struct maker *m, struct operation *op)
{
  static const unsigned sizes[] = {0, 1, 4, 15, 17, 64, 1024, 65536, 65537, 1 << 20};
  if (!program_has(m, FAMILY_SIZES) || dice_once_in(m->dice, 2))
    return;
  op->sized = true;
  op->bytes = sizes[dice_below(m->dice, G_N_ELEMENTS(sizes))];
}

/* ---- messages ---- */

int program_any_rank(struct maker *m)
{
  return (int)dice_below(m->dice, (unsigned)m->draft->ranks);
}

/* Returns a communicator that both ranks are members of. */
static int comm_of(struct maker *m, int one, int two)
{
  int comm = (int)dice_below(m->dice, PROGRAM_COMMS);
  return comm && m->member[comm][one] && m->member[comm][two] ? comm : 0;
}

static bool may_send(const struct maker *m, int from, int to)
{
  bool near =
      !m->near || from == to ||
      m->near[(size_t)from * neighbours_row(m->draft->ranks) + (size_t)to / 32] >> to % 32 & 1U;
  return near && !m->sink[from];
}

/* Returns a receive of kind `kind` for the message. How the receive names its message depends on
 * the receiver. */
static struct operation receive_of(const struct maker *m, const struct letter *letter,
                                   enum script_kind kind)
{
  enum naming how = m->naming[letter->to];
  bool source = how == NAMES_BOTH || how == NAMES_SOURCE;
  bool tag = how == NAMES_BOTH || how == NAMES_TAG;
  return (struct operation){.kind = kind,
                            .peer = source ? letter->from : RCL_ANY,
                            .tag = tag ? letter->tag : RCL_ANY,
                            .comm = letter->comm};
}

static int free_name(const struct maker *m, int rank)
{
  for (int name = 0; name < SCRIPT_NAMES; name++)
    if (!(m->names[rank] >> name & 1U))
      return name;
  return -1;
}

/* Posts a receive for the letter, to be completed later. */
static void post(struct maker *m, const struct letter *letter)
{
  struct operation op = receive_of(m, letter, SCRIPT_IRECV);
  op.name = free_name(m, letter->to);
  m->names[letter->to] |= 1U << op.name;
  program_add(m, letter->unit, letter->to, op);
  const struct posted posted = {letter->unit, letter->to, op.name, false};
  g_array_append_val(m->posted, posted);
}

static bool can_post(const struct maker *m, int rank)
{
  return program_has(m, FAMILY_NONBLOCKING) && free_name(m, rank) >= 0;
}

/* Receives a message, or posts a receive for it. */
static void receive(struct maker *m, guint at)
{
  const struct letter letter = g_array_index(m->letters, struct letter, at);
  if (can_post(m, letter.to) && dice_once_in(m->dice, 2))
    post(m, &letter);
  else
    program_add(m, letter.unit, letter.to, receive_of(m, &letter, SCRIPT_RECV));
  g_array_remove_index(m->letters, at);
}

/* Returns the index of a letter that can be received now. If channels keep the order of sending,
 * only the first letter from one rank to another can be received. */
static guint receivable(struct maker *m)
{
  guint at = dice_below(m->dice, m->letters->len);
  const struct letter *wanted = &g_array_index(m->letters, struct letter, at);
  bool ordered = m->draft->fifo || !program_has(m, FAMILY_TAGS);
  for (guint i = 0; i < at; i++) {
    const struct letter *letter = &g_array_index(m->letters, struct letter, i);
    if (letter->from == wanted->from && letter->to == wanted->to &&
        (ordered || (letter->tag == wanted->tag && letter->comm == wanted->comm)))
      return i;
  }
  return at;
}

/* Returns whether nothing is under way between the ranks, so that a send can wait for its
 * receive. */
static bool is_quiet(const struct maker *m, int from, int to)
{
  for (guint i = 0; i < m->letters->len; i++) {
    const struct letter *letter = &g_array_index(m->letters, struct letter, i);
    if (letter->from == from && letter->to == to)
      return false;
  }
  return true;
}

static struct operation send_of(struct maker *m, const struct letter *letter)
{
  struct operation op = {
      .kind = SCRIPT_SEND, .peer = letter->to, .tag = letter->tag, .comm = letter->comm};
  program_size(m, &op);
  return op;
}

/* Draws a send whose tag depends on a choice. The receive of that message names no tag. */
static void send_by_choice(struct maker *m, struct letter *letter)
{
  program_add(m, letter->unit, letter->from, (struct operation){.kind = SCRIPT_CHOOSE, .count = 2});
  for (unsigned outcome = 0; outcome < 2; outcome++) {
    letter->tag = (int)outcome;
    program_add(m, letter->unit, letter->from,
                (struct operation){.kind = SCRIPT_IF, .count = outcome, .skip = 1});
    program_add(m, letter->unit, letter->from, send_of(m, letter));
  }
}

void program_send(struct maker *m)
{
  int from = program_any_rank(m), to = program_any_rank(m);
  if (from == to && !dice_once_in(m->dice, 4))
    to = (to + 1) % m->draft->ranks;
  if (!may_send(m, from, to))
    return;
  struct letter letter = {.unit = program_unit(m), .from = from, .to = to};
  letter.comm = comm_of(m, from, to);
  letter.tag = program_has(m, FAMILY_TAGS) ? dice_small(m->dice, 0, 3) : 0;
  if (m->draft
          ->no_order) /* MPI's order does not hold, so each message has an envelope of its own */
    letter.tag = (int)letter.unit;
  enum naming how = m->naming[to];
  bool source = how == NAMES_BOTH || how == NAMES_SOURCE;
  bool tagless = how == NAMES_SOURCE || how == NAMES_NEITHER;
  if (program_has(m, FAMILY_SYNCHRONOUS) && from != to && source && is_quiet(m, from, to) &&
      dice_once_in(m->dice, 2)) {
    struct operation op = send_of(m, &letter);
    op.count = 1;
    program_add(m, letter.unit, from, op);
    program_add(m, letter.unit, to, receive_of(m, &letter, SCRIPT_RECV));
    return;
  }
  if (can_post(m, to) && dice_once_in(m->dice, 4)) {
    post(m, &letter);
    program_add(m, letter.unit, from, send_of(m, &letter));
    return;
  }
  if (program_has(m, FAMILY_BRANCHES) && tagless && !m->draft->no_order &&
      program_decides(m, from) && dice_once_in(m->dice, 2))
    send_by_choice(m, &letter);
  else
    program_add(m, letter.unit, from, send_of(m, &letter));
  g_array_append_val(m->letters, letter);
}

/* ---- completing what was posted ---- */

static void merge_units(struct maker *m, uint32_t one, uint32_t other)
{
  for (guint i = 0; i < m->draft->ops->len; i++) {
    struct drawn *drawn = &g_array_index(m->draft->ops, struct drawn, i);
    drawn->unit = drawn->unit == other ? one : drawn->unit;
  }
  for (guint i = 0; i < m->posted->len; i++) {
    struct posted *posted = &g_array_index(m->posted, struct posted, i);
    posted->unit = posted->unit == other ? one : posted->unit;
  }
}

/* Completes one of two receives of the rank, whichever message comes first. The program waits for
 * both receives later. One of the receives must not be complete yet, or the rank would wait for
 * ever. Returns false if the rank does not have two receives. */
static bool wait_for_any(struct maker *m, guint at)
{
  struct posted *one = &g_array_index(m->posted, struct posted, at);
  for (guint i = 0; i < m->posted->len; i++) {
    struct posted *other = &g_array_index(m->posted, struct posted, i);
    if (i == at || other->rank != one->rank || other->looked)
      continue;
    merge_units(m, one->unit, other->unit);
    one->looked = other->looked = true;
    program_add(m, one->unit, one->rank,
                (struct operation){.kind = SCRIPT_WAITANY, .name = one->name, .tag = other->name});
    return true;
  }
  return false;
}

static void complete(struct maker *m, guint at)
{
  struct posted *posted = &g_array_index(m->posted, struct posted, at);
  bool decides = program_decides(m, posted->rank) && program_has(m, FAMILY_CHOICES);
  if (decides && !posted->looked && dice_once_in(m->dice, 3) && wait_for_any(m, at))
    return;
  if (decides && !posted->looked && dice_once_in(m->dice, 3)) {
    posted->looked = true;
    program_add(m, posted->unit, posted->rank,
                (struct operation){.kind = SCRIPT_TEST, .name = posted->name});
    return;
  }
  bool cancels = decides && !posted->looked && dice_once_in(m->dice, 3);
  program_add(
      m, posted->unit, posted->rank,
      (struct operation){.kind = cancels ? SCRIPT_CANCEL : SCRIPT_WAIT, .name = posted->name});
  m->names[posted->rank] &= ~(1U << posted->name);
  g_array_remove_index(m->posted, at);
}

void program_receive(struct maker *m)
{
  if (m->letters->len)
    receive(m, receivable(m));
}

void program_complete(struct maker *m)
{
  if (m->posted->len)
    complete(m, dice_below(m->dice, m->posted->len));
}

void program_settle(struct maker *m)
{
  while (m->letters->len)
    receive(m, receivable(m));
  while (m->posted->len)
    complete(m, dice_below(m->dice, m->posted->len));
}
