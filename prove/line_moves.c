/* Makes the world's moves (world/rules/world_rules.c, world_events.c, world_crash.c), as far as
 * they change what world/line/line_view.c shows of the world. The proof allows more moves than the
 * world does: a message of the program, a timer or a recovery may come at any time. */
#include "prove/line_moves.h"

#include <stddef.h>
#include <string.h>

#include "protocols/text.h"
#include "prove/events.h"

void line_move_duty(struct line_move *m, const char *name, const char *text, Z3_ast holds)
{
  const struct duty duty = {name, text, holds};
  g_array_append_val(m->duties, duty);
}

/* ---- terms ---- */

static Z3_ast field(struct whole *h, size_t at, uint32_t bytes)
{
  struct path none = {0};
  struct value v = path_peek(&h->w.x, &none, h->w.event, (uint32_t)at, bytes);
  return value_ast(h->w.x.z3, &v);
}

static void when(struct line_move *m, Z3_ast condition)
{
  g_ptr_array_add(m->when, condition);
}

static Z3_ast *word(struct whole *h, struct line_move *m, enum rank_word which)
{
  return &m->now[word_of_rank(h, m->rank, which)];
}

/* Adds the conditions that the rank runs, and that its image is not being taken. */
static void when_running(struct whole *h, struct line_move *m)
{
  when(m, is_number(h, *word(h, m, WORD_STANDING), RCL_STANDS_UP));
  when(m, is_number(h, *word(h, m, WORD_CAPTURING), 0));
}

/* Adds the condition that the program may act. */
static void when_program_runs(struct whole *h, struct line_move *m)
{
  when(m, is_number(h, *word(h, m, WORD_HELD), 0));
  when(m, is_number(h, *word(h, m, WORD_JOINED), 0));
}

static Z3_ast is_below_most(const struct whole *h, const Z3_ast *now)
{
  return Z3_mk_bvult(h->w.x.z3, now[GLOBAL_COMMITTED], number(h, COMMITS_MOST));
}

/* ---- life ---- */

/* Starts the rank. A start removes the images of all other checkpoints. */
static void start(struct whole *h, struct line_move *m)
{
  when(m, is_number(h, *word(h, m, WORD_STANDING), RCL_STANDS_BEHIND));
  when(m, same(h, field(h, offsetof(struct rcl_event, checkpoint), 4), m->now[GLOBAL_COMMITTED]));
  *word(h, m, WORD_STANDING) = number(h, RCL_STANDS_UP);
  *word(h, m, WORD_DURABLE) = *word(h, m, WORD_OLDER) = number(h, 0);
  *word(h, m, WORD_DURABLE_LOG) = number(h, 0);
}

static Z3_ast chance(const struct whole *h, const char *what, int rank)
{
  char name[32];
  g_snprintf(name, sizeof name, "%d.%s", rank, what);
  return value_unknown(h->w.x.z3, 1, name).term;
}

static void leave_write(struct whole *h, struct line_move *m, int rank, enum rank_word storing,
                        enum rank_word durable, const char *what)
{
  Z3_ast *is_stored = &m->now[word_of_rank(h, rank, storing)],
         *is_durable = &m->now[word_of_rank(h, rank, durable)],
         written = both(h, chance(h, what, rank), negated(h, is_number(h, *is_stored, 0)));
  *is_durable = chosen(h, written, *is_stored, *is_durable);
}

/* Adds what a crash may leave. A write may have ended although its rank was not told. An older
 * image that a step was about to erase may still be there. */
static void leave(struct whole *h, struct line_move *m, int rank)
{
  Z3_ast *durable = &m->now[word_of_rank(h, rank, WORD_DURABLE)],
         *older = &m->now[word_of_rank(h, rank, WORD_OLDER)];
  leave_write(h, m, rank, WORD_STORING, WORD_DURABLE, "written");
  leave_write(h, m, rank, WORD_STORING_LOG, WORD_DURABLE_LOG, "written log");
  Z3_ast kept = both(h, chance(h, "kept", rank), is_number(h, *durable, 0));
  *older = chosen(h, kept, number(h, 1), *older);
}

/* Empties a channel: nothing is under way in it. */
static void empty_channel(struct whole *h, Z3_ast *now, int from, int to)
{
  uint32_t first = word_of_channel(h, from, to, 0);
  for (uint32_t k = 0; k < words_of_pair(h); k++)
    if (k < CHANNEL_COUNTS || k >= CHANNEL_SHARES)
      now[first + k] = number(h, 0);
}

static void all_go_back(struct whole *h, struct line_move *m)
{
  for (int rank = 0; rank < h->ranks; rank++) {
    leave(h, m, rank);
    m->now[word_of_rank(h, rank, WORD_STANDING)] = number(h, RCL_STANDS_BEHIND);
    for (unsigned i = 0; i < RANK_WORDS; i++)
      if (rank_word_is_lost(i))
        m->now[word_of_rank(h, rank, i)] = number(h, 0);
    whole_copy_counts(h, rank, m->now, OF_STATE, m->now, OF_COMMITTED);
    for (int peer = 0; peer < h->ranks; peer++)
      empty_channel(h, m->now, rank, peer);
    for (uint32_t k = 0; k < h->words; k++)
      m->now[word_of_memory(h, rank, OF_STATE, k)] =
          m->now[word_of_memory(h, rank, OF_COMMITTED, k)];
  }
  m->now[GLOBAL_COMMITTING] = number(h, 0);
}

Z3_ast *line_moves_begin(const struct whole *h)
{
  Z3_ast *now = g_new(Z3_ast, h->count);
  for (uint32_t k = 0; k < h->count; k++)
    now[k] = number(h, 0);
  for (int rank = 0; rank < h->ranks; rank++) {
    now[word_of_rank(h, rank, WORD_STANDING)] = number(h, RCL_STANDS_BEHIND);
    now[word_of_rank(h, rank, WORD_RESTORABLE)] = number(h, 1);
  }
  return now;
}

/* ---- messages ---- */

/* Adds the condition that the first message of the channel is a message of the program. So each
 * control message has a message of the program in front of it. */
static void take_ahead(struct whole *h, struct line_move *m, int peer, uint32_t kind)
{
  Z3_ast *ahead = &m->now[word_of_control(h, peer, m->rank, kind, WORD_AHEAD)],
         none = is_number(h, m->now[word_of_control(h, peer, m->rank, kind, WORD_COUNT)], 0);
  when(m, either(h, none, negated(h, is_number(h, *ahead, 0))));
  *ahead = chosen(h, none, *ahead, plus(h, *ahead, number(h, UINT32_MAX)));
}

/* Adds the condition that a message of that colour is under way. */
static void take_colour(struct whole *h, struct line_move *m, int peer)
{
  Z3_ast sent = field(h, offsetof(struct rcl_event, words), 4),
         *count = &m->now[word_of_colour(h, peer, m->rank, m->colour, COLOUR_COUNT)],
         *word = &m->now[word_of_colour(h, peer, m->rank, m->colour, COLOUR_WORD)];
  when(m, is_coloured(h, sent, m->colour));
  when(m, negated(h, is_number(h, *count, 0)));
  when(m, same(h, *word, sent));
  *count = plus(h, *count, number(h, UINT32_MAX));
  *word = chosen(h, is_number(h, *count, 0), number(h, 0), *word);
}

static void take_message(struct whole *h, struct line_move *m, int peer)
{
  Z3_ast *messages = &m->now[word_of_channel(h, peer, m->rank, CHANNEL_MESSAGES)];
  when(m, negated(h, is_number(h, *messages, 0)));
  *messages = plus(h, *messages, number(h, UINT32_MAX));
  if (m->colour != ANY_COLOUR)
    take_colour(h, m, peer);
  for (uint32_t kind = 0; kind < h->kinds && h->below && h->ordered; kind++)
    take_ahead(h, m, peer, kind);
}

/* Takes the control message out of the channel. If channels keep their order, it must be the first
 * message of the channel. */
static void take_control(struct whole *h, struct line_move *m, int peer, uint32_t kind)
{
  Z3_ast *now = m->now, taken = now[word_of_control(h, peer, m->rank, kind, WORD_PLACE)];
  when(m, is_number(h, now[word_of_control(h, peer, m->rank, kind, WORD_COUNT)], 1));
  if (h->ordered) {
    when(m, is_number(h, taken, 0));
    when(m, is_number(h, now[word_of_control(h, peer, m->rank, kind, WORD_AHEAD)], 0));
  }
  for (unsigned i = 0; i < CONTROL_WORDS; i++)
    now[word_of_control(h, peer, m->rank, kind, i)] = number(h, 0);
  for (uint32_t k = 0; k < h->kinds; k++) {
    Z3_ast *place = &now[word_of_control(h, peer, m->rank, k, WORD_PLACE)],
           stays = h->ordered
                       ? is_number(h, now[word_of_control(h, peer, m->rank, k, WORD_COUNT)], 0)
                       : Z3_mk_bvule(h->w.x.z3, *place, taken);
    if (k != kind)
      *place = chosen(h, stays, *place, plus(h, *place, number(h, UINT32_MAX)));
  }
}

static void write_control(struct whole *h, int peer, uint32_t kind)
{
  const struct value is = value_bits(32, kind);
  static const enum control_word words[] = {WORD_ABOUT, WORD_VALUE};
  static const size_t places[] = {offsetof(struct rcl_event, about),
                                  offsetof(struct rcl_event, value)};
  rank_write(&h->w, NULL, h->w.event, offsetof(struct rcl_event, control), &is, 4);
  for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) {
    Z3_ast term = h->before[word_of_control(h, peer, h->w.self, kind, words[i])];
    const struct value v = value_term(h->w.x.z3, 32, term);
    rank_write(&h->w, NULL, h->w.event, (uint32_t)places[i], &v, 4);
  }
}

/* ---- storage ---- */

static void end_write(struct whole *h, struct line_move *m)
{
  bool log = m->part == RCL_PART_LOG;
  enum rank_word storing = log ? WORD_STORING_LOG : WORD_STORING,
                 durable = log ? WORD_DURABLE_LOG : WORD_DURABLE;
  Z3_ast checkpoint = field(h, offsetof(struct rcl_event, checkpoint), 4);
  when(m, same(h, field(h, offsetof(struct rcl_event, part), 1),
               Z3_mk_unsigned_int(h->w.x.z3, m->part, Z3_mk_bv_sort(h->w.x.z3, 8))));
  when(m, same(h, *word(h, m, storing), checkpoint));
  *word(h, m, storing) = number(h, 0);
  *word(h, m, durable) = checkpoint;
}

/* Makes the images and logs of the checkpoint the images and logs from which `rank` starts
 * again. */
static void commit_memory(struct whole *h, struct line_move *m, int rank, Z3_ast checkpoint)
{
  Z3_ast *durable = &m->now[word_of_rank(h, rank, WORD_DURABLE_LOG)],
         *logged = &m->now[word_of_rank(h, rank, WORD_LOGGED)],
         has_log = same(h, *durable, checkpoint);
  for (uint32_t k = 0; k < h->words; k++) {
    Z3_ast image = m->now[word_of_memory(h, rank, OF_NEWER, k)],
           log = m->now[word_of_memory(h, rank, OF_LOG, k)];
    m->now[word_of_memory(h, rank, OF_COMMITTED, k)] =
        h->logs ? chosen(h, has_log, log, image) : image;
  }
  whole_copy_counts(h, rank, m->now, OF_COMMITTED, m->now, OF_NEWER);
  *logged = chosen(h, has_log, number(h, 1), number(h, 0));
  *durable = chosen(h, has_log, number(h, 0), *durable);
}

/* Makes red messages white ones, and the other way round. */
static void swap_colours(struct whole *h, struct line_move *m)
{
  for (int i = 0; i < h->ranks * h->ranks && h->coloured; i++)
    for (unsigned k = 0; k < COLOUR_WORDS; k++) {
      Z3_ast *white = &m->now[word_of_colour(h, i / h->ranks, i % h->ranks, WHITE, k)],
             *red = &m->now[word_of_colour(h, i / h->ranks, i % h->ranks, RED, k)], was = *white;
      *white = *red;
      *red = was;
    }
}

/* Commits: the newer images become the committed images, and the committed images become older
 * images. */
static void commit(struct whole *h, struct line_move *m)
{
  Z3_ast checkpoint = m->now[GLOBAL_COMMITTING];
  when(m, same(h, checkpoint, field(h, offsetof(struct rcl_event, checkpoint), 4)));
  when(m, is_below_most(h, m->now));
  line_move_duty(m, "commit", "the next checkpoint is committed, no other",
                 same(h, checkpoint, next_checkpoint(h, m->now)));
  Z3_ast fresh = is_number(h, m->now[GLOBAL_COMMITTED], RCL_FRESH);
  for (int rank = 0; rank < h->ranks; rank++) {
    Z3_ast *durable = &m->now[word_of_rank(h, rank, WORD_DURABLE)],
           *restorable = &m->now[word_of_rank(h, rank, WORD_RESTORABLE)],
           *older = &m->now[word_of_rank(h, rank, WORD_OLDER)],
           is_there = same(h, *durable, checkpoint);
    line_move_duty(m, "bounded", "there is one older image at most",
                   either(h, fresh, is_number(h, *older, 0)));
    *older = chosen(h, fresh, number(h, 0), *restorable);
    *restorable = chosen(h, is_there, number(h, 1), number(h, 0));
    *durable = chosen(h, is_there, number(h, 0), *durable);
    commit_memory(h, m, rank, checkpoint);
  }
  swap_colours(h, m);
  m->now[GLOBAL_COMMITTED] = checkpoint;
  m->now[GLOBAL_COMMITTING] = number(h, 0);
}

/* ---- collectives ---- */

static Z3_ast is_barrier(struct whole *h)
{
  Z3_context z = h->w.x.z3;
  return same(h, field(h, offsetof(struct rcl_event, flow), 1),
              Z3_mk_unsigned_int(z, RCL_FLOW_BARRIER, Z3_mk_bv_sort(z, 8)));
}

static Z3_ast is_of_all(struct whole *h)
{
  return is_number(h, field(h, offsetof(struct rcl_event, contributions), 4), (uint32_t)h->ranks);
}

/* Adds the condition that all contributions to the rank's barrier have come, and takes these
 * contributions. */
static void leave_barrier(struct whole *h, struct line_move *m)
{
  Z3_ast sum[RCL_WORDS];
  when(m, both(h, is_barrier(h), is_of_all(h)));
  when(m, is_number(h, *word(h, m, WORD_JOINED), 1));
  *word(h, m, WORD_JOINED) = number(h, 0);
  for (unsigned k = 0; k < RCL_WORDS; k++) {
    sum[k] = *word(h, m, WORD_OWN + k);
    *word(h, m, WORD_OWN + k) = number(h, 0);
  }
  for (int from = 0; from < h->ranks; from++) {
    if (from == m->rank)
      continue;
    Z3_ast *shares = &m->now[word_of_channel(h, from, m->rank, CHANNEL_SHARES)],
           *share = &m->now[word_of_channel(h, from, m->rank, CHANNEL_SHARE)];
    when(m, negated(h, is_number(h, *shares, 0)));
    *shares = plus(h, *shares, number(h, UINT32_MAX));
    for (unsigned k = 0; k < RCL_WORDS; k++) {
      sum[k] = plus(h, sum[k], share[k]);
      share[k] = share[RCL_WORDS + k];
      share[RCL_WORDS + k] = number(h, 0);
    }
  }
  for (unsigned k = 0; k < RCL_WORDS; k++)
    when(m, same(h, sum[k], field(h, offsetof(struct rcl_event, words) + k * sizeof(uint32_t), 4)));
}

/* Lets a collective call happen. A program is in at most one collective at a time. If the
 * collective is not a barrier of all ranks, any contributions may come together, at any time. */
static void collect(struct whole *h, struct line_move *m)
{
  if (m->barrier) {
    leave_barrier(h, m);
    return;
  }
  when(m, is_number(h, *word(h, m, WORD_JOINED), 0));
  when(m, negated(h, both(h, is_barrier(h), is_of_all(h))));
}

/* ---- all of them ---- */

/* The order of the moves. Moves that take messages from channels come last, for two reasons. Their
 * proofs take longest. And a message may come without a receive only if an earlier move had a step
 * that drains channels. */
enum phase { PHASE_OTHERS, PHASE_CONTROL, PHASE_ARRIVED, PHASES };

static enum phase phase_of(enum rcl_event_kind kind)
{
  return kind == RCL_EVENT_CONTROL   ? PHASE_CONTROL
         : kind == RCL_EVENT_ARRIVED ? PHASE_ARRIVED
                                     : PHASE_OTHERS;
}

struct listing {
  struct whole *h;
  bool (*each)(void *, struct line_move *);
  void *ctx;
  enum phase phase;
};

static struct line_move begin(struct whole *h, int rank, enum rcl_event_kind kind,
                              const GPtrArray *conditions)
{
  struct line_move m = {.rank = rank,
                        .kind = kind,
                        .colour = ANY_COLOUR,
                        .when = g_ptr_array_new(),
                        .now = whole_words(h),
                        .duties = g_array_new(FALSE, FALSE, sizeof(struct duty))};
  for (guint i = 0; conditions && i < conditions->len; i++)
    when(&m, conditions->pdata[i]);
  return m;
}

static bool visit(const struct listing *l, struct line_move *m)
{
  bool more = l->each(l->ctx, m);
  g_ptr_array_free(m->when, TRUE);
  g_array_free(m->duties, TRUE);
  g_free(m->now);
  return more;
}

static bool list_controls(const struct listing *l, int peer)
{
  struct whole *h = l->h;
  bool more = true;
  for (uint32_t kind = 0; kind < h->kinds && more; kind++) {
    struct line_move m = begin(h, h->w.self, RCL_EVENT_CONTROL, NULL);
    g_snprintf(m.name, sizeof m.name, "%d control %s from %d", m.rank, h->w.controls[kind], peer);
    when_running(h, &m);
    take_control(h, &m, peer, kind);
    write_control(h, peer, kind);
    more = visit(l, &m);
  }
  return more;
}

/* Adds the conditions of the move, and makes the changes that the world makes besides the step. */
static void happen(struct whole *h, struct line_move *m, int peer)
{
  if (m->kind != RCL_EVENT_START && m->kind != RCL_EVENT_CAPTURED)
    when_running(h, m);
  switch (m->kind) {
  case RCL_EVENT_START:
    start(h, m);
    break;
  case RCL_EVENT_CAPTURED:
    when(m, is_number(h, *word(h, m, WORD_STANDING), RCL_STANDS_UP));
    when(m,
         same(h, *word(h, m, WORD_CAPTURING), field(h, offsetof(struct rcl_event, checkpoint), 4)));
    *word(h, m, WORD_CAPTURING) = number(h, 0);
    break;
  case RCL_EVENT_ARRIVED:
    take_message(h, m, peer);
    break;
  case RCL_EVENT_DURABLE:
    end_write(h, m);
    break;
  case RCL_EVENT_COMMITTED:
    commit(h, m);
    break;
  case RCL_EVENT_TIMER:
    when(m, is_below_most(h, m->now));
    when(m, negated(h, is_number(h, *word(h, m, WORD_TIMER), 0)));
    *word(h, m, WORD_TIMER) = number(h, 0);
    break;
  case RCL_EVENT_COLLECTED:
    collect(h, m);
    break;
  case RCL_EVENT_SEND:
    when(m, Z3_mk_bvult(h->w.x.z3, m->now[word_of_count(h, m->rank, peer, OF_STATE, COUNT_SENT)],
                        number(h, RCL_WHOLE_MOST)));
    when(m, Z3_mk_bvult(h->w.x.z3, m->now[word_of_channel(h, m->rank, peer, CHANNEL_MESSAGES)],
                        number(h, RCL_WHOLE_MOST - 1)));
    when_program_runs(h, m);
    break;
  default: /* events of the program */
    if (m->barrier)
      when(m, is_barrier(h));
    when_program_runs(h, m);
  }
}

static void name_move(struct line_move *m, int from, const char *form)
{
  const char *event = event_name(m->kind), *with = NULL;
  if (m->kind == RCL_EVENT_SEND)
    with = "to";
  else if (m->kind == RCL_EVENT_RECEIVE || m->kind == RCL_EVENT_ARRIVED)
    with = "from";
  else if (m->kind == RCL_EVENT_COLLECTIVE || m->kind == RCL_EVENT_COLLECTED)
    with = "of";
  g_snprintf(m->name, sizeof m->name, "%d %s%s%s", m->rank, event, *form ? " " : "", form);
  if (with && !m->barrier && from >= 0)
    g_snprintf(m->name + strlen(m->name), sizeof m->name - strlen(m->name), " %s %d", with, from);
}

/* Lists one move. `form` is "" or one of these: "fresh"; "barrier" for a barrier of all ranks;
 * "log" if a log becomes durable; "or drained" if the message may come without a receive; "white"
 * or "red", the colour of the message that is sent or arrives. */
static bool list_one(const struct listing *l, enum rcl_event_kind kind, const GPtrArray *conditions,
                     int from, const char *form)
{
  struct line_move m = begin(l->h, l->h->w.self, kind, conditions);
  m.barrier = g_str_equal(form, "barrier");
  m.part = g_str_equal(form, "log") ? RCL_PART_LOG : RCL_PART_IMAGE;
  if (g_str_has_prefix(form, "white"))
    m.colour = WHITE;
  else if (g_str_has_prefix(form, "red"))
    m.colour = RED;
  name_move(&m, from, form);
  happen(l->h, &m, from);
  return visit(l, &m);
}

/* Lists the moves for an event. A rank that hears of a crash has yet to start, so no clause speaks
 * of its memory. */
static bool list(void *ctx, struct rank_world *w, const GPtrArray *conditions,
                 enum rcl_event_kind kind, bool fresh)
{
  const struct listing *l = ctx;
  struct path none = {0};
  struct value peer = path_peek(&w->x, &none, w->event, offsetof(struct rcl_event, peer), 2);
  int from = (int16_t)peer.bits;
  if (kind == RCL_EVENT_DOWN || phase_of(kind) != l->phase)
    return true;
  if (kind == RCL_EVENT_CONTROL)
    return list_controls(l, from);
  bool call = kind == RCL_EVENT_COLLECTIVE || kind == RCL_EVENT_COLLECTED;
  if (call && from == 0 && !list_one(l, kind, conditions, from, "barrier"))
    return false;
  if (kind == RCL_EVENT_DURABLE && l->h->logs && !list_one(l, kind, conditions, from, "log"))
    return false;
  bool drained = kind == RCL_EVENT_ARRIVED && w->either;
  if (l->h->coloured && (kind == RCL_EVENT_SEND || kind == RCL_EVENT_ARRIVED))
    return list_one(l, kind, conditions, from, drained ? "white or drained" : "white") &&
           list_one(l, kind, conditions, from, drained ? "red or drained" : "red");
  return list_one(l, kind, conditions, from, fresh ? "fresh" : drained ? "or drained" : "");
}

struct until {
  struct listing l;
  bool more;
};

static bool list_until(void *ctx, struct rank_world *w, const GPtrArray *conditions,
                       enum rcl_event_kind kind, bool fresh)
{
  struct until *u = ctx;
  u->more = list(&u->l, w, conditions, kind, fresh);
  return u->more;
}

static void list_phase(struct until *u, enum phase phase)
{
  struct whole *h = u->l.h;
  u->l.phase = phase;
  for (int rank = 0; rank < h->ranks && u->more; rank++) {
    whole_turn_to(h, rank);
    events_each(&h->w, list_until, u);
  }
}

void line_moves_each(struct whole *h, bool (*each)(void *, struct line_move *), void *ctx)
{
  struct until u = {{h, each, ctx, PHASE_OTHERS}, true};
  list_phase(&u, PHASE_OTHERS);
  list_phase(&u, PHASE_CONTROL);
  do {
    h->w.either = h->w.drains;
    list_phase(&u, PHASE_ARRIVED);
  } while (u.more && h->w.either != h->w.drains);
  if (!u.more)
    return;
  struct line_move m = begin(h, -1, RCL_EVENT_NONE, NULL);
  g_strlcpy(m.name, "all go back", sizeof m.name);
  all_go_back(h, &m);
  visit(&u.l, &m);
}
