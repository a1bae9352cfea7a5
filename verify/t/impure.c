/* This protocol starts all ranks from the beginning when one fails. It also does something
 * forbidden, which flaw.h contains: pure.t writes that file for each flaw and builds a plug-in. In
 * flaw.h, `at` points to the bytes of the state. */
#include "protocols/parts/act.h"

typedef volatile unsigned char byte;

struct state {
  uint32_t begun, told;
};

#include "flaw.h"

#ifndef AT_START
#define AT_START
#endif
#ifndef AT_SEND
#define AT_SEND rcl_act(actions, RCL_ACTION_TRANSMIT)
#endif
#ifndef AT_COLLECTIVE
#define AT_COLLECTIVE rcl_act(actions, RCL_ACTION_JOIN)
#endif
#ifndef IN_SIZE
#define IN_SIZE return sizeof(struct state)
#endif
#ifndef IN_INVARIANT
#define IN_INVARIANT
#endif

static const char *const invariants[] = {"none", NULL};

static size_t state_size(const struct rcl_config *config)
{
  (void)config;
  IN_SIZE;
}

static void step(const struct rcl_config *config, void *memory, const struct rcl_event *event,
                 struct rcl_actions *actions)
{
  struct state *state = memory;
  byte *at = memory;
  (void)config;
  (void)at;
  switch ((enum rcl_event_kind)event->kind) {
  case RCL_EVENT_START:
    AT_START;
    state->begun++;
    break;
  case RCL_EVENT_SEND:
    AT_SEND;
    break;
  case RCL_EVENT_RECEIVE:
    rcl_match(actions, event);
    break;
  case RCL_EVENT_ARRIVED:
    rcl_act(actions, RCL_ACTION_DELIVER)->request = event->request;
    break;
  case RCL_EVENT_COLLECTIVE:
    AT_COLLECTIVE;
    break;
  case RCL_EVENT_COLLECTED:
    rcl_act(actions, RCL_ACTION_DELIVER);
    break;
  case RCL_EVENT_DOWN:
    state->told++;
    rcl_act(actions, RCL_ACTION_ROLL_BACK)->checkpoint = RCL_FRESH;
    break;
  default:
    break;
  }
}

static int violated_invariant(const struct rcl_config *config, const void *memory)
{
  byte *at = (byte *)(uintptr_t)memory;
  (void)config;
  (void)at;
  IN_INVARIANT;
  return 0;
}

#ifdef IN_USE
#define IN_USE_FUNCTION in_use
static uint32_t in_use(const struct rcl_config *config, const void *memory, struct rcl_piece *piece)
{
  byte *at = (byte *)(uintptr_t)memory;
  (void)config;
  (void)at;
  IN_USE;
}
#else
#define IN_USE_FUNCTION NULL
#endif

#ifdef IN_WORK
#define WORK_FUNCTION work
static void work(const struct rcl_config *config, const void *memory, const struct rcl_event *event,
                 struct rcl_work *work)
{
  byte *at = (byte *)(uintptr_t)memory;
  (void)config;
  (void)event;
  (void)at;
  IN_WORK;
}
#else
#define WORK_FUNCTION NULL
#endif

static const struct rcl_protocol flawed = {.name = NAME,
                                           .title = "begin again from the start",
                                           .control_bytes = 12,
                                           .collectives = true,
                                           .invariants = invariants,
                                           .state_size = state_size,
                                           .in_use = IN_USE_FUNCTION,
                                           .step = step,
                                           .work = WORK_FUNCTION,
                                           .violated_invariant = violated_invariant};

RECLINE_PROTOCOLS(&flawed);
