#include "sim/host/step/piggyback.h"

#include "sim/host/failures/schedule.h"
#include "sim/host/rank/shadow.h"

#include <string.h>

struct rider {
  int destination;
  uint32_t words[MESSAGE_WORDS];
};

bool piggyback_on(void)
{
  return shadow_protocol()->piggybacks && !schedule_on();
}

void piggyback_add(struct rank *r, const struct rcl_action *action)
{
  struct rider rider = {.destination = action->peer};
  memcpy(rider.words, action->words, sizeof rider.words);
  if (!r->piggybacked)
    r->piggybacked = g_array_new(FALSE, FALSE, sizeof rider);
  g_array_append_val(r->piggybacked, rider);
}

uint64_t piggyback_attach(struct rank *r, struct message *message)
{
  guint left = 0, count = r->piggybacked ? r->piggybacked->len : 0;
  if (!count)
    return 0;
  message->piggybacked = g_malloc_n(count, sizeof *message->piggybacked);
  for (guint i = 0; i < count; i++) {
    const struct rider *rider = &g_array_index(r->piggybacked, struct rider, i);
    if (rider->destination == message->destination)
      memcpy(message->piggybacked[message->riders_count++], rider->words, sizeof rider->words);
    else
      g_array_index(r->piggybacked, struct rider, left++) = *rider;
  }
  g_array_set_size(r->piggybacked, left);
  return (uint64_t)message->riders_count * shadow_protocol()->control_bytes;
}

int piggyback_left(const struct rank *r)
{
  if (r->dead && r->piggybacked)
    g_array_set_size(r->piggybacked, 0);
  return r->piggybacked && r->piggybacked->len
             ? g_array_index(r->piggybacked, struct rider, 0).destination
             : -1;
}
