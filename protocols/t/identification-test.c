/* Plays random histories of one sender and one receiver. The test is for protocols that drop
 * orphans, in each of their forms. After a rollback such a protocol must deliver the messages in
 * transit from its log, and no others, and drop the orphans, and no others. The test knows from the
 * history which messages these are.
 *
 * The sender sends N messages with few tags; its checkpoint lies between two of them. The receiver
 * takes them in any order that MPI allows; its checkpoint lies between two receives, and the
 * sender's control messages arrive at some receive. Then both go back to their checkpoints, and the
 * receiver must be given exactly the messages that it was given before.
 *
 * identification-test PROTOCOL [SEED [COUNT]]: COUNT (2000) histories from SEED (1) on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/protocol.h"

enum { MESSAGES_MAX = 12, CAPACITY = 16, ACTIONS = 256, STATE_MAX = 8192, QUEUE = 64 };
enum { SENDER_FIRST, RECEIVER_FIRST };

struct message {
  int tag;
  uint32_t words[RCL_WORDS];
};

struct side {
  struct rcl_config config;
  uint64_t state[STATE_MAX / 8], stored[STATE_MAX / 8];
  /* number of the message in the slot, the first has 0, or -1 if there is none */
  int slot[CAPACITY + 1];
  int stored_slot[CAPACITY + 1];
  bool held, has_stored;
  uint32_t control[QUEUE][RCL_WORDS]; /* messages to the other side */
  int controls;
};

static const struct rcl_protocol *protocol;
static unsigned long seed;
static struct rcl_action items[ACTIONS];
static struct rcl_actions actions = {.capacity = ACTIONS, .item = items};
static struct side sender, receiver;
static struct message message[MESSAGES_MAX];
static int messages, sent_before, received_before, order[MESSAGES_MAX];
static bool in_channel[MESSAGES_MAX], dropped[MESSAGES_MAX];

static unsigned draw(unsigned limit)
{
  static uint64_t at;
  static unsigned long drawn_for;
  if (drawn_for != seed) {
    drawn_for = seed;
    at = seed * UINT64_C(0x9E3779B97F4A7C15);
  }
  at = at * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(at >> 33) % limit;
}

static void fail(const char *what)
{
  printf("not ok 1 - %s: %s\n# identification-test %s %lu 1\n1..1\n", protocol->name, what,
         protocol->name, seed);
  exit(1);
}

/* ---- one step ---- */

static const struct rcl_action *find(enum rcl_action_kind kind)
{
  for (uint32_t i = 0; i < actions.count; i++)
    if (items[i].kind == kind)
      return &items[i];
  return NULL;
}

static void note(struct side *side, const struct rcl_action *action, int arrived)
{
  switch ((enum rcl_action_kind)action->kind) {
  case RCL_ACTION_HOLD:
    side->held = true;
    break;
  case RCL_ACTION_RELEASE:
    side->held = false;
    break;
  case RCL_ACTION_KEEP:
    side->slot[action->slot] = arrived;
    break;
  case RCL_ACTION_FORGET:
    side->slot[action->slot] = -1;
    break;
  case RCL_ACTION_CONTROL:
    if (side->controls == QUEUE)
      fail("more control messages than there is room for");
    memcpy(side->control[side->controls++], action->words, sizeof action->words);
    break;
  case RCL_ACTION_GIVE_UP:
    fail("it gives up");
    break;
  default:
    break;
  }
}

/* Takes a step. `arrived` is the message of an ARRIVED, or -1. */
static void take(struct side *side, struct rcl_event event, int arrived)
{
  event.peer = (int16_t)!side->config.self;
  if (rcl_protocol_step(protocol, &side->config, side->state, &event, &actions, true))
    fail("an invariant is broken");
  for (uint32_t i = 0; i < actions.count; i++)
    note(side, &items[i], arrived);
  for (uint32_t i = 0; i < actions.count; i++)
    if (items[i].kind == RCL_ACTION_STORE && items[i].part == RCL_PART_LOG) {
      memcpy(side->stored, side->state, sizeof side->state);
      memcpy(side->stored_slot, side->slot, sizeof side->slot);
      side->has_stored = true;
    }
}

static void hand_over(struct side *from, struct side *to)
{
  for (int i = 0; i < from->controls; i++) {
    struct rcl_event event = {.kind = RCL_EVENT_CONTROL};
    memcpy(event.words, from->control[i], sizeof event.words);
    take(to, event, -1);
  }
  from->controls = 0;
}

static void offer(int i)
{
  take(&sender, (struct rcl_event){.kind = RCL_EVENT_SEND, .tag = message[i].tag, .bytes = 8}, -1);
  const struct rcl_action *transmit = find(RCL_ACTION_TRANSMIT);
  if (!transmit)
    fail("a message is not transmitted");
  memcpy(message[i].words, transmit->words, sizeof message[i].words);
  in_channel[i] = true;
}

static void checkpoint(struct side *side)
{
  take(side, (struct rcl_event){.kind = RCL_EVENT_SAFE_POINT}, -1);
  if (!find(RCL_ACTION_CAPTURE))
    fail("no checkpoint is taken");
  take(side, (struct rcl_event){.kind = RCL_EVENT_CAPTURED, .checkpoint = 1}, -1);
}

/* ---- the receiver ---- */

/* Lets a message arrive for receive `request`, or be drained. Returns whether the receive is
 * filled. */
static bool arrive(int i, uint32_t request)
{
  struct rcl_event event = {
      .kind = RCL_EVENT_ARRIVED, .tag = message[i].tag, .bytes = 8, .request = request};
  memcpy(event.words, message[i].words, sizeof event.words);
  in_channel[i] = false;
  take(&receiver, event, i);
  if (find(RCL_ACTION_DISCARD))
    dropped[i] = true;
  return find(RCL_ACTION_DELIVER) != NULL;
}

static void drain(void)
{
  for (int i = 0; i < messages && receiver.held; i++)
    if (in_channel[i])
      arrive(i, RCL_NO_REQUEST);
  if (receiver.held)
    fail("the program is held for ever");
}

/* Returns the message that receive `request` is given, or -1 if it waits. */
static int receive(uint32_t request, int tag)
{
  int slot[CAPACITY + 1]; /* the slots before the step, which may empty them */
  memcpy(slot, receiver.slot, sizeof slot);
  take(&receiver, (struct rcl_event){.kind = RCL_EVENT_RECEIVE, .request = request, .tag = tag},
       -1);
  const struct rcl_action *deliver = find(RCL_ACTION_DELIVER);
  if (deliver)
    return slot[deliver->slot];
  for (int i = 0; i < messages; i++)
    if (in_channel[i] && message[i].tag == tag && arrive(i, request))
      return i;
  return -1;
}

static void expect(int k)
{
  if (receive((uint32_t)k + 1, message[order[k]].tag) != order[k])
    fail("the program is given another message than before");
}

/* ---- a history ---- */

static void draw_history(int first)
{
  int tags = 1 + (int)draw(3);
  messages = 1 + (int)draw(MESSAGES_MAX);
  bool taken[MESSAGES_MAX] = {false};
  for (int i = 0; i < messages; i++)
    message[i] = (struct message){.tag = (int)draw((unsigned)tags)};
  for (int k = 0; k < messages; k++) {
    int i = (int)draw((unsigned)messages);
    while (taken[i])
      i = (i + 1) % messages;
    for (int j = 0; j < i; j++) /* the oldest message with its tag */
      if (!taken[j] && message[j].tag == message[i].tag)
        i = j;
    taken[i] = true;
    order[k] = i;
  }
  sent_before = (int)draw((unsigned)messages + 1);
  received_before = (int)draw((unsigned)messages + 1);
  for (int k = 0; first == RECEIVER_FIRST && k < received_before; k++)
    if (order[k] >= sent_before) /* the sender's checkpoint comes after the receiver's */
      sent_before = order[k] + 1;
}

static void begin(struct side *side, int self)
{
  memset(side, 0, sizeof *side);
  side->config = (struct rcl_config){.self = (int16_t)self, .ranks = 2, .capacity = CAPACITY};
  memset(side->slot, -1, sizeof side->slot);
  take(side, (struct rcl_event){.kind = RCL_EVENT_START}, -1);
  if (self == RCL_COORDINATOR_RANK)
    take(side, (struct rcl_event){.kind = RCL_EVENT_TIMER}, -1);
}

static void send_rest(void)
{
  checkpoint(&sender);
  for (int i = sent_before; i < messages; i++)
    offer(i);
}

static void original(int first)
{
  bool early = first == SENDER_FIRST;
  int told = early ? (int)draw((unsigned)received_before + 1)
                   : received_before + (int)draw((unsigned)(messages - received_before) + 1);
  for (int i = 0; i < sent_before; i++)
    offer(i);
  if (early)
    send_rest();
  for (int k = 0; k <= messages; k++) {
    if (early && k == told)
      hand_over(&sender, &receiver);
    if (k == received_before) {
      checkpoint(&receiver);
      hand_over(&receiver, &sender);
      if (!early)
        send_rest();
    }
    if (!early && k == told)
      hand_over(&sender, &receiver);
    drain();
    if (k < messages)
      expect(k);
  }
}

static void again(void)
{
  memset(in_channel, 0, sizeof in_channel);
  memset(dropped, 0, sizeof dropped);
  if (!sender.has_stored || !receiver.has_stored)
    fail("the checkpoint is never complete");
  for (struct side *side = &sender;; side = &receiver) {
    memcpy(side->state, side->stored, sizeof side->state);
    memcpy(side->slot, side->stored_slot, sizeof side->slot);
    side->held = false;
    side->controls = 0;
    take(side, (struct rcl_event){.kind = RCL_EVENT_START, .checkpoint = 1}, -1);
    if (side == &receiver)
      break;
  }
  for (int i = sent_before; i < messages; i++)
    offer(i);
  drain();
  for (int k = received_before; k < messages; k++)
    expect(k);
  for (int k = 0; k < messages; k++)
    if (dropped[order[k]] != (k < received_before && order[k] >= sent_before))
      fail("what is dropped is not what was an orphan");
}

int main(int argc, char **argv)
{
  protocol = argc > 1 ? rcl_protocol_named(argv[1]) : NULL;
  unsigned long from = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
  unsigned long count = argc > 3 ? strtoul(argv[3], NULL, 10) : 2000;
  unsigned long crossing = 0;
  if (!protocol ||
      protocol->state_size(&(struct rcl_config){.ranks = 2, .capacity = CAPACITY}) > STATE_MAX) {
    fprintf(stderr, "identification-test: expected the name of a protocol\n");
    return 64;
  }
  for (seed = from; seed < from + count; seed++) {
    int first = draw(2) ? SENDER_FIRST : RECEIVER_FIRST;
    memset(in_channel, 0, sizeof in_channel);
    begin(&sender, first == RECEIVER_FIRST);
    begin(&receiver, first == SENDER_FIRST);
    draw_history(first);
    original(first);
    again();
    for (int k = 0; k < messages; k++)
      crossing += (order[k] < sent_before) != (k < received_before);
  }
  printf("ok 1 - %s: %lu histories, %lu messages crossed the line\n1..1\n", protocol->name, count,
         crossing);
  return 0;
}
