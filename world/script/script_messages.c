/* Replaces collectives by the messages of which they consist. */
#include "world/script/script_parts.h"

#include "protocols/protocol.h"

static void message(struct list *list, enum script_kind kind, int peer,
                    const struct operation *call, int number)
{
  append(list, &(struct operation){.kind = kind,
                                   .peer = peer,
                                   .tag = number,
                                   .comm = SCRIPT_HIDDEN + call->comm,
                                   .name = SCRIPT_NAMES,
                                   .sized = call->sized,
                                   .bytes = call->bytes,
                                   .unseen = call->unseen});
}

/* Adds the operations of `self` for one direction of a call: the root exchanges with all other
 * ranks, which exchange with the root only.
 */
static void flow(struct list *list, const struct script *script, int self, int root,
                 const struct operation *call, bool to_root, int number)
{
  enum script_kind kind = (self == root) == to_root ? SCRIPT_RECV : SCRIPT_SEND;
  if (self != root)
    message(list, kind, root, call, number);
  for (int peer = 0; peer < script->ranks && self == root; peer++)
    if (peer != root && script_is_member(script, call->comm, peer))
      message(list, kind, peer, call, number);
}

static int first_member(const struct script *script, int comm)
{
  int rank = 0;
  while (!script_is_member(script, comm, rank))
    rank++;
  return rank;
}

/* Returns the operations of a rank with collectives spelled out, or NULL if there are too many. */
static struct operation *spelled_out(const struct script *script, int self)
{
  struct list list = {0};
  int numbers[SCRIPT_COMMS] = {0};
  for (const struct operation *op = script->ops[self]; op->kind != SCRIPT_END; op++) {
    if (op->kind != SCRIPT_COLLECTIVE) {
      append(&list, op);
      continue;
    }
    bool rooted = op->flow == RCL_FLOW_FROM_ROOT || op->flow == RCL_FLOW_TO_ROOT;
    int root = rooted ? op->peer : first_member(script, op->comm), number = ++numbers[op->comm];
    if (op->flow != RCL_FLOW_FROM_ROOT)
      flow(&list, script, self, root, op, true, number);
    if (op->flow != RCL_FLOW_TO_ROOT)
      flow(&list, script, self, root, op, false, number);
  }
  append(&list, &(struct operation){.kind = SCRIPT_END});
  if (list.count <= OPERATIONS_MAX)
    return list.item;
  free(list.item);
  return NULL;
}

static bool has_collectives(const struct script *script)
{
  for (int rank = 0; rank < script->ranks; rank++)
    for (const struct operation *op = script->ops[rank]; op->kind != SCRIPT_END; op++)
      if (op->kind == SCRIPT_COLLECTIVE)
        return true;
  return false;
}

bool script_spell_out(struct script *script)
{
  if (script->spelled || !has_collectives(script))
    return true;
  struct operation **ops = checked(calloc((size_t)script->ranks, sizeof *ops));
  for (int rank = 0; rank < script->ranks; rank++)
    if (!(ops[rank] = spelled_out(script, rank))) {
      free_ops(ops, script->ranks);
      return false;
    }
  if (script->written)
    free_ops(script->ops, script->ranks);
  else
    script->written = script->ops;
  script->ops = ops;
  script->spelled = true;
  return true;
}
