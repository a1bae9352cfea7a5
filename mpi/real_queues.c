/* Keeps payloads, queues of messages, posted receives and slots. */
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "mpi/real_inside.h"

/* ---- payloads ---- */

struct real_payload *real_payload_new(size_t size)
{
  struct real_payload *payload = memory_grow(NULL, sizeof *payload + size);
  *payload = (struct real_payload){.holders = 1, .size = size};
  return payload;
}

struct real_payload *real_payload_hold(struct real_payload *payload)
{
  payload->holders++;
  return payload;
}

void real_payload_drop(struct real_payload *payload)
{
  if (payload && !--payload->holders)
    free(payload);
}

/* ---- queues ---- */

void real_append(struct real_queue *queue, struct real_message *message)
{
  if (!queue->first)
    queue->end = &queue->first;
  message->next = NULL;
  *queue->end = message;
  queue->end = &message->next;
}

struct real_message *real_take_out(struct real_queue *queue, struct real_message **place)
{
  struct real_message *message = *place;
  *place = message->next;
  if (!message->next)
    queue->end = place;
  return message;
}

/* ---- receives ---- */

void real_add_receive(struct real_receive *receive)
{
  struct real_receive **end = &real.posted;
  while (*end)
    end = &(*end)->next;
  receive->next = NULL;
  *end = receive;
}

void real_restore_receive(const struct real_receive *from)
{
  struct real_receive *receive = memory_grow(NULL, sizeof *receive);
  *receive = *from;
  receive->announced = real_below_matching();
  real_add_receive(receive);
}

/* ---- slots ---- */

struct real_slot *real_slot_of(uint32_t number)
{
  REQUIRE(number && number <= real.slots && real.slot[number - 1].full,
          "a protocol names slots that it has filled");
  return &real.slot[number - 1];
}

void real_keep(const struct rcl_action *action)
{
  uint32_t before = real.slots;
  if (action->slot > real.slots) {
    real.slots = 2 * action->slot;
    real.slot = memory_grow(real.slot, real.slots * sizeof *real.slot);
    memset(real.slot + before, 0, (real.slots - before) * sizeof *real.slot);
  }
  REQUIRE(action->slot && real.now && !real.slot[action->slot - 1].full,
          "a protocol keeps a message in a slot that is empty");
  real.slot[action->slot - 1] = (struct real_slot){.full = true, .message = *real.now};
  real_payload_hold(real.now->payload);
}

void real_forget(const struct rcl_action *action)
{
  struct real_slot *slot = real_slot_of(action->slot);
  real_payload_drop(slot->message.payload);
  *slot = (struct real_slot){0};
}
