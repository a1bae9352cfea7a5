#include "sim/host/failures/schedule.h"
#include "sim/host/result/run_end.h"

#include "protocols/text.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/rank/waits.h"
#include "world/trace/schedule_file.h"

#include <string.h>

static struct trace_story story;
static unsigned position;
/* digest of the state of the world from which on the run of the schedule repeats */
static char *state;

static void on_deadlock(void)
{
  if (schedule_on())
    die(DIE_INPUT, "%s: the run cannot come to step %u, expected one that can follow",
        layer.scenario->schedule, position);
  shadow_judge_rest();
  waits_report();
  run_stop(RUN_LOST, "nothing can happen any more");
}

void schedule_begin(void)
{
  const struct scenario *scenario = layer.scenario;
  GError *error = NULL;
  if (!scenario->schedule)
    return;
  if (!schedule_file_read(scenario, &story, &error))
    die(DIE_INPUT, "%s", error->message);
  shadow_set_strict(schedule_on());
  if (story.again == story.count)
    state = shadow_digest();
  machine_on_deadlock(on_deadlock);
}

bool schedule_on(void)
{
  return position < story.count;
}

bool schedule_had(void)
{
  return story.count > 0;
}

static int owner_of(const struct move *move)
{
  return move->kind == MOVE_EVENT ? move->rank : layer.ranks;
}

const struct move *schedule_turn(int who)
{
  return schedule_on() && owner_of(&story.moves[position]) == who ? &story.moves[position] : NULL;
}

/* Returns whether the program names its safe points (`places: program`) and has not ended. */
static bool is_place_of_program(const struct rank *r)
{
  return layer.scenario->checkpoint.places == PLACES_PROGRAM && !r->mpi->finalized;
}

bool schedule_is_program(const struct rank *r)
{
  const struct move *turn = schedule_turn(r->index);
  if (!turn)
    return false;
  switch ((enum rcl_event_kind)turn->event.kind) {
  case RCL_EVENT_SEND:
  case RCL_EVENT_RECEIVE:
  case RCL_EVENT_CHOICE:
  case RCL_EVENT_OUTPUT:
  case RCL_EVENT_COLLECTIVE:
  case RCL_EVENT_COLLECTED:
    return true;
  case RCL_EVENT_SAFE_POINT:
    return is_place_of_program(r);
  default:
    return false;
  }
}

bool schedule_holds_back(const struct rank *r, const struct message *message)
{
  bool is_notice = message->kind == MESSAGE_NOTICE;
  if (is_notice && message->notice == NOTICE_DOWN)
    return !shadow_protocol()->independent &&
           shadow_rank(r->index)->noticed != shadow_global()->incarnation;
  if (is_notice)
    return message->notice == NOTICE_DURABLE || message->notice == NOTICE_COMMITTED;
  return message->kind == MESSAGE_CONTROL ||
         (message->kind == MESSAGE_PROGRAM && shadow_protocol()->level == RCL_LEVEL_CHANNEL);
}

bool schedule_brings(const struct message *message, const struct rcl_event *event)
{
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_CONTROL:
    return message->kind == MESSAGE_CONTROL && message->source == event->peer &&
           (!shadow_control_overtakes() ||
            !memcmp(message->words, event->words, sizeof event->words));
  case RCL_EVENT_ARRIVED:
    return message->kind == MESSAGE_PROGRAM && message->source == event->peer;
  case RCL_EVENT_DURABLE:
    return message->kind == MESSAGE_NOTICE && message->notice == NOTICE_DURABLE &&
           message->checkpoint == event->checkpoint && message->part == event->part;
  default:
    return message->kind == MESSAGE_NOTICE && message->notice == NOTICE_COMMITTED &&
           message->checkpoint == event->checkpoint;
  }
}

/* Returns the request of an event, for a comparison. In START and CAPTURED, the field is a number
 * of outputs that the world sets itself, so this function returns 0 for these events. */
static uint32_t request_of(const struct rcl_event *event)
{
  bool counts = event->kind == RCL_EVENT_START || event->kind == RCL_EVENT_CAPTURED;
  return counts ? 0 : event->request;
}

static bool is_same(const struct move *a, const struct move *b)
{
  const struct rcl_event *x = &a->event, *y = &b->event;
  if (a->kind != b->kind || a->rank != b->rank)
    return false;
  return a->kind != MOVE_EVENT ||
         (x->kind == y->kind && x->peer == y->peer && x->tag == y->tag && x->comm == y->comm &&
          request_of(x) == request_of(y) && x->checkpoint == y->checkpoint && x->part == y->part &&
          x->outcome == y->outcome && x->flow == y->flow);
}

void schedule_check(const struct move *move)
{
  const struct move *turn = &story.moves[position];
  char expected[TEXT_MAX], seen[TEXT_MAX];
  if (is_same(move, turn))
    return;
  die(DIE_INPUT,
      "%s: step %u is '%d %s', and the run comes to '%d %s', expected a run that can follow",
      layer.scenario->schedule, position, turn->rank,
      event_print(shadow_protocol(), &turn->event, expected), move->rank,
      event_print(shadow_protocol(), &move->event, seen));
}

void schedule_next(void)
{
  position++;
  if (story.again && position == story.count)
    shadow_judge_repeated(state);
  if (story.again && position == story.count - story.again)
    state = shadow_digest();
  if (!schedule_on())
    shadow_set_strict(false);
  if (!schedule_on() && layer.result.audit_violations)
    run_stop(RUN_LOST, "stopped at the violation with which its schedule ends");
}

unsigned schedule_position(void)
{
  return position;
}
