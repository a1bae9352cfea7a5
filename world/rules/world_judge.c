/* Judges properties of the order of messages, of states at rest, and of the end. It judges what
 * programs send and are given and what protocols do at the door, never the state of a protocol.
 * world_judge_step.c judges all other properties. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "protocols/text.h"
#include "world/rules/properties.h"
#include "world/rules/world_step.h"

/* Writes "deliver at send: ", or "send: " if no action is taking effect. Returns its length. */
static size_t name_step(const struct step_context *t, char *text, size_t size)
{
  const char *event = event_name(t->event.kind);
  int said = t->action ? snprintf(text, size, "%s at %s: ", action_name(t->action->kind), event)
                       : snprintf(text, size, "%s: ", event);
  return said > 0 && (size_t)said < size ? (size_t)said : 0;
}

void world_violate(struct step_context *t, const char *property, const char *format, ...)
{
  if (t->verdict->kind == VERDICT_VIOLATION || !is_judged(t->w, property))
    return;
  t->verdict->kind = VERDICT_VIOLATION;
  t->verdict->property = property;
  t->verdict->rank = t->rank;
  size_t size = sizeof t->verdict->text, said = 0;
  if (!strcmp(property, "legal"))
    said = name_step(t, t->verdict->text, size);
  va_list args;
  va_start(args, format);
  vsnprintf(t->verdict->text + said, size - said, format, args);
  va_end(args);
}

bool world_follows(const struct world *w)
{
  return !are_free(w) || is_judged(w, "no-loss") || is_judged(w, "no-duplicate") ||
         is_judged(w, "agreement") || is_judged(w, "line-invariant");
}

bool world_judges_useful(const struct world *w)
{
  return is_judged(w, "useful");
}

bool world_judges_garbage(const struct world *w)
{
  return is_judged(w, "frees") || is_judged(w, "frees-at-capture");
}

/* ---- history: what the program sent and was given ---- */

enum { ORDINAL = 16 };

/* Writes a number as "1st", "12th". */
static const char *ordinal(uint32_t number, char text[ORDINAL])
{
  static const char *const ends[] = {"th", "st", "nd", "rd"};
  bool teen = number / 10 % 10 == 1;
  snprintf(text, ORDINAL, "%u%s", number, ends[teen || number % 10 > 3 ? 0 : number % 10]);
  return text;
}

void world_violate_message(struct step_context *t, const char *property, int peer,
                           const struct world_message *message, uint32_t other, const char *text)
{
  char place[ORDINAL];
  if (t->verdict->kind == VERDICT_VIOLATION || !is_judged(t->w, property))
    return;
  world_violate(t, property, "the %s message from rank %d with tag %d %s",
                ordinal(message->sequence, place), peer, message->tag, text);
  t->verdict->about = (struct verdict_messages){.source = (int16_t)peer,
                                                .comm = message->comm,
                                                .tag = message->tag,
                                                .sequence = {message->sequence, other}};
}

void world_check_sequence(struct step_context *t, int peer, const struct world_message *message)
{
  char text[sizeof "was given before the " + ORDINAL], place[ORDINAL];
  struct world_flow *f = world_flow(t->w, t->rank, peer, message->comm, message->tag);
  uint32_t expected = f->delivered + 1;
  world_occasion(t, PROPERTY_NO_LOSS);
  world_occasion(t, PROPERTY_NO_DUPLICATE);
  if (message->sequence > expected) {
    snprintf(text, sizeof text, "was given before the %s", ordinal(expected, place));
    world_violate_message(t, "no-loss", peer, message, expected, text);
  } else if (message->sequence < expected) {
    world_violate_message(t, "no-duplicate", peer, message, 0, "was given twice");
  }
  f->delivered++;
  f->given = content_fold(f->given, message->content);
}

void world_note_sent(struct step_context *t, const struct content *content)
{
  const struct world_sent sent = {
      .peer = t->event.peer, .comm = t->event.comm, .tag = t->event.tag, .content = *content};
  uint32_t count;
  READ_LIST(struct world_sent, t->w, WORLD_SENT, t->rank, 0, &count);
  list_insert(t->w, WORLD_SENT, t->rank, 0, count, &sent, sizeof sent);
}

/* ---- the end ---- */

static bool has_timer(const struct world *w, int rank)
{
  const struct world_rank *me = read_rank(w, rank);
  return me->timer || me->set.checkpoint;
}

/* Returns whether a checkpoint of the rank or, with global recovery, of all ranks has begun and is
 * not committed. A stored image will become durable. */
static bool has_begun(const struct world *w, int rank)
{
  bool begun = w->protocol->independent && read_rank(w, rank)->image;
  for (int each = 0; each < w->ranks && !w->protocol->independent; each++)
    begun |= read_rank(w, each)->line > read_global(w)->committed;
  return begun;
}

/* Returns whether a requested checkpoint has not committed. With independent recovery the rank's
 * own timer requests the checkpoint, which counts once it has begun. */
static bool is_requested(const struct world *w, int rank)
{
  return w->protocol->independent ? has_timer(w, rank) && has_begun(w, rank)
                                  : rank == RCL_COORDINATOR_RANK && read_global(w)->requested;
}

/* Returns whether a timer that requests checkpoints was ever set. */
static bool is_timed(const struct world *w)
{
  bool timed = read_global(w)->timed;
  for (int rank = 0; rank < w->ranks && w->protocol->independent; rank++)
    timed |= read_rank(w, rank)->timed;
  return timed;
}

/* Judges that timers are set. With independent recovery and with clocks each rank needs a timer;
 * otherwise one timer is enough, usually the coordinator's. */
static void judge_timers(struct step_context *t, const char *property)
{
  const struct world *w = t->w;
  bool each = w->protocol->independent || w->protocol->clocks;
  bool set = false;
  for (int rank = 0; rank < w->ranks; rank++)
    set |= has_timer(w, rank);
  bool timed = is_timed(w) && (w->protocol->independent || !read_global(w)->requested);
  for (t->rank = 0; timed && t->rank < (each ? w->ranks : 1); t->rank++)
    if (each ? !has_timer(w, t->rank) : !set)
      world_violate(t, property, "no timer is set: no checkpoint will be asked for any more");
}

/* Reports three kinds of violations. Programs that never end violate property `ends`; requested
 * checkpoints that never commit violate `commits`, unless that is NULL; ranks without a timer for
 * the next checkpoint violate `requests`. */
static void judge_waits(const struct world *w, const char *ends, const char *commits,
                        const char *requests, struct verdict *verdict)
{
  struct step_context t = {.w = w, .verdict = verdict};
  for (t.rank = 0; t.rank < w->ranks; t.rank++)
    if (!world_standing(w, t.rank).finished)
      world_violate(&t, ends, "the program of rank %d never ends", t.rank);
  for (t.rank = 0; commits && t.rank < w->ranks; t.rank++)
    if (is_requested(w, t.rank))
      world_violate(&t, commits, "a checkpoint was asked for and never committed");
  judge_timers(&t, requests);
}

/* Returns whether the receiver of a kept message would start from an image whose program has
 * received the message. Then no recovery needs the message. */
static bool is_garbage(const struct world *w, int rank, const struct world_slot *slot)
{
  const struct world_message *message = &slot->message;
  int sender = slot->sent ? rank : slot->peer, receiver = slot->sent ? slot->peer : rank;
  uint32_t size;
  const unsigned char *flows = world_line_part(w, receiver, WORLD_FLOWS, &size);
  struct world_flow flow;
  if (!flows || !world_flow_in(flows, size, sender, message->comm, message->tag, &flow))
    return false;
  /* 0 stands for the result of a call */
  return message->sequence && message->sequence <= flow.delivered;
}

/* Returns whether the sender of a kept message has to keep an earlier message to the same receiver.
 * As receives name tags, messages can overtake each other. A receiver tells only the number up to
 * which it has all messages, so it tells of messages behind a gap only when the gap is closed.
 * Slots are filled in the order of sending. */
static bool is_behind_gap(const struct world *w, int rank, const struct world_slot *slots,
                          uint32_t at)
{
  for (uint32_t i = 0; slots[at].sent && i < at; i++)
    if (slots[i].sent && slots[i].peer == slots[at].peer && !is_garbage(w, rank, &slots[i]))
      return true;
  return false;
}

/* Judges that the rank keeps no message that it could know to be garbage. The rank could not know
 * this while a control message that may tell it is under way. */
static void check_slots(struct step_context *t, const char *property)
{
  const struct world *w = t->w;
  uint32_t count;
  const struct world_slot *slots = READ_LIST(struct world_slot, w, WORLD_SLOTS, t->rank, 0, &count);
  if (w->protocol->independent && read_global(w)->incarnation)
    return; /* images restore freed messages, and control messages of peers may be lost */
  bool at_rest = !strcmp(property, "frees");
  world_occasion(t, at_rest ? PROPERTY_FREES : PROPERTY_FREES_AT_CAPTURE);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t news = 0;
    if (slots[i].peer != t->rank)
      world_read(w, control_part(w), slots[i].peer, t->rank, &news);
    if (!news && is_garbage(w, t->rank, &slots[i]) &&
        (at_rest || !is_behind_gap(w, t->rank, slots, i)))
      world_violate(t, property, "slot %u of rank %d keeps a message that no recovery needs",
                    slots[i].slot, t->rank);
  }
}

void world_check_stored(struct step_context *t)
{
  if (!is_judged(t->w, "frees-at-capture") || !t->w->bounded)
    /* the property concerns other ranks, and in a run a rank may hear of things later than the
     * world */
    return;
  for (int peer = 0; peer < t->w->ranks; peer++)
    if (read_rank_head(t->w, peer).phase > RANK_CAPTURING)
      return;
  check_slots(t, "frees-at-capture");
}

/* Judges `bounded`. The previous checkpoint of a rank may still be stored, because the rank hears
 * of a commit with the next request; an older checkpoint is useless. */
static void check_bounded(struct step_context *t)
{
  uint32_t count, images = 0;
  const struct world_record *stored =
      READ_LIST(struct world_record, t->w, WORLD_STORED, t->rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    images += stored[i].part == RCL_PART_IMAGE;
  uint32_t levels = (uint32_t)t->w->levels;       /* each level keeps one more image */
  uint32_t earlier = t->w->attempts ? levels : 0; /* and so is the image before that */
  if (images > 2 + (levels ? levels - 1 : 0) + earlier)
    world_violate(t, "bounded", "%u checkpoints of rank %d are stored", images, t->rank);
  if (is_judged(t->w, "frees"))
    check_slots(t, "frees");
  bool judges = is_judged(t->w, "useful") && !read_global(t->w)->incarnation;
  if (judges && images)
    world_occasion(t, PROPERTY_USEFUL);
  world_occasion(t, PROPERTY_BOUNDED);
  for (uint32_t i = 0; i < count && judges; i++)
    if (stored[i].part == RCL_PART_IMAGE && !world_is_useful(t->w, t->rank, stored[i].checkpoint))
      world_violate(t, "useful", "checkpoint %u of rank %d is on no recovery line",
                    stored[i].checkpoint, t->rank);
}

/* Returns whether a TIMER of `rank` would only set the timer again, although nothing is under way
 * for which it could wait. */
static bool sets_again(const struct world *w, int rank)
{
  struct rcl_actions actions = {.capacity = RCL_ACTIONS_MAX(&w->config[rank])};
  const struct world_rank *me = read_rank(w, rank);
  const struct rcl_event timer = {.kind = RCL_EVENT_TIMER, .checkpoint = me->set.checkpoint};
  bool sets = false;
  if (!has_timer(w, rank) || me->phase != RANK_RUNNING)
    return false;
  void *state = memory_grow(NULL, w->state_bytes + 1);
  memcpy(state, me + 1, w->state_bytes);
  actions.item = memory_table(actions.capacity, sizeof *actions.item);
  char flaw[FLAW_MAX];
  world_call_step(w, rank, state, &timer, &actions, NULL, flaw);
  for (uint32_t i = 0; i < actions.count; i++)
    sets |= actions.item[i].kind == RCL_ACTION_SET_TIMER;
  free(actions.item);
  free(state);
  return sets;
}

/* Holds the caller's function that tells whether a timer, perhaps set again several times, leads to
 * a checkpoint in the end. */
struct renewal {
  bool (*renews)(void *ctx, int rank);
  void *ctx;
};

static bool leads_on(const struct world *w, int rank, const struct renewal *r)
{
  return has_timer(w, rank) && r->renews && r->renews(r->ctx, rank);
}

/* Judges that requested checkpoints have committed, unless they were put off. */
static void judge_commits(struct step_context *t, const struct renewal *r)
{
  const struct world *w = t->w;
  for (t->rank = 0; t->rank < w->ranks; t->rank++) {
    bool put_off = false;
    if (!is_judged(w, "commits") || !is_requested(w, t->rank))
      continue;
    for (int rank = 0; rank < w->ranks && !has_begun(w, t->rank); rank++)
      put_off |= (!w->protocol->independent || rank == t->rank) && leads_on(w, rank, r);
    if (!put_off)
      world_violate(t, "commits", "a checkpoint was asked for and never committed");
  }
}

/* Judges that the next TIMER requests a checkpoint if every requested checkpoint is committed. With
 * independent recovery the TIMER of each rank must request one, with clocks that of the
 * coordinator, otherwise that of any rank. */
static void judge_requests(struct step_context *t, const struct renewal *r)
{
  const struct world *w = t->w;
  int vain = -1;
  bool asks = false, each = w->protocol->independent;
  for (t->rank = 0; t->rank < w->ranks && is_judged(w, "requests"); t->rank++) {
    if (is_requested(w, each ? t->rank : RCL_COORDINATOR_RANK) || !has_timer(w, t->rank) ||
        (w->protocol->clocks && t->rank != RCL_COORDINATOR_RANK))
      continue;
    bool alive = !sets_again(w, t->rank) || leads_on(w, t->rank, r);
    asks = !each && (asks || alive);
    vain = !alive && vain < 0 ? t->rank : vain;
  }
  t->rank = vain;
  if (vain >= 0 && !asks)
    world_violate(t, "requests", "the timer asks for no checkpoint any more");
}

/* ---- the outside ---- */

static const struct content *left_of(const struct world *w, int rank, uint32_t *count)
{
  return READ_LIST(struct content, w, WORLD_LEFT, rank, 0, count);
}

/* Returns the contents of outputs of the rank, from the first one on. The caller frees them. */
static struct content *made_by(const struct world *w, int rank)
{
  uint32_t sent, count = 0;
  const struct world_sent *list = READ_LIST(struct world_sent, w, WORLD_SENT, rank, 0, &sent);
  struct content *made =
      memory_table((size_t)read_program(w, rank)->outputs + 1, sizeof(struct content));
  for (uint32_t i = 0; i < sent; i++)
    if (list[i].peer == OUTSIDE)
      made[count++] = list[i].content;
  return made;
}

/* Judges that at the end the outside has seen exactly the outputs of the program's final
 * execution. */
static void check_left(struct step_context *t)
{
  uint32_t count, outputs = read_program(t->w, t->rank)->outputs;
  const struct content *left = left_of(t->w, t->rank, &count);
  if (count)
    world_occasion(t, PROPERTY_OUTPUT);
  if (count > outputs)
    world_violate(t, "output", "output %u of rank %d has left, and its program has made %u", count,
                  t->rank, outputs);
  if (!count || count > outputs)
    return;
  struct content *made = made_by(t->w, t->rank);
  for (uint32_t i = 0; i < count; i++)
    if (!content_same(&left[i], &made[i]))
      world_violate(t, "output", "output %u of rank %d has left, and is another in the end", i + 1,
                    t->rank);
  free(made);
}

/* Judges that at rest the outside has seen all outputs. */
static void check_held(struct step_context *t)
{
  uint32_t count;
  left_of(t->w, t->rank, &count);
  if (read_program(t->w, t->rank)->outputs)
    world_occasion(t, PROPERTY_OUTPUT_AT_REST);
  if (count < read_program(t->w, t->rank)->outputs)
    world_violate(t, "output-at-rest", "output %u of rank %d waits", count + 1, t->rank);
}

void world_at_rest_renewing(const struct world *w, bool (*renews)(void *ctx, int rank), void *ctx,
                            struct verdict *verdict)
{
  struct step_context t = {.w = w, .verdict = verdict};
  const struct renewal renewal = {renews, ctx};
  *verdict = (struct verdict){.kind = VERDICT_FINE};
  for (; t.rank < w->ranks; t.rank++) {
    check_bounded(&t);
    check_held(&t);
  }
  world_occasion(&t, PROPERTY_DEADLOCK);
  world_occasion(&t, PROPERTY_COMMITS);
  if (is_timed(w))
    world_occasion(&t, PROPERTY_REQUESTS);
  judge_waits(w, "deadlock", NULL, "requests", verdict);
  if (verdict->kind == VERDICT_VIOLATION)
    return; /* one violation is enough */
  judge_commits(&t, &renewal);
  judge_requests(&t, &renewal);
}

void world_at_rest(const struct world *w, struct verdict *verdict)
{
  world_at_rest_renewing(w, NULL, NULL, verdict);
}

void world_for_ever(const struct world *w, struct verdict *verdict)
{
  *verdict = (struct verdict){.kind = VERDICT_FINE};
  judge_waits(w, "progress", "progress", "progress", verdict);
}

/* Returns whether the messages that `rank` was given in a flow have the contents of the first ones
 * that its peer has sent. Unknown contents are not compared. */
static bool same_contents(const struct step_context *t, const struct world_flow *mine)
{
  uint32_t count, known = 0;
  struct content sent = {0};
  const struct world_sent *list =
      READ_LIST(struct world_sent, t->w, WORLD_SENT, mine->peer, 0, &count);
  for (uint32_t i = 0; i < count && known < mine->delivered; i++)
    if (list[i].peer == t->rank && list[i].comm == mine->comm && list[i].tag == mine->tag) {
      sent = content_fold(sent, list[i].content);
      known++;
    }
  return known < mine->delivered || content_same(&sent, &mine->given);
}

/* Judges whether `rank` received the messages that its peers have sent in their final
 * executions. */
static void check_agreement(struct step_context *t)
{
  uint32_t count, place, their_count;
  const struct world_flow *flows =
      READ_LIST(struct world_flow, t->w, WORLD_FLOWS, t->rank, 0, &count);
  for (uint32_t i = 0; i < count; i++) {
    const struct world_flow *mine = &flows[i], *theirs;
    if (!mine->delivered)
      continue;
    theirs =
        world_find_flow(t->w, mine->peer, t->rank, mine->comm, mine->tag, &place, &their_count);
    uint32_t sent = theirs ? theirs->sent : 0;
    if (sent < mine->delivered)
      world_violate(t, "agreement",
                    "rank %d was given %u messages with tag %d, rank %d has sent %u", t->rank,
                    mine->delivered, mine->tag, mine->peer, sent);
    else if (!same_contents(t, mine))
      world_violate(t, "agreement", "rank %d was given other contents than rank %d has sent",
                    t->rank, mine->peer);
  }
}

/* Judges that no message that the rank was given is still under way to it. */
static void check_leftover(struct step_context *t, int peer, const struct world_message *message)
{
  uint32_t place, flows;
  const struct world_flow *mine =
      world_find_flow(t->w, t->rank, peer, message->comm, message->tag, &place, &flows);
  if (mine && message->sequence <= mine->delivered)
    world_violate_message(t, "no-duplicate", peer, message, 0, "was given, and sent once more");
}

/* Judges that nothing is left in the channels. The rank may still discard a message that it drains,
 * or that it takes out of a channel itself. */
static void check_leftovers(struct step_context *t)
{
  uint32_t count;
  for (int peer = 0; peer < t->w->ranks; peer++) {
    const struct world_message *channel =
        READ_LIST(struct world_message, t->w, WORLD_CHANNEL, peer, t->rank, &count);
    bool open = read_rank(t->w, t->rank)->draining || below_matching(t->w);
    for (uint32_t i = 0; i < count && !open; i++)
      if (!is_control(&channel[i]) && world_exists(read_rank(t->w, t->rank), &channel[i]))
        check_leftover(t, peer, &channel[i]);
  }
  const struct world_slot *unexpected =
      READ_LIST(struct world_slot, t->w, WORLD_UNEXPECTED, t->rank, 0, &count);
  for (uint32_t i = 0; i < count; i++)
    check_leftover(t, unexpected[i].peer, &unexpected[i].message);
}

/* Judges that all ranks to which data of a collective flow have taken them. */
static void check_shares(struct step_context *t, int peer)
{
  uint32_t count;
  const struct world_message *shares =
      READ_LIST(struct world_message, t->w, WORLD_SHARE, peer, t->rank, &count);
  for (uint32_t i = 0; i < count; i++)
    if (world_exists(read_rank(t->w, t->rank), &shares[i]))
      world_violate(t, "no-orphan", "rank %d never takes part in call %d of rank %d", t->rank,
                    shares[i].tag, peer);
}

void world_at_end(const struct world *w, struct verdict *verdict)
{
  struct step_context t = {.w = w, .verdict = verdict};
  *verdict = (struct verdict){.kind = VERDICT_FINE};
  world_occasion(&t, PROPERTY_AGREEMENT);
  world_occasion(&t, PROPERTY_NO_DUPLICATE);
  world_occasion(&t, PROPERTY_NO_ORPHAN);
  for (t.rank = 0; t.rank < w->ranks; t.rank++) {
    check_agreement(&t);
    check_left(&t);
    check_leftovers(&t);
    for (int peer = 0; peer < w->ranks && !(w->shares && shares_none(w->shares)); peer++)
      check_shares(&t, peer);
  }
}

bool world_judges_end(const struct world *w)
{
  return is_judged(w, "agreement") || is_judged(w, "no-duplicate") || is_judged(w, "no-orphan") ||
         is_judged(w, "output");
}
