/* Takes collectives. A rank's contribution to a call goes to all ranks to which the rank's data
 * flow. Each of these takes it when all data have come. Contributions are messages in WORLD_SHARE
 * of each pair of ranks. A host of many ranks keeps contributions in groups (shares.h), which do
 * the same for all pairs at once. */
#include "world/rules/world_step.h"

/* ---- joining ---- */

void world_end_call(struct step_context *t, bool given, struct content content)
{
  struct world_program *program = edit_program(t->w, t->rank);
  if (given && t->w->script && !t->w->script->ops[t->rank][program->next].unseen)
    program->history = content_fold(program->history, content);
  program->call = (struct world_call){.state = CALL_NONE};
  if (t->w->script)
    program->next++;
}

/* Returns whether the contribution disappears at once: its receiver takes it only so that the
 * sender can go on. */
static bool taken_by_rejoin(const struct world *w, int from, int to,
                            const struct world_message *share)
{
  uint32_t count;
  const struct world_share *rejoined =
      READ_LIST(struct world_share, w, WORLD_REJOINED, to, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    if (rejoined[i].comm == share->comm && rejoined[i].number == share->tag &&
        rejoined[i].root == from && world_exists(read_rank(w, to), share)) {
      list_remove(w, WORLD_REJOINED, to, 0, i, sizeof *rejoined);
      return true;
    }
  return false;
}

static const uint64_t *members_of(const struct world *w, int comm)
{
  bool known;
  uint64_t *set = shares_members(w->shares, comm, &known);
  for (int rank = 0; rank < w->ranks && !known; rank++)
    if (world_is_member(w, comm, rank))
      shares_put(set, rank);
  return set;
}

/* Returns whether every rank can take a contribution of the newest incarnation, because no rank is
 * dead and no rank rejoins earlier calls. */
static bool all_are_open(struct step_context *t, const struct world_message *share)
{
  const struct world *w = t->w;
  bool *uneven = shares_uneven(w->shares);
  if (share->incarnation != read_global(w)->incarnation || w->protocol->independent)
    return false;
  bool found = false;
  for (int rank = 0; rank < w->ranks && *uneven && !found; rank++) {
    uint32_t count;
    READ_LIST(struct world_share, w, WORLD_REJOINED, rank, 0, &count);
    found = count > 0 || read_rank_head(w, rank).phase == RANK_DEAD;
  }
  *uneven = found;
  return !found;
}

static void contribute_once(struct step_context *t, const struct world_call *call,
                            const struct world_message *share)
{
  const struct world *w = t->w;
  uint64_t *to = shares_receivers(w->shares);
  const uint64_t *members = members_of(w, call->comm);
  bool to_root = call->flow == RCL_FLOW_TO_ROOT, from_root = call->flow == RCL_FLOW_FROM_ROOT;
  int peer = to_root ? call->root : 0, end = to_root ? call->root + 1 : w->ranks;
  if (!to_root && shares_has(members, t->rank) && all_are_open(t, share)) {
    memcpy(to, members, shares_words(w->shares) * sizeof *to);
    peer = end;
  }
  for (; peer < end; peer++)
    if (world_flows(w, call, t->rank, peer) && !taken_by_rejoin(w, t->rank, peer, share) &&
        world_is_reachable(w, peer, share->incarnation) && !world_is_cut_off(t, peer))
      shares_put(to, peer);
  shares_add(w->shares, t->rank, share, to, !to_root && !from_root);
}

static void contribute(struct step_context *t, const struct world_call *call,
                       const struct world_message *share)
{
  const struct world *w = t->w;
  if (call->flow == RCL_FLOW_FROM_ROOT && t->rank != call->root)
    return;
  if (w->shares) {
    contribute_once(t, call, share);
    return;
  }
  for (int peer = 0; peer < w->ranks; peer++)
    if (world_flows(w, call, t->rank, peer) && !taken_by_rejoin(w, t->rank, peer, share))
      world_put_on(t, WORLD_SHARE, peer, share);
}

void world_join_call(struct step_context *t, const struct rcl_action *action)
{
  const struct world *w = t->w;
  const struct world_rank *me = read_rank(w, t->rank);
  struct world_program *program = edit_program(w, t->rank);
  struct world_message share = {.tag = program->call.number,
                                .comm = program->call.comm,
                                .incarnation = me->noticed,
                                .content = world_content(w, t->rank),
                                .line = w->line_stamps ? me->line : 0,
                                .stopped = w->line_stamps ? me->stopped : 0};
  memcpy(share.words, action->words, sizeof share.words);
  memcpy(program->call.words, action->words, sizeof program->call.words);
  program->call.state = CALL_JOINED;
  const struct world_call joined = program->call;
  contribute(t, &joined, &share);
  if (!world_flows_to(&joined, t->rank))
    world_end_call(t, false, content_of(0));
}

static bool take_one(const struct world *w, const struct rcl_action *action, int rank)
{
  uint32_t count;
  const struct world_message *shares =
      READ_LIST(struct world_message, w, WORLD_SHARE, action->peer, rank, &count);
  for (uint32_t i = 0; i < count; i++)
    if (shares[i].comm == action->comm && shares[i].tag == action->tag) {
      if (w->shares) {
        const struct shares_key key = {action->comm, action->tag,           rank,
                                       action->peer, shares[i].incarnation, UINT16_MAX};
        shares_take(w->shares, &key, NULL, NULL);
      } else {
        list_remove(w, WORLD_SHARE, action->peer, rank, i, sizeof *shares);
      }
      return true;
    }
  return false;
}

/* Returns whether the rank may rejoin the call, which its program had completed before a crash. The
 * world knows only the present call of a real program. */
static bool may_rejoin(const struct step_context *t, const struct rcl_action *action)
{
  const struct world_program *program = read_program(t->w, t->rank);
  bool inside = program->call.state != CALL_NONE && program->call.comm == action->comm &&
                program->call.number <= action->call;
  return read_rank(t->w, t->rank)->noticed && !inside;
}

void world_rejoin_call(struct step_context *t, const struct rcl_action *action)
{
  const struct world *w = t->w;
  if (!may_rejoin(t, action)) {
    world_violate(t, "legal", "call %d, expected one that was passed, after a crash", action->call);
    return;
  }
  struct world_share entry = {.comm = action->comm, .root = action->peer, .number = action->tag};
  uint32_t count;
  if (take_one(w, action, t->rank))
    return;
  READ_LIST(struct world_share, w, WORLD_REJOINED, t->rank, 0, &count);
  list_insert(w, WORLD_REJOINED, t->rank, 0, count, &entry, sizeof entry);
  if (w->shares)
    *shares_uneven(w->shares) = true;
}

/* ---- taking ---- */

static void note_lines(void *t, int peer, const struct world_message *share)
{
  world_check_share_lines(t, peer, share);
}

/* Takes the contributions of all peers and of the rank itself, in the order of ranks. The contents
 * that real programs contribute are not known. */
void world_collect(struct step_context *t)
{
  const struct world *w = t->w;
  const struct world_call joined = read_program(w, t->rank)->call;
  const struct world_rank me = *read_rank(w, t->rank);
  uint32_t index;
  if (w->shares) {
    const struct shares_key key = world_shares_key(&joined, &me, t->rank);
    shares_take(w->shares, &key, note_lines, t);
  }
  for (int peer = 0; peer < w->ranks && !w->shares; peer++) {
    if (w->script && peer == t->rank && joined.flow != RCL_FLOW_FROM_ROOT)
      t->result = content_fold(t->result, world_content(w, t->rank));
    if (!world_flows(w, &joined, peer, t->rank))
      continue;
    const struct world_message *share = world_find_share(w, &joined, &me, peer, t->rank, &index);
    if (!share)
      continue;
    if (w->script)
      t->result = content_fold(t->result, share->content);
    world_check_share_lines(t, peer, share);
    list_remove(w, WORLD_SHARE, peer, t->rank, index, sizeof *share);
  }
  t->message = (struct world_message){.tag = joined.number,
                                      .comm = joined.comm,
                                      .content = joined.flow == RCL_FLOW_BARRIER ? content_of(0)
                                                                                 : t->result};
}

void world_drop_shares(const struct world *w, int peer, int rank, uint16_t incarnation)
{
  if (w->shares)
    shares_drop(w->shares, peer, rank, incarnation);
  for (int from = peer < 0 ? 0 : peer; from <= (peer < 0 ? w->ranks - 1 : peer) && !w->shares;
       from++)
    world_drop_stale(w, WORLD_SHARE, from, rank, incarnation);
}
