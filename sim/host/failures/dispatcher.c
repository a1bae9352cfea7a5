#include "sim/host/failures/dispatcher.h"

#include "sim/host/failures/failures.h"
#include "sim/host/failures/fall_back.h"
#include "sim/host/failures/schedule.h"
#include "sim/host/failures/stall.h"
#include "sim/host/failures/ulfm.h"
#include "sim/host/rank/accounting.h"
#include "sim/host/rank/agenda.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/result/result_notes.h"
#include "sim/host/result/run_end.h"
#include "sim/host/storage/server.h"
#include "sim/host/storage/storage.h"
#include "sim/net/placement.h"
#include "sim/net/transport.h"
#include "world/scenario/platform_file.h"

#include <string.h>

static struct transport *transport;
static struct rcl_actions actions;
static const struct layout *layout; /* number of nodes where ranks run, without spares */
static unsigned recoveries;

static const struct failure *failure_at(unsigned i)
{
  return &layer.scenario->failures[i];
}

/* Returns whether the receiver waits for that control message and does nothing else meanwhile. */
static bool spins(const struct message *message)
{
  return message->destination < layer.ranks && layer.rank[message->destination].quiesces &&
         (shadow_protocol()->spins >> message->words[0] & 1);
}

static void begin_network(bool (*expects)(const struct message *),
                          bool (*is_awaited)(const struct message *))
{
  struct network network = {.ranks = layer.ranks,
                            .mail = shadow_protocol()->level != RCL_LEVEL_CHANNEL &&
                                    !shadow_protocol()->piggybacks,
                            .out_of_band = shadow_protocol()->reconnects,
                            .spins = spins,
                            .expects = expects,
                            .is_awaited = is_awaited};
  char *text[WIRE_OVERHEADS];
  for (int i = 0; i < WIRE_OVERHEADS; i++)
    network.overhead[i] = text[i] =
        platform_setting(layer.scenario->platform.text, wire_overhead_names[i]);
  transport_begin(&network);
  for (int i = 0; i < WIRE_OVERHEADS; i++)
    g_free(text[i]);
  node_begin(layer.ranks);
  if (layout->nodes) {
    node_set_service(scenario_dispatcher(layer.scenario));
    node_set_spares(layout->nodes + layout_nodes(layout, layer.ranks),
                    layer.scenario->platform.spares);
  }
}

enum { NOTICE_BYTES = 64 }; /* number of bytes of a notice on the network */

static void send_notice(int rank, const struct message *notice)
{
  struct message *message = message_new(MESSAGE_NOTICE, layer.ranks, rank);
  message->notice = notice->notice;
  message->checkpoint = notice->checkpoint;
  message->part = notice->part;
  message->peer = notice->peer;
  message->for_life = notice->for_life;
  message->incarnation = shadow_global()->incarnation;
  transport_send(transport, message, NOTICE_BYTES, false);
}

/* ---- failures ---- */

static void step_world(struct move move)
{
  enum rcl_reason reason;
  bool scheduled = schedule_on();
  if (scheduled)
    schedule_check(&move);
  if (move.kind == MOVE_CRASH && move.rank >= 0)
    move.index = scheduled ? schedule_turn(layer.ranks)->index
                           : shadow_write_ends(move.rank, storage_has_begun);
  shadow_step(&move, &actions, &reason);
  if (scheduled)
    schedule_next();
}

/* `scheduled` stands for every crash of a schedule. */
static const struct failure scheduled = {.repair = 1e-3};

/* The crashes that a run by schedule has yet to detect. It detects each when the schedule says
 * so. */
static GArray *undetected; /* struct entry */

static void await_detection(const struct entry *entry)
{
  if (!undetected)
    undetected = g_array_new(FALSE, FALSE, sizeof *entry);
  g_array_append_vals(undetected, entry, 1);
}

/* Returns the rank by which a schedule names a crash of `rank`. A schedule crashes nodes, each
 * named by its first rank. */
static int scheduled_node(int rank)
{
  return layer.scenario->schedule ? rank - rank % layer.scenario->check.per_node : rank;
}

static void end_process(struct rank *r)
{
  r->dead = true;
  r->life++;
  storage_cut(r);
  accounting_absent(r, true);
  rank_switch(r, ACTIVITY_RESTART);
  machine_interrupt(&r->computation);
  storage_interrupt_read(r);
}

/* Ends the process of a rank that has crashed in the world. */
static void end_crashed(struct rank *r, const struct failure *failure)
{
  end_process(r);
  const struct entry found = {.time = machine_now() + ulfm_detection(),
                              .kind = ENTRY_DETECT,
                              .rank = r->index,
                              .failure = failure,
                              .life = r->life};
  if (schedule_on())
    await_detection(&found);
  else
    agenda_add(&found);
}

/* Returns the host on which the rank runs, or will run. */
static const char *home_of(int rank)
{
  return node_of(rank) || !layout->nodes ? node_of(rank) : layout_host(layout, rank);
}

/* Crashes a rank. A rank that has not started yet crashes when it starts, because no protocol knows
 * of it until then. Returns whether the failure has struck. */
static bool crash_rank(int rank, const struct failure *failure, enum crash_leaves leaves)
{
  struct rank *r = &layer.rank[rank];
  if (shadow_rank(rank)->phase == RANK_NEW) {
    bool struck = !r->doom;
    r->doom_leaves = struck ? leaves : MIN(r->doom_leaves, leaves);
    r->doom = failure;
    return struck;
  }
  struct move move = {
      .kind = MOVE_CRASH, .fault = (uint8_t)leaves, .rank = (int16_t)scheduled_node(rank)};
  /* the rank was declared dead, so its process will be ended anyway */
  bool ends = shadow_rank(rank)->declared;
  if (!r->active || ends || (r->dead && layer.repairs))
    return false;
  if (!shadow_loses())
    move.fault = CRASH_LEAVES_NOTHING;
  bool waits = r->dead && !shadow_has_to_lose(rank, (enum crash_leaves)move.fault);
  bool allowed = !waits && shadow_allows(&move);
  if (allowed)
    step_world(move);
  if (r->dead &&
      !allowed) /* otherwise the rank's node has failed meanwhile, and has lost its data */
    return false;
  end_crashed(r, failure);
  return true;
}

static void strike_doomed(struct rank *r)
{
  if (r->doom)
    crash_rank(r->index, r->doom, r->doom_leaves);
  r->doom = NULL;
}

static bool crash_node(const char *node, const struct failure *failure)
{
  bool struck = false;
  bool moves = node_fail(node, failure->returns == RETURNS_REPAIRED);
  enum crash_leaves leaves = moves ? CRASH_LEAVES_NOTHING : CRASH_LEAVES_DISKS;
  for (int rank = 0; rank < layer.ranks; rank++)
    if (!g_strcmp0(home_of(rank), node))
      struck |= crash_rank(rank, failure, leaves);
  return struck;
}

static const char *cannot_crash(int rank)
{
  if (layer.rank[rank].dead || layer.rank[rank].doom || shadow_rank(rank)->declared)
    return "was down";
  return "had ended";
}

/* Makes the victim fail now: alone, or its node with all ranks on the node. A node that is down or
 * being repaired cannot fail again. A node whose ranks are recovering can. */
static void inject(const struct failure *failure)
{
  const char *node = home_of(failure->rank);
  const char *why = cannot_crash(failure->rank);
  bool struck = false;
  if (node && failure->kills == KILLS_RANK)
    struck = crash_rank(failure->rank, failure, CRASH_LEAVES_ALL);
  else if (node)
    struck = crash_node(node, failure);
  layer.result.crashes += struck;
  if (struck)
    notes_struck(failure);
  else
    notes_missed(failure, why);
}

/* Crashes one of the ranks of the node. The entry says which one was drawn. */
static bool crash_process(const char *node, const struct entry *entry)
{
  int ranks = 0;
  for (int rank = 0; rank < layer.ranks; rank++)
    ranks += !g_strcmp0(home_of(rank), node);
  int victim = (int)(entry->chance * ranks);
  for (int rank = 0; rank < layer.ranks; rank++)
    if (!g_strcmp0(home_of(rank), node) && victim-- == 0)
      return crash_rank(rank, entry->failure, CRASH_LEAVES_ALL);
  return false;
}

/* Crashes a node, or one of its ranks. A spare that fails can be used again when it is repaired.
 */
static bool strike(int node, const struct entry *entry)
{
  if (entry->failure->kills == KILLS_RANK)
    return crash_process(layout->nodes[node], entry);
  if (crash_node(layout->nodes[node], entry->failure))
    return true;
  agenda_add(&(struct entry){.time = machine_now() + ulfm_detection() + entry->failure->repair,
                             .kind = ENTRY_RETURN,
                             .node = node});
  return false;
}

/* Makes the server fail. If the server loses its data, a rank that was going to start from a lost
 * checkpoint fails once more, so that another target is chosen. */
static void fail_server(const struct failure *failure)
{
  if (!server_fail(failure))
    return;
  if (failure->returns == RETURNS_EMPTY) {
    step_world((struct move){.kind = MOVE_CRASH, .rank = -1});
    storage_lose_server();
    int stranded = shadow_stranded();
    if (stranded >= 0)
      crash_rank(stranded, failure, CRASH_LEAVES_ALL);
  }
  storage_begin_anew();
}

/* Makes a failure by law or trace strike. If a zone fails, its spares fail first, so that no rank
 * moves to one of them.
 */
static void inject_by_law(const struct entry *entry)
{
  bool struck = false;
  if (entry->failure->kills == KILLS_SERVER)
    fail_server(entry->failure);
  else if (entry->zone < 0)
    struck = strike(entry->node, entry);
  else
    for (int node = failures_nodes(); node-- > 0;)
      if (failures_share_zone(node, entry->zone))
        struck |= strike(node, entry);
  layer.result.crashes += struck;
  failures_next(entry);
}

bool dispatcher_has_recovered(void)
{
  return recoveries > 0;
}

/* Once the run is over, no rank takes a step. So no request for a checkpoint may begin, because a
 * request would hold a program again. */
bool dispatcher_is_over(void)
{
  static bool over;
  over = over || (shadow_finished() && !schedule_on());
  return over;
}

static bool is_alive(int rank)
{
  uint8_t phase = shadow_rank(rank)->phase;
  return !shadow_rank(rank)->declared &&
         (phase == RANK_RUNNING || phase == RANK_CAPTURING || phase == RANK_RESTORING);
}

/* Returns whether the event is the point at which the failure strikes. */
static bool is_point(const struct failure *failure, int rank, const struct rcl_event *event)
{
  if (failure->trigger != TRIGGER_POINT || failure->after.rank != rank ||
      failure->after.event != (enum rcl_event_kind)event->kind ||
      recoveries < failure->after.recovery)
    return false;
  if (failure->after.checkpoint && failure->after.checkpoint != event->checkpoint)
    return false;
  if (failure->after.iteration && failure->after.iteration != layer.rank[rank].mpi->iteration)
    return false;
  return notes_point(failure) == MAX(failure->after.count, 1);
}

/* Makes a failure at a point of the protocol strike after the step. A failure within a step is
 * handled by dispatcher_cut() and can only be a crash, because only the dispatcher declares living
 * ranks dead. */
static void strike_now(const struct failure *failure)
{
  if (failure->kills == KILLS_SERVER)
    fail_server(failure);
  else if (failure->ends_after < 0.0)
    inject(failure);
  else
    agenda_add(&(struct entry){
        .time = machine_now(), .kind = ENTRY_CRASH, .rank = failure->rank, .failure = failure});
}

void dispatcher_point(int rank, const struct rcl_event *event)
{
  if (dispatcher_is_over()) /* after a crash now, no rank would start again */
    return;
  if (event->kind == RCL_EVENT_START)
    strike_doomed(&layer.rank[rank]);
  for (unsigned i = 0; i < layer.scenario->failures_count; i++)
    if (failure_at(i)->after.actions < 0 && is_point(failure_at(i), rank, event))
      strike_now(failure_at(i));
}

const struct failure *dispatcher_cut(struct move *move)
{
  const struct move *turn = schedule_turn(move->rank);
  if (turn) {
    move->fault = turn->fault;
    return world_cut(turn) < 0 ? NULL : &scheduled;
  }
  for (unsigned i = 0; i < layer.scenario->failures_count && !dispatcher_is_over(); i++) {
    const struct failure *failure = failure_at(i);
    if (failure->after.actions < 0 || !is_point(failure, move->rank, &move->event))
      continue;
    if (is_alive(move->rank)) {
      move->fault = (uint8_t)(FAULT_CUT | failure->after.actions << FAULT_CUT_SHIFT);
      return failure;
    }
    notes_missed(failure, cannot_crash(move->rank));
  }
  return NULL;
}

/* Crashes the victim. If the failure says so, the victim's node fails, too. */
void dispatcher_crash_in_step(int rank, const struct failure *failure)
{
  const char *node = home_of(rank);
  end_crashed(&layer.rank[rank], failure);
  if (failure != &scheduled && failure->kills == KILLS_NODE && node)
    crash_node(node, failure);
  layer.result.crashes++;
  if (failure != &scheduled)
    notes_struck(failure);
}

void dispatcher_crash_itself(int rank)
{
  static const struct failure its_own = {.kills = KILLS_RANK};
  layer.result.crashes += crash_rank(rank, &its_own, CRASH_LEAVES_ALL);
}

static bool under_way(void)
{
  for (int rank = 0; rank < layer.ranks; rank++)
    if (is_alive(rank) && shadow_rank(rank)->line > shadow_global()->committed)
      return true;
  return false;
}

/* Begins a new incarnation. Storage takes nothing more from the old incarnation, and the survivors
 * are told. */
static void open_incarnation(struct move detection)
{
  if (!shadow_independent() && under_way())
    layer.result.checkpoints_aborted++;
  if (!schedule_on())
    fall_back_look();
  step_world(detection);
  recoveries++;
  for (int rank = 0; !shadow_independent() && rank < layer.ranks; rank++)
    storage_cut(&layer.rank[rank]);
  if (detection.fault == DETECT_FALSELY)
    storage_cut(&layer.rank[detection.rank]);
  for (int rank = 0; rank < layer.ranks; rank++) {
    if (layer.rank[rank].stranded)
      storage_interrupt_read(&layer.rank[rank]);
    if (!is_alive(rank))
      continue;
    send_notice(rank, &(struct message){.notice = NOTICE_DOWN});
    if (!shadow_independent())
      storage_interrupt_read(&layer.rank[rank]);
    if (ulfm_is_modelled()) {
      ulfm_await(&layer.rank[rank]);
    } else {
      layer.rank[rank].notified = true;
      machine_interrupt(&layer.rank[rank].computation);
    }
  }
}

/* Gives all ranks places in another layout. Each rank moves when it goes back. */
static void place_ranks(const struct layout *elsewhere)
{
  layout = elsewhere;
  node_set_spares(layout->nodes + layout_nodes(layout, layer.ranks),
                  layer.scenario->platform.spares);
  for (int rank = 0; rank < layer.ranks; rank++)
    node_set(rank, layout_host(layout, rank));
}

/* Tells the living ranks of a failure, for a program that repairs itself. In such a run, dead ranks
 * stay dead, and the protocol does not hear of failures. */
static void tell_living(int dead)
{
  recoveries++;
  layer.result.repair.detect += layer.scenario->detection;
  for (int rank = 0; rank < layer.ranks; rank++)
    if (!layer.rank[rank].dead)
      send_notice(rank, &(struct message){.notice = NOTICE_DOWN, .peer = dead});
}

static void restart_at(double time, int rank)
{
  agenda_add(&(struct entry){
      .time = time, .kind = ENTRY_RESTART, .rank = rank, .life = layer.rank[rank].life});
}

static void detect_crash(const struct entry *entry)
{
  if (layer.rank[entry->rank].life != entry->life)
    return;
  if (layer.repairs) {
    tell_living(entry->rank);
    return;
  }
  if (entry->failure->restart_on && entry->failure->restart_on != layout)
    place_ranks(entry->failure->restart_on);
  /* if ranks do not recover alone, one detection finds all dead ranks */
  bool alone = shadow_independent();
  struct move move = {.kind = MOVE_DETECT, .rank = (int16_t)(alone ? entry->rank : -1)};
  if (shadow_allows(&move))
    open_incarnation(move);
  else
    recoveries =
        MAX(recoveries, 1); /* the rank had yet to restart, so it was down in the world already */
  double ready = machine_now() + entry->failure->repair;
  if (ulfm_is_modelled())
    ulfm_add_failed(entry->rank, entry->life, ready);
  else
    restart_at(ready, entry->rank);
}

/* Declares a living rank dead. The rank's process goes on, cut off from storage, until the process
 * is ended. */
static void declare_dead(int rank, const struct failure *failure)
{
  const struct rank *r = &layer.rank[rank];
  struct move move = {.kind = MOVE_DETECT, .fault = DETECT_FALSELY, .rank = (int16_t)rank};
  const char *why = cannot_crash(rank);
  if (!r->active || !shadow_allows(&move)) {
    notes_missed(failure, why);
    return;
  }
  layer.result.crashes++;
  open_incarnation(move);
  if (failure == &scheduled)
    return;
  notes_struck(failure);
  agenda_add(&(struct entry){.time = machine_now() + failure->ends_after,
                             .kind = ENTRY_END,
                             .rank = rank,
                             .failure = failure});
}

static void end_declared(int rank, const struct failure *failure)
{
  step_world((struct move){.kind = MOVE_DETECT, .fault = DETECT_END, .rank = (int16_t)rank});
  end_process(&layer.rank[rank]);
  restart_at(machine_now() + failure->repair, rank);
}

/* Starts a dead rank again, unless the rank has begun another life. */
static void restart_rank(int rank, uint32_t life)
{
  if (layer.rank[rank].life != life)
    return;
  node_replace(node_of(rank));
  if (node_is_gone(node_of(rank)))
    run_stop(RUN_LOST, "no node is left");
  send_notice(rank, &(struct message){.notice = NOTICE_RESTART, .for_life = life});
}

static void restart_repaired(uint32_t repair)
{
  const GArray *dead = ulfm_repaired(repair);
  for (guint i = 0; dead && i < dead->len; i++)
    restart_rank(g_array_index(dead, struct dead, i).rank,
                 g_array_index(dead, struct dead, i).life);
  if (dead)
    ulfm_release();
}

/* ---- runs by schedule ---- */

/* Detects the dead `rank`, or all dead ranks if `rank` is negative. */
static void detect_scheduled(int rank)
{
  for (guint i = 0; i < undetected->len;) {
    struct entry entry = g_array_index(undetected, struct entry, i);
    if (rank >= 0 && entry.rank != rank) {
      i++;
      continue;
    }
    g_array_remove_index(undetected, i);
    detect_crash(&entry);
  }
}

/* Crashes all ranks of the node that begins with that rank. */
static void inject_scheduled(int first)
{
  int end = MIN(first + layer.scenario->check.per_node, layer.ranks);
  bool struck = false;
  for (int rank = first; rank < end; rank++)
    struck |= crash_rank(rank, &scheduled, CRASH_LEAVES_NOTHING);
  layer.result.crashes += struck;
}

/* Tells the rank that its turn has come. When the schedule has ended, tells all ranks. */
static void pass_turn(void)
{
  for (int rank = 0; rank < layer.ranks; rank++)
    if (!schedule_on() || schedule_turn(rank))
      send_notice(rank, &(struct message){.notice = NOTICE_TURN});
}

/* Returns false if the dispatcher has no work left, or has told the rank about its turn already. */
static bool follow_schedule(void)
{
  static unsigned told; /* 1 + the step at which a rank was told last, or 0 if none was */
  if (!schedule_had() || told == schedule_position() + 1)
    return false;
  told = schedule_position() + 1;
  const struct move *turn = schedule_turn(layer.ranks);
  if (!turn)
    pass_turn();
  else if (turn->kind == MOVE_CRASH)
    inject_scheduled(turn->rank);
  else if (turn->fault == DETECT_FALSELY)
    declare_dead(turn->rank, &scheduled);
  else if (turn->fault == DETECT_END)
    end_declared(turn->rank, &scheduled);
  else
    detect_scheduled(turn->rank);
  return true;
}

/* ---- the loop ---- */

static void strike_entry(const struct entry *entry)
{
  if (entry->rank < 0)
    inject_by_law(entry);
  else if (entry->failure->ends_after >= 0.0)
    declare_dead(entry->rank, entry->failure);
  else
    inject(entry->failure);
}

static void handle_entry(const struct entry *entry)
{
  const struct rank *r;
  switch (entry->kind) {
  case ENTRY_CRASH:
    strike_entry(entry);
    break;
  case ENTRY_RETURN:
    node_return(layout->nodes[entry->node]);
    break;
  case ENTRY_DETECT:
    detect_crash(entry);
    break;
  case ENTRY_END:
    end_declared(entry->rank, entry->failure);
    break;
  case ENTRY_RESTART:
    restart_rank(entry->rank, entry->life);
    break;
  case ENTRY_REPAIRED:
    restart_repaired(entry->repair);
    break;
  case ENTRY_LIMIT:
    watch_limit();
    break;
  case ENTRY_SERVES: /* there is nothing to do: this entry is on the agenda so that ranks that wait
                        for the server do not count as deadlocked */
    break;
  case ENTRY_NOTICE:
    r = &layer.rank[entry->rank];
    if (!r->dead &&
        (shadow_independent() ? entry->notice.for_life == r->life
                              : entry->notice.incarnation == shadow_global()->incarnation))
      send_notice(entry->rank, &entry->notice);
    break;
  }
}

static bool handle_due(void)
{
  struct entry *due = agenda_take();
  if (due)
    handle_entry(due);
  g_free(due);
  return due != NULL;
}

void dispatcher_begin(bool (*expects)(const struct message *),
                      bool (*is_awaited)(const struct message *))
{
  if (!layer.scenario->schedule)
    machine_on_deadlock(run_stuck);
  layout = &layer.scenario->platform.layout;
  begin_network(expects, is_awaited);
  actions.capacity = shadow_actions_max();
  actions.item = g_new0(struct rcl_action, actions.capacity);
  failures_begin();
  while (handle_due()) /* a failure at the beginning of the run strikes before any rank starts */
    continue;
}

static void end_run(void)
{
  bool all_dead = layer.repairs;
  for (int rank = 0; rank < layer.ranks; rank++)
    all_dead &= layer.rank[rank].dead;
  if (all_dead)
    run_stop(RUN_LOST, "all ranks have died");
  run_report(recoveries > 0 ? RUN_RECOVERED : RUN_COMPLETED, NULL);
  for (int rank = 0; rank < layer.ranks; rank++)
    send_notice(rank, &(struct message){.notice = NOTICE_END});
}

void dispatcher_run(void)
{
  transport = transport_new(layer.ranks);
  agenda_begin();
  if (layer.scenario->limits.simulated > 0.0)
    agenda_add(&(struct entry){.time = layer.scenario->limits.simulated, .kind = ENTRY_LIMIT});
  while (!dispatcher_is_over()) {
    if (follow_schedule())
      continue;
    if (!handle_due())
      agenda_wait();
  }
  end_run();
}
