/* Lists all moves that can happen now, by origin, and tells the standing of ranks. */
#include "world/rules/world_parts.h"

struct listing {
  const struct world *w;
  void (*visit)(void *, const struct move *);
  void *data;
  bool cut; /* true if crashes within steps are listed, not steps */
};

/* Returns the number of places for a crash in a step. If the step has fewer actions that others
 * see, the crash comes after the step. */
static int most_cuts(const struct world *w)
{
  return w->ranks + 2 < FAULT_CUTS ? w->ranks + 2 : FAULT_CUTS;
}

static void list_if_possible(const struct listing *l, const struct move *move)
{
  struct move cut = *move;
  if (!l->cut && !world_refuses(l->w, move))
    l->visit(l->data, move);
  for (int after = 0; l->cut && after < most_cuts(l->w); after++) {
    cut.fault = (uint8_t)(FAULT_CUT | after << FAULT_CUT_SHIFT);
    if (!world_refuses(l->w, &cut))
      l->visit(l->data, &cut);
  }
}

static void list_event(const struct listing *l, int rank, struct rcl_event event)
{
  list_if_possible(l, &(struct move){.kind = MOVE_EVENT, .rank = (int16_t)rank, .event = event});
}

static void list_program(const struct listing *l, int rank)
{
  const struct world_receive *pending = world_unannounced(l->w, rank);
  struct rcl_event event = {.kind = RCL_EVENT_NONE};
  unsigned choices = 1;
  if (pending) {
    list_event(l, rank,
               (struct rcl_event){.kind = RCL_EVENT_RECEIVE,
                                  .request = pending->request,
                                  .peer = pending->peer,
                                  .tag = pending->tag,
                                  .comm = pending->comm});
  } else if (world_script_event(l->w, rank, &event, &choices) &&
             event.kind != RCL_EVENT_SAFE_POINT) {
    for (unsigned i = 0; i < choices; i++) {
      if (event.kind == RCL_EVENT_CHOICE)
        event.outcome = i;
      else if (are_free(l->w))
        event.peer = (int16_t)(i < (unsigned)rank ? i : i + 1);
      list_event(l, rank, event);
    }
  }
  bool here = !pending && event.kind == RCL_EVENT_SAFE_POINT;
  list_event(
      l, rank,
      (struct rcl_event){.kind = RCL_EVENT_SAFE_POINT, .iteration = here ? event.iteration : 0});
}

static void list_arrivals(const struct listing *l, int peer, int rank)
{
  uint32_t count, request;
  const struct world_message *channel =
      READ_LIST(struct world_message, l->w, WORLD_CHANNEL, peer, rank, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (!world_may_arrive(l->w, peer, rank, i, &request))
      continue;
    struct move move = {.kind = MOVE_EVENT, .rank = (int16_t)rank, .index = i};
    move.event = (struct rcl_event){.kind = RCL_EVENT_ARRIVED,
                                    .peer = (int16_t)peer,
                                    .tag = channel[i].tag,
                                    .comm = channel[i].comm,
                                    .bytes = channel[i].bytes,
                                    .request = request};
    memcpy(move.event.words, channel[i].words, sizeof move.event.words);
    list_if_possible(l, &move);
  }
}

static void list_control(const struct listing *l, int peer, int rank)
{
  uint32_t count;
  const struct world_message *channel =
      READ_LIST(struct world_message, l->w, control_part(l->w), peer, rank, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (!is_control(&channel[i]) || !world_comes_out(l->w, control_part(l->w), peer, rank, i))
      continue;
    struct move move = {.kind = MOVE_EVENT, .rank = (int16_t)rank, .index = i};
    move.event = (struct rcl_event){.kind = RCL_EVENT_CONTROL, .peer = (int16_t)peer};
    memcpy(move.event.words, channel[i].words, sizeof move.event.words);
    list_if_possible(l, &move);
    if (!is_unordered(l->w, control_part(l->w)))
      return;
  }
}

static void list_storage(const struct listing *l, int rank)
{
  uint32_t count, first;
  const struct world_record *stored =
      READ_LIST(struct world_record, l->w, WORLD_STORED, rank, 0, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (!world_is_being_written(l->w, rank, stored[i].checkpoint, stored[i].part, &first) ||
        first != i)
      continue;
    struct move move = {.kind = MOVE_EVENT, .rank = (int16_t)rank};
    move.event = (struct rcl_event){
        .kind = RCL_EVENT_DURABLE, .part = stored[i].part, .checkpoint = stored[i].checkpoint};
    list_if_possible(l, &move);
    if (l->w->faults & FAULT_EARLY_DURABLE && !l->cut) {
      move.fault = FAULT_EARLY_DURABLE;
      list_if_possible(l, &move);
    }
  }
}

static void list_faults(const struct listing *l, int peer, int rank)
{
  uint32_t count;
  READ_LIST(struct world_message, l->w, WORLD_CHANNEL, peer, rank, &count);
  for (unsigned fault = FAULT_DROP; fault <= FAULT_DUPLICATE; fault <<= 1)
    for (uint32_t i = 0; i < count && l->w->faults & fault; i++) {
      struct move move = {
          .kind = MOVE_FAULT, .fault = (uint8_t)fault, .rank = (int16_t)rank, .index = i};
      move.event.peer = (int16_t)peer;
      list_if_possible(l, &move);
    }
}

/* Lists the moves of the rank's life: start, alarm, crash, detection. */
static void list_life(const struct listing *l, int rank)
{
  const struct world_rank *me = read_rank(l->w, rank);
  list_event(l, rank,
             (struct rcl_event){.kind = RCL_EVENT_START,
                                .checkpoint = world_start_of(l->w, rank),
                                .closed = l->w->closes && world_start_of(l->w, rank) != RCL_FRESH,
                                .incarnation = l->w->protocol->independent ? me->noticed : 0});
  struct rcl_event down;
  if (world_next_down(l->w, rank, &down))
    list_event(l, rank, down);
  list_event(l, rank,
             (struct rcl_event){
                 .kind = RCL_EVENT_CAPTURED, .checkpoint = me->capturing, .closed = l->w->closes});
}

/* Lists the rank's own moves. */
static void list_rank(const struct listing *l, int rank)
{
  const struct world_rank *me = read_rank(l->w, rank);
  list_life(l, rank);
  if (me->phase != RANK_RUNNING)
    return;
  list_event(l, rank,
             (struct rcl_event){.kind = RCL_EVENT_TIMER, .checkpoint = me->set.checkpoint});
  list_program(l, rank);
  struct rcl_event collected;
  if (world_collected(l->w, rank, &collected))
    list_event(l, rank, collected);
  list_storage(l, rank);
  if (l->w->script && l->w->script->synchronous && !l->cut)
    list_if_possible(l, &(struct move){.kind = MOVE_SENT, .rank = (int16_t)rank});
  list_event(
      l, rank,
      (struct rcl_event){.kind = RCL_EVENT_COMMITTED, .checkpoint = read_global(l->w)->committing});
}

/* Returns whether any message is under way between two ranks. Callers ask this first, because there
 * seldom is one. */
static bool under_way(const struct world *w, int peer, int rank)
{
  uint32_t messages, controls;
  world_read(w, WORLD_CHANNEL, peer, rank, &messages);
  world_read(w, WORLD_CONTROL, peer, rank, &controls);
  return messages || controls;
}

static void list_pair(const struct listing *l, int peer, int rank)
{
  if (!under_way(l->w, peer, rank) || read_rank(l->w, rank)->phase != RANK_RUNNING)
    return;
  list_arrivals(l, peer, rank);
  list_control(l, peer, rank);
  if (!l->cut)
    list_faults(l, peer, rank);
}

/* Lists detections. Dead ranks are detected all at once or one by one; survivors are declared dead
 * one by one. */
static void list_detections(const struct listing *l)
{
  bool each = l->w->protocol->independent, falsely = l->w->hazards & HAZARD_FALSE_DETECTION;
  for (int rank = each ? 0 : -1; rank < (each ? l->w->ranks : 0); rank++)
    list_if_possible(l, &(struct move){.kind = MOVE_DETECT, .rank = (int16_t)rank});
  for (int rank = 0; falsely && rank < l->w->ranks; rank++)
    for (int how = DETECT_FALSELY; how <= DETECT_END; how++)
      list_if_possible(
          l, &(struct move){.kind = MOVE_DETECT, .fault = (uint8_t)how, .rank = (int16_t)rank});
}

/* Lists crashes of the rank, or of the node that begins with it: between steps, or within its own
 * step. */
static void list_crashes(struct listing *l, int rank)
{
  uint32_t ends = world_write_ends(l->w, rank);
  for (uint32_t i = 0; i < ends; i++)
    list_if_possible(l, &(struct move){.kind = MOVE_CRASH, .rank = (int16_t)rank, .index = i});
  l->cut = l->w->hazards & HAZARD_CUT_STEPS;
  if (!l->cut)
    return;
  list_rank(l, rank);
  for (int peer = 0; peer < l->w->ranks; peer++)
    list_pair(l, peer, rank);
}

/* Returns the first origin of crashes. The order of origins is: for each rank, the rank itself and
 * each of its peers; then the crash of each rank; then detection. */
static uint32_t first_crash(const struct world *w)
{
  return (uint32_t)w->ranks * ((uint32_t)w->ranks + 1);
}

uint32_t world_origins(const struct world *w)
{
  return first_crash(w) + (uint32_t)w->ranks + 1;
}

void world_moves_of(const struct world *w, uint32_t origin,
                    void (*visit)(void *data, const struct move *), void *data)
{
  struct listing l = {.w = w, .visit = visit, .data = data};
  uint32_t each = (uint32_t)w->ranks + 1, crash = first_crash(w);
  if (origin == crash + (uint32_t)w->ranks)
    list_detections(&l);
  else if (origin >= crash)
    list_crashes(&l, (int)(origin - crash));
  else if (origin % each == 0)
    list_rank(&l, (int)(origin / each));
  else
    list_pair(&l, (int)(origin % each) - 1, (int)(origin / each));
}

/* ---- what a host owes ---- */

struct debt {
  struct move *move;
  bool found;
};

static void note_debt(void *data, const struct move *move)
{
  struct debt *debt = data;
  if (!debt->found)
    *debt->move = *move;
  debt->found = true;
}

bool world_owes(const struct world *w, struct move *owed)
{
  struct debt debt = {.move = owed};
  const struct listing l = {.w = w, .visit = note_debt, .data = &debt};
  for (int rank = 0; rank < w->ranks && !debt.found; rank++) {
    list_life(&l, rank);
    for (int peer = 0; peer < w->ranks; peer++)
      if (under_way(w, peer, rank) && read_rank(w, rank)->phase == RANK_RUNNING) {
        list_arrivals(&l, peer, rank);
        list_control(&l, peer, rank);
      }
    if (read_rank(w, rank)->phase == RANK_RUNNING)
      list_storage(&l, rank);
    if (read_rank(w, rank)->phase == RANK_DEAD)
      note_debt(&debt, &(struct move){.kind = MOVE_DETECT, .rank = (int16_t)rank});
  }
  return debt.found;
}

struct world_standing world_standing(const struct world *w, int rank)
{
  const struct world_rank *me = read_rank(w, rank);
  struct rcl_event down;
  bool current = me->phase == RANK_RUNNING || me->phase == RANK_CAPTURING;
  bool ended = read_program(w, rank)->finished, behind = world_next_down(w, rank, &down);
  bool back = me->phase == RANK_RESTARTING || (me->phase == RANK_RESTORING && !behind);
  return (struct world_standing){.gave_up = me->gave_up != RCL_REASON_NONE,
                                 .dead = me->phase == RANK_DEAD || me->declared,
                                 .finished =
                                     current && ended && !behind && !me->held && !me->declared,
                                 .ended = ended,
                                 .held = me->held,
                                 .behind = behind,
                                 .starts = me->phase == RANK_NEW || (back && !w->closes),
                                 .fresh = me->phase == RANK_NEW,
                                 .first = !read_global(w)->incarnation,
                                 .safe = w->bounded && !read_global(w)->crashes};
}

struct world_standing world_standing_of_all(const struct world_standing *each, int ranks)
{
  struct world_standing all = {.finished = true};
  for (int rank = 0; rank < ranks; rank++) {
    all.gave_up |= each[rank].gave_up;
    all.dead |= each[rank].dead;
    all.finished &= each[rank].finished;
  }
  return all;
}

static struct world_standing standing_of_all(const struct world *w)
{
  struct world_standing each[w->ranks];
  for (int rank = 0; rank < w->ranks; rank++)
    each[rank] = world_standing(w, rank);
  return world_standing_of_all(each, w->ranks);
}

bool world_finished(const struct world *w)
{
  return standing_of_all(w).finished;
}

uint32_t world_open_origins(const struct world *w, const struct world_standing *all)
{
  if (all->gave_up)
    return 0;
  if (all->finished) /* the job has ended, so there are no more crashes */
    return first_crash(w);
  bool detects = all->dead || w->hazards & HAZARD_FALSE_DETECTION;
  return detects ? world_origins(w) : world_origins(w) - 1;
}

void world_moves(const struct world *w, void (*visit)(void *data, const struct move *), void *data)
{
  const struct world_standing all = standing_of_all(w);
  uint32_t open = world_open_origins(w, &all);
  for (uint32_t origin = 0; origin < open; origin++)
    world_moves_of(w, origin, visit, data);
}
