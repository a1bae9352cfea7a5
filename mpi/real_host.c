/* Turns what happens into events, takes the protocol's steps, and carries out their actions. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "base/platform.h"
#include "mpi/real_inside.h"
#include "protocols/grammar.h"
#include "protocols/text.h"

bool real_is_on(void)
{
  return real.on;
}

/* ---- actions ---- */

static void ends_with(struct rcl_event event)
{
  struct real_due *due = &real.due;
  due->item = memory_room(due->item, due->count, &due->room, sizeof *due->item);
  due->item[due->count++] = event;
}

static void store(const struct rcl_action *action)
{
  enum real_activity before = real_switch(REAL_CHECKPOINTS);
  real_storage_store(action);
  real_switch(before);
  ends_with((struct rcl_event){
      .kind = RCL_EVENT_DURABLE, .part = action->part, .checkpoint = action->checkpoint});
}

static void commit(uint32_t checkpoint)
{
  enum real_activity before = real_switch(REAL_CHECKPOINTS);
  real_storage_commit(checkpoint);
  real_switch(before);
  ends_with((struct rcl_event){.kind = RCL_EVENT_COMMITTED, .checkpoint = checkpoint});
}

static void transmit(const struct rcl_action *action)
{
  memcpy(real.now->words, action->words, sizeof action->words);
  real_wire_send(real.now->peer, real.now);
}

static void give_up(const struct rcl_action *action)
{
  char why[TEXT_MAX];
  real_die(1, "process %d: protocol %s gives up: %s", real.rank, real.protocol->name,
           give_up_print(action, real.config.capacity, why));
}

static void carry_out(const struct rcl_action *action)
{
  switch ((enum rcl_action_kind)action->kind) {
  case RCL_ACTION_TRANSMIT:
    transmit(action);
    break;
  case RCL_ACTION_MATCH:
    real_allow(action);
    break;
  case RCL_ACTION_DELIVER:
    real_deliver(action);
    break;
  case RCL_ACTION_KEEP:
    real_keep(action);
    break;
  case RCL_ACTION_FORGET:
    real_forget(action);
    break;
  case RCL_ACTION_RESEND:
    real_resend(action);
    break;
  case RCL_ACTION_JOIN:
  case RCL_ACTION_FORCE:
    real.answer = *action;
    break;
  case RCL_ACTION_CONTROL:
    real_wire_control(action->peer, action->words);
    break;
  case RCL_ACTION_HOLD:
    real.held = true;
    break;
  case RCL_ACTION_RELEASE:
    real.held = real.draining = false;
    break;
  case RCL_ACTION_DRAIN:
    real.draining = true;
    break;
  case RCL_ACTION_CAPTURE:
    real.capturing = action->checkpoint;
    break;
  case RCL_ACTION_COMMIT:
    commit(action->checkpoint);
    break;
  case RCL_ACTION_ERASE:
    real_storage_erase(action->checkpoint);
    break;
  case RCL_ACTION_SET_TIMER:
    real.alarm = platform_now() + real.options.every;
    break;
  case RCL_ACTION_GIVE_UP:
    give_up(action);
    break;
  case RCL_ACTION_SUPPRESS: /* the receiver has the message already */
  case RCL_ACTION_DISCARD:
  case RCL_ACTION_STOPPED_LOGGING:
  case RCL_ACTION_STORE: /* STORE comes after all other actions */
  case RCL_ACTION_NONE:
    break;
  case RCL_ACTION_REJOIN: /* check_actions() has refused these, which this host lacks */
  case RCL_ACTION_OPEN:
  case RCL_ACTION_OUTPUT:
  case RCL_ACTION_ROLL_BACK: /* the grammar allows it only after events that this host never raises
                              */
  case RCL_ACTION_KINDS:
    break;
  }
}

/* ---- a step ---- */

static void capture(void)
{
  uint32_t checkpoint = real.capturing;
  enum real_activity before = real_switch(REAL_CHECKPOINTS);
  real_storage_capture();
  real_trace_account(checkpoint);
  real_switch(before);
  real.capturing = 0;
  real_step((struct rcl_event){.kind = RCL_EVENT_CAPTURED, .checkpoint = checkpoint}, NULL);
}

/* Notes whether a checkpoint is requested. A TIMER requests a checkpoint, unless the protocol puts
 * off the request. COMMITTED ends the request. `unmoved` says that the step has not changed the
 * protocol's state. */
static void note_request(const struct rcl_event *event, bool unmoved)
{
  if (event->kind == RCL_EVENT_TIMER)
    real.requested |= !grammar_puts_off(&real.actions, unmoved);
  else if (event->kind == RCL_EVENT_COMMITTED)
    real.requested = false;
}

/* Returns whether the protocol is told of the event. Below the matching, the protocol is not told
 * of receives. */
static bool is_told(const struct rcl_event *event)
{
  return event->kind != RCL_EVENT_RECEIVE || !real_below_matching();
}

static int step_protocol(const struct rcl_event *event)
{
  real.actions.count = 0;
  if (!is_told(event))
    return 0;
  int broken =
      rcl_protocol_step(real.protocol, &real.config, real.state, event, &real.actions, true);
  if (real.actions.overflow)
    breach("protocol %s wants more than %u actions in one step", real.protocol->name,
           real.actions.capacity);
  return broken;
}

/* Some actions that the door allows are missing in this host. Returns what the host offers instead
 * of the action, or NULL if the host has the action. On this host, collectives other than barriers
 * are messages, and all processes start again together (docs/mpi-host.md). */
static const char *lacks(const struct rcl_event *event, const struct rcl_action *action)
{
  bool call = event->kind == RCL_EVENT_COLLECTIVE, result = event->kind == RCL_EVENT_COLLECTED;
  switch ((enum rcl_action_kind)action->kind) {
  case RCL_ACTION_CAPTURE:
    return real.place == REAL_NOWHERE ? "a place of the program" : NULL;
  case RCL_ACTION_SUPPRESS:
  case RCL_ACTION_DELIVER:
    return call ? "join" : NULL;
  case RCL_ACTION_KEEP:
    return result ? "the message of a send or an arrival" : NULL;
  case RCL_ACTION_REJOIN:
    return "barriers, which all processes pass again";
  case RCL_ACTION_OPEN:
    return "connections that stay open";
  case RCL_ACTION_OUTPUT:
    return "outputs that the program makes itself";
  default:
    return NULL;
  }
}

/* Ends the program if the grammar refuses the list of actions. The world refuses the same lists, so
 * `recline join` ends at the same step. Also ends the program if this host lacks an action, with a
 * message of the same form.
 */
static void check_actions(const struct rcl_event *event)
{
  struct grammar_refusal refusal = {.action = NULL};
  char text[TEXT_MAX], what[TEXT_MAX];
  bool refused = is_told(event) &&
                 grammar_refuses(real.protocol, &real.config, event, &real.actions, &refusal);
  for (uint32_t i = 0; i < real.actions.count && !refused; i++) {
    const char *instead = lacks(event, &real.actions.item[i]);
    refused = instead;
    refusal.action = &real.actions.item[i];
    snprintf(refusal.expected, sizeof refusal.expected, "expected on real MPI %s",
             instead ? instead : "");
  }
  if (refused)
    breach("protocol %s, rank %d, %s: %s", real.protocol->name, real.rank,
           event_print(real.protocol, event, text), grammar_print(event, &refusal, what));
}

static uint64_t digest_state(void)
{
  return rcl_protocol_digest_state(real.protocol, &real.config, real.state);
}

/* Takes a step. Writes the trace before it carries out the actions. So if the process is killed,
 * everything that other processes have seen of it is in the trace. */
void real_step(struct rcl_event event, struct real_message *message)
{
  enum real_activity activity = real_switch(REAL_PROTOCOL);
  bool timer = event.kind == RCL_EVENT_TIMER;
  uint64_t before = timer ? digest_state() : 0;
  real.now = message;
  real.answer = (struct rcl_action){0};
  real.unmoved = false;
  int broken = step_protocol(&event);
  real_trace_step(&event, message);
  if (broken) {
    const char *text = real.protocol->invariants[broken - 1];
    breach("process %d: protocol %s violates its invariant %d: %.*s", real.rank,
           real.protocol->name, broken, invariant_length(text), text);
  }
  check_actions(&event);
  note_request(&event, timer && before == digest_state());
  for (uint32_t i = 0; i < real.actions.count; i++)
    carry_out(&real.actions.item[i]);
  for (uint32_t i = 0; i < real.actions.count; i++)
    if (real.actions.item[i].kind == RCL_ACTION_STORE)
      store(&real.actions.item[i]);
  real.now = NULL;
  real.recovers = real.held && (real.recovers || event.kind == RCL_EVENT_START);
  if (real.capturing)
    capture();
  real_switch(activity);
}

/* ---- what comes from elsewhere ---- */

static bool take_due(void)
{
  uint32_t taken = 0;
  for (; taken < real.due.count; taken++)
    real_step(real.due.item[taken], NULL); /* the step may add more items */
  real.due.count = 0;
  return taken;
}

/* Raises the timer's event at a place where checkpoints are allowed, so that a checkpoint stops the
 * coordinator first. When the coordinator goes on, the other processes have been asked already. A
 * protocol that captures in barriers needs no such place. */
static bool take_alarm(void)
{
  if (real.alarm <= 0 || platform_now() < real.alarm || real.finished || real.over)
    return false;
  if (real.place == REAL_NOWHERE && !real.protocol->captures_at)
    return false;
  real.alarm = 0;
  real_step((struct rcl_event){.kind = RCL_EVENT_TIMER}, NULL);
  return true;
}

static void take_control(struct real_message *message)
{
  struct rcl_event event = {.kind = RCL_EVENT_CONTROL, .peer = message->peer};
  memcpy(event.words, message->words, sizeof event.words);
  free(message);
  real_step(event, NULL);
}

static bool take_message(void)
{
  struct real_message *message = real_wire_receive();
  if (!message)
    return false;
  if (!message->payload)
    take_control(message);
  else if (real_below_matching())
    real_arrive(message);
  else
    real_append(&real.channel, message);
  real_match_all();
  return true;
}

void real_pump(bool wait)
{
  enum { MOST = 64 }; /* most messages that are taken before the program goes on */
  bool anything = take_due();
  if (!real_below_matching() || real.place != REAL_NOWHERE || real.over) {
    anything |= take_alarm();
    for (int i = 0; i < MOST && take_message(); i++)
      anything = true;
  }
  if (anything)
    real_wire_busy();
  else if (wait)
    real_idle();
}

void real_ready(void)
{
  real_pump(false);
  do {
    enum real_activity before = real_switch(real.held ? real_held_activity() : real.activity);
    while (real.held)
      real_pump(true);
    real_switch(before);
    real_announce_all();
    real_match_all();
  } while (real.held);
}

/* ---- places ---- */

static void pass_safe_point(uint32_t iteration)
{
  uint64_t before = digest_state();
  real_step((struct rcl_event){.kind = RCL_EVENT_SAFE_POINT, .iteration = iteration}, NULL);
  real.unmoved = !iteration && !real.actions.count && before == digest_state();
}

void real_come_to(enum real_place place, uint32_t iteration)
{
  bool same = real.same == place && !real_below_matching();
  real.same = REAL_NOWHERE;
  if (same)
    return; /* the program had passed this place before the crash */
  enum real_activity before = real_switch(REAL_MPI);
  real.place = place;
  real_ready();
  /* A step depends only on the state and the event. So an event that had no effect has no effect
   * again until something else happens. */
  if (!real_below_matching() && !real.unmoved)
    pass_safe_point(iteration);
  real_ready();
  real.place = REAL_NOWHERE;
  real_switch(before);
}

void real_safe_point(uint32_t iteration)
{
  if (real.restart)
    real_restore();
  real.iterations += iteration > 0;
  real.iteration = iteration ? iteration : real.iteration;
  real_come_to(REAL_CHECKPOINT, iteration);
}

/* ---- beginning and end ---- */

static bool logs_determinants(const struct rcl_protocol *protocol)
{
  for (int i = 0; protocol->place && i < RCL_PLACE_LOGS; i++)
    if (protocol->place->logs[i].what == RCL_LOGGED_DETERMINANTS)
      return true;
  return false;
}

static void choose_protocol(void)
{
  const char *name = real.options.protocol;
  real.protocol = rcl_protocol_named(name);
  if (!real.protocol)
    real_die(64, "there is no protocol '%s', expected one of 'recline list protocols'", name);
  if (real.protocol->independent || real.protocol->clocks)
    real_die(64, "protocol %s %s, expected one by which all processes go back together", name,
             real.protocol->clocks ? "needs clocks" : "restarts processes one by one");
  real.determinants = logs_determinants(real.protocol);
  bool repeats = real.determinants ||
                 (real.protocol->place && real.protocol->place->assumes & RCL_ASSUMES_SAME_AGAIN);
  if (real.options.varies && repeats)
    real_die(64,
             "protocol %s relies on a program that does the same again, expected bookmark, "
             "blocking, chandy-lamport, lai-yang or mattern",
             name);
}

/* Sets the protocol's parameters. On this host only the program names places, and recline join
 * relies on that. */
static void set_parameters(struct rcl_config *config)
{
  for (int i = 0; real.protocol->parameters && real.protocol->parameters[i]; i++)
    config->parameter[i] = strcmp(real.protocol->parameters[i], "iterations") == 0;
}

void real_begin(MPI_Comm comm, const struct real_options *options)
{
  real = (struct real){.options = *options, .began = real_trace_now()};
  real_account_begin();
  real.options.folder = real.folder = strdup(options->folder);
  real_wire_begin(comm);
  choose_protocol();
  real.config = (struct rcl_config){
      .self = (int16_t)real.rank, .ranks = (int16_t)real.ranks, .capacity = options->capacity};
  set_parameters(&real.config);
  real.state = memory_table(1, real.protocol->state_size(&real.config));
  real.actions.capacity = RCL_ACTIONS_MAX(&real.config);
  real.actions.item = memory_table(real.actions.capacity, sizeof *real.actions.item);
  real_storage_begin();
  real_trace_begin();
  real.on = true;
  real_step((struct rcl_event){.kind = RCL_EVENT_START, .checkpoint = real.checkpoint}, NULL);
  real_storage_erase_others(real.checkpoint);
  real_switch(REAL_COMPUTE);
}

/* Ends all processes together. If a checkpoint was requested, it is committed first, so that no
 * process leaves while another process is held for the checkpoint. A checkpoint that needs a
 * barrier of the program is not waited for. */
static void end_together(void)
{
  while (real.requested && !real.protocol->captures_at)
    real_come_to(REAL_END, 0);
  int done = 0;
  MPI_Request request;
  PMPI_Ibarrier(real_wire_comm(), &request);
  while (!done) {
    real_pump(true);
    real_come_to(REAL_END, 0);
    PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

void real_end_checkpoints(void)
{
  real.over = true;
}

void real_end(bool keep)
{
  if (real.restart)
    real_restore();
  real_switch(REAL_MPI);
  real_come_to(REAL_END, 0);
  if (!real.finished)
    real_trace_finished();
  real.finished = true;
  end_together();
  real_wire_flush();
  real_trace_account(0);
  real_trace_end();
  if (!keep)
    real_storage_clear();
  real_wire_end();
  free(real.folder);
  free(real.state);
  free(real.actions.item);
  free(real.due.item);
  free(real.slot);
  free(real.region);
  real = (struct real){0};
}
