#include "sim/host/dispatcher.h"

#include "sim/host/schedule.h"
#include "sim/host/shadow.h"
#include "sim/host/storage.h"
#include "sim/host/ulfm.h"
#include "sim/net/transport.h"

#include <string.h>

/* What is to happen, by time and then by the order in which it was put down. */
enum entry_kind { ENTRY_CRASH, ENTRY_DETECT, ENTRY_RESTART, ENTRY_REPAIRED, ENTRY_NOTICE };

struct entry {
  double time;
  uint64_t order;
  enum entry_kind kind;
  int rank;
  const struct failure *failure; /* CRASH, DETECT */
  uint32_t life;         /* DETECT, RESTART: of the rank, by which it is still the same crash */
  uint32_t repair;       /* REPAIRED */
  struct message notice; /* NOTICE: kind and fields */
};

static GQueue agenda;
static uint64_t entries;
static struct bell *bell;
static struct transport *transport;
static struct rcl_actions actions;
static char *own_host;
static const char **host_of;
static const struct layout *layout; /* where ranks run, but for spares */
static int spares_used;             /* of its nodes */
static GHashTable *broken;          /* hosts that have failed and are not repaired */
static unsigned recoveries;
static unsigned *hits; /* by failure: events of its point so far */

static int by_time(gconstpointer a, gconstpointer b, gpointer unused)
{
  (void)unused;
  const struct entry *x = a, *y = b;
  if (x->time != y->time)
    return x->time < y->time ? -1 : 1;
  return x->order < y->order ? -1 : 1;
}

/* Ringing lets the dispatcher run, so the entry must be complete, and may be gone afterwards. */
static void put_down(const struct entry *what)
{
  struct entry *entry = g_memdup2(what, sizeof *what);
  entry->order = entries++;
  g_queue_insert_sorted(&agenda, entry, by_time, NULL);
  bell_ring(bell);
}

static const struct failure *failure_at(unsigned i)
{
  return &layer.scenario->failures[i];
}

void dispatcher_begin(void)
{
  if (!layer.scenario->schedule)
    machine_on_deadlock(layer_stuck);
  layout = &layer.scenario->platform.layout;
  broken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  hits = g_new0(unsigned, layer.scenario->failures_count + 1);
  host_of = g_new0(const char *, (gsize)layer.ranks + 1);
  actions.capacity = audit_actions_max();
  actions.item = g_new0(struct rcl_action, actions.capacity);
  for (unsigned i = 0; i < layer.scenario->failures_count; i++)
    if (failure_at(i)->trigger == TRIGGER_TIME)
      put_down(&(struct entry){.time = failure_at(i)->at,
                               .kind = ENTRY_CRASH,
                               .rank = failure_at(i)->rank,
                               .failure = failure_at(i)});
}

const char *dispatcher_host(void)
{
  return layer.scenario->platform.dispatcher ? layer.scenario->platform.dispatcher : own_host;
}

const char *dispatcher_host_of(int rank)
{
  return host_of[rank];
}

void dispatcher_at_home(int rank, const char *host)
{
  host_of[rank] = g_intern_string(host);
}

/* ---- telling ---- */

static void send_notice(int rank, const struct message *notice)
{
  struct message *message = message_new(MESSAGE_NOTICE, layer.ranks, rank);
  message->notice = notice->notice;
  message->checkpoint = notice->checkpoint;
  message->part = notice->part;
  message->for_life = notice->for_life;
  message->incarnation = audit_global()->incarnation;
  transport_send(transport, message, false);
}

void dispatcher_turn(void)
{
  bell_ring(bell);
}

void dispatcher_tell(int rank, const struct message *notice)
{
  struct entry entry = {
      .time = machine_now(), .kind = ENTRY_NOTICE, .rank = rank, .notice = *notice};
  entry.notice.incarnation = audit_global()->incarnation;
  entry.notice.for_life = layer.rank[rank].life;
  put_down(&entry);
}

void dispatcher_set_timer(struct rank *r)
{
  if (layer.scenario->checkpoint.every <= 0.0) /* none, or by schedule */
    return;
  put_down(&(struct entry){
      .time = machine_now() + layer.scenario->checkpoint.every,
      .kind = ENTRY_NOTICE,
      .rank = r->index,
      .notice = {.notice = NOTICE_TIMER, .incarnation = r->incarnation, .for_life = r->life}});
}

void dispatcher_finished(void)
{
  bell_ring(bell);
}

/* ---- failures ---- */

static void take(enum move_kind kind, int rank)
{
  struct move move = {.kind = (uint8_t)kind, .rank = (int16_t)rank};
  enum rcl_reason reason;
  bool scheduled = schedule_on();
  if (scheduled)
    schedule_check(&move);
  audit_take(&move, &actions, &reason);
  if (scheduled)
    schedule_next();
}

/* The dead whose detection is due, by a schedule, when it says so. */
static GArray *undetected; /* struct entry */

static void await_detection(const struct entry *entry)
{
  if (!undetected)
    undetected = g_array_new(FALSE, FALSE, sizeof *entry);
  g_array_append_vals(undetected, entry, 1);
}

static bool crash(int rank, const struct failure *failure)
{
  struct rank *r = &layer.rank[rank];
  if (r->dead || !r->active)
    return false;
  struct move move = {.kind = MOVE_CRASH, .rank = (int16_t)rank};
  if (audit_allows(&move))
    take(MOVE_CRASH, rank);
  r->dead = true;
  r->life++;
  storage_cut(r);
  rank_switch(r, ACTIVITY_RESTART);
  machine_interrupt(&r->computation);
  const struct entry found = {.time = machine_now() + runtime_detection(),
                              .kind = ENTRY_DETECT,
                              .rank = rank,
                              .failure = failure,
                              .life = r->life};
  if (schedule_on())
    await_detection(&found);
  else
    put_down(&found);
  return true;
}

/* The node of the victim fails now, with all ranks on it, or the victim alone. A node that is down
 * or being repaired cannot fail again; one that is being recovered can. */
static void strike(const struct failure *failure)
{
  const char *host = host_of[failure->rank];
  if (!host)
    return; /* before its MPI_Init */
  if (failure->kills == KILLS_RANK) {
    layer.result.crashes += crash(failure->rank, failure);
    return;
  }
  g_hash_table_add(broken, g_strdup(host));
  bool struck = false;
  for (int rank = 0; rank < layer.ranks; rank++)
    if (!g_strcmp0(host_of[rank], host))
      struck |= crash(rank, failure);
  layer.result.crashes += struck;
}

bool dispatcher_is_over(void)
{
  return audit_finished() && !schedule_on();
}

void dispatcher_point(int rank, const struct rcl_event *event)
{
  if (dispatcher_is_over()) /* nobody restarts who dies now */
    return;
  for (unsigned i = 0; i < layer.scenario->failures_count; i++) {
    const struct failure *failure = failure_at(i);
    if (failure->trigger != TRIGGER_POINT || failure->after.rank != rank ||
        failure->after.event != (enum rcl_event_kind)event->kind ||
        recoveries < failure->after.recovery)
      continue;
    if (failure->after.checkpoint && failure->after.checkpoint != event->checkpoint)
      continue;
    if (failure->after.iteration && failure->after.iteration != layer.rank[rank].face->iteration)
      continue;
    if (++hits[i] == MAX(failure->after.count, 1))
      strike(failure);
  }
}

static bool alive(int rank)
{
  uint8_t phase = audit_rank(rank)->phase;
  return phase == RANK_RUNNING || phase == RANK_CAPTURING || phase == RANK_RESTORING;
}

static bool independent(void)
{
  return audit_protocol()->independent;
}

/* With global recovery one detection finds all the dead. */
static struct move detection(int rank)
{
  return (struct move){.kind = MOVE_DETECT, .rank = (int16_t)(independent() ? rank : -1)};
}

static bool under_way(void)
{
  for (int rank = 0; rank < layer.ranks; rank++)
    if (alive(rank) && audit_rank(rank)->line > audit_global()->committed)
      return true;
  return false;
}

/* A new incarnation: storage takes nothing more from the old one, and the living are told. */
static void open_incarnation(int dead)
{
  if (!independent() && under_way())
    layer.result.checkpoints_aborted++;
  take(MOVE_DETECT, detection(dead).rank);
  recoveries++;
  for (int rank = 0; !independent() && rank < layer.ranks; rank++)
    storage_cut(&layer.rank[rank]);
  for (int rank = 0; rank < layer.ranks; rank++) {
    if (!alive(rank))
      continue;
    send_notice(rank, &(struct message){.notice = NOTICE_DOWN});
    if (runtime_is_modelled()) {
      runtime_await(&layer.rank[rank]);
    } else {
      layer.rank[rank].notified = true;
      machine_interrupt(&layer.rank[rank].computation);
    }
  }
}

/* All ranks are to go on elsewhere; each moves when it goes back. */
static void lay_out(const struct layout *elsewhere)
{
  layout = elsewhere;
  spares_used = 0;
  g_hash_table_remove_all(broken);
  for (int rank = 0; rank < layer.ranks; rank++)
    dispatcher_at_home(rank, layout_host(layout, rank));
}

static void detect(const struct entry *entry)
{
  if (layer.rank[entry->rank].life != entry->life)
    return;
  if (entry->failure->restart_on && entry->failure->restart_on != layout)
    lay_out(entry->failure->restart_on);
  struct move move = detection(entry->rank);
  if (audit_allows(&move))
    open_incarnation(entry->rank);
  double ready = machine_now() + entry->failure->repair;
  if (runtime_is_modelled())
    runtime_bury(entry->rank, entry->life, ready);
  else
    put_down(&(struct entry){
        .time = ready, .kind = ENTRY_RESTART, .rank = entry->rank, .life = entry->life});
}

/* The ranks of a node that has failed go on at a spare while there is one, else there, repaired. */
static void replace_node(const char *host)
{
  if (!g_hash_table_remove(broken, host) || spares_used == layer.scenario->platform.spares)
    return;
  const char *spare = layout->nodes[layout_nodes(layout, layer.ranks) + spares_used++];
  for (int rank = 0; rank < layer.ranks; rank++)
    if (!strcmp(host_of[rank], host))
      dispatcher_at_home(rank, spare);
}

void dispatcher_restart(int rank, uint32_t life)
{
  if (layer.rank[rank].life != life)
    return;
  const char *host = host_of[rank];
  replace_node(host);
  send_notice(rank, &(struct message){.notice = NOTICE_RESTART, .for_life = life});
}

void dispatcher_repair_at(double time, uint32_t repair)
{
  put_down(&(struct entry){.time = time, .kind = ENTRY_REPAIRED, .repair = repair});
}

/* ---- what recoveries did, by incarnation ---- */

enum { STARTED = 1, SURVIVORS_TOO = 2 };
static GByteArray *went_back;

void dispatcher_note_return(uint32_t incarnation, bool survivor)
{
  if (!went_back)
    went_back = g_byte_array_new();
  guint old = went_back->len;
  if (incarnation >= old) {
    g_byte_array_set_size(went_back, incarnation + 1);
    memset(went_back->data + old, 0, went_back->len - old);
  }
  went_back->data[incarnation] |= (guint8)(survivor ? STARTED | SURVIVORS_TOO : STARTED);
}

void dispatcher_count_returns(void)
{
  for (guint i = 0; went_back && i < went_back->len; i++)
    if (went_back->data[i] & SURVIVORS_TOO)
      layer.result.rollbacks_global++;
    else if (went_back->data[i] & STARTED)
      layer.result.rollbacks_local++;
}

/* ---- runs by schedule ---- */

static const struct failure scheduled = {.repair = 1e-3};

/* All of them or, where each is found by itself, that rank. */
static void detect_scheduled(int rank)
{
  for (guint i = 0; i < undetected->len;) {
    struct entry entry = g_array_index(undetected, struct entry, i);
    if (rank >= 0 && entry.rank != rank) {
      i++;
      continue;
    }
    g_array_remove_index(undetected, i);
    detect(&entry);
  }
}

static void strike_scheduled(int rank)
{
  layer.result.crashes += crash(rank, &scheduled);
}

/* Ranks that wait for their turn are told that it has come; all are when the schedule has ended. */
static void pass_turn(void)
{
  for (int rank = 0; rank < layer.ranks; rank++)
    if (!schedule_on() || schedule_turn(rank))
      send_notice(rank, &(struct message){.notice = NOTICE_TURN});
}

/* False when there is nothing for the dispatcher to do but what it has told already. */
static bool follow_schedule(void)
{
  static unsigned told; /* steps, + 1 */
  if (!schedule_had() || told == schedule_position() + 1)
    return false;
  told = schedule_position() + 1;
  const struct move *turn = schedule_turn(layer.ranks);
  if (!turn)
    pass_turn();
  else if (turn->kind == MOVE_CRASH)
    strike_scheduled(turn->rank);
  else
    detect_scheduled(turn->rank);
  return true;
}

/* ---- the loop ---- */

static bool is_current(const struct message *notice, const struct rank *r)
{
  return independent() ? notice->for_life == r->life
                       : notice->incarnation == audit_global()->incarnation;
}

static void handle(const struct entry *entry)
{
  switch (entry->kind) {
  case ENTRY_CRASH:
    strike(entry->failure);
    break;
  case ENTRY_DETECT:
    detect(entry);
    break;
  case ENTRY_RESTART:
    dispatcher_restart(entry->rank, entry->life);
    break;
  case ENTRY_REPAIRED:
    runtime_repaired(entry->repair);
    break;
  case ENTRY_NOTICE:
    if (is_current(&entry->notice, &layer.rank[entry->rank]) && !layer.rank[entry->rank].dead)
      send_notice(entry->rank, &entry->notice);
    break;
  }
}

static void end_run(void)
{
  layer_result(recoveries > 0 ? RUN_RECOVERED : RUN_COMPLETED, NULL);
  for (int rank = 0; rank < layer.ranks; rank++)
    send_notice(rank, &(struct message){.notice = NOTICE_END});
}

void dispatcher_run(void)
{
  transport = transport_new(layer.ranks);
  own_host = g_strdup(machine_host());
  bell = bell_new();
  while (!dispatcher_is_over()) {
    struct entry *next = g_queue_peek_head(&agenda);
    if (follow_schedule())
      continue;
    if (next && next->time <= machine_now()) {
      g_queue_pop_head(&agenda);
      handle(next);
      g_free(next);
    } else {
      bell_wait(bell, next ? next->time : -1.0);
    }
  }
  end_run();
}
