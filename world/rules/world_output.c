/* Takes outputs of programs, and lets them leave.
 *
 * From the moment when the program makes an output until an action lets it leave, the output is at
 * the launcher, which does not crash. Fences hold for the launcher as for storage. The outside has
 * seen an output that has left: if the program makes the output again after a crash, it must be the
 * same, and is dropped.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "world/rules/properties.h"
#include "world/rules/world_step.h"

static const struct content *left_of(const struct world *w, int rank, uint32_t *count)
{
  return READ_LIST(struct content, w, WORLD_LEFT, rank, 0, count);
}

void world_make_output(struct step_context *t)
{
  const struct world *w = t->w;
  uint32_t count, sent;
  const struct world_sent made = {
      .peer = OUTSIDE, .content = w->script ? world_content(w, t->rank) : t->move->content};
  struct world_program *program = edit_program(w, t->rank);
  program->outputs = t->event.output;
  if (w->script)
    program->next++;
  READ_LIST(struct world_sent, w, WORLD_SENT, t->rank, 0, &sent);
  list_insert(w, WORLD_SENT, t->rank, 0, sent, &made, sizeof made);
  const struct content *left = left_of(w, t->rank, &count);
  if (t->event.output > count)
    return;
  reached_note(&t->verdict->reached, REACH_OUTPUT_AGAIN, 1);
  world_occasion(t, PROPERTY_OUTPUT);
  if (!content_same(&left[t->event.output - 1], &made.content))
    world_violate(t, "output",
                  "output %u of rank %d has left, and comes out differently after a crash",
                  t->event.output, t->rank);
}

/* Lets the outputs of `rank` up to number `last` leave. The program has made `made` outputs; the
 * newest are at the end of `list`, which has what the program has sent. */
static void leave_from(struct step_context *t, int rank, uint32_t last, uint32_t made,
                       const struct world_sent *list, uint32_t sent)
{
  uint32_t before;
  left_of(t->w, rank, &before);
  if (last <= before)
    return;
  struct content *left =
      world_edit(t->w, WORLD_LEFT, rank, 0, last * (uint32_t)sizeof(struct content));
  for (uint32_t i = sent; i-- > 0 && made > before;)
    if (list[i].peer == OUTSIDE) {
      if (made <= last)
        left[made - 1] = list[i].content;
      made--;
    }
  reached_note(&t->verdict->reached, REACH_OUTPUTS, last);
}

static void leave(struct step_context *t, int rank, uint32_t last)
{
  uint32_t sent;
  const struct world_sent *list = READ_LIST(struct world_sent, t->w, WORLD_SENT, rank, 0, &sent);
  leave_from(t, rank, last, read_program(t->w, rank)->outputs, list, sent);
}

void world_let_out(struct step_context *t, const struct rcl_action *action)
{
  const struct world *w = t->w;
  const struct world_rank *me = read_rank(w, t->rank);
  if (action->output > read_program(w, t->rank)->outputs)
    world_violate(t, "legal", "output %u, expected one that the program has made", action->output);
  else if (action->checkpoint && action->checkpoint != me->line)
    world_violate(t, "legal", "checkpoint %u, expected the last one captured", action->checkpoint);
  else if (world_fenced(t) ||
           w->attempts) /* if restarts may fail, the next commit lets the output leave */
    return;
  else if (action->checkpoint && read_global(w)->committed < action->checkpoint)
    edit_rank(w, t->rank)->covered = action->output;
  else
    leave(t, t->rank, action->output);
}

/* Returns whether the rank has writes whose end it was not told yet. */
static bool writes(const struct world *w, int rank)
{
  uint32_t count;
  const struct world_record *stored =
      READ_LIST(struct world_record, w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (!stored[i].reported)
      return true;
  return false;
}

void world_judge_waiting(struct step_context *t)
{
  uint32_t count;
  if (t->w->script && !t->w->script->outputs)
    return;
  left_of(t->w, t->rank, &count);
  if (read_program(t->w, t->rank)->outputs)
    world_occasion(t, PROPERTY_OUTPUT_LOCAL);
  if (count < read_program(t->w, t->rank)->outputs && !writes(t->w, t->rank))
    world_violate(t, "output-local",
                  "output %u of rank %d waits, and nothing of it is being stored", count + 1,
                  t->rank);
}

/* Returns a copy of a part of an image, which has no alignment, with its size in bytes. The caller
 * frees it. */
static void *copy_from_image(const struct world *w, uint32_t image, enum part_kind kind,
                             uint32_t *bytes)
{
  const void *part = world_part_of_image(w, image, kind, bytes);
  void *copy = memory_grow(NULL, *bytes + 1);
  return *bytes ? memcpy(copy, part, *bytes) : copy;
}

void world_let_out_behind(struct step_context *t, uint32_t checkpoint)
{
  const struct world *w = t->w;
  for (int rank = 0; rank < w->ranks && (!w->script || w->script->outputs); rank++) {
    uint32_t bytes;
    const struct world_record *record = world_durable_record(w, rank, checkpoint, RCL_PART_IMAGE);
    if (!record)
      continue;
    struct world_program *then = copy_from_image(w, record->image, WORLD_PROGRAM, &bytes);
    struct world_sent *list = copy_from_image(w, record->image, WORLD_SENT, &bytes);
    leave_from(t, rank, then->outputs, then->outputs, list, bytes / (uint32_t)sizeof *list);
    free(list);
    free(then);
  }
}

void world_let_out_covered(struct step_context *t, uint32_t checkpoint)
{
  const struct world *w = t->w;
  for (int rank = 0; rank < w->ranks && (!w->script || w->script->outputs); rank++) {
    const struct world_rank *me = read_rank(w, rank);
    if (!me->covered || me->line != checkpoint)
      continue;
    leave(t, rank, me->covered);
    edit_rank(w, rank)->covered = 0;
  }
}
