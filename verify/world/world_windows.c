/* The world: windows of scripts. A message of a window says which operation of its sender's script
 * it is, and has what that gives, or what was fetched; so it is the same whenever it is sent with
 * the same values, and not with others. */
#include "verify/world/window_rules.h"
#include "verify/world/world_parts.h"

static struct world_window *window_of(struct world_program *program)
{
  return (struct world_window *)(program + 1);
}

static const struct operation *operation_of(const struct world *w, int rank,
                                            const struct world_program *program)
{
  return &w->script->ops[rank][program->next];
}

/* The first access of `rank` that belongs to `op` and goes to `target`, from `at` on; NULL: none.
 */
static const struct operation *next_access(const struct world *w, int rank,
                                           const struct operation *op, int target, unsigned *at)
{
  for (; *at < op->to; ++*at) {
    const struct operation *access = &w->script->written[rank][*at];
    if (access->kind == SCRIPT_ACCESS && (target == RCL_ANY || access->peer == target)) {
      ++*at;
      return access;
    }
  }
  return NULL;
}

static bool fetches(const struct operation *access)
{
  return access->flow == ACCESS_GET || access->flow == ACCESS_FETCH;
}

/* ---- contents: the place of the operation, from 1, then numbers ---- */

static struct content content_with(uint16_t place, const uint16_t *item)
{
  struct content content = content_of(place + 1u);
  memcpy(&content.word[1], item, SCRIPT_PENDING * sizeof *item);
  return content;
}

static void items_of(const struct content *content, uint16_t *item)
{
  memcpy(item, &content->word[1], SCRIPT_PENDING * sizeof *item);
}

_Static_assert(SCRIPT_PENDING * sizeof(uint16_t) == 2 * sizeof(uint32_t), "items fill two words");

struct content world_window_content(const struct world *w, int rank)
{
  const struct world_program *program = read_program(w, rank);
  const struct world_window *window = (const struct world_window *)(program + 1);
  const struct operation *op = operation_of(w, rank, program), *access;
  uint16_t given[SCRIPT_PENDING] = {0};
  unsigned at = op->from;
  if (op->kind != SCRIPT_SEND)
    return content_with(program->next, given);
  if (op->tag == TAG_ANSWER)
    return content_with(program->next, window->answer);
  while (op->tag == TAG_ACCESSES && (access = next_access(w, rank, op, op->peer, &at)))
    given[access->name] = window->item[access->name];
  return content_with(program->next, given);
}

void world_window_sent(const struct world *w, int rank)
{
  struct world_program *program = edit_program(w, rank);
  const struct operation *op = operation_of(w, rank, program), *access;
  unsigned at = op->from;
  if (!op->unseen)
    return;
  if (op->tag == TAG_ANSWER)
    memset(window_of(program)->answer, 0, sizeof window_of(program)->answer);
  while (op->tag == TAG_ACCESSES && (access = next_access(w, rank, op, op->peer, &at)))
    window_of(program)->item[access->name] = 0;
}

/* ---- accesses ---- */

/* Carries out those of `origin` to `target` that belong to `op`: what is given becomes what was
 * fetched. */
static void carry_out(const struct world *w, struct world_window *window, int origin, int target,
                      const struct operation *op, uint16_t *item)
{
  const struct operation *access;
  for (unsigned at = op->from; (access = next_access(w, origin, op, target, &at));) {
    uint16_t *cell = &window->cell[access->cell], before = *cell, given = item[access->name];
    if (access->flow == ACCESS_PUT)
      *cell = given;
    else if (access->flow != ACCESS_GET)
      *cell = (uint16_t)(*cell + given);
    item[access->name] = fetches(access) ? before : 0;
  }
}

void world_window_take(const struct world *w, int rank, struct world_program *program,
                       const struct content *content)
{
  const struct operation *op = operation_of(w, rank, program), *access;
  struct world_window *window = window_of(program);
  uint16_t item[SCRIPT_PENDING];
  unsigned at = op->from;
  items_of(content, item);
  if (op->tag == TAG_ACCESSES && content->word[0]) {
    const struct operation *sent = &w->script->ops[op->peer][content->word[0] - 1];
    carry_out(w, window, op->peer, rank, sent, item);
    memcpy(window->answer, item, sizeof item);
  }
  while (op->tag == TAG_ANSWER && (access = next_access(w, rank, op, op->peer, &at)))
    window->item[access->name] = item[access->name];
}

static void see(const struct world *w, int rank, struct world_program *program,
                const struct operation *op)
{
  const struct operation *access;
  struct world_window *window = window_of(program);
  for (unsigned at = op->from; (access = next_access(w, rank, op, op->peer, &at));) {
    if (fetches(access)) {
      program->last = window->item[access->name];
      program->history = content_fold(program->history, content_of(program->last));
    }
    window->item[access->name] = 0;
  }
}

bool world_window_pass(const struct world *w, int rank, struct world_program *program)
{
  const struct operation *op = operation_of(w, rank, program);
  struct world_window *window = window_of(program);
  switch (op->kind) {
  case SCRIPT_ACCESS:
    window->item[op->name] = (uint16_t)(op->value + (op->last ? program->last : 0));
    break;
  case SCRIPT_OWN:
    carry_out(w, window, rank, rank, op, window->item);
    break;
  case SCRIPT_SEE:
    see(w, rank, program, op);
    break;
  case SCRIPT_LOAD:
    program->last = window->cell[op->cell];
    program->history = content_fold(program->history, content_of(program->last));
    break;
  default:
    return false;
  }
  program->next++;
  return true;
}

void world_window_restored(const struct world *w, int rank)
{
  struct world_window *window = window_of(edit_program(w, rank));
  if (w->faults & FAULT_WINDOWS_LOST)
    memset(window->cell, 0, sizeof window->cell);
}
