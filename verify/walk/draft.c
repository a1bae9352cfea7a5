/* Prints drawn worlds, and takes units and ranks out of drawn worlds. */
#include "verify/walk/draft.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "verify/walk/judged.h"
#include "world/trace/trace_lines.h"

static const char *const hierarchies[DRAFT_HIERARCHIES + 1] = {
    NULL, "[{storage: memory}, {storage: nfs, every: 2}]",
    "[{storage: local}, {storage: nfs, every: 3}]",
    "[{storage: memory, redundancy: partner}, {storage: nfs, every: 2}]"};

/* Prints the script, with a line for each rank. */
static void print_script(struct buffer *out, const struct draft *draft)
{
  struct operation *list = g_new(struct operation, draft->ops->len + 1);
  for (int rank = 0; rank < draft->ranks; rank++) {
    unsigned count = 0;
    for (guint i = 0; i < draft->ops->len; i++) {
      const struct drawn *drawn = &g_array_index(draft->ops, struct drawn, i);
      if (drawn->rank == rank)
        list[count++] = drawn->op;
    }
    if (!count)
      list[count++] = (struct operation){.kind = SCRIPT_CHECKPOINT};
    buffer_printf(out, "    rank %d: ", rank);
    trace_print_operations(out, list, list + count);
    buffer_printf(out, "\n");
  }
  g_free(list);
}

static void print_protocol(struct buffer *out, const struct draft *draft)
{
  buffer_printf(out, "protocol: {name: %s, capacity: %u", draft->protocol->name, draft->capacity);
  if (draft->file)
    buffer_printf(out, ", file: \"%s\"", draft->file);
  if (draft->interval)
    buffer_printf(out, ", interval: %u, log: %u", draft->interval, draft->log);
  if (draft->log_stored)
    buffer_printf(out, ", log_in: storage");
  if (draft->failures)
    buffer_printf(out, ", failures: %u", draft->failures);
  buffer_printf(out, "}\n");
}

static void print_hazards(struct buffer *out, unsigned hazards)
{
  static const char *const names[] = {"cut-steps", "whole-writes", "torn-writes", "false-detection",
                                      "control-overtakes"};
  const char *comma = "";
  buffer_printf(out, ", hazards: [");
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
    if (hazards >> i & 1U) {
      buffer_printf(out, "%s%s", comma, names[i]);
      comma = ", ";
    }
  buffer_printf(out, "]");
}

static void print_check(struct buffer *out, const struct draft *draft)
{
  g_autoptr(GPtrArray) judged = judged_of(draft->protocol);
  buffer_printf(out, "check: {checkpoints: %d, crashes: %d", draft->checkpoints, draft->crashes);
  if (draft->per_node > 1)
    buffer_printf(out, ", per_node: %d", draft->per_node);
  if (draft->hazards)
    print_hazards(out, draft->hazards);
  if (draft->fifo || draft->no_order)
    buffer_printf(out, ", order: %s", draft->fifo ? "fifo" : "none");
  if (draft->closes)
    buffer_printf(out, ", connections: close");
  buffer_printf(out, ", reach: [commits 0],\n  properties: [");
  for (guint i = 0; g_ptr_array_index(judged, i); i++)
    buffer_printf(out, "%s%s", i ? ", " : "", (const char *)g_ptr_array_index(judged, i));
  buffer_printf(out, "]}\n");
}

char *draft_claim(const struct draft *draft, const char *id, const char *statement)
{
  struct buffer text = {0}, *out = &text;
  buffer_printf(out, "id: %s\nstatement: >-\n  %s\nsource: recline walk\nprogram:\n  ranks: %d\n",
                id, statement, draft->ranks);
  if (*draft->topology)
    buffer_printf(out, "  topology: %s\n", draft->topology);
  buffer_printf(out, "  script: |\n");
  print_script(out, draft);
  print_protocol(out, draft);
  buffer_printf(out, "checkpoint: {places: %s", draft->anywhere ? "anywhere" : "program");
  if (draft->levels)
    buffer_printf(out, ", levels: %s", hierarchies[draft->levels]);
  buffer_printf(out, "}\n");
  print_check(out, draft);
  buffer_printf(out, "expect: {verdict: violated}\n");
  char *claim = g_strdup(text.text);
  free(text.text);
  return claim;
}

struct draft draft_copy(const struct draft *draft)
{
  struct draft copy = *draft;
  copy.ops = g_array_sized_new(FALSE, FALSE, sizeof(struct drawn), draft->ops->len);
  g_array_append_vals(copy.ops, draft->ops->data, draft->ops->len);
  return copy;
}

void draft_clear(struct draft *draft)
{
  if (draft->ops)
    g_array_unref(draft->ops);
  draft->ops = NULL;
}

void draft_remove_units(struct draft *draft, const bool *out)
{
  guint kept = 0;
  for (guint i = 0; i < draft->ops->len; i++) {
    const struct drawn drawn = g_array_index(draft->ops, struct drawn, i);
    if (!out[drawn.unit])
      g_array_index(draft->ops, struct drawn, kept++) = drawn;
  }
  g_array_set_size(draft->ops, kept);
}

/* Returns whether the operation names a rank in `peer`. */
static bool names_rank(const struct operation *op)
{
  switch (op->kind) {
  case SCRIPT_SEND:
  case SCRIPT_RECV:
  case SCRIPT_IRECV:
  case SCRIPT_ACCESS:
  case SCRIPT_POST:
  case SCRIPT_START:
  case SCRIPT_LOCK:
  case SCRIPT_FLUSH:
  case SCRIPT_UNLOCK:
    return op->peer >= 0;
  case SCRIPT_COLLECTIVE:
    return op->flow == RCL_FLOW_FROM_ROOT || op->flow == RCL_FLOW_TO_ROOT;
  default:
    return false;
  }
}

/* Returns whether all ranks, or all members of a communicator, have operations of the unit. If the
 * operations of one rank are removed from such a unit, the other ranks can still go on. */
static bool is_of_all(const struct operation *op)
{
  return op->kind == SCRIPT_COLLECTIVE || op->kind == SCRIPT_MEMBER || op->kind == SCRIPT_WINDOW ||
         op->kind == SCRIPT_FENCE || op->kind == SCRIPT_CHECKPOINT;
}

bool draft_remove_rank(struct draft *draft, int rank)
{
  g_autofree bool *out = g_new0(bool, draft->units + 1);
  if (draft->ranks <= 2 || *draft->topology)
    return false;
  for (guint i = 0; i < draft->ops->len; i++) {
    const struct drawn *drawn = &g_array_index(draft->ops, struct drawn, i);
    bool named = names_rank(&drawn->op) && drawn->op.peer == rank;
    out[drawn->unit] |= named || (drawn->rank == rank && !is_of_all(&drawn->op));
  }
  draft_remove_units(draft, out);
  guint kept = 0;
  for (guint i = 0; i < draft->ops->len; i++) {
    struct drawn drawn = g_array_index(draft->ops, struct drawn, i);
    if (drawn.rank == rank)
      continue;
    drawn.rank = (int16_t)(drawn.rank - (drawn.rank > rank));
    drawn.op.peer -= names_rank(&drawn.op) && drawn.op.peer > rank;
    g_array_index(draft->ops, struct drawn, kept++) = drawn;
  }
  g_array_set_size(draft->ops, kept);
  draft->ranks--;
  draft->per_node = MIN(draft->per_node, draft->ranks);
  return true;
}
